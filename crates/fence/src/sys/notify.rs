//! System calls that the filter hands to the supervisor instead of refusing them itself: what was tried is recorded, then
//! refused. It costs nothing while nothing is refused.

use std::os::fd::{AsRawFd, BorrowedFd};

/// A system call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tried {
    id: u64,
    /// Which call.
    pub(crate) number: i32,
    /// Its arguments.
    pub(crate) arguments: [u64; 6],
}

/// The next call that waits; `None` if its process has gone meanwhile.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Option<Tried> {
    // SAFETY: the kernel wants the structure zeroed and fills it; its size is the one that this kernel header has.
    unsafe {
        let mut tried: libc::seccomp_notif = std::mem::zeroed();
        let done = libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut tried);
        (done == 0).then_some(Tried { id: tried.id, number: tried.data.nr, arguments: tried.data.args })
    }
}

/// Answers a call with an error number.
pub(crate) fn refuse(listener: BorrowedFd<'_>, tried: &Tried, errno: i32) {
    // SAFETY: a plain structure that lives during the call.
    unsafe {
        let mut answer: libc::seccomp_notif_resp = std::mem::zeroed();
        answer.id = tried.id;
        answer.error = -errno;
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw mut answer);
    }
}
