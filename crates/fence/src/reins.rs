//! The reins of a program behind the fence: whoever holds them ends it, signals it and has its terminal, from any thread, while
//! another one waits in [`crate::run`].

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::EventfdFlags;

/// Signals that wait to be passed on, at most.
const WAITING: usize = 64;

/// Takes the other end of a program's terminal, which does not block.
type Taker = Box<dyn Fn(OwnedFd) + Send + Sync>;

/// A terminal that a program is to have.
pub struct Tty {
    /// Its lines.
    pub rows: u16,
    /// Its columns.
    pub columns: u16,
    /// Which of the standard streams it is for.
    pub streams: [bool; 3],
    /// Takes its other end, before the program starts. Called again, with another one, where a fence is tried another way.
    pub taker: Taker,
}

impl fmt::Debug for Tty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tty({}x{}, {:?})", self.rows, self.columns, self.streams)
    }
}

/// The reins of one program. Copies hold the same one.
#[derive(Debug, Clone)]
pub struct Reins(Arc<Held>);

#[derive(Debug)]
struct Held {
    /// Readable when something is to be done.
    wake: OwnedFd,
    tty: Option<Tty>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ended: bool,
    signals: Vec<i32>,
    means: Option<&'static str>,
}

/// What the holder wants of whoever waits for the program.
pub(crate) enum Pull {
    End,
    Signals(Vec<i32>),
}

impl Reins {
    /// Reins for a program that is not started yet.
    ///
    /// # Errors
    /// No descriptor is to be had.
    pub fn new(tty: Option<Tty>) -> io::Result<Reins> {
        let wake = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Reins(Arc::new(Held { wake, tty, state: Mutex::default() })))
    }

    /// Ends the program and all that it started; if it has not been started yet, as soon as it is.
    pub fn end(&self) {
        self.state().ended = true;
        self.wake();
    }

    /// Sends a signal to the program's whole job.
    pub fn signal(&self, signal: i32) {
        let mut state = self.state();
        if state.signals.len() < WAITING {
            state.signals.push(signal);
        }
        drop(state);
        self.wake();
    }

    /// Whether [`Reins::end`] was called.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.state().ended
    }

    /// The means that held the plan, once the fence stood.
    #[must_use]
    pub fn means(&self) -> Option<&'static str> {
        self.state().means
    }

    pub(crate) fn tty(&self) -> Option<&Tty> {
        self.0.tty.as_ref()
    }

    pub(crate) fn held_by(&self, means: &'static str) {
        self.state().means = Some(means);
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.wake.as_fd()
    }

    pub(crate) fn pulled(&self) -> Pull {
        let mut count = [0u8; 8];
        // It only says that there is something.
        let _none = rustix::io::read(&self.0.wake, &mut count);
        let mut state = self.state();
        if state.ended { Pull::End } else { Pull::Signals(std::mem::take(&mut state.signals)) }
    }

    fn wake(&self) {
        // Full: it is readable, which is all that is wanted.
        let _full = rustix::io::write(&self.0.wake, &1u64.to_ne_bytes());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
