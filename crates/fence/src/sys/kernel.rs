//! Calls of the kernel that have no safe wrapper elsewhere, with one.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::raw::syscall;

/// Which version of Landlock the kernel has; 0: none.
pub(crate) fn landlock_version() -> u32 {
    // SAFETY: with LANDLOCK_CREATE_RULESET_VERSION the call reads nothing and makes nothing.
    let version = unsafe { syscall(libc::SYS_landlock_create_ruleset, [0, 0, 1, 0, 0, 0]) };
    u32::try_from(version).unwrap_or(0)
}

/// Waits for a child of ours to end, and frees it.
pub(crate) fn reap(child: i32) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: the status lives during the call.
        let who = unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) };
        if who == child {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Signals of this process, to be read like a file; they are blocked from now on.
pub(crate) fn signals(wanted: &[i32]) -> io::Result<OwnedFd> {
    // SAFETY: the sets live during the calls; signalfd makes a descriptor.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in wanted {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        let descriptor = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if descriptor < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(descriptor)) }
    }
}

/// A signal that came: its number, and whether the kernel sent it (a key at the terminal).
pub(crate) fn next_signal(from: BorrowedFd<'_>) -> Option<(i32, bool)> {
    // SAFETY: a plain structure of integers; the kernel fills it or the length is wrong.
    unsafe {
        let mut info: libc::signalfd_siginfo = std::mem::zeroed();
        let length = size_of::<libc::signalfd_siginfo>();
        let got = libc::read(from.as_raw_fd(), (&raw mut info).cast(), length);
        (usize::try_from(got) == Ok(length))
            .then(|| (info.ssi_signo.cast_signed(), info.ssi_code == libc::SI_KERNEL))
    }
}

/// Ends this process by a signal, as the program that it stood for was ended.
pub(crate) fn end_by(signal: i32) {
    // SAFETY: the default action for the signal, and the signal unblocked; then it is sent to ourselves.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::signal(signal, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        libc::raise(signal);
    }
}

/// Which signals this thread has blocked, as the kernel's eight bytes.
pub(crate) fn blocked_signals() -> u64 {
    let mut mask: u64 = 0;
    // SAFETY: SIG_BLOCK with no new set only asks; eight bytes is the kernel's size.
    unsafe { syscall(libc::SYS_rt_sigprocmask, [0, 0, (&raw mut mask) as u64, 8, 0, 0]) };
    mask
}
