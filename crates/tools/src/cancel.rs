//! Taking a call back while it runs, from another thread: what waits for it stops waiting, what runs for it ends.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Hook = Arc<dyn Fn() + Send + Sync>;

/// Whether something has been taken back. Copies mean the same thing.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    cancelled: bool,
    next: u64,
    hooks: BTreeMap<u64, Hook>,
}

impl Cancel {
    /// Nothing has been taken back yet.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Takes it back, for good.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        let hooks: Vec<Hook> = state.hooks.values().cloned().collect();
        drop(state);
        hooks.iter().for_each(|hook| hook());
    }

    /// Whether it was taken back.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Takes it back when dropped: for a future that somebody stops waiting for.
    #[must_use]
    pub fn on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(Some(self.clone()))
    }

    /// Does something when it is taken back, at once if it was; until the answer is dropped.
    pub fn hook(&self, hook: impl Fn() + Send + Sync + 'static) -> Hooked {
        let mut state = self.state();
        let number = state.next;
        state.next = state.next.saturating_add(1);
        if state.cancelled {
            drop(state);
            hook();
        } else {
            state.hooks.insert(number, Arc::new(hook));
        }
        Hooked { cancel: self.clone(), number }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Cancel({})", self.is_cancelled())
    }
}

/// Cancels when dropped, unless it is disarmed before.
#[derive(Debug)]
pub struct CancelOnDrop(Option<Cancel>);

impl CancelOnDrop {
    /// It went well: nothing is taken back.
    pub fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancel) = &self.0 {
            cancel.cancel();
        }
    }
}

/// Something that is done on a cancellation, as long as this lives.
pub struct Hooked {
    cancel: Cancel,
    number: u64,
}

impl Drop for Hooked {
    fn drop(&mut self) {
        self.cancel.state().hooks.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_hook_is_called_at_the_cancellation_or_at_once_and_not_after_it_is_dropped() {
        let count = Arc::new(AtomicU32::new(0));
        let cancel = Cancel::new();
        let add = |by: u32| {
            let count = Arc::clone(&count);
            move || {
                count.fetch_add(by, Ordering::Relaxed);
            }
        };
        let _kept = cancel.hook(add(1));
        drop(cancel.hook(add(10)));
        cancel.on_drop().disarm();
        assert_eq!((count.load(Ordering::Relaxed), cancel.is_cancelled()), (0, false));
        drop(cancel.on_drop());
        assert_eq!((count.load(Ordering::Relaxed), cancel.is_cancelled()), (1, true));
        let _late = cancel.hook(add(100));
        assert_eq!(count.load(Ordering::Relaxed), 101);
    }
}
