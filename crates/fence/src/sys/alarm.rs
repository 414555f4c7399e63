//! A last word: what is said, and how the process ends, should nobody have answered in time. A signal handler says it, which costs
//! two system calls; a thread that waits would cost as much as everything else that a short process does.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is said when time is up.
#[derive(Debug)]
pub struct LastWord {
    /// For standard output.
    pub out: Vec<u8>,
    /// For standard error.
    pub err: Vec<u8>,
    /// The exit code.
    pub code: i32,
}

static WORD: OnceLock<LastWord> = OnceLock::new();
/// Somebody has begun to answer: there is one answer, and no more.
static ANSWERED: AtomicBool = AtomicBool::new(false);

impl LastWord {
    /// Says it after so many seconds, unless somebody [`answers`](LastWord::answer) before. To be called once.
    ///
    /// # Errors
    /// The signal cannot be had.
    pub fn after(self, patience: Duration) -> io::Result<()> {
        WORD.set(self).map_err(|_| io::ErrorKind::AlreadyExists)?;
        // SAFETY: the structures are zeroed, which is a valid value of each, and alive during the calls. The handler makes nothing but
        // system calls, on memory that is set by now and never changes.
        let taken = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ring as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            let mut alone: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut alone, libc::SIGALRM);
            // Whoever started us may have blocked it.
            libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()) == 0
                && libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const alone, std::ptr::null_mut()) == 0
        };
        if !taken {
            return Err(io::Error::last_os_error());
        }
        LastWord::wait(patience);
        Ok(())
    }

    /// Counts anew: it is said so many seconds from now.
    pub fn wait(patience: Duration) {
        let seconds = u32::try_from(patience.as_secs()).unwrap_or(u32::MAX).max(1);
        // SAFETY: takes no memory.
        unsafe { libc::alarm(seconds) };
    }

    /// Whether the caller is the one who answers.
    #[must_use]
    pub fn answer() -> bool {
        !ANSWERED.swap(true, Ordering::AcqRel)
    }
}

/// Time is up. An answer that is being written is not mended; the exit code says that it does not count.
extern "C" fn ring(_signal: libc::c_int) {
    let Some(word) = WORD.get() else { return };
    if LastWord::answer() {
        write(2, &word.err);
        write(1, &word.out);
    }
    // SAFETY: ends this process, and runs nothing of it.
    unsafe { libc::_exit(word.code) };
}

fn write(descriptor: libc::c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the bytes are alive during the call.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(count) if count > 0 => bytes = bytes.get(count..).unwrap_or_default(),
            // Nobody reads.
            _ => return,
        }
    }
}
