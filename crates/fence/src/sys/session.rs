//! A program without a fence gets a session of its own, so that all of its jobs can be ended together, and a terminal where it is
//! to have one.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the program the leader of a session. `terminal`: its standard output is the session's terminal.
pub(crate) fn lead_a_session(command: &mut Command, terminal: bool) {
    let lead = move || {
        rustix::process::setsid()?;
        if terminal {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdout())?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes two system calls through rustix, which allocates nothing, takes no lock
    // and touches no memory of other threads.
    unsafe {
        command.pre_exec(lead);
    }
}
