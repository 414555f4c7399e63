//! Whether somebody is at a console: a lock that its process holds for as long as somebody is connected to it. The system lets
//! go of it with the process, so that nobody who is dead is waited for.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// Held while somebody is there.
#[derive(Debug)]
pub struct ConsoleLock(#[expect(dead_code, reason = "it is held, and let go of by being dropped")] OwnedFd);

impl ConsoleLock {
    /// Says that somebody is there, until it is dropped. Several may say so at once.
    ///
    /// # Errors
    /// It could not be said; then nobody will ask there.
    pub fn hold(path: &Path) -> Result<ConsoleLock, String> {
        let failed = |error: Errno| format!("`{}`: {error}", path.display());
        let file = open(path, OFlags::CREATE).map_err(failed)?;
        // Whoever looks at it has it for an instant.
        rustix::fs::flock(&file, FlockOperation::LockShared).map_err(failed)?;
        Ok(ConsoleLock(file))
    }

    /// Whether somebody is there. FAIL-CLOSED: what cannot be told is nobody.
    #[must_use]
    pub fn is_held(path: &Path) -> bool {
        let Ok(file) = open(path, OFlags::empty()) else { return false };
        // Who looks takes the lock alone for an instant, if it is free, and lets go of it by closing the file.
        matches!(rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK))
    }
}

fn open(path: &Path, more: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
}
