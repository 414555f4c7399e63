//! No fence, by name: this process becomes the program, as if it had been started without Bailiwick.

use std::ffi::OsString;
use std::path::Path;

use crate::leave::Cleared;
use crate::outcome::Refusal;

/// Becomes the program, with this process's environment, streams and terminal. Returns only if that is not possible.
#[expect(
    clippy::disallowed_methods,
    reason = "one of the two places where a program is started without a fence"
)]
pub fn become_unfenced(
    program: &Path,
    arguments: &[OsString],
    directory: &Path,
    _cleared: Cleared,
) -> Refusal {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new(program);
    if let Some((name, rest)) = arguments.split_first() {
        command.arg0(name).args(rest);
    }
    let error = command.current_dir(directory).exec();
    Refusal::Program(format!("{} could not be started: {error}", program.display()))
}
