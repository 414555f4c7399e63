//! The examples do what they say, as a newcomer would run them.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test starts programs, and says what is wrong by stopping"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs an example in a home and a workspace of its own.
fn run(name: &str, arguments: &[&str]) -> (bool, String, PathBuf) {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("example-{name}"));
    let _left_over = std::fs::remove_dir_all(&home);
    let work = home.join("work");
    std::fs::create_dir_all(&work).expect("a workspace");
    let program = std::env::current_exe().expect("a test has a file");
    let program = program.parent().and_then(Path::parent).expect("a directory").join("examples").join(name);
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60"]).arg(program).args(arguments).current_dir(&work);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &home);
    let output = command.output().expect("the example");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text, home)
}

#[test]
fn the_first_call_is_answered_and_a_bad_one_is_refused() {
    let (ok, text, home) = run("first_call", &["echo from the fence"]);
    assert!(ok && text.contains("from the fence\\n") && text.contains("\"ok\": true"), "{text}");
    assert!(home.join(".local/state/bailiwick/journal/00000001.jsonl").exists(), "it was written down");
    let (ok, text, _) = run("first_call", &["cat /etc/shadow"]);
    assert!(ok && text.contains("denied_paths.credentials"), "{text}");
}

#[test]
fn a_custom_tool_is_asked_about_once_and_its_arguments_are_checked() {
    let (ok, text, _) = run("custom_tool", &[]);
    assert!(ok, "{text}");
    assert_eq!(text.matches("true it rains in Bergen").count(), 2, "{text}");
    assert!(text.contains("false") && text.contains("town"), "{text}");
}

#[test]
fn many_calls_run_at_once_and_one_is_taken_back() {
    let (ok, text, _) = run("many_at_once", &[]);
    assert!(ok, "{text}");
    for number in 1..=8 {
        assert!(text.contains(&format!("number {number}\n")), "{text}");
    }
    assert!(text.contains("taken back"), "{text}");
    let left = Command::new("pgrep").args(["-fx", "sleep 987"]).output().expect("pgrep");
    assert!(left.stdout.is_empty(), "the program that was taken back is gone");
}
