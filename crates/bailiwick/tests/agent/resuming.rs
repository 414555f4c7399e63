//! RUN-4: a run is taken up again with what was said, if the journal knows it, and never with what was granted.

use serde_json::json;

use crate::home::Home;
use crate::scripted::{Protocol, Server, call, text};
use crate::talk::{run, run_with};

#[test]
#[expect(clippy::disallowed_methods, reason = "a test has files")]
fn a_run_is_taken_up_with_what_was_said_and_a_changed_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let server = Server::following(
        Protocol::Anthropic,
        vec![
            call("file_read", json!({"path": "notes.txt"})),
            text("I have read the notes."),
            text("I remember them."),
        ],
    );
    let first = run(&home, &server, &[]);
    assert_eq!(first.ran.code, Some(0), "{:?}", first.ran);
    let run_id = first.run_id();
    let file = home.0.join(format!(".local/state/bailiwick/runs/{run_id}.jsonl"));
    assert_eq!(file.metadata().expect("the file").permissions().mode() & 0o777, 0o600);

    let words = ["run", "--json", "--profile", "dev", "--resume", &run_id, "and now?"];
    let second = run_with(&home, &server, &words);
    assert_eq!(second.ran.code, Some(0), "{:?}", second.ran);
    assert_eq!(second.of("run_started")[0]["resumed"], true);
    let asked = server.seen()[2].all();
    for part in ["do it", "notes\n", "I have read the notes.", "and now?"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }

    // A third time works too: the journal knows what the second life added.
    let third = run_with(&home, &server, &words);
    assert_eq!(third.ran.code, Some(0), "{:?}", third.ran);

    let text = std::fs::read_to_string(&file).expect("the conversation");
    let changed = text.replacen("I have read", "I have eaten", 1);
    assert_ne!(changed, text);
    std::fs::write(&file, changed).expect("the file");
    let refused = run_with(&home, &server, &words);
    assert_eq!(refused.ran.code, Some(125), "{:?}", refused.ran);
    assert!(refused.ran.err.contains("not the one that the journal knows"), "{}", refused.ran.err);

    // What the journal never learnt of is cut off.
    std::fs::write(&file, format!("{text}{{\"role\":\"user\",\"text\":\"smuggled in\"}}\n"))
        .expect("the file");
    let cut = run_with(&home, &server, &words);
    assert_eq!(cut.ran.code, Some(0), "{:?}", cut.ran);
    assert!(!server.seen().last().expect("a request").all().contains("smuggled in"));

    for name in ["run-0000-0000-0000", "../../etc/passwd", ""] {
        let unknown = run_with(&home, &server, &["run", "--json", "--profile", "dev", "--resume", name, "x"]);
        assert_eq!(unknown.ran.code, Some(125), "{name}: {:?}", unknown.ran);
    }
}

#[test]
fn what_was_granted_for_the_session_is_asked_again_in_the_next_life() {
    let home = Home::new();
    let approving =
        "profile: dev\napproval: {rules: [{command: 'git reset', decision: approved_for_session}]}\n";
    home.configure(approving);
    let asks = || call("shell_command", json!({"command": "git reset --hard"}));
    let server =
        Server::following(Protocol::OpenAi, vec![asks(), asks(), text("ok"), asks(), text("unreached")]);
    let first = run_with(&home, &server, &["run", "--json", "do it"]);
    assert_eq!(first.ran.code, Some(0), "{:?}", first.ran);
    assert_eq!(first.of("approval_asked").len(), 1, "the second is covered by the grant");
    home.configure("profile: dev\n");
    let second = run_with(&home, &server, &["run", "--json", "--resume", &first.run_id(), "again"]);
    assert_eq!(
        (second.ran.code, &second.last()["reason"]),
        (Some(125), &json!("config_error")),
        "{:?}",
        second.ran
    );
}
