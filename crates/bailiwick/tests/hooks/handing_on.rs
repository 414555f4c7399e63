//! HOOK-5: a command that the hook rewrote and `exec` runs is one call: one story in the journal, and a yes for it is handed on once, for
//! exactly that command.

use door_hook::Host;
use serde_json::{Value, json};

use crate::home::Home;
use crate::hosts::{Does, Tool, ask, command, does, rewritten};

/// What a call names is open to it after a yes, so whether there is a fence is asked by a script.
const ASKED: &str = "git reset --hard 2>/dev/null; sh look.sh; echo it ran";

#[expect(clippy::disallowed_methods, reason = "a test has files")]
fn looking() -> Home {
    let machine = Home::hooked();
    std::fs::write(machine.0.join("work/look.sh"), "ls ~/.local >/dev/null 2>&1 && echo unfenced\n")
        .expect("a file");
    machine
}

fn claude(machine: &Home, id: &str, event: &str, text: &str) -> Value {
    json!({
        "session_id": "s", "transcript_path": "/t", "cwd": machine.work(), "hook_event_name": event,
        "permission_mode": "default", "agent_id": "a7", "agent_type": "Explore", "tool_use_id": id, "tool_name": "Bash",
        "tool_input": {"command": text},
    })
}

fn approve_the_one_question(machine: &Home) {
    let listed: Vec<Value> = serde_json::from_str(&machine.run(&["grants", "--json"]).out).expect("JSON");
    let waiting = listed.iter().find(|grant| grant["kind"] == "waiting").expect("a question");
    let approved = machine.run(&["grants", "approve", waiting["id"].as_str().expect("an id")]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
}

fn kinds(machine: &Home, id: &str) -> Vec<String> {
    let shown = machine.run(&["journal", "show", id, "--json"]);
    let records: Vec<Value> = serde_json::from_str(&shown.out).expect("JSON");
    for record in &records {
        assert_eq!(record["principal"], records[0]["principal"], "{record}");
        assert_eq!(record["payload"]["tool"], "Bash", "{record}");
    }
    records.iter().filter_map(|record| record["type"].as_str().map(str::to_owned)).collect()
}

#[test]
fn an_approved_command_runs_behind_the_fence_once() {
    for host in Host::ALL {
        let machine = looking();
        let asked = ask(host, &machine, "s", Tool::Shell(ASKED)).expect("a shell");
        assert_ne!(does(host, &asked), Does::Runs, "{host:?}: {asked:?}");
        // The control: without the fence it is seen.
        assert!(machine.shell("sh look.sh", "").out.contains("unfenced"), "the home has no state yet");
        approve_the_one_question(&machine);
        let again = ask(host, &machine, "s", Tool::Shell(ASKED)).expect("a shell");
        assert_eq!(does(host, &again), Does::Runs, "{host:?}: {again:?}");
        let fenced = rewritten(host, &again).unwrap_or_else(|| panic!("{host:?}: not fenced: {again:?}"));
        if host == Host::Cursor {
            let early = machine.shell(&fenced, "");
            assert_eq!(early.code, Some(126), "the yes is used up by its second event: {early:?}");
            let second = json!({
                "hook_event_name": "beforeShellExecution", "conversation_id": "s", "generation_id": "g",
                "workspace_roots": [machine.work()], "command": fenced, "cwd": machine.work(),
            });
            let ran = machine.shell(&command(&machine, host), &second.to_string());
            assert!(ran.out.contains("\"permission\":\"allow\""), "{ran:?}");
        }
        // Neither another command nor another directory has the yes, nor another call.
        for other in [
            fenced.replace("it ran", "it ran too"),
            format!("cd src && {fenced}"),
            fenced.replacen("--call ", "--call x", 1),
            fenced.replacen("--session s", "--session t", 1),
        ] {
            let ran = machine.shell(&other, "");
            assert_eq!(
                (ran.code, ran.out.contains("it ran")),
                (Some(126), false),
                "{host:?} {other}: {ran:?}"
            );
        }
        let ran = machine.shell(&fenced, "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "it ran\n"), "{host:?}: {ran:?}");
        let twice = machine.shell(&fenced, "");
        assert_eq!((twice.code, twice.out.contains("it ran")), (Some(126), false), "{host:?}: {twice:?}");
    }
}

#[test]
fn an_allowed_command_is_one_story() {
    for after in ["rewritten", "as it was", "nothing"] {
        let machine = Home::hooked();
        let hook = command(&machine, Host::ClaudeCode);
        let text = "echo one";
        let ran = machine.shell(&hook, &claude(&machine, "toolu_1", "PreToolUse", text).to_string());
        let fenced = rewritten(Host::ClaudeCode, &ran).unwrap_or_else(|| panic!("{ran:?}"));
        assert_eq!(machine.shell(&fenced, "").out, "one\n");
        let told = if after == "rewritten" { fenced.as_str() } else { text };
        if after != "nothing" {
            let mut question = claude(&machine, "toolu_1", "PostToolUse", told);
            question["tool_response"] = json!({"stdout": "one\n"});
            let ran = machine.shell(&hook, &question.to_string());
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
        }
        let expected = ["tool_call_requested", "tool_call_started", "tool_call_finished"];
        assert_eq!(kinds(&machine, "toolu_1"), expected, "{after}");
        let stats: Value =
            serde_json::from_str(&machine.run(&["journal", "stats", "--json"]).out).expect("JSON");
        let day = stats["days"].as_object().and_then(|days| days.values().next()).expect("a day");
        assert_eq!((&day["allow"], &stats["outcomes"]), (&json!(1), &json!({"finished": 1})), "{stats}");
        assert_eq!(machine.run(&["journal", "verify"]).code, Some(0));
    }
}

#[test]
fn an_approved_command_is_one_story() {
    let machine = looking();
    let hook = command(&machine, Host::ClaudeCode);
    machine.shell(&hook, &claude(&machine, "toolu_1", "PreToolUse", ASKED).to_string());
    approve_the_one_question(&machine);
    let ran = machine.shell(&hook, &claude(&machine, "toolu_2", "PreToolUse", ASKED).to_string());
    let fenced = rewritten(Host::ClaudeCode, &ran).unwrap_or_else(|| panic!("{ran:?}"));
    assert_eq!(machine.shell(&fenced, "").out, "it ran\n");
    let expected = ["tool_call_requested", "approval_decided", "tool_call_started", "tool_call_finished"];
    assert_eq!(kinds(&machine, "toolu_2"), expected);
}

#[test]
fn what_the_hook_let_through_and_the_policy_no_longer_does_is_refused_and_told() {
    let machine = Home::hooked();
    let hook = command(&machine, Host::ClaudeCode);
    let ran = machine.shell(&hook, &claude(&machine, "toolu_1", "PreToolUse", "echo one").to_string());
    let fenced = rewritten(Host::ClaudeCode, &ran).unwrap_or_else(|| panic!("{ran:?}"));
    machine.configure("profile: dev\nsafety: {denylist: [echo]}\n");
    let ran = machine.shell(&fenced, "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(126), ""), "{ran:?}");
    let expected = ["tool_call_requested", "tool_call_requested", "tool_call_finished"];
    assert_eq!(kinds(&machine, "toolu_1"), expected);
}

/// What runs without a shell is what would have run in one: each text against the same with an end that only a shell reads.
#[test]
fn a_plain_command_goes_without_a_shell_and_nobody_sees_it() {
    let machine = Home::hooked();
    let hook = command(&machine, Host::ClaudeCode);
    let run = |text: &str| {
        let ran = machine.shell(&hook, &claude(&machine, "toolu_1", "PreToolUse", text).to_string());
        let fenced = rewritten(Host::ClaudeCode, &ran).unwrap_or_else(|| panic!("{text}: {ran:?}"));
        let ran = machine.shell(&fenced, "in");
        let mut lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        (ran.code, lines, ran.err)
    };
    for (text, program) in [("ls -la", "/ls\n"), ("ls -la ;", "/bash\n"), ("echo ls", "/bash\n")] {
        let words = ["exec", "--plan", "--session", "s", "--call", "c", "--", "/bin/bash", "-c", text];
        let plan = machine.run(&words).out;
        assert!(
            plan.lines().any(|line| line.starts_with("program") && format!("{line}\n").ends_with(program)),
            "{plan}"
        );
    }
    for text in [
        "env",
        "printenv _ SHLVL PWD HOME",
        "ls -la",
        "ls 'no such' \"place\"",
        "cat",
        "grep -c in -",
        "basename a/b.c .c",
        "nosuchprogram --at all",
        "ps -o comm=",
        "readlink /proc/self/exe",
    ] {
        assert_eq!(run(text), run(&format!("{text} ;")), "{text}");
    }
}
