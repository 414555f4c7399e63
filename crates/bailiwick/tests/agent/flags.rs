//! RUN-7: how careful a run is where nobody says, and what each flag changes, as a table.

use serde_json::{Value, json};

use crate::home::Home;
use crate::scripted::{Protocol, Server, call, text};
use crate::talk::run_with;

/// One row: flags, the user's configuration, and what is decided about a write inside, a read outside, and a command.
type Row = (&'static str, &'static [&'static str], &'static str, [&'static str; 3]);

const ROWS: &[Row] = &[
    ("the defaults", &[], "", ["ask", "deny", "ask"]),
    ("a profile says enough", &["--profile", "dev"], "", ["allow", "ask", "allow"]),
    ("a profile in a file too", &[], "profile: dev", ["allow", "ask", "allow"]),
    ("no approval", &["--no-require-approval"], "", ["allow", "deny", "allow"]),
    ("no boundary", &["--no-restrict-to-cwd"], "", ["ask", "ask", "ask"]),
    ("neither", &["--no-require-approval", "--no-restrict-to-cwd"], "", ["allow", "ask", "allow"]),
    ("read-only", &["--read-only"], "", ["deny", "deny", "deny"]),
    (
        "denied paths",
        &["--no-require-approval", "--denied-paths", "**/inside.txt,**/*.bak"],
        "",
        ["deny", "deny", "allow"],
    ),
    (
        "allowed paths",
        &["--no-require-approval", "--allowed-paths", "<cwd>/**,/data/**"],
        "",
        ["allow", "allow", "allow"],
    ),
    (
        "allowed paths win",
        &["--no-require-approval", "--restrict-to-cwd", "--allowed-paths", "/data/**"],
        "",
        ["deny", "allow", "allow"],
    ),
    (
        "the last flag counts",
        &["--require-approval", "--no-require-approval"],
        "",
        ["allow", "deny", "allow"],
    ),
    (
        "flags above a profile",
        &["--profile", "dev", "--require-approval", "--restrict-to-cwd"],
        "",
        ["ask", "deny", "ask"],
    ),
    (
        "a boundary of the user's",
        &[],
        "profile: dev\nsafety: {allowed_paths: ['/data/**']}",
        ["deny", "allow", "allow"],
    ),
    (
        "lifted by its owner",
        &["--no-restrict-to-cwd"],
        "profile: dev\nsafety: {allowed_paths: ['/data/**']}",
        ["allow", "ask", "allow"],
    ),
    (
        "a file that says so",
        &[],
        "safety: {require_approval_for_writes: false, require_approval_for_execute: false, mode: allow}",
        // Without a profile there is no fence, and nothing else holds a command to the boundary.
        ["allow", "deny", "ask"],
    ),
];

/// A variable that turned out empty lifts no boundary.
#[test]
fn an_empty_pattern_is_refused() {
    for words in [["--allowed-paths", ""], ["--allowed-paths", "/data/**,"], ["--denied-paths", " "]] {
        let home = Home::new();
        let server = Server::following(Protocol::Anthropic, vec![text("ok")]);
        let all: Vec<&str> = ["run", "--json", "do it"].into_iter().chain(words).collect();
        let told = run_with(&home, &server, &all);
        assert_eq!(told.ran.code, Some(125), "{words:?}: {:?}", told.ran);
        assert!(told.ran.err.contains("empty pattern") && server.seen().is_empty(), "{:?}", told.ran);
    }
}

#[test]
fn each_flag_and_each_default_decides_as_the_table_says() {
    let made = [
        ("file_write", json!({"path": "inside.txt", "content": "x"})),
        ("read_file", json!({"file_path": "/data/outside.txt"})),
        ("shell_exec", json!({"argv": ["true"]})),
    ];
    for (name, flags, yaml, expected) in ROWS {
        // One run for each call: what must be approved ends it, for nobody could.
        for ((tool, args), expected) in made.iter().zip(expected) {
            let home = Home::new();
            if !yaml.is_empty() {
                home.configure(yaml);
            }
            let server = Server::following(Protocol::Anthropic, vec![call(tool, args.clone()), text("ok")]);
            let mut words = vec!["run", "--json", "do it"];
            words.extend(*flags);
            let told = run_with(&home, &server, &words);
            let judged: Vec<&Value> =
                told.of("tool_judged").iter().map(|event| &event["ruling"]["decision"]).collect();
            assert_eq!(judged, [expected], "{name}, {tool}: {:?}", told.ran);
            // What no fence can be built for is refused before anybody is asked.
            let finished = told.of("tool_finished");
            let unfenced = finished.iter().any(|event| event["end"]["error_kind"] == "sandbox_denied");
            let code = if *expected == "ask" && !unfenced { 125 } else { 0 };
            assert_eq!(told.ran.code, Some(code), "{name}, {tool}: {:?}", told.ran);
        }
    }
}
