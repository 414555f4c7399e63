//! The one place where questions are open: an id, a deadline and exactly one outcome for each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::asked::{AskId, Asked};
use crate::board::{Board, NoPlace, Settled, Wanted};
use crate::clock::Clock;
use crate::outcome::{Answer, Cause, Invalid, Outcome};
use crate::ticket::Ticket;

/// How many questions may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// All together.
    pub pending: usize,
    /// Of one session.
    pub pending_of_session: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { pending: 10_000, pending_of_session: 100 }
    }
}

/// Open questions. Copies are handles to the same ones.
#[derive(Clone)]
pub struct Coordinator {
    shared: Arc<Shared>,
}

struct Shared {
    board: Board<Asked, Outcome>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    /// Whoever keeps the time is told when there is a new deadline.
    earlier: (Mutex<u64>, Condvar),
}

/// Why an answer settled nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// There is no such question, or it is long over.
    Unknown,
    /// The question was settled before: this is what holds.
    Settled(Box<Outcome>),
    /// The answer does not count; the question stays open.
    Invalid(Invalid),
}

impl std::fmt::Display for Unresolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unresolved::Unknown => f.write_str("there is no such question"),
            Unresolved::Settled(outcome) => {
                write!(f, "it was settled before: {} by {}", outcome.decision().name(), outcome.by())
            }
            Unresolved::Invalid(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for Unresolved {}

impl Coordinator {
    /// None open.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, limits: Limits) -> Self {
        let earlier = (Mutex::new(0), Condvar::new());
        Coordinator { shared: Arc::new(Shared { board: Board::new(), clock, limits, earlier }) }
    }

    /// Puts a question up for at most this long.
    ///
    /// # Errors
    /// There is no place for it: a denial, at once.
    pub fn open(&self, asked: Arc<Asked>, patience: Duration) -> Result<Ticket, Box<Outcome>> {
        let limits = self.shared.limits;
        let deadline = self.shared.clock.now().saturating_add(patience);
        let wanted =
            Wanted { id: asked.id.bits(), asked: Arc::clone(&asked), group: asked.session.clone(), deadline };
        let first = self.next_deadline().is_none_or(|next| deadline < next);
        match self.shared.board.open(wanted, limits.pending, limits.pending_of_session) {
            Ok(slot) => {
                if first {
                    self.wake_timekeeper();
                }
                Ok(Ticket { coordinator: self.clone(), asked, slot, deadline, taken: false })
            }
            // FAIL-CLOSED: no place, no question, no yes.
            Err(why) => {
                let (cause, note) = match why {
                    NoPlace::Closed => (Cause::ShutDown, "shutting down".to_owned()),
                    NoPlace::Full => {
                        (Cause::QueueFull, format!("{} questions are open already", limits.pending))
                    }
                    NoPlace::FullForGroup => (
                        Cause::QueueFull,
                        format!("{} questions of this session are open already", limits.pending_of_session),
                    ),
                    NoPlace::Taken => (Cause::ProviderFailed, "its id was used before".to_owned()),
                };
                Err(Box::new(Outcome::no(&asked, cause, &note)))
            }
        }
    }

    /// Answers a question. The first valid answer wins.
    ///
    /// # Errors
    /// The answer settled nothing; who won is told.
    pub fn resolve(&self, id: AskId, answer: &Answer) -> Result<Outcome, Unresolved> {
        let now = self.shared.clock.now();
        // A late yes does nothing: what is over its deadline is settled as that, whoever comes first to notice.
        self.shared.board.expire(now, timed_out);
        let settled = self.shared.board.settle(id.bits(), |asked, _| answer.to_question(asked));
        match settled {
            Settled::Won(outcome) => Ok(outcome),
            Settled::Lost(winner) => Err(Unresolved::Settled(Box::new(winner))),
            Settled::Unknown => Err(Unresolved::Unknown),
            Settled::Refused(why) => Err(Unresolved::Invalid(why)),
        }
    }

    /// Takes a question back.
    ///
    /// # Errors
    /// It was settled before, or is not known.
    pub fn cancel(&self, id: AskId, why: &str) -> Result<Outcome, Unresolved> {
        self.refuse(id, Cause::Cancelled, why)
    }

    /// Settles a question that nobody is left to answer.
    ///
    /// # Errors
    /// It was settled before, or is not known.
    pub fn forsake(&self, id: AskId, why: &str) -> Result<Outcome, Unresolved> {
        self.refuse(id, Cause::NobodyToAsk, why)
    }

    /// Settles a question with a no of our own.
    pub(crate) fn refuse(&self, id: AskId, cause: Cause, why: &str) -> Result<Outcome, Unresolved> {
        self.shared.board.expire(self.shared.clock.now(), timed_out);
        match self.shared.board.settle(id.bits(), |asked, _| Ok::<_, Invalid>(Outcome::no(asked, cause, why)))
        {
            Settled::Won(outcome) => Ok(outcome),
            Settled::Lost(winner) => Err(Unresolved::Settled(Box::new(winner))),
            Settled::Unknown => Err(Unresolved::Unknown),
            Settled::Refused(why) => Err(Unresolved::Invalid(why)),
        }
    }

    /// Denies everything that is open, and takes no more questions. Returns how many were open.
    pub fn shutdown(&self) -> usize {
        let count = self.shared.board.shut(|asked| Outcome::no(asked, Cause::ShutDown, "shutting down"));
        self.wake_timekeeper();
        count
    }

    /// Denies every question whose deadline has come. Returns how many.
    pub fn expire(&self) -> usize {
        self.shared.board.expire(self.shared.clock.now(), timed_out)
    }

    /// When the next question is over.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        self.shared.board.next_deadline()
    }

    /// One open question.
    #[must_use]
    pub fn get(&self, id: AskId) -> Option<Arc<Asked>> {
        self.shared.board.get(id.bits())
    }

    /// One open question, with how long it still waits.
    #[must_use]
    pub fn pending_one(&self, id: AskId) -> Option<(Arc<Asked>, Duration)> {
        self.expire();
        let now = self.shared.clock.now();
        self.shared.board.one(id.bits()).map(|(asked, deadline)| (asked, deadline.saturating_sub(now)))
    }

    /// What one of the last questions was settled as.
    #[must_use]
    pub fn settled(&self, id: AskId) -> Option<Outcome> {
        self.shared.board.decided(id.bits())
    }

    /// Every open question, with how long it still waits.
    #[must_use]
    pub fn pending(&self) -> Vec<(Arc<Asked>, Duration)> {
        self.expire();
        let now = self.shared.clock.now();
        let left = |(asked, deadline): (Arc<Asked>, Duration)| (asked, deadline.saturating_sub(now));
        self.shared.board.list().into_iter().map(left).collect()
    }

    /// How many are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.board.len()
    }

    /// None is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The clock that deadlines are measured by.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.shared.clock.as_ref()
    }

    pub(crate) fn board(&self) -> &Board<Asked, Outcome> {
        &self.shared.board
    }

    /// One thread that keeps the time for all tickets that are awaited. Who waits by [`Ticket::wait`] needs none.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn keep_time(&self) -> std::io::Result<Timekeeper> {
        let (coordinator, stop) = (self.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("approval-time".into()).spawn(move || {
            let (count, changed) = &coordinator.shared.earlier;
            let mut seen = None;
            while !stopped.load(Ordering::Acquire) {
                coordinator.expire();
                let now = coordinator.shared.clock.now();
                let next = coordinator.next_deadline();
                let sleep = next.map_or(Duration::from_secs(3600), |next| next.saturating_sub(now));
                let mut current = count.lock().unwrap_or_else(PoisonError::into_inner);
                if seen == Some(*current) {
                    (current, _) =
                        changed.wait_timeout(current, sleep).unwrap_or_else(PoisonError::into_inner);
                }
                seen = Some(*current);
            }
        })?;
        Ok(Timekeeper { coordinator: self.clone(), stop, thread: Some(thread) })
    }

    fn wake_timekeeper(&self) {
        let (count, changed) = &self.shared.earlier;
        let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.wrapping_add(1);
        changed.notify_all();
    }
}

fn timed_out(asked: &Asked) -> Outcome {
    Outcome::no(asked, Cause::TimedOut, "nobody answered in time")
}

/// Keeps the time until it is dropped.
pub struct Timekeeper {
    coordinator: Coordinator,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Timekeeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.coordinator.wake_timekeeper();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}
