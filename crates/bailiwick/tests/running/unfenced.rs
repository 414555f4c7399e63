//! A call that asks to run without the fence: somebody is asked, a yes runs it without one and says so, a no is a refusal.

use serde_json::{Value, json};

use crate::home::Home;

/// The ways to ask for it, each with a command that tells whether it is inside: a fence shows no file of the home directory.
fn ways() -> Vec<(&'static str, Value)> {
    let look = "cat ../outside.txt";
    let mut all = Vec::new();
    for (key, value) in [("sandbox", "none"), ("sandbox_permissions", "require_escalated")] {
        all.push(("shell_exec", json!({"argv": ["sh", "-c", look], key: value})));
        all.push(("shell", json!({"command": ["sh", "-c", look], key: value})));
        all.push(("shell_command", json!({"command": look, key: value})));
        all.push(("exec_command", json!({"cmd": look, key: value, "yield_time_ms": 5000})));
        all.push(("exec_command", json!({"cmd": look, key: value, "yield_time_ms": 5000, "tty": false})));
    }
    all
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test has files")]
fn a_yes_runs_it_without_the_fence_and_says_so() {
    let home = Home::new();
    std::fs::write(home.0.join("outside.txt"), "outside\n").expect("a file");
    home.configure("profile: dev\napproval: {rules: [{decision: approved, tool: [shell_exec, shell, shell_command, exec_command]}]}\nsafety: {effects: {read_outside: allow}}\n");
    for (tool, args) in ways() {
        let (code, answer) = home.call(tool, &args);
        assert_eq!((code, &answer["data"]["fence"]), (0, &json!("none")), "{tool} {args}: {answer}");
        assert_eq!(answer["stdout"].as_str().map(str::trim), Some("outside"), "{tool} {args}: {answer}");
    }
    // The control: what the call does not name is not seen behind the fence.
    home.write("look.sh", "cat ../outside.txt\n", true);
    let (_, answer) = home.call("shell_command", &json!({"command": "sh look.sh"}));
    assert!(answer["ok"] == false && answer["data"]["fence"] != "none", "{answer}");
    // Whoever says that it is to stay fenced is heard.
    let both =
        json!({"command": "sh look.sh", "sandbox": "restricted", "sandbox_permissions": "require_escalated"});
    let (_, answer) = home.call("shell_command", &both);
    assert!(answer["ok"] == false && answer["data"]["fence"] != "none", "{answer}");
    let fences: Vec<Value> = home
        .records()
        .iter()
        .filter(|line| line["type"] == "tool_call_started")
        .map(|line| line["payload"]["fence"].clone())
        .collect();
    assert_eq!(fences.iter().filter(|fence| **fence == "none").count(), ways().len(), "{fences:?}");
}

#[test]
fn nobody_and_a_no_are_refusals() {
    let home = Home::new();
    for (rules, kind) in [("", "human_required"), ("approval: {rules: [{decision: denied}]}\n", "permission")]
    {
        home.configure(&format!("profile: dev\nsafety: {{mode: allow}}\n{rules}"));
        for (tool, mut args) in ways() {
            // Harmless in itself: only the missing fence is asked about.
            for key in ["argv", "command", "cmd"] {
                if let Some(words) = args.get_mut(key) {
                    *words = if words.is_array() { json!(["true"]) } else { json!("true") };
                }
            }
            let (code, answer) = home.call(tool, &args);
            assert_eq!((code, &answer["error_kind"]), (126, &json!(kind)), "{tool} {args}: {answer}");
        }
    }
}

#[test]
fn without_a_fence_time_still_ends_all_of_it() {
    let home = Home::new();
    home.configure("profile: dev\napproval: {rules: [{decision: approved, tool: [shell_exec, shell, shell_command, exec_command]}]}\n");
    let text = "echo first; (sleep 50; echo late > left.txt) & sleep 50";
    let args = json!({"command": text, "sandbox": "none", "timeout_ms": 700});
    let (code, answer) = home.call("shell_command", &args);
    assert_eq!((code, &answer["error_kind"]), (124, &json!("timeout")), "{answer}");
    assert_eq!(answer["stdout"], "first\n", "{answer}");
    let left = home.command("pgrep").args(["-fc", "sleep 50; echo late"]).output().expect("pgrep");
    assert_eq!(String::from_utf8_lossy(&left.stdout).trim(), "0");
}

#[test]
fn a_terminal_without_a_fence_is_a_terminal() {
    let home = Home::new();
    home.configure("profile: dev\napproval: {rules: [{decision: approved, tool: [shell_exec, shell, shell_command, exec_command]}]}\n");
    let args = json!({"argv": ["sh", "-c", "test -t 1 && test -t 2 && stty size <&1 && ps -o tty= -p $$"], "sandbox": "none", "tty": true});
    let (code, answer) = home.call("shell_exec", &args);
    assert_eq!(code, 0, "{answer}");
    let said = answer["stdout"].as_str().unwrap_or_default();
    assert!(said.starts_with("24 80") && said.contains("pts/"), "{answer}");
}

#[test]
fn a_configuration_without_a_profile_still_has_exec_fence() {
    let home = Home::new();
    let outside = home.0.join("outside");
    let command = format!("echo x > {}", outside.display());
    home.write("out.sh", &command, true);
    let run = |yaml: &str| {
        home.configure(yaml);
        let ran = home.run(&["exec", "--", "sh", "out.sh"]);
        (outside.exists(), ran)
    };
    let (there, ran) = run("safety: {allowlist: [sh]}\n");
    assert!(!there, "{ran:?}");
    // The control: whoever says it has it without.
    let (there, ran) = run("safety: {allowlist: [sh]}\nsandbox: {default_policy: none}\n");
    assert!(there, "{ran:?}");
}

#[test]
fn a_directory_as_a_standard_stream_is_refused() {
    let home = Home::new();
    for (stream, code) in [("/", Some(126)), ("/dev/null", Some(0))] {
        let ran = home.shell(&format!("{} exec -- true < {stream}", crate::home::BINARY));
        assert_eq!(ran.code, code, "{stream}: {ran:?}");
    }
}
