//! Whoever asks holds a ticket: it can be waited for, or awaited, and letting it go takes the question back.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::asked::Asked;
use crate::consent::Verdict;
use crate::coordinator::Coordinator;
use crate::outcome::{Cause, Outcome};
use crate::slot::Slot;

/// Waiting for one outcome.
///
/// As a future it needs somebody who keeps the time ([`Coordinator::keep_time`]), or who calls [`Coordinator::expire`].
#[must_use = "a ticket that is dropped takes its question back"]
pub struct Ticket {
    pub(crate) coordinator: Coordinator,
    pub(crate) asked: Arc<Asked>,
    pub(crate) slot: Arc<Slot<Outcome>>,
    pub(crate) deadline: Duration,
    pub(crate) taken: bool,
}

impl Ticket {
    /// The question.
    #[must_use]
    pub fn asked(&self) -> &Arc<Asked> {
        &self.asked
    }

    /// When the question is over, on the coordinator's monotonic clock.
    #[must_use]
    pub const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The outcome, if there is one by now.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        if self.slot.outcome().is_none() && self.coordinator.clock().now() >= self.deadline {
            self.coordinator.expire();
        }
        self.slot.outcome()
    }

    /// Waits for the outcome; the deadline is one.
    pub fn wait(self) -> Verdict {
        loop {
            if let Some(outcome) = self.outcome() {
                return Verdict::new(outcome);
            }
            let patience = self.deadline.saturating_sub(self.coordinator.clock().now());
            if let Some(outcome) = self.slot.wait(patience) {
                return Verdict::new(outcome);
            }
        }
    }
}

impl Future for Ticket {
    type Output = Verdict;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Verdict> {
        if self.taken {
            return Poll::Pending;
        }
        let Some(outcome) = self.outcome().or_else(|| self.slot.poll(context.waker())) else {
            return Poll::Pending;
        };
        // INVARIANT: one question, one verdict.
        self.taken = true;
        Poll::Ready(Verdict::new(outcome))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.slot.outcome().is_none() {
            let gone = |asked: &Asked, _| {
                Ok::<_, ()>(Outcome::no(asked, Cause::Abandoned, "whoever asked went away"))
            };
            let _unless_settled = self.coordinator.board().settle(self.asked.id.bits(), gone);
        }
    }
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket").field("id", &self.asked.id).finish_non_exhaustive()
    }
}
