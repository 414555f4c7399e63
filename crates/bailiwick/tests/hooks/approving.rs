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
