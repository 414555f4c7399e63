//! The hosts themselves, started without an account against a model on this machine: they read the settings that `init` wrote, run
//! the hook before their shell tool, and run what it gives back. `cargo xtask hosts` installs them and runs this;
//! `BAILIWICK_HOSTS` is the directory of their programs. Without it there is nothing to try.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

#[path = "../shared/home.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod home;

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use home::Home;

/// Allowed because it is fenced: behind the fence the home directory is not there.
const ALLOWED: &str = "echo from the agent; sh ./look.sh";
const LOOK: &str = "ls ~/unfenced >/dev/null 2>&1 && echo unfenced || echo fenced\n";
const DENIED: &str = "cat /etc/shadow";

struct Model(Child, u16);

impl Drop for Model {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
fn model(home: &Home, text: &str) -> Model {
    let port = home.0.join("port");
    let _old = std::fs::remove_file(&port);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/model.py");
    let mut command = home.command("python3");
    command.arg(script).arg(&port).env("TRY", text);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("python3");
    for _ in 0..200 {
        if let Ok(number) = std::fs::read_to_string(&port) {
            return Model(child, number.parse().expect("a port"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Model(child, 0)
}

/// Runs a host with one wish and gives back all that it says.
#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
fn ask(home: &Home, programs: &Path, host: &str, port: u16) -> String {
    let url = format!("http://127.0.0.1:{port}");
    let mut command = home.command("timeout");
    command.args(["-s", "KILL", "180"]);
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()));
    match host {
        "claude-code" => {
            command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "sk-ant-test");
            command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
            command.args(["claude", "-p", "try it"]);
        }
        "codex" => {
            let provider = format!(
                "model = \"none\"\nmodel_provider = \"here\"\n[model_providers.here]\nname = \"here\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n"
            );
            std::fs::write(home.0.join(".codex/config.toml"), provider).expect("settings");
            // In earnest a person trusts the hook; its own sandbox needs a home elsewhere.
            command.args([
                "codex",
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
            ]);
            command.args(["--dangerously-bypass-hook-trust", "try it"]);
        }
        "copilot-cli" => {
            command.env("COPILOT_OFFLINE", "true").env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"));
            command.env("COPILOT_MODEL", "none").env("COPILOT_AUTO_UPDATE", "false");
            command.args(["copilot", "--allow-all-tools", "-p", "try it"]);
        }
        "opencode" => {
            let provider = serde_json::json!({
                "model": "here/none", "small_model": "here/none", "autoupdate": false, "share": "disabled",
                "provider": {"here": {
                    "npm": "@ai-sdk/openai-compatible", "name": "here",
                    "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
                    "models": {"none": {"name": "none", "tool_call": true}},
                }},
            });
            std::fs::write(home.0.join("work/opencode.json"), provider.to_string()).expect("settings");
            command.env("OPENCODE_DISABLE_MODELS_FETCH", "1").env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
            command.args(["opencode", "run", "try it"]);
        }
        _ => {
            command.env("GOOGLE_GEMINI_BASE_URL", url).env("GEMINI_API_KEY", "none");
            let path = home.0.join(".gemini/settings.json");
            let text = std::fs::read_to_string(&path).expect("settings");
            let mut settings: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            settings["security"] = serde_json::json!({"auth": {"selectedType": "gemini-api-key"}});
            std::fs::write(&path, settings.to_string()).expect("settings");
            command.args(["gemini", "--skip-trust", "--approval-mode", "yolo", "-p", "try it"]);
        }
    }
    let output = command.output().expect("a host");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// One host with the hook that `init` gave it: what is allowed runs behind the fence, and nothing that is denied.
#[expect(clippy::disallowed_methods, reason = "a test has files")]
fn tried(host: &str, program: &str) {
    let Some(programs) = std::env::var_os("BAILIWICK_HOSTS").map(PathBuf::from) else { return };
    assert!(programs.join(program).exists(), "{program} is not in {}", programs.display());
    let home = Home::new();
    std::fs::write(home.0.join("work/look.sh"), LOOK).expect("a script");
    std::fs::write(home.0.join("unfenced"), "").expect("a file");
    let written = home.run(&["init", "--yes", host]);
    assert_eq!(written.code, Some(0), "{host}: {written:?}");
    let allowed = model(&home, ALLOWED);
    let said = ask(&home, &programs, host, allowed.1);
    assert!(said.contains("from the agent\\nfenced"), "{host}: {said}");
    let records = home.records();
    let kinds: Vec<&str> = records
        .iter()
        .filter(|record| record["payload"]["tool"] == "Bash")
        .filter_map(|record| record["type"].as_str())
        .collect();
    assert_eq!(kinds, ["tool_call_requested", "tool_call_started", "tool_call_finished"], "{host}: {said}");
    let denied = model(&home, DENIED);
    let said = ask(&home, &programs, host, denied.1);
    assert!(!said.contains("root:") && said.contains("Bailiwick denied this call"), "{host}: {said}");
}

#[test]
fn claude_code_runs_what_is_allowed_behind_the_fence_and_nothing_that_is_denied() {
    tried("claude-code", "claude");
}

#[test]
fn codex_runs_what_is_allowed_behind_the_fence_and_nothing_that_is_denied() {
    tried("codex", "codex");
}

#[test]
fn gemini_cli_runs_what_is_allowed_behind_the_fence_and_nothing_that_is_denied() {
    tried("gemini-cli", "gemini");
}

#[test]
fn copilot_cli_runs_what_is_allowed_behind_the_fence_and_nothing_that_is_denied() {
    tried("copilot-cli", "copilot");
}

#[test]
fn opencode_runs_what_is_allowed_behind_the_fence_and_nothing_that_is_denied() {
    tried("opencode", "opencode");
}
