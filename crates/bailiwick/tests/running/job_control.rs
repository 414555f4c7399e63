//! A fenced program at a terminal is a job like any other: it is stopped by its key, goes on in the foreground, and hears of a new
//! size of the window.

use crate::home::{BINARY, Home};

/// A shell in which somebody works.
const SHELL: &str = "exec env PS1='go> ' bash --norc -i";

#[test]
fn a_job_is_stopped_and_goes_on() {
    let home = Home::new();
    home.configure("profile: dev");
    let begin = format!("{BINARY} exec -- sh -c 'echo rea$((0))dy; read line; echo got-$line'\\n");
    let typed = [
        ("go> ", begin.as_str()),
        ("rea0dy", "\\x1a"),
        ("Stopped", "jobs\\n"),
        ("Stopped", "fg\\n"),
        ("sh -c", "hello\\n"),
        ("got-hello", "exit\\n"),
    ];
    let ran = home.shell_at_terminal(&typed, SHELL);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("got-hello"), "{ran:?}");
}

#[test]
fn a_program_hears_of_a_new_size() {
    let home = Home::new();
    home.configure("profile: dev");
    let script = "trap 'echo size $(stty size)' WINCH; echo ready $(stty size); for i in 1 2 3 4 5 6 7 8; do sleep 0.3; done";
    home.write("size.sh", script, true);
    let words = format!("{BINARY} exec -- sh size.sh\\n");
    let typed =
        [("go> ", words.as_str()), ("ready", "resize 31 117"), ("size 31 117", ""), ("go> ", "exit\\n")];
    let ran = home.shell_at_terminal(&typed, SHELL);
    assert!(ran.out.contains("size 31 117"), "{ran:?}");
}
