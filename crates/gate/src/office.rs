//! What a gate that lets calls run needs beside its rules: somebody to ask, a journal to write to, and a way to run things.

use std::sync::Arc;

use approval::{Approver, Grants, Proposal, RunGuard};
use call::Shown;
use fence::{Leave, Refusal};
use journal::{Event, Journal, Sequence, Unavailable};

use crate::prepare::Prepared;

/// Starts programs. The real one builds the fence; a simulation has its own.
pub trait Runner: Send + Sync {
    /// Runs what was prepared, with the standard streams and the terminal of this process, until it has ended. `begun` is a
    /// fence that was begun for it; `leave` is asked before anything of the program is there.
    ///
    /// # Errors
    /// The fence cannot be built as planned, or the program could not be started.
    fn run(&self, prepared: &Prepared, begun: Option<fence::Begun>, leave: Leave<'_>)
    -> Result<Ran, Refusal>;
}

/// What came of a program, and what of its fence is still to be cleared away.
#[derive(Debug)]
pub struct Ran {
    /// What came of it.
    pub outcome: fence::Outcome,
    /// What is left.
    pub remains: Option<fence::Remains>,
}

/// Keeps rules that were approved for always.
pub trait Keeper: Send + Sync {
    /// The rule, with what else it would allow.
    fn weigh(&self, proposal: Proposal) -> Proposal;

    /// Saves it, with who, when and why. Where it stands now.
    ///
    /// # Errors
    /// It could not be saved, and why.
    fn save(&self, proposal: &Proposal, who: &str, when: &str, why: &str) -> Result<Shown, String>;
}

/// Everybody and everything that stands between a ruling and a process.
pub struct Office {
    /// Who is asked.
    pub approver: Approver,
    /// What was granted before.
    pub grants: Arc<Grants>,
    /// Where it is written.
    pub journal: Journal,
    /// How it is run.
    pub runner: Box<dyn Runner>,
    /// Ends runs that ask for the same again and again.
    pub guard: RunGuard,
    /// Where a yes for always is kept; without one none is offered.
    pub keeper: Option<Box<dyn Keeper>>,
    /// Names for calls and questions.
    pub names: Box<dyn Fn() -> [u8; 16] + Send + Sync>,
}

impl Office {
    /// Writes events; the last record of them.
    pub(crate) fn write(&self, events: &[Event], durable: bool) -> Result<Option<Sequence>, Unavailable> {
        if events.is_empty() {
            return Ok(None);
        }
        let written =
            if durable { self.journal.append_all(events) } else { self.journal.append_soon(events) };
        Ok(written?.last().copied())
    }

    /// Writes the last events of this process.
    pub(crate) fn write_last(&self, events: &[Event]) -> Result<(), Unavailable> {
        self.journal.append_last(events).map(drop)
    }
}

/// Behind the fence, on this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fenced;

impl Runner for Fenced {
    fn run(
        &self,
        prepared: &Prepared,
        begun: Option<fence::Begun>,
        leave: Leave<'_>,
    ) -> Result<Ran, Refusal> {
        let Some(plan) = &prepared.plan else {
            let (program, words, directory) = (&prepared.program, &prepared.arguments, &prepared.directory);
            return Err(Refusal::Program(
                fence::become_unfenced(program, words, directory, leave.ask()?).to_string(),
            ));
        };
        let order = fence::Order {
            plan,
            program: &prepared.program,
            arguments: &prepared.arguments,
            streams: None,
            stands_in: true,
            bwrap: prepared.bwrap.as_deref(),
            reins: None,
            leave,
        };
        let (outcome, remains) = fence::run_begun(prepared.backend, &order, begun)?;
        Ok(Ran { outcome, remains: Some(remains) })
    }
}
