//! Running other programs, and saying which one failed.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The project's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}

/// The binary that the tests have built.
#[expect(clippy::disallowed_methods, reason = "cargo is told by the environment where to build")]
pub(crate) fn built() -> PathBuf {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    root().join(target).join("debug/bailiwick")
}

/// A command in the project's root.
#[expect(clippy::disallowed_methods, reason = "chores run compilers and tests")]
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command that must succeed.
pub(crate) fn must(program: &str, arguments: &[&str]) -> Result<(), String> {
    let line = format!("{program} {}", arguments.join(" "));
    eprintln!("$ {line}");
    succeed(&mut command(program, arguments), &line)
}

/// Runs a prepared command that must succeed.
pub(crate) fn succeed(command: &mut Command, line: &str) -> Result<(), String> {
    let status = command.stdin(Stdio::null()).status().map_err(|error| format!("{line}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
}

/// What a command prints.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let line = format!("{program} {}", arguments.join(" "));
    let output = command(program, arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{line}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{line}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{line}: its output is not UTF-8"))
}

/// Whether a program can be found.
pub(crate) fn exists(program: &str) -> bool {
    command("sh", &["-c", "command -v \"$0\" >/dev/null", program])
        .status()
        .is_ok_and(|status| status.success())
}

/// The text of a file of the project.
#[expect(clippy::disallowed_methods, reason = "chores read the sources")]
pub(crate) fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// Writes a file of the project.
#[expect(clippy::disallowed_methods, reason = "chores write what is generated")]
pub(crate) fn write(path: &str, text: &str) -> Result<(), String> {
    std::fs::write(root().join(path), text).map_err(|error| format!("{path}: {error}"))
}
