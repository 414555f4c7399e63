//! The order in which an answer is looked for: a grant, auto-approve, then the providers one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::asked::Asked;
use crate::coordinator::Coordinator;
use crate::outcome::{Answer, Cause, Outcome};
use crate::provider::{Provider, Reply, Wait};
use crate::ticket::Ticket;

/// Everybody who can be asked, in order.
pub struct Approver {
    coordinator: Coordinator,
    providers: Vec<Box<dyn Provider>>,
    patience: Duration,
}

/// How a question begins.
#[must_use]
pub enum Begun<'a> {
    /// It is settled without being asked.
    Settled(Box<Outcome>),
    /// It must be asked.
    Open(Question<'a>),
}

/// A question that is open and must now be asked.
#[must_use = "a question that is dropped is taken back"]
pub struct Question<'a> {
    approver: &'a Approver,
    ticket: Ticket,
}

impl Approver {
    /// Nobody to ask, yet. A question waits for at most `patience`.
    #[must_use]
    pub fn new(coordinator: Coordinator, patience: Duration) -> Self {
        Approver { coordinator, providers: Vec::new(), patience }
    }

    /// Asks this one after those before it.
    #[must_use]
    pub fn with(mut self, provider: Box<dyn Provider>) -> Self {
        self.providers.push(provider);
        self
    }

    /// Where the questions are open.
    #[must_use]
    pub const fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }

    /// Begins a question. What comes back `Open` is to be recorded as asked, and then [`Question::answer`]ed.
    pub fn begin(&self, asked: Asked) -> Begun<'_> {
        if self.providers.is_empty() {
            // FAIL-CLOSED: nobody to ask is a no at once, not a wait.
            return Begun::Settled(Box::new(Outcome::no(
                &asked,
                Cause::NobodyToAsk,
                "nobody is configured who could be asked",
            )));
        }
        match self.coordinator.open(Arc::new(asked), self.patience) {
            Ok(ticket) => Begun::Open(Question { approver: self, ticket }),
            Err(denied) => Begun::Settled(denied),
        }
    }

    /// The whole way, for those who record nothing.
    pub fn decide(&self, asked: Asked) -> Outcome {
        match self.begin(asked) {
            Begun::Settled(outcome) => *outcome,
            Begun::Open(question) => question.answer(),
        }
    }

    /// Asks one after the other until the question is settled or nobody is left.
    fn ask(&self, asked: &Arc<Asked>, deadline: Duration) {
        let wait = Wait { coordinator: &self.coordinator, asked, deadline };
        let refuse = |cause, why: &str| drop(self.coordinator.refuse(asked.id, cause, why));
        let mut otherwise: Option<Answer> = None;
        for provider in &self.providers {
            if wait.is_over() {
                return;
            }
            let name = provider.name();
            // FAIL-CLOSED: a provider that panics has not answered, and nobody else is asked in its place.
            let reply = catch_unwind(AssertUnwindSafe(|| provider.ask(asked, &wait)))
                .unwrap_or_else(|_| Reply::Failed("it panicked".into()));
            match reply {
                Reply::Pass => {}
                Reply::Otherwise(answer) => {
                    otherwise.get_or_insert(answer);
                }
                Reply::Held => return,
                Reply::Failed(why) => return refuse(Cause::ProviderFailed, &format!("{name}: {why}")),
                Reply::Answer(answer) => return self.take(asked, name, &answer),
            }
        }
        match otherwise {
            Some(answer) => self.take(asked, "rules", &answer),
            None => refuse(Cause::NobodyToAsk, "nobody who is configured could be asked"),
        }
    }

    /// A provider has one word: if it does not count, that is a no.
    fn take(&self, asked: &Asked, name: &str, answer: &Answer) {
        if let Err(crate::Unresolved::Invalid(why)) = self.coordinator.resolve(asked.id, answer) {
            let _unless_settled =
                self.coordinator.refuse(asked.id, Cause::ProviderFailed, &format!("{name}: {why}"));
        }
    }
}

impl Question<'_> {
    /// What is asked.
    #[must_use]
    pub fn asked(&self) -> &Asked {
        self.ticket.asked()
    }

    /// When it is over, as a date to be shown.
    #[must_use]
    pub fn expires_ms(&self) -> u64 {
        let (coordinator, asked) = (&self.approver.coordinator, self.ticket.asked());
        Wait { coordinator, asked, deadline: self.ticket.deadline() }.expires_ms()
    }

    /// Asks, and waits for the outcome.
    pub fn answer(self) -> Outcome {
        let asked = Arc::clone(self.ticket.asked());
        self.approver.ask(&asked, self.ticket.deadline());
        self.ticket.wait()
    }
}

impl std::fmt::Debug for Approver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.providers.iter().map(|provider| provider.name()).collect();
        f.debug_struct("Approver").field("providers", &names).finish_non_exhaustive()
    }
}
