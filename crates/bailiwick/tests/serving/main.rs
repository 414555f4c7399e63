//! `bailiwick serve` as its users start it: a question waits, is answered, the call runs; a restart approves nothing. SRV-1,
//! SRV-9.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test says what it expects, and has files and processes of its own"
)]

mod flags;
#[path = "../shared/home.rs"]
#[expect(dead_code, reason = "shared by several test programs")]
mod home;
mod server;
mod socket;

use std::process::Command;

use home::Home;
use serde_json::json;
use server::{Server, approver};

/// Writing below `asked` is asked about.
const CONFIGURATION: &str =
    "profile: dev\nrules: [{name: careful, action: ask, tool: file_write, path_patterns: ['/asked/']}]\n";

fn careful() -> Home {
    let home = Home::new();
    home.configure(CONFIGURATION);
    std::fs::create_dir(home.0.join("work/asked")).expect("a directory");
    home
}

fn ran(home: &Home, name: &str) -> bool {
    home.0.join("work/asked").join(name).exists()
}

#[test]
fn a_question_waits_is_answered_and_the_call_runs() {
    let home = careful();
    let server = Server::start(&home, &[]);
    assert!(!server.said.contains(&server.token), "the token is told to whatever reads standard error");
    // With nobody there it is no at once.
    assert_eq!(server.write("alone").0, 409);
    let _here = approver(&server);
    for (name, decision, runs) in [("yes", "approved", true), ("no", "denied", false)] {
        std::thread::scope(|scope| {
            let call = scope.spawn(|| server.write(name));
            let question = server.question();
            assert!(!ran(&home, name));
            assert_eq!(question["rule"]["id"], "careful", "{question}");
            let path = format!("/v1/approvals/{}", question["id"].as_str().expect("an id"));
            let (status, told) = server.ask("POST", &path, Some(&json!({"decision": decision})));
            assert_eq!((status, told["by"].as_str()), (200, Some("tester")), "{told}");
            let (status, result) = call.join().expect("an answer");
            assert_eq!((status == 200, ran(&home, name)), (runs, runs), "{result}");
        });
    }
    assert_eq!(server.end(), 0);
    let verified = home.run(&["journal", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn after_a_restart_nothing_is_approved_and_what_waits_for_a_retry_still_does() {
    let home = careful();
    let mut server = Server::start(&home, &[]);
    let token = server.token.clone();
    assert_eq!(server.write("later").0, 409);
    let here = approver(&server);
    let open = std::thread::scope(|scope| {
        let call = scope.spawn(|| server.write("open"));
        let open = server.question();
        // The server dies without a word.
        let id = server.child.id().to_string();
        Command::new("kill").args(["-KILL", &id]).status().expect("kill");
        let (status, _) = call.join().expect("an answer");
        assert_ne!(status, 200);
        open
    });
    let _gone = server.child.wait();
    drop(here);
    let server = Server::start(&home, &[]);
    assert_eq!(server.token, token, "the token lasts");
    let (_, listed) = server.ask("GET", "/v1/approvals", None);
    let waiting = listed["approvals"].as_array().cloned().unwrap_or_default();
    assert_eq!(waiting.len(), 1, "{listed}");
    assert_eq!(
        (waiting[0]["waits"].as_str(), waiting[0]["what"].as_str()),
        (Some("elsewhere"), Some("asked/later"))
    );
    let path = format!("/v1/approvals/{}", open["id"].as_str().expect("an id"));
    assert_eq!(server.ask("POST", &path, Some(&json!({"decision": "approved"}))).0, 404);
    assert!(!ran(&home, "open") && !ran(&home, "later"));
    // A yes to the one that waits counts for its next try.
    let path = format!("/v1/approvals/{}", waiting[0]["id"].as_str().expect("an id"));
    assert_eq!(server.ask("POST", &path, Some(&json!({"decision": "approved"}))).0, 200);
    assert_eq!(server.write("later").0, 200);
    assert!(ran(&home, "later"));
    assert_eq!(server.end(), 0);
}

#[test]
fn it_listens_for_others_only_where_that_is_said_plainly() {
    let home = Home::new();
    for words in [
        &["serve", "--listen", "192.0.2.1:1"][..],
        &["serve", "--listen", "0.0.0.0:0", "--reachable-by-others"],
        &["serve", "--listen", "[::]:0"],
    ] {
        let ran = home.run(words);
        assert_eq!(ran.code, Some(125), "{words:?}: {ran:?}");
    }
}
