//! A call as a future, for any executor. Whoever stops waiting takes the call back: what runs for it ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use call::{ErrorKind, RawCall};
use tools::{Cancel, CancelOnDrop, Outcome};

use crate::admit::Terms;
use crate::{Gate, Hands};

/// A call under way.
#[must_use = "a call that nobody waits for is taken back"]
pub struct Calling {
    shared: Arc<Mutex<State>>,
    taken_back: Option<CancelOnDrop>,
}

#[derive(Default)]
struct State {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

impl Gate {
    /// The whole way of one call, on a thread of its own: awaiting it blocks nobody, dropping it ends what runs.
    pub fn call(self: &Arc<Self>, raw: RawCall, mut terms: Terms, hands: &Arc<Hands>) -> Calling {
        let cancel = Cancel::new();
        terms.cancel = cancel.clone();
        let shared = Arc::new(Mutex::new(State::default()));
        let (gate, hands, answer) = (Arc::clone(self), Arc::clone(hands), Finish(Arc::clone(&shared)));
        let started = std::thread::Builder::new()
            .name("call".into())
            .spawn(move || answer.with(gate.perform(raw, terms, &hands)));
        if let Err(error) = started {
            let why = format!("no thread could be started: {error}");
            held(&shared).outcome = Some(Outcome::error(ErrorKind::Unknown, why));
        }
        Calling { shared, taken_back: Some(cancel.on_drop()) }
    }
}

impl Future for Calling {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let outcome = {
            let mut state = held(&self.shared);
            match state.outcome.take() {
                Some(outcome) => outcome,
                None => {
                    state.waker = Some(context.waker().clone());
                    return Poll::Pending;
                }
            }
        };
        if let Some(taken_back) = self.taken_back.take() {
            taken_back.disarm();
        }
        Poll::Ready(outcome)
    }
}

/// Answers whoever waits, also where the thread panics.
struct Finish(Arc<Mutex<State>>);

impl Finish {
    fn with(self, outcome: Outcome) {
        held(&self.0).outcome = Some(outcome);
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        let mut state = held(&self.0);
        // FAIL-CLOSED: a thread that panicked has done nothing that anybody may rely on.
        state.outcome.get_or_insert_with(|| Outcome::error(ErrorKind::Unknown, "the call broke off".into()));
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }
}

fn held(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
