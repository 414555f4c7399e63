//! A question that a host cannot put is answered from a terminal of the person's own, and then the same call is allowed, once
//! or for the session.

use door_hook::Host;
use serde_json::Value;

use crate::home::Home;
use crate::hosts::{Does, Tool, ask, does};

fn waiting(machine: &Home) -> Vec<Value> {
    let listed: Vec<Value> = serde_json::from_str(&machine.run(&["grants", "--json"]).out).expect("JSON");
    listed.into_iter().filter(|grant| grant["kind"] == "waiting").collect()
}

#[test]
fn what_a_person_approves_later_is_allowed_once_in_that_session() {
    // A typed confirmation needs a terminal: the call is none of critical risk.
    const CALL: Tool<'static> = Tool::Shell("git reset --hard");
    for host in Host::ALL {
        let machine = Home::hooked();
        let asked = ask(host, &machine, "s", CALL).expect("a shell");
        assert_ne!(does(host, &asked), Does::Runs, "{host:?}: {asked:?}");
        let [question] = waiting(&machine).try_into().expect("one question");
        let id = question["id"].as_str().expect("an id").to_owned();
        let approved = machine.run(&["grants", "approve", &id]);
        assert_eq!(approved.code, Some(0), "{approved:?}");
        let elsewhere = ask(host, &machine, "another", CALL).expect("a shell");
        assert_ne!(does(host, &elsewhere), Does::Runs, "{host:?}: another session: {elsewhere:?}");
        let other = ask(host, &machine, "s", Tool::Shell("git reset --hard HEAD~1")).expect("a shell");
        assert_ne!(does(host, &other), Does::Runs, "{host:?}: another call: {other:?}");
        let again = ask(host, &machine, "s", CALL).expect("a shell");
        assert_eq!(does(host, &again), Does::Runs, "{host:?}: {again:?}");
        if host == Host::Cursor {
            // Its second event about the same call uses the yes up.
            let second = serde_json::json!({
                "hook_event_name": "beforeShellExecution", "conversation_id": "s", "generation_id": "g",
                "workspace_roots": [machine.work()], "command": "git reset --hard", "cwd": machine.work(),
            });
            let command = crate::hosts::command(&machine, host);
            let ran = machine.shell(&command, &second.to_string());
            assert_eq!(does(host, &ran), Does::Runs, "{ran:?}");
            assert!(ran.out.contains("\"permission\":\"allow\""), "{ran:?}");
        }
        let third = ask(host, &machine, "s", CALL).expect("a shell");
        assert_ne!(does(host, &third), Does::Runs, "{host:?}: once is once: {third:?}");
    }
}

#[test]
fn a_yes_for_the_session_holds_for_the_session() {
    let machine = Home::hooked();
    let call = Tool::Write(".git/hooks/pre-commit");
    assert_eq!(
        does(Host::OpenCode, &ask(Host::OpenCode, &machine, "s", call).expect("a tool")),
        Does::Blocks
    );
    let [question] = waiting(&machine).try_into().expect("one question");
    let id = question["id"].as_str().expect("an id").to_owned();
    assert_eq!(machine.run(&["grants", "approve", &id, "--for-session"]).code, Some(0));
    for _ in 0..3 {
        let ran = ask(Host::OpenCode, &machine, "s", call).expect("a tool");
        assert_eq!(does(Host::OpenCode, &ran), Does::Runs, "{ran:?}");
    }
    let decided: Vec<Value> =
        machine.records().into_iter().filter(|record| record["type"] == "approval_decided").collect();
    assert_eq!(decided.len(), 3, "{decided:?}");
    assert!(decided.iter().all(|record| record["payload"]["reason"] == "cached"), "{decided:?}");
}

#[test]
fn rules_of_the_configuration_answer_before_anybody_is_asked() {
    let machine = Home::hooked();
    machine.configure(
        "profile: dev\napproval:\n  rules:\n    - {decision: approved, tool: Bash, command: git push}\n",
    );
    for (call, expected) in [("git push", Does::Runs), ("git reset --hard", Does::Blocks)] {
        let ran = ask(Host::Codex, &machine, "s", Tool::Shell(call)).expect("a shell");
        assert_eq!(does(Host::Codex, &ran), expected, "{ran:?}");
        let waits = ran.out.contains("bailiwick grants approve ");
        assert_eq!(waits, expected == Does::Blocks, "what no rule decides is a person's: {ran:?}");
    }
}

#[test]
fn a_person_sees_the_whole_command_and_the_name_of_the_question_stays() {
    const CALL: Tool<'static> = Tool::Shell("echo pwn > .git/hooks/pre-commit");
    for host in [Host::Codex, Host::OpenCode, Host::Cursor] {
        let machine = Home::hooked();
        let asked = ask(host, &machine, "s", CALL).expect("a shell");
        assert_eq!(does(host, &asked), Does::Blocks, "{host:?}: {asked:?}");
        assert!(!format!("{asked:?}").contains("without the fence"), "{host:?}: {asked:?}");
        let [first] = waiting(&machine).try_into().expect("one question");
        assert_ne!(does(host, &ask(host, &machine, "s", CALL).expect("a shell")), Does::Runs);
        let [again] = waiting(&machine).try_into().expect("one question");
        assert_eq!(first["id"], again["id"], "{host:?}");
        assert_eq!(again["call"], "echo pwn > .git/hooks/pre-commit");
        assert_eq!(again["directory"], machine.work());
        let told = machine.run(&["grants"]).out;
        let id = first["id"].as_str().expect("an id");
        let approved = machine.run(&["grants", "approve", id]).out;
        for text in [told, approved] {
            for part in
                ["| echo pwn > .git/hooks/pre-commit", "would write(", ".git/hooks/pre-commit)", "risk "]
            {
                assert!(text.contains(part), "{host:?}: {part} in {text}");
            }
        }
        assert_eq!(does(host, &ask(host, &machine, "s", CALL).expect("a shell")), Does::Runs, "{host:?}");
    }
}

#[test]
fn a_host_that_asks_itself_says_that_its_command_runs_without_the_fence() {
    let machine = Home::hooked();
    let asked = ask(Host::ClaudeCode, &machine, "s", Tool::Shell("git reset --hard")).expect("a shell");
    assert!(asked.out.contains("without the fence"), "{asked:?}");
}

#[test]
fn names_that_could_be_secrets_are_shown_as_the_journal_has_them() {
    const SECRET: &str = "ghp_Aq3kL9xTz0Wm2Yv7Rb5Nc8Ue1Hj4Fd6Gs0P";
    let machine = Home::hooked();
    ask(Host::OpenCode, &machine, SECRET, Tool::Shell("git reset --hard")).expect("a shell");
    let auto = machine.run(&["grants", "auto", "--session", SECRET, "--tool", SECRET]);
    for said in [auto.out, machine.run(&["grants"]).out, machine.run(&["grants", "--json"]).out] {
        assert!(!said.contains("Aq3kL9x") && said.contains("digest-"), "{said}");
    }
    let [question] = waiting(&machine).try_into().expect("one question");
    let session = question["session"].as_str().expect("a name");
    assert_eq!(machine.run(&["grants", "revoke", "--session", session]).out, "2 taken back\n");
}
