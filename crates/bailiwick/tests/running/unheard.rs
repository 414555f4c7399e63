//! Nobody listens to standard error any more: what is decided, and the exit code, are the same.

use std::process::Stdio;

use crate::home::{BINARY, Home};

#[test]
fn whoever_stops_listening_changes_nothing() {
    let home = Home::new();
    for (words, code) in [
        (&["exec", "--", "true"][..], 0),
        (&["exec", "--", "cat", "/etc/shadow"], 126),
        (&["grants", "revoke", "no-such-grant"], 125),
        (&["hook", "no-such-host"], 2),
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = home.command(BINARY);
        command.args(words).stdout(Stdio::null()).stderr(writer);
        let status = command.status().expect("the binary");
        assert_eq!(status.code(), Some(code), "{words:?}: {status}");
    }
}
