//! The order in which an answer is looked for: a grant, auto-approve, then the providers one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use call::Shown;

use crate::asked::Asked;
use crate::clock::rfc3339;
use crate::consent::Verdict;
use crate::coordinator::Coordinator;
use crate::grants::{GrantKind, Grants};
use crate::outcome::{Answer, Cause, Decision, Outcome};
use crate::provider::{Provider, Reply, Wait};
use crate::ticket::Ticket;

/// Everybody who can be asked, in order.
pub struct Approver {
    coordinator: Coordinator,
    providers: Vec<Box<dyn Provider>>,
    grants: Option<Arc<Grants>>,
    patience: Duration,
}

/// How a question begins.
#[must_use]
pub enum Begun<'a> {
    /// It is settled without being asked.
    Settled(Box<Verdict>),
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
        Approver { coordinator, providers: Vec::new(), grants: None, patience }
    }

    /// Asks this one after those before it.
    #[must_use]
    pub fn with(mut self, provider: Box<dyn Provider>) -> Self {
        self.providers.push(provider);
        self
    }

    /// Looks at what was granted before, and remembers what is granted now.
    #[must_use]
    pub fn with_grants(mut self, grants: Arc<Grants>) -> Self {
        self.grants = Some(grants);
        self
    }

    /// Where the questions are open.
    #[must_use]
    pub const fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }

    /// Begins a question. What comes back `Open` is to be recorded as asked, and then [`Question::answer`]ed.
    pub fn begin(&self, asked: Arc<Asked>) -> Begun<'_> {
        if let Some(outcome) = self.standing(&asked) {
            return Begun::Settled(Box::new(Verdict::new(outcome)));
        }
        if self.providers.is_empty() {
            // FAIL-CLOSED: nobody to ask is a no at once, not a wait.
            let why = "nobody is configured who could be asked";
            return Begun::Settled(Box::new(Verdict::new(Outcome::no(&asked, Cause::NobodyToAsk, why))));
        }
        match self.coordinator.open(asked, self.patience) {
            Ok(ticket) => Begun::Open(Question { approver: self, ticket }),
            Err(denied) => Begun::Settled(Box::new(Verdict::new(*denied))),
        }
    }

    /// The whole way, for those who record nothing.
    pub fn decide(&self, asked: Arc<Asked>) -> Verdict {
        match self.begin(asked) {
            Begun::Settled(verdict) => *verdict,
            Begun::Open(question) => question.answer(),
        }
    }

    /// A yes that was given before.
    fn standing(&self, asked: &Asked) -> Option<Outcome> {
        let grants = self.grants.as_ref()?;
        if let Some(grant) = grants.covering(asked) {
            let kind = match grant.kind {
                GrantKind::Once => "for once",
                GrantKind::Cover(_) => "with the command that it types into",
                GrantKind::Session | GrantKind::Auto(_) | GrantKind::Waiting { .. } => "for the session",
            };
            let note = Shown::of(&format!("approved {kind} as {} on {}", grant.id, rfc3339(grant.date_ms)));
            return Some(Outcome::standing(asked, Cause::Granted, grant.by, Some(note)));
        }
        let grant = grants.auto_approving(asked)?;
        let scope = match &grant.kind {
            GrantKind::Auto(Some(tool)) => format!("the tool {tool}"),
            _ => "everything".into(),
        };
        let note = Shown::of(&format!(
            "auto-approve of {scope} ({}), for {} s still",
            grant.id,
            grant.left.as_secs()
        ));
        Some(Outcome::standing(asked, Cause::AutoApproved, grant.by, Some(note)))
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
                Reply::Later => return refuse(Cause::NobodyToAsk, "a person is asked later"),
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
    pub fn answer(self) -> Verdict {
        let asked = Arc::clone(self.ticket.asked());
        self.approver.ask(&asked, self.ticket.deadline());
        let mut verdict = self.ticket.wait();
        if verdict.outcome().decision() == Decision::ApprovedForSession
            && let Some(grants) = &self.approver.grants
            && let Err(why) = grants.remember(&asked, verdict.outcome().by())
        {
            verdict.add_note(&format!("it will be asked again: {why}"));
        }
        verdict
    }
}

impl std::fmt::Debug for Approver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.providers.iter().map(|provider| provider.name()).collect();
        f.debug_struct("Approver").field("providers", &names).finish_non_exhaustive()
    }
}
