//! One question's place: open until the first outcome, which is then everybody's.
//!
//! It is built from whatever the crate's `sync` offers, so that a test can run the same text under a model checker.

use std::sync::PoisonError;
use std::task::Waker;
use std::time::Duration;

use crate::sync::{Condvar, Mutex};

/// Where one outcome is waited for.
pub(crate) struct Slot<O> {
    state: Mutex<State<O>>,
    settled: Condvar,
}

struct State<O> {
    outcome: Option<O>,
    waker: Option<Waker>,
}

impl<O: Clone> Slot<O> {
    pub(crate) fn new() -> Self {
        Slot { state: Mutex::new(State { outcome: None, waker: None }), settled: Condvar::new() }
    }

    /// Settles it, unless it is settled: then the winner comes back. Whoever awaits it is to be woken by the caller, once no
    /// lock is held.
    pub(crate) fn settle(&self, outcome: O) -> Result<Option<Waker>, O> {
        let waker = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(winner) = &state.outcome {
                return Err(winner.clone());
            }
            state.outcome = Some(outcome);
            state.waker.take()
        };
        self.settled.notify_all();
        Ok(waker)
    }

    /// The outcome, if there is one.
    pub(crate) fn outcome(&self) -> Option<O> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).outcome.clone()
    }

    /// The outcome, or word to `waker` when there is one.
    pub(crate) fn poll(&self, waker: &Waker) -> Option<O> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.outcome.is_none() {
            state.waker = Some(waker.clone());
        }
        state.outcome.clone()
    }

    /// Waits for the outcome, or for as long as patience lasts.
    pub(crate) fn wait(&self, patience: Duration) -> Option<O> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // One wait is enough: whoever wakes for nothing is told so by `None` and looks at the clock.
        if state.outcome.is_none() {
            (state, _) = self.settled.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
        }
        state.outcome.clone()
    }
}
