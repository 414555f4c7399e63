//! From a host's question through the gate: what is not known asks, what is hidden in a call of several is found.

#![expect(clippy::disallowed_methods, reason = "fixtures are files; a shell runs a hook's command")]
#![expect(clippy::expect_used, reason = "helpers of a test may fail as the test itself may")]

use std::path::{Path, PathBuf};
use std::process::Command;

use door_hook::{Host, read, settings, starter};
use gate::call::DigestKey;
use gate::effects::Files;
use gate::policy::{Base, Config, Decision, Fence, Layer, Origin};
use gate::{Disk, Gate, World};

struct NoDisk;

impl Files for NoDisk {
    fn follow(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
}

impl Disk for NoDisk {
    fn read(&self, _path: &Path) -> Result<Option<String>, String> {
        Ok(None)
    }

    fn exists(&self, _path: &Path) -> bool {
        false
    }

    fn content(&self, _path: &Path) -> Option<String> {
        None
    }
}

/// A gate in `/work/project` with the first policy of a Node.js project.
fn gate() -> Gate {
    let base = Base { cwd: "/work/project".into(), home: Some("/home/user".into()) };
    let starter = starter(&["package.json"]);
    let layers = vec![
        Layer::parse(Origin::User, "config.yaml", &starter.user).expect("a layer"),
        Layer::parse(Origin::Workspace, ".bailiwick.yaml", &starter.workspace).expect("a layer"),
    ];
    let config = Config::merge(layers, &base).expect("a configuration");
    let world = World {
        cwd: "/work/project".into(),
        home: Some("/home/user".into()),
        user: Some("user".into()),
        managed: None,
        configuration: None,
        state: None,
        keys: None,
        disk: Box::new(NoDisk),
    };
    Gate::new(config, world, Some("/work/project".into()), DigestKey::from_bytes([7; 32]))
        .with_fence(Fence::none("a test has none"))
}

/// The strictest ruling over the calls of a fixture.
fn ruling(gate: &Gate, file: &str) -> Decision {
    let path = format!("{}/tests/fixtures/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).expect("a fixture");
    let host = file.split_once('/').and_then(|(host, _)| Host::from_name(host)).expect("a host");
    let asked = read(host, &bytes).expect("a question");
    let each = asked.calls.into_iter().map(|call| gate.judge(call).expect("well-formed").ruling.decision);
    each.max().expect("a call")
}

#[test]
fn calls_of_every_host_are_ruled_by_what_they_do() {
    let gate = gate();
    let table = [
        ("claude-code/read", Decision::Allow),
        ("claude-code/write", Decision::Allow),
        ("claude-code/todo_write", Decision::Allow),
        ("claude-code/exit_plan_mode", Decision::Allow),
        ("claude-code/ls", Decision::Allow),
        ("claude-code/bash_unknown_field", Decision::Ask),
        ("claude-code/bash_host_sandbox_off", Decision::Ask),
        ("claude-code/unknown_tool", Decision::Ask),
        ("claude-code/tool_named_like_ours", Decision::Ask),
        ("claude-code/mcp", Decision::Ask),
        ("codex/apply_patch", Decision::Allow),
        ("codex/update_plan", Decision::Allow),
        ("gemini-cli/run_shell_command", Decision::Allow),
        ("gemini-cli/run_shell_command_two_directories", Decision::Ask),
        ("gemini-cli/read_many_files", Decision::Allow),
        ("gemini-cli/read_many_files_pattern", Decision::Ask),
        ("gemini-cli/web_fetch_nothing_named", Decision::Ask),
        ("cursor/before_shell_execution", Decision::Allow),
        ("cursor/pre_tool_use_delete", Decision::Allow),
        ("cursor/before_read_file", Decision::Allow),
        ("copilot-cli/bash_text", Decision::Allow),
        ("copilot-cli/write_bash", Decision::Ask),
        ("vs-code/run_in_terminal", Decision::Allow),
        ("vs-code/read_file_scheme", Decision::Ask),
        ("vs-code/grep_search", Decision::Allow),
        ("vs-code/grep_search_elsewhere", Decision::Ask),
        ("vs-code/multi_replace", Decision::Deny),
        ("opencode/bash", Decision::Allow),
        ("opencode/multiedit_another_file", Decision::Ask),
        ("opencode/batch", Decision::Deny),
    ];
    let wrong: Vec<_> = table
        .iter()
        .map(|(file, expected)| (file, expected, ruling(&gate, file)))
        .filter(|(_, expected, got)| *expected != got)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_first_policys_own_cases_hold() {
    let gate = gate();
    for case in gate.config().cases() {
        let call = gate::call::RawCall::command(case.command.clone().expect("a command"));
        assert_eq!(gate.judge(call).expect("well-formed").ruling.decision, case.expect, "{:?}", case.command);
    }
    assert!(!gate.config().cases().is_empty());
}

/// As the host would: through a shell, with what stands in its settings.
// HOOK-1
#[test]
fn a_hook_that_is_missing_or_killed_or_crashes_ends_with_two_and_a_reason() {
    let directory = std::env::temp_dir().join(format!("bailiwick hook's {}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let script = |name: &str, body: &str| {
        let path = directory.join(format!("bailiwick-{name}"));
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a script");
        let status = Command::new("chmod").arg("+x").arg(&path).status().expect("chmod");
        assert!(status.success());
        path.to_str().expect("text").to_owned()
    };
    let table = [
        (directory.join("bailiwick").to_str().expect("text").to_owned(), Some(2)),
        (script("killed", "kill -9 $$"), Some(2)),
        (script("aborts", "kill -6 $$"), Some(2)),
        (script("fails", "exit 101"), Some(2)),
        (script("denies", "exit 2"), Some(2)),
        (script("answers", "[ \"$1 $2\" = \"hook $HOST\" ] || exit 9; cat"), Some(0)),
    ];
    for host in [Host::ClaudeCode, Host::Codex, Host::GeminiCli, Host::CopilotCli, Host::VsCode] {
        for (binary, expected) in &table {
            let text = settings::add(host, None, binary).expect("settings");
            let written: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let (_, events) = written["hooks"].as_object().expect("hooks").iter().next().expect("an event");
            let entry = events.pointer("/0/hooks/0").unwrap_or(&events[0]);
            let command = entry
                .get("command")
                .or_else(|| entry.get("bash"))
                .and_then(|c| c.as_str())
                .expect("a command");
            let word = if host == Host::VsCode { Host::CopilotCli } else { host }.name();
            let out = Command::new("sh").arg("-c").arg(command).env("HOST", word).output().expect("a shell");
            assert_eq!(out.status.code(), *expected, "{command}");
            assert_eq!(out.stderr.is_empty(), *expected == Some(0), "{command}");
        }
    }
    std::fs::remove_dir_all(&directory).expect("removed");
}
