//! The other events of the hosts, through the settings that `init` wrote: before a person is asked, after a tool ran, and Cursor's
//! events for single kinds of calls.

use door_hook::Host;
use serde_json::{Value, json};

use crate::home::{Home, Ran};
use crate::hosts::command;

fn answer(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if ran.out.trim().is_empty() { Value::Null } else { serde_json::from_str(&ran.out).expect("JSON") }
}

#[test]
fn before_claude_code_asks_the_person() {
    let machine = Home::hooked();
    let settings: Value = serde_json::from_str(&machine.read(".claude/settings.json")).expect("JSON");
    let hook =
        settings["hooks"]["PermissionRequest"][0]["hooks"][0]["command"].as_str().expect("a hook").to_owned();
    let asked = |text: &str| {
        let question = json!({
            "session_id": "s", "transcript_path": "/t", "cwd": machine.work(),
            "hook_event_name": "PermissionRequest", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": text, "description": "why"},
        });
        answer(&machine.shell(&hook, &question.to_string()))["hookSpecificOutput"].clone()
    };
    let allowed = asked("ls -la");
    assert_eq!(allowed["hookEventName"], "PermissionRequest");
    assert_eq!(allowed["decision"]["behavior"], "allow", "{allowed}");
    let input = &allowed["decision"]["updatedInput"];
    assert!(
        input["command"].as_str().is_some_and(|text| text.contains(" exec --session s --call ")),
        "{input}"
    );
    assert_eq!(input["description"], "why", "{input}");
    let denied = asked("rm -rf /");
    assert_eq!(denied["decision"]["behavior"], "deny", "{denied}");
    assert!(
        denied["decision"]["message"].as_str().is_some_and(|text| text.contains("Bailiwick")),
        "{denied}"
    );
    // The person is about to be asked anyhow: nothing is said, and nothing waits.
    assert_eq!(asked("git push --force"), Value::Null);
    assert_eq!(machine.run(&["grants", "--json"]).out.trim(), "[]");
}

#[test]
fn after_claude_code_ran_a_tool() {
    let machine = Home::hooked();
    let settings: Value = serde_json::from_str(&machine.read(".claude/settings.json")).expect("JSON");
    let hook =
        settings["hooks"]["PostToolUse"][0]["hooks"][0]["command"].as_str().expect("a hook").to_owned();
    for (id, event, outcome) in
        [("toolu_1", "PostToolUse", Value::Null), ("toolu_2", "PostToolUseFailure", json!("unknown"))]
    {
        let mut question = json!({
            "session_id": "s", "transcript_path": "/t", "cwd": machine.work(), "hook_event_name": "PreToolUse",
            "permission_mode": "default", "tool_use_id": id, "tool_name": "Write",
            "tool_input": {"file_path": "src/new.rs", "content": "SECRET-CONTENT"},
        });
        assert_eq!(machine.shell(&hook, &question.to_string()).code, Some(0));
        question["hook_event_name"] = event.into();
        question["tool_response"] = json!({"filePath": "src/new.rs", "content": "SECRET-CONTENT"});
        question["error"] = "it failed".into();
        assert_eq!(answer(&machine.shell(&hook, &question.to_string())), Value::Null);
        let records = machine.records();
        let of_call: Vec<&Value> = records.iter().filter(|record| record["call_id"] == id).collect();
        let kinds: Vec<&str> = of_call.iter().filter_map(|record| record["type"].as_str()).collect();
        assert_eq!(kinds, ["tool_call_requested", "tool_call_finished"], "{event}");
        assert_eq!(of_call[1]["payload"]["error_kind"], outcome, "{event}");
        assert!(!records.iter().any(|record| record.to_string().contains("SECRET-CONTENT")));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test has files")]
fn cursors_events_for_kinds_of_calls() {
    let machine = Home::hooked();
    machine.configure("profile: dev\nsafety: {tool_allowlist: [mcp__cursor__search]}\n");
    std::fs::write(machine.0.join("work/.env"), "TOKEN=x\n").expect("a file");
    let hook = command(&machine, Host::Cursor);
    let common = json!({
        "conversation_id": "s", "generation_id": "g", "workspace_roots": [machine.work()], "cursor_version": "2.4.0",
    });
    let table = [
        (
            "beforeMCPExecution",
            json!({"tool_name": "search", "tool_input": "{\"q\": \"x\"}", "command": "npx x"}),
            "allow",
        ),
        (
            "beforeMCPExecution",
            json!({"tool_name": "create_issue", "tool_input": "{}", "command": "npx x"}),
            "ask",
        ),
        (
            "beforeMCPExecution",
            json!({"tool_name": "search", "tool_input": "{not json", "command": "npx x"}),
            "deny",
        ),
        (
            "preToolUse",
            json!({"tool_name": "MCP:search", "tool_input": {"q": "x"}, "tool_use_id": "t", "cwd": machine.work()}),
            "allow",
        ),
        (
            "preToolUse",
            json!({"tool_name": "MCP:create_issue", "tool_input": {}, "tool_use_id": "t", "cwd": machine.work()}),
            "deny",
        ),
        (
            "preToolUse",
            json!({"tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_use_id": "t", "cwd": machine.work()}),
            "allow",
        ),
        (
            "preToolUse",
            json!({"tool_name": "Shell", "tool_input": {"command": "sudo ls"}, "tool_use_id": "t", "cwd": machine.work()}),
            "deny",
        ),
        (
            "beforeReadFile",
            json!({"file_path": format!("{}/notes.txt", machine.work()), "content": "notes", "attachments": []}),
            "allow",
        ),
        (
            "beforeReadFile",
            json!({"file_path": format!("{}/.env", machine.work()), "content": "TOKEN=x", "attachments": []}),
            "deny",
        ),
        ("beforeReadFile", json!({"file_path": "/etc/shadow", "content": "", "attachments": []}), "deny"),
        (
            "beforeReadFile",
            json!({
                "file_path": format!("{}/notes.txt", machine.work()), "content": "notes",
                "attachments": [{"type": "file", "file_path": format!("{}/.env", machine.work())}],
            }),
            "deny",
        ),
    ];
    for (event, more, expected) in table {
        let mut question = common.clone();
        question["hook_event_name"] = event.into();
        for (key, value) in more.as_object().expect("an object") {
            question[key] = value.clone();
        }
        let ran = machine.shell(&hook, &question.to_string());
        let blocked = ran.code == Some(2);
        let word = if blocked {
            "deny".to_owned()
        } else {
            answer(&ran)["permission"].as_str().unwrap_or_default().to_owned()
        };
        assert_eq!(word, expected, "{event} {more}: {ran:?}");
    }
    assert!(!machine.records().iter().any(|record| record.to_string().contains("TOKEN=x")));
}
