//! On which processor a thread runs. A new thread is to run beside the one that makes it; but the kernel of a virtual machine takes
//! a processor that sleeps for one that its host has given to somebody else, and leaves the new thread to wait where it was made
//! until that place is free: 0.9 ms instead of 0.15, as it was measured. So it is sent away.

use std::os::unix::thread::JoinHandleExt;
use std::thread::JoinHandle;

use super::raw::syscall;

const WORDS: usize = 16;

/// Processors that a thread may use: a bit for each, as the kernel has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Processors([u64; WORDS]);

impl Processors {
    /// Those of this thread; `None` where the kernel does not say.
    pub(crate) fn own() -> Option<Processors> {
        let mut bits = [0u64; WORDS];
        let length = size_of_val(&bits) as u64;
        // SAFETY: the kernel writes at most so many bytes to bits of ours.
        let got =
            unsafe { syscall(libc::SYS_sched_getaffinity, [0, length, bits.as_mut_ptr() as u64, 0, 0, 0]) };
        (got > 0).then_some(Processors(bits))
    }

    /// All of them but the one that this thread is on; `None` where there is no other.
    pub(crate) fn others(mut self) -> Option<Processors> {
        let here = rustix::thread::sched_getcpu();
        let word = self.0.get_mut(here / 64)?;
        *word &= !(1 << (here % 64));
        self.0.iter().any(|word| *word != 0).then_some(self)
    }

    /// Has a thread use these. Where that is refused, it stays where it is. The thread must not have ended: the C library would
    /// take the one that calls instead.
    pub(crate) fn give<T>(&self, thread: &JoinHandle<T>) {
        // SAFETY: the handle keeps the thread's identity valid; the set has the kernel's form and lives during the call.
        let _refused = unsafe {
            libc::pthread_setaffinity_np(thread.as_pthread_t(), size_of_val(&self.0), self.0.as_ptr().cast())
        };
    }

    /// As the kernel takes them.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_sent_away_runs_elsewhere() {
        let own = Processors::own().expect("the kernel says");
        let Some(others) = own.others() else { return };
        let (say, hear) = std::sync::mpsc::channel();
        let (go, wait) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            wait.recv().expect("leave");
            say.send(Processors::own()).expect("an ear");
        });
        others.give(&thread);
        go.send(()).expect("a thread");
        assert_eq!(hear.recv().expect("an answer"), Some(others));
        assert_eq!(Processors::own(), Some(own));
        thread.join().expect("an end");
    }
}
