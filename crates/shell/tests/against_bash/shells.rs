//! Running texts in real shells, many at a time.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[expect(clippy::disallowed_methods, reason = "the real shells are what the reading is held against")]
fn command(shell: &str) -> Command {
    Command::new(shell)
}

/// An empty directory in which the shells run, so that no pattern matches and nothing is in the way.
pub(crate) fn empty_directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("shell-test-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Runs a driver script on a shell's standard input and returns what it prints.
pub(crate) fn run(shell: &str, driver: &str, directory: &std::path::Path) -> Vec<u8> {
    let script =
        directory.with_extension(format!("{:?}", std::thread::current().id()).replace(['(', ')'], ""));
    std::fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&script)
        .unwrap()
        .write_all(driver.as_bytes())
        .unwrap();
    let output = command(shell)
        .arg(&script)
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/root")
        .env("USER", "root")
        .env("LOGNAME", "root")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    std::fs::remove_file(&script).unwrap();
    output.stdout
}

/// Whether bash accepts a text without running it.
pub(crate) fn accepts(text: &str) -> bool {
    let mut child = command("/bin/bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait().unwrap().success()
}

/// A text as one word of a shell.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Splits work over two threads.
pub(crate) fn in_two<T: Send + Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    let (first, second) = items.split_at(items.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| work(second));
        let mut all = work(first);
        all.extend(other.join().unwrap());
        all
    })
}
