//! The built-in tools through the binary: what an agent gets back, what it cannot reach, what is written down.

use serde_json::{Value, json};

use crate::home::Home;

impl Home {
    /// Calls a tool without anybody to ask.
    pub(crate) fn call(&self, tool: &str, args: &Value) -> (i32, Value) {
        let ran = self.run(&["call", tool, &args.to_string()]);
        let answer = serde_json::from_str(ran.out.trim())
            .unwrap_or_else(|_| json!({ "unreadable": format!("{ran:?}") }));
        (ran.code.unwrap_or(-1), answer)
    }
}

#[test]
fn every_tool_that_runs_a_command_gives_the_same_answer() {
    let home = Home::new();
    let text = "echo out; echo err >&2; exit 3";
    for (tool, args) in [
        ("shell_exec", json!({"argv": ["sh", "-c", text]})),
        ("shell", json!({"command": ["sh", "-c", text]})),
        ("shell_command", json!({"command": text})),
    ] {
        let (code, answer) = home.call(tool, &args);
        assert_eq!(code, 1, "{tool}: {answer}");
        assert_eq!(
            (&answer["ok"], &answer["stdout"], &answer["stderr"], &answer["exit_code"]),
            (&json!(false), &json!("out\n"), &json!("err\n"), &json!(3)),
            "{tool}"
        );
    }
    let (_, answer) = home.call("exec_command", &json!({"cmd": text, "tty": false, "yield_time_ms": 5000}));
    assert_eq!((&answer["stdout"], &answer["exit_code"]), (&json!("out\n"), &json!(3)), "{answer}");
    // POL-4: one shape in the journal, whichever tool brought it.
    let records = home.run(&["journal", "export"]).out;
    let lines: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("tool_call_requested").len(), 4);
    for (kind, member) in [
        ("tool_call_requested", "decision"),
        ("tool_call_requested", "rule"),
        ("tool_call_finished", "outcome"),
    ] {
        let first = &of(kind)[0]["payload"][member];
        assert!(of(kind).iter().all(|line| &line["payload"][member] == first), "{kind} {member}");
    }
}

#[test]
fn the_same_denial_whichever_tool_asks() {
    let home = Home::new();
    for (tool, args) in [
        ("shell_exec", json!({"argv": ["cat", "/etc/shadow"]})),
        ("shell", json!({"command": ["cat", "/etc/shadow"]})),
        ("shell_command", json!({"command": "cat /etc/shadow"})),
        ("exec_command", json!({"cmd": "cat /etc/shadow"})),
        ("file_read", json!({"path": "/etc/shadow"})),
        ("read_file", json!({"file_path": "/etc/shadow"})),
    ] {
        let (code, answer) = home.call(tool, &args);
        assert_eq!((code, &answer["error_kind"]), (126, &json!("permission")), "{tool}: {answer}");
        assert!(
            answer["stderr"].as_str().is_some_and(|text| text.contains("rule: denied_paths.credentials")),
            "{answer}"
        );
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the traps of this test")]
fn file_tools_reach_the_workspace_and_no_further() {
    let home = Home::new();
    let work = home.0.join("work");
    std::fs::write(home.0.join("outside.txt"), "outside\n").expect("a file");
    std::fs::write(work.join(".env"), "TOKEN=x\n").expect("a file");
    std::os::unix::fs::symlink(home.0.join("outside.txt"), work.join("link.txt")).expect("a link");
    std::os::unix::fs::symlink(work.join(".env"), work.join("harmless.txt")).expect("a link");
    let (_, answer) = home.call("file_write", &json!({"path": "new/deep/a.txt", "content": "needle\n"}));
    assert_eq!(answer["ok"], true, "{answer}");
    let (_, answer) = home.call("file_read", &json!({"path": "new/deep/a.txt"}));
    assert_eq!(answer["stdout"], "needle\n");
    let (_, answer) = home.call("grep_files", &json!({"pattern": "needle|TOKEN|outside"}));
    assert!(answer["stdout"].as_str().is_some_and(|text| text.contains("a.txt:1:needle")), "{answer}");
    assert!(
        !answer.to_string().contains("TOKEN=x") && !answer.to_string().contains("outside\\n"),
        "{answer}"
    );
    for (tool, args) in [
        ("file_read", json!({"path": ".env"})),
        ("file_read", json!({"path": "harmless.txt"})),
        ("file_read", json!({"path": "link.txt"})),
        ("file_read", json!({"path": "../outside.txt"})),
        ("file_write", json!({"path": "link.txt", "content": "x"})),
        ("file_write", json!({"path": ".git/hooks/pre-commit", "content": "x"})),
        ("file_write", json!({"path": "../../../etc/x", "content": "x"})),
        ("apply_patch", json!({"input": "*** Begin Patch\n*** Add File: .git/hooks/x\n+x\n*** End Patch"})),
    ] {
        let (code, answer) = home.call(tool, &args);
        assert_eq!((code, &answer["ok"]), (126, &json!(false)), "{tool} {args}: {answer}");
    }
    assert_eq!(std::fs::read_to_string(home.0.join("outside.txt")).expect("a file"), "outside\n");
}

#[test]
fn what_is_wrong_with_a_call_is_said() {
    let home = Home::new();
    for (tool, args, code, kind) in [
        ("file_read", json!({"path": "no-such-file"}), 127, "not_found"),
        ("file_read", json!({"pth": "x"}), 2, "validation"),
        ("shell_command", json!({"command": "sleep 60", "timeout_ms": 300}), 124, "timeout"),
        ("shell_exec", json!({"argv": ["no-such-program-here"]}), 127, "not_found"),
        ("no_such_tool", json!({}), 126, "human_required"),
    ] {
        let (got, answer) = home.call(tool, &args);
        assert_eq!((got, &answer["error_kind"]), (code, &json!(kind)), "{tool}: {answer}");
    }
    let ran = home.run(&["call", "file_read", "{"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn output_is_bounded_and_both_ends_are_kept() {
    let home = Home::new();
    let (_, answer) =
        home.call("shell_command", &json!({"command": "echo first; yes | head -c 8000000; echo last"}));
    let text = answer["stdout"].as_str().expect("a text");
    assert_eq!(answer["truncated"], true);
    assert!(
        text.starts_with("first\n") && text.ends_with("last\n") && text.len() < 2_000_000,
        "{}",
        text.len()
    );
    // What came out is in the journal only by its size and digest.
    let records = home.run(&["journal", "export"]).out;
    assert!(
        records.contains("\"output_bytes\":8000011") && records.contains("\"output_sha256\""),
        "{records}"
    );
    assert!(!records.contains("y\\ny\\ny"));
}

#[test]
fn output_can_be_followed_as_it_comes() {
    let home = Home::new();
    let ran =
        home.run(&["call", "shell_command", "{\"command\": \"echo one; sleep 0.2; echo two\"}", "--stream"]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.len() >= 3, "{ran:?}");
    assert_eq!(lines[0], json!({"type": "output", "stream": "stdout", "text": "one\n"}));
    assert_eq!(lines.last().expect("a result")["result"]["stdout"], "one\ntwo\n");
}

#[test]
fn a_person_is_asked_at_the_terminal_and_nobody_elsewhere() {
    let home = Home::new();
    home.configure("profile: dev\nrun: {human_timeout_ms: 15000}\n");
    let args = "{\"question\": \"Which way?\"}";
    let asked = home.at_terminal(&[("Which way?", "up the hill\\n")], &["call", "ask_human", args]);
    assert!(asked.out.contains("\"ok\":true") && asked.out.contains("\"up the hill\""), "{}", asked.out);
    let (code, answer) = home.call("ask_human", &json!({"question": "Which way?"}));
    assert_eq!((code, &answer["error_kind"]), (126, &json!("human_required")), "{answer}");
    let (_, plan) = home.call("update_plan", &json!({"plan": [{"step": "look", "status": "in_progress"}]}));
    assert!(
        plan["ok"] == true && plan["stdout"].as_str().is_some_and(|text| text.contains("look")),
        "{plan}"
    );
    let (_, search) = home.call("web_search", &json!({"q": "weather"}));
    assert_eq!(search["ok"], false, "{search}");
    // What a person said goes to the agent, and not into the journal.
    assert!(!home.kept().contains("up the hill"), "{}", home.kept());
}

#[test]
fn a_call_that_takes_long_shows_one_quiet_line_at_a_terminal_only() {
    let home = Home::new();
    let args = "{\"command\": \"echo some output; sleep 1.6\"}";
    let shown = home.at_terminal(&[], &["call", "shell_command", args]);
    assert!(shown.out.contains("\r\u{1b}[2Kshell_command  "), "{:?}", shown.out);
    assert!(shown.out.contains("s  12 bytes"), "{:?}", shown.out);
    // It is taken away before the answer, and a stream of events is enough by itself.
    assert!(shown.out.contains("\r\u{1b}[2K{\""), "{:?}", shown.out);
    let streamed = home.at_terminal(&[], &["call", "shell_command", args, "--stream"]);
    assert!(!streamed.out.contains("\u{1b}[2K"), "{:?}", streamed.out);
    let quiet = home.run(&["call", "shell_command", args]);
    assert_eq!(quiet.err, "", "{quiet:?}");
}
