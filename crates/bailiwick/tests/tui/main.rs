//! `bailiwick tui` on a real terminal, with a model that follows a script: what a person sees, what keys do, and what is left of the
//! terminal afterwards.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of a test may fail as the test itself may"
)]

#[path = "../../../door-agent/tests/scripted/mod.rs"]
mod scripted;
mod sitting;

use scripted::{Answer, Protocol, Server, call, text};
use serde_json::json;
use sitting::Sitting;

const CONTROL_C: &str = "\u{3}";
const CONTROL_D: &str = "\u{4}";

fn shell(command: &str) -> Answer {
    call("shell_command", json!({ "command": command }))
}

#[test]
fn a_task_is_done_with_an_approval_by_key_and_the_terminal_is_as_it_was() {
    for protocol in Protocol::ALL {
        let script = vec![
            call(
                "update_plan",
                json!({"plan": [{"step": "write it", "status": "in_progress"}, {"step": "rest", "status": "pending"}]}),
            ),
            shell("echo from-the-$((40 + 2)) && touch made.txt"),
            text("All is done now."),
        ];
        let server = Server::following(protocol, script);
        let mut sitting = Sitting::start(&server, 80, 24);
        sitting.until("Enter send");
        sitting.type_text("please do it");
        sitting.until("> please do it");
        sitting.type_text("\r");
        sitting.until("bailiwick asks");
        sitting.until("touch made.txt");
        assert!(!sitting.exists("made.txt"));
        // At another size it can still be read and answered.
        sitting.resize(50, 14);
        sitting.until_gone("please do it");
        sitting.until("touch made.txt");
        sitting.pause();
        sitting.type_text("y");
        sitting.until("All is done now.");
        sitting.resize(100, 30);
        sitting.until("from-the-42");
        sitting.until("plan 0/2");
        assert!(sitting.exists("made.txt"));
        sitting.type_text(CONTROL_D);
        assert_eq!(sitting.ended(), Some(0));
        sitting.assert_given_back();
    }
}

/// A key that comes together with a new size of the window is not left lying until the next key.
#[test]
fn keys_count_while_the_window_changes() {
    let server = Server::following(Protocol::OpenAi, vec![text("Hello.")]);
    let mut sitting = Sitting::start(&server, 80, 24);
    sitting.until("Enter send");
    let mut typed = String::from("> ");
    for number in 0..60_u16 {
        let letter = char::from(b'a' + u8::try_from(number % 26).expect("a letter"));
        typed.push(letter);
        sitting.resize(80 + number % 2, 24);
        sitting.type_text(&letter.to_string());
        sitting.until(&typed);
    }
}

#[test]
fn a_no_and_a_paste_run_nothing() {
    let server = Server::following(Protocol::OpenAi, vec![shell("touch made.txt"), text("Then not.")]);
    let mut sitting = Sitting::start(&server, 80, 24);
    sitting.until("Enter send");
    sitting.type_text("go\r");
    sitting.until("bailiwick asks");
    sitting.pause();
    sitting.type_text("\u{1b}[200~y\r\u{1b}[201~");
    sitting.until("a paste answers nothing");
    sitting.pause();
    sitting.type_text("n");
    sitting.until("Then not.");
    sitting.until("denied");
    assert!(!sitting.exists("made.txt"));
    sitting.type_text(CONTROL_D);
    assert_eq!(sitting.ended(), Some(0));
    sitting.assert_given_back();
}

#[test]
fn control_c_stops_what_runs_and_twice_quits() {
    let server = Server::following(Protocol::OpenAi, vec![shell("echo begun; sleep 60"), text("Next.")]);
    let mut sitting = Sitting::start(&server, 80, 24);
    sitting.until("Enter send");
    sitting.type_text("go\r");
    sitting.until("bailiwick asks");
    sitting.pause();
    sitting.type_text("y");
    sitting.until("begun");
    sitting.type_text(CONTROL_C);
    sitting.until("interrupted");
    // It waits for what is said next.
    sitting.pause_for(2100);
    sitting.type_text("go on\r");
    sitting.until("Next.");
    sitting.type_text(CONTROL_C);
    sitting.type_text(CONTROL_C);
    assert!(sitting.ended().is_some());
    sitting.assert_given_back();
}

#[test]
fn the_agents_question_is_answered_by_choice() {
    let ask = call("ask_human", json!({"question": "Which colour?", "choices": ["red", "green"]}));
    let server = Server::following(Protocol::OpenAi, vec![ask, text("Thank you.")]);
    let mut sitting = Sitting::start(&server, 80, 24);
    sitting.until("Enter send");
    sitting.type_text("go\r");
    sitting.until("Which colour?");
    sitting.pause();
    sitting.type_text("\u{1b}[B");
    sitting.until("> 2. green");
    sitting.type_text("\r");
    sitting.until("Thank you.");
    assert!(server.seen().last().expect("a request").all().contains("green"));
    sitting.type_text(CONTROL_D);
    assert_eq!(sitting.ended(), Some(0));
}

// TUI-3
#[test]
fn signals_give_the_terminal_back() {
    let server = Server::following(Protocol::OpenAi, vec![text("Hello.")]);
    let mut sitting = Sitting::start(&server, 80, 24);
    sitting.until("Enter send");
    // Stopped, the terminal is the shell's; going on, it is taken again.
    sitting.signal(rustix::process::Signal::TSTP);
    sitting.until_stopped();
    sitting.assert_given_back();
    sitting.signal(rustix::process::Signal::CONT);
    sitting.until("Enter send");
    sitting.type_text("hi\r");
    sitting.until("Hello.");
    sitting.signal(rustix::process::Signal::TERM);
    assert_eq!(sitting.ended(), Some(143));
    sitting.assert_given_back();
}

#[test]
fn without_a_terminal_there_is_no_screen() {
    let server = Server::following(Protocol::OpenAi, vec![text("Hello.")]);
    let (code, said) = Sitting::without_terminal(&server);
    assert_eq!(code, Some(125));
    assert!(said.contains("a screen needs a terminal"), "{said}");
}
