//! Questions to a function of whoever embeds the tools.
//!
//! The function runs on a thread of its own, so that one that hangs holds nobody up; its late answer is dropped.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::human::{Human, HumanAnswer, HumanQuestion};

/// How many calls of the function may be under way; beyond, nobody can be asked.
const MOST_OPEN: usize = 16;

type Function = dyn Fn(&HumanQuestion, Duration) -> HumanAnswer + Send + Sync;

/// Asks by calling a function.
pub struct Callback {
    function: Arc<Function>,
    open: Arc<AtomicUsize>,
}

impl Callback {
    /// Asks by calling this function, which gets the question and how long there is to answer.
    #[must_use]
    pub fn new(
        function: impl Fn(&HumanQuestion, Duration) -> HumanAnswer + Send + Sync + 'static,
    ) -> Callback {
        Callback { function: Arc::new(function), open: Arc::default() }
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Callback").finish_non_exhaustive()
    }
}

impl Human for Callback {
    fn ask(&self, question: &HumanQuestion, deadline: Duration) -> HumanAnswer {
        let place = Place::take(&self.open);
        if place.before >= MOST_OPEN {
            return HumanAnswer::Nobody;
        }
        let (answers, answer) = mpsc::channel();
        let taken_back = answers.clone();
        let _hooked = question.cancel.hook(move || {
            let _gone = taken_back.send(HumanAnswer::Closed);
        });
        let (function, asked) = (Arc::clone(&self.function), question.clone());
        let started = std::thread::Builder::new().name("question".into()).spawn(move || {
            let _place = place;
            // Nobody waits for an answer that is too late. If the function panics, the guard says that it is closed.
            let closing = Closing(answers);
            let _gone = closing.0.send(function(&asked, deadline));
        });
        if started.is_err() {
            return HumanAnswer::Nobody;
        }
        match answer.recv_timeout(deadline) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => HumanAnswer::TimedOut,
            Err(mpsc::RecvTimeoutError::Disconnected) => HumanAnswer::Closed,
        }
    }
}

/// One of the calls that are under way.
struct Place {
    open: Arc<AtomicUsize>,
    before: usize,
}

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Place {
        Place { before: open.fetch_add(1, Ordering::AcqRel), open: Arc::clone(open) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Says that the question is closed when the function is left, however that happens.
struct Closing(mpsc::Sender<HumanAnswer>);

impl Drop for Closing {
    fn drop(&mut self) {
        let _gone = self.0.send(HumanAnswer::Closed);
    }
}
