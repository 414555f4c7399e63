//! Who can be asked. A provider answers, leaves it to the next one, or holds the question open for somebody who knows its id.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::asked::Asked;
use crate::coordinator::Coordinator;
use crate::outcome::Answer;

/// Somebody who can be asked.
pub trait Provider: Send + Sync {
    /// A word for records and messages.
    fn name(&self) -> &'static str;

    /// Asks. It must come back by the deadline; what comes later counts for nothing.
    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply;
}

/// What a provider does with a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Answers it.
    Answer(Answer),
    /// Cannot say: the next one is asked.
    Pass,
    /// What it says if nobody after it says anything.
    Otherwise(Answer),
    /// Somebody will answer by the question's id.
    Held,
    /// A person is asked once this round is over: nobody has answered, whatever others would say for want of anybody.
    Later,
    /// Was asked and failed: a denial, with what went wrong.
    Failed(String),
}

/// How long a provider may take, and whether anybody still waits for it.
#[derive(Clone, Copy)]
pub struct Wait<'a> {
    pub(crate) coordinator: &'a Coordinator,
    pub(crate) asked: &'a Asked,
    pub(crate) deadline: Duration,
}

impl Wait<'_> {
    /// How long there still is.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.deadline.saturating_sub(self.coordinator.clock().now())
    }

    /// Whether the question is settled or out of time.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left().is_zero() || self.coordinator.get(self.asked.id).is_none()
    }

    /// When the question is over, as a date to be shown.
    #[must_use]
    pub fn expires_ms(&self) -> u64 {
        let left = u64::try_from(self.left().as_millis()).unwrap_or(u64::MAX);
        self.coordinator.clock().date_ms().saturating_add(left)
    }
}

/// Holds every question until somebody resolves it by its id.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue;

impl Provider for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn ask(&self, _asked: &Arc<Asked>, _wait: &Wait<'_>) -> Reply {
        Reply::Held
    }
}

/// Stands for the person whom a host, or a command at another terminal, will ask: it ends the round of those who answer by
/// themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct Later;

impl Provider for Later {
    fn name(&self) -> &'static str {
        "later"
    }

    fn ask(&self, _asked: &Arc<Asked>, _wait: &Wait<'_>) -> Reply {
        Reply::Later
    }
}

/// A function of whoever uses the library. It runs on a thread of its own: one that hangs costs its question, not the gate.
pub struct Callback {
    function: Arc<dyn Fn(&Asked) -> Reply + Send + Sync>,
    running: Arc<AtomicUsize>,
}

/// How many calls of one function may be under way, hanging ones counted.
const MOST_RUNNING: usize = 64;

impl Callback {
    /// Asks this function.
    #[must_use]
    pub fn new(function: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Callback { function: Arc::new(function), running: Arc::default() }
    }
}

impl Provider for Callback {
    fn name(&self) -> &'static str {
        "callback"
    }

    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply {
        if self.running.fetch_add(1, Ordering::AcqRel) >= MOST_RUNNING {
            self.running.fetch_sub(1, Ordering::AcqRel);
            return Reply::Failed("too many calls of it hang".into());
        }
        let (send, receive) = mpsc::sync_channel(1);
        let (function, asked, running) =
            (Arc::clone(&self.function), Arc::clone(asked), Running(Arc::clone(&self.running)));
        let started = std::thread::Builder::new().name("approval-callback".into()).spawn(move || {
            let _counted = running;
            let _nobody_waits = send.send(function(&asked));
        });
        if started.is_err() {
            return Reply::Failed("no thread could be started for it".into());
        }
        loop {
            let slice = wait.left().min(Duration::from_millis(100));
            match receive.recv_timeout(slice) {
                Ok(reply) => return reply,
                // FAIL-CLOSED: a function that panics has not answered.
                Err(mpsc::RecvTimeoutError::Disconnected) => return Reply::Failed("it panicked".into()),
                Err(mpsc::RecvTimeoutError::Timeout) if wait.is_over() => return Reply::Held,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Counts one call until it ends, however it ends.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
