//! RUN-8: a conversation at a terminal: questions are asked in place, modes show, Ctrl-C interrupts and twice quits.

use std::time::Duration;

use serde_json::json;

use crate::home::{Home, Ran};
use crate::scripted::{Answer, Protocol, Server, call, text};

fn chat(home: &Home, server: &Server, typed: &[(&str, &str)]) -> Ran {
    let mut all: Vec<String> = vec!["chat".into(), "--profile".into(), "dev".into()];
    all.extend(crate::talk::flags(server));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    home.at_terminal(typed, &all)
}

#[test]
fn a_question_is_asked_in_place_and_answered_and_the_turn_goes_on() {
    let asks = || call("shell_command", json!({"command": "git reset --hard"}));
    for (answer, ran) in [("y\\n", true), ("n\\n", false)] {
        let home = Home::new();
        let server = Server::following(Protocol::Anthropic, vec![asks(), text("That was it.")]);
        let seen =
            chat(&home, &server, &[("you>", "please reset\\n"), (" > ", answer), ("you>", "/quit\\n")]);
        assert_eq!(seen.code, 0, "{seen:?}");
        assert!(seen.out.contains("bailiwick asks") && seen.out.contains("git reset --hard"), "{}", seen.out);
        assert!(seen.out.contains("That was it."), "{}", seen.out);
        let told = server.seen()[1].last().to_owned();
        assert_eq!(told.contains("error: permission"), !ran, "{told}");
    }
}

#[test]
fn modes_plan_grants_and_help_are_commands() {
    let home = Home::new();
    let plan =
        json!({"plan": [{"step": "think", "status": "completed"}, {"step": "act", "status": "in_progress"}]});
    let server = Server::following(
        Protocol::OpenAi,
        vec![
            call("update_plan", plan),
            text("planned"),
            call("shell_command", json!({"command": "git reset --hard"})),
            text("did it"),
        ],
    );
    let seen = chat(
        &home,
        &server,
        &[
            ("you>", "/help\\n"),
            ("you>", "make a plan\\n"),
            ("you>", "/plan\\n"),
            ("you>", "/auto\\n"),
            ("you>", "reset\\n"),
            ("you>", "/grants\\n"),
            ("you>", "/default\\n"),
            ("you>", "/nonsense\\n"),
            ("you>", "/quit\\n"),
        ],
    );
    assert_eq!(seen.code, 0, "{seen:?}");
    for part in [
        "Ctrl-C interrupts",
        "[x] think",
        "[>] act",
        "[auto 60m]",
        "did it",
        "everything that is asked about",
        "no command",
    ] {
        assert!(seen.out.contains(part), "{part}: {}", seen.out);
    }
    assert!(!seen.out.contains("bailiwick asks"), "what auto approves is not asked: {}", seen.out);
    let journal = home.run(&["journal", "export"]).out;
    assert!(
        journal.contains("grant_added")
            && journal.contains("grant_revoked")
            && journal.contains("auto_approve"),
        "{journal}"
    );
}

#[test]
fn an_agent_can_ask_the_person_something() {
    let home = Home::new();
    let server = Server::following(
        Protocol::Anthropic,
        vec![
            call("ask_human", json!({"question": "Which colour?", "choices": ["red", "blue"]})),
            text("Blue it is."),
        ],
    );
    let seen = chat(&home, &server, &[("you>", "paint\\n"), ("Which colour?", "2\\n"), ("you>", "/quit\\n")]);
    assert_eq!(seen.code, 0, "{seen:?}");
    assert!(server.seen()[1].last().contains("blue"), "{}", server.seen()[1].last());
}

#[test]
fn an_interrupt_stops_the_turn_and_two_quit() {
    let home = Home::new();
    let server = Server::start(Protocol::OpenAi, |seen, _| {
        if seen.last().contains("slow") {
            Answer::Hangs("wait".into(), Duration::from_secs(15))
        } else {
            text("fast again")
        }
    });
    let seen = chat(
        &home,
        &server,
        &[
            ("you>", "be slow\\n"),
            ("wait", "\\x03"),
            ("you>", "be quick\\n"),
            ("you>", "\\x03"),
            ("again quits", "\\x03"),
        ],
    );
    assert_eq!(seen.code, 0, "{seen:?}");
    assert!(seen.out.contains("interrupted") && seen.out.contains("fast again"), "{}", seen.out);
}
