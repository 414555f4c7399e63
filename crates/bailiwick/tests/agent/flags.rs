//! RUN-7: how careful a run is where nobody says, and what each flag changes, as a table.

use serde_json::{Value, json};

use crate::home::Home;
use crate::scripted::{Protocol, Server, calls, text};
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
        &["--no-require-approval", "--allowed-paths", "<cwd>/**,/opt/**"],
        "",
        ["allow", "allow", "allow"],
    ),
    (
        "allowed paths win",
        &["--no-require-approval", "--restrict-to-cwd", "--allowed-paths", "/opt/**"],
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
        "profile: dev\nsafety: {allowed_paths: ['/opt/**']}",
        ["deny", "allow", "allow"],
    ),
    (
        "lifted by its owner",
        &["--no-restrict-to-cwd"],
        "profile: dev\nsafety: {allowed_paths: ['/opt/**']}",
        ["allow", "ask", "allow"],
    ),
    (
        "a file that says so",
        &[],
        "safety: {require_approval_for_writes: false, require_approval_for_execute: false, mode: allow}",
        ["allow", "deny", "allow"],
    ),
];

#[test]
fn each_flag_and_each_default_decides_as_the_table_says() {
    for (name, flags, yaml, expected) in ROWS {
        let home = Home::new();
        // Everything that is asked is denied, so that every call is judged.
        let denying = "approval: {rules: [{tool: no_such, decision: denied}]}";
        home.configure(&format!("{yaml}\n{denying}\n"));
        let server = Server::following(
            Protocol::Anthropic,
            vec![
                calls(&[
                    ("file_write", json!({"path": "inside.txt", "content": "x"})),
                    ("read_file", json!({"file_path": "/opt/outside.txt"})),
                    ("shell_exec", json!({"argv": ["true"]})),
                ]),
                text("ok"),
            ],
        );
        let mut words = vec!["run", "--json", "do it"];
        words.extend(*flags);
        let told = run_with(&home, &server, &words);
        let judged: Vec<Value> =
            told.of("tool_judged").iter().map(|event| event["ruling"]["decision"].clone()).collect();
        assert_eq!(judged, expected.map(Value::from), "{name}: {:?}", told.ran);
    }
}
