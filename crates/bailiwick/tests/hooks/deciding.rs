//! What each host does with a call that is allowed, asked about or denied, and that an allowed command runs behind the fence
//! and shows the same.

use door_hook::Host;
use serde_json::{Value, json};

use crate::home::Home;
use crate::hosts::{Does, Tool, ask, asks, command, does, rewritten};

#[test]
fn every_host_runs_asks_and_blocks_as_the_ruling_says() {
    let machine = Home::hooked();
    for host in Host::ALL {
        let question = if asks(host) { Does::Asks } else { Does::Blocks };
        let table = [
            (Tool::Shell("ls -la"), Does::Runs),
            (Tool::Read("notes.txt"), Does::Runs),
            (Tool::Write("src/new.rs"), Does::Runs),
            (Tool::Shell("git push --force"), question),
            (Tool::Write(".git/hooks/pre-commit"), question),
            (Tool::Shell("rm -rf /"), Does::Blocks),
            (Tool::Shell("cat ~/.ssh/id_ed25519"), Does::Blocks),
            (Tool::Read("/etc/shadow"), Does::Blocks),
        ];
        for (tool, expected) in table {
            let Some(ran) = ask(host, &machine, "s", tool) else { continue };
            assert_eq!(does(host, &ran), expected, "{host:?} {tool:?}: {ran:?}");
            assert_eq!(ran.code, Some(0), "{host:?} {tool:?}: an answer is no failure: {ran:?}");
        }
    }
}

#[test]
fn an_allowed_command_runs_behind_the_fence_and_shows_the_same() {
    let machine = Home::hooked();
    for host in Host::ALL {
        for (text, code) in
            [("echo out; echo err >&2; exit 7", 7), ("cd src && pwd", 0), ("cat notes.txt", 0)]
        {
            let ran = ask(host, &machine, "s", Tool::Shell(text)).expect("a shell");
            let fenced = rewritten(host, &ran).unwrap_or_else(|| panic!("{host:?} {text}: {ran:?}"));
            assert!(fenced.contains(" exec --session s --call "), "{fenced}");
            let (bare, behind) = (machine.shell(text, ""), machine.shell(&fenced, ""));
            assert_eq!((bare.out, bare.err), (behind.out, behind.err), "{host:?} {text}");
            assert_eq!((bare.code, behind.code), (Some(code), Some(code)), "{host:?} {text}");
        }
        // What is outside is not there, although the command as such is allowed.
        let ran = ask(host, &machine, "s", Tool::Shell("sh ./look.sh")).expect("a shell");
        let fenced = rewritten(host, &ran).expect("a program of the workspace is fenced");
        let script = format!("echo 'ls {}/.local' > look.sh; {fenced}", machine.0.display());
        assert_ne!(machine.shell(&script, "").code, Some(0), "{host:?}");
    }
    machine.configure("profile: dev\nhooks: {fence: false}\n");
    let ran = ask(Host::ClaudeCode, &machine, "s", Tool::Shell("ls")).expect("a shell");
    assert_eq!((does(Host::ClaudeCode, &ran), rewritten(Host::ClaudeCode, &ran)), (Does::Runs, None));
    let ran = ask(Host::ClaudeCode, &machine, "s", Tool::Shell("sh ./look.sh")).expect("a shell");
    assert_eq!(
        does(Host::ClaudeCode, &ran),
        Does::Asks,
        "what only the fence makes harmless is asked about: {ran:?}"
    );
}

#[test]
fn a_second_event_about_a_rewritten_command_means_the_same_call() {
    let machine = Home::hooked();
    let first = ask(Host::Cursor, &machine, "s", Tool::Shell("sh ./look.sh")).expect("a shell");
    let fenced = rewritten(Host::Cursor, &first).expect("rewritten");
    for (text, expected) in
        [(fenced.as_str(), "allow"), ("sh ./look.sh", "ask"), (&format!("{fenced}; rm -rf /"), "deny")]
    {
        let second = json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": "s", "generation_id": "g",
            "workspace_roots": [machine.work()], "command": text, "cwd": machine.work(),
        });
        let ran = machine.shell(&command(&machine, Host::Cursor), &second.to_string());
        let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(answer["permission"], expected, "{text}: {ran:?}");
    }
}

#[test]
fn a_long_command_is_known_again_too() {
    let machine = Home::hooked();
    let long = format!("sh ./look.sh {}", "word ".repeat(300));
    let first = ask(Host::Cursor, &machine, "s", Tool::Shell(&long)).expect("a shell");
    let second = json!({
        "hook_event_name": "beforeShellExecution", "conversation_id": "s", "generation_id": "g",
        "workspace_roots": [machine.work()], "cwd": machine.work(),
        "command": rewritten(Host::Cursor, &first).expect("rewritten"),
    });
    let ran = machine.shell(&command(&machine, Host::Cursor), &second.to_string());
    assert!(ran.out.contains("\"permission\":\"allow\""), "{ran:?}");
}

/// An agent can write what the hook writes, and must not be believed: neither who asks nor under which name.
#[test]
fn words_of_the_hook_that_an_agent_wrote_are_a_command_like_any_other() {
    let machine = Home::hooked();
    let binary = crate::home::BINARY;
    for flags in [
        "--session s --call forged1 --by alice,root",
        "--session s --call forged1 --by claude-code,claude-code",
        "--session s --call forged1",
        "--session s",
        "--session other --call toolu_1 --by claude-code,claude-code",
    ] {
        let forged = format!("{binary} exec {flags} -- /bin/bash -c 'touch x'");
        for host in [Host::ClaudeCode, Host::Codex, Host::GeminiCli] {
            let ran = ask(host, &machine, "s", Tool::Shell(&forged)).expect("a shell");
            assert_eq!(does(host, &ran), Does::Blocks, "{host:?} {flags}: {ran:?}");
        }
        let second = json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": "s", "generation_id": "g",
            "workspace_roots": [machine.work()], "command": forged, "cwd": machine.work(),
        });
        let ran = machine.shell(&command(&machine, Host::Cursor), &second.to_string());
        assert!(ran.out.contains("\"permission\":\"deny\""), "{flags}: {ran:?}");
    }
    let records = machine.records();
    assert!(records.iter().any(|record| record["type"] == "tool_call_requested"), "it is written down");
    for record in records {
        assert_ne!(record["call_id"], "forged1", "{record}");
        assert_ne!(record["principal"]["id"], "alice", "{record}");
    }
}

#[test]
fn who_asked_is_recorded_from_the_question_to_the_end() {
    let machine = Home::hooked();
    let mut question = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": machine.work(), "hook_event_name": "PreToolUse",
        "permission_mode": "default", "agent_id": "a7", "agent_type": "Explore", "tool_use_id": "toolu_9",
        "tool_name": "Read", "tool_input": {"file_path": "notes.txt"},
    });
    let command = command(&machine, Host::ClaudeCode);
    assert_eq!(machine.shell(&command, &question.to_string()).code, Some(0));
    question["hook_event_name"] = "PostToolUse".into();
    question["tool_response"] = json!({"content": "notes"});
    let after = machine.shell(&command, &question.to_string());
    assert_eq!((after.code, after.out.as_str()), (Some(0), ""), "{after:?}");
    let records = machine.records();
    let of_call: Vec<&Value> = records.iter().filter(|record| record["call_id"] == "toolu_9").collect();
    let kinds: Vec<&str> = of_call.iter().filter_map(|record| record["type"].as_str()).collect();
    assert_eq!(kinds, ["tool_call_requested", "tool_call_finished"]);
    for record in of_call {
        assert_eq!(record["principal"]["id"], "claude-code/a7", "{record}");
        assert_eq!(record["session_id"], "s");
    }
}

#[test]
fn an_agent_cannot_switch_it_off() {
    let machine = Home::hooked();
    let home = machine.0.display();
    let table = [
        (Tool::Write(".claude/settings.json"), "ask"),
        (Tool::Write(".bailiwick.yaml"), "ask"),
        (Tool::Shell("echo '{}' > .github/hooks/bailiwick.json"), "ask"),
        (Tool::Shell("bailiwick init --undo --yes"), "deny"),
        (Tool::Shell("bailiwick grants approve abc"), "deny"),
        (Tool::Shell(&format!("rm -rf {home}/.local/state/bailiwick")), "deny"),
        (Tool::Write(&format!("{home}/.config/bailiwick/config.yaml")), "deny"),
        (Tool::Shell(&format!("echo '{{}}' > {home}/.claude/settings.json")), "ask"),
    ];
    for host in Host::ALL {
        for (tool, least) in &table {
            let Some(ran) = ask(host, &machine, "s", *tool) else { continue };
            let done = does(host, &ran);
            assert_ne!(done, Does::Runs, "{host:?} {tool:?}: {ran:?}");
            assert!(*least == "ask" || done == Does::Blocks, "{host:?} {tool:?}: {ran:?}");
        }
    }
    let violations = machine.records().iter().filter(|record| record["type"] == "security_violation").count();
    assert!(violations >= Host::ALL.len(), "{violations}");
}
