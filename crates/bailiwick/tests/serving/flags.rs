//! RUN-7 for `serve`: how careful it is where nobody says, and what each flag changes. The flags mean the directory that the
//! server was started in, whichever one a request names.

use serde_json::json;

use crate::home::Home;
use crate::server::Server;

/// One row: flags, and what is decided about a write inside, a read outside, a read in a directory that the request names, and
/// a command.
type Row = (&'static [&'static str], [&'static str; 4]);

const ROWS: &[Row] = &[
    (&[], ["allow", "ask", "allow", "allow"]),
    (&["--require-approval"], ["ask", "ask", "allow", "ask"]),
    (&["--require-approval", "--no-require-approval"], ["allow", "ask", "allow", "allow"]),
    (&["--restrict-to-cwd"], ["allow", "deny", "deny", "allow"]),
    (&["--restrict-to-cwd", "--no-restrict-to-cwd"], ["allow", "ask", "allow", "allow"]),
    (&["--read-only"], ["deny", "ask", "allow", "deny"]),
    (&["--denied-paths", "inside.txt,/data/**"], ["deny", "deny", "deny", "allow"]),
    (&["--allowed-paths", "./**"], ["allow", "deny", "deny", "allow"]),
    (&["--allowed-paths", "/data/**"], ["deny", "allow", "allow", "allow"]),
];

#[test]
fn each_flag_decides_as_the_table_says() {
    let calls = [
        json!({"tool": "file_write", "args": {"path": "inside.txt", "content": "x"}}),
        json!({"tool": "read_file", "args": {"file_path": "/data/outside.txt"}}),
        json!({"tool": "read_file", "args": {"file_path": "/data/outside.txt"}, "cwd": "/data"}),
        json!({"command": "true"}),
    ];
    for (flags, expected) in ROWS {
        let home = Home::new();
        home.configure("profile: dev");
        let server = Server::start(&home, flags);
        let decided = calls.each_ref().map(|call| server.ask("POST", "/v1/check", Some(call)).1);
        let decisions = decided.each_ref().map(|decided| decided["decision"].as_str().unwrap_or("nothing"));
        assert_eq!(decisions, *expected, "{flags:?}: {decided:?}");
    }
}
