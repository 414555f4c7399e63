//! Leave to run one call, once. Only the gate makes one, after the decision is written; nothing starts before it is on disk, and
//! running uses it up; whatever
//! becomes of it, the journal learns how the call ended. Nothing else in the project starts a program for an agent.
//!
//! It cannot be made by hand, nor used twice:
//! ```compile_fail,E0382
//! fn twice(permit: gate::Permit) {
//!     let _ = permit.run();
//!     let _ = permit.run();
//! }
//! ```
//! ```compile_fail,E0599
//! fn copy(permit: &gate::Permit) -> gate::Permit {
//!     permit.clone()
//! }
//! ```

use std::cell::Cell;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use approval::Asked;
use call::{ErrorKind, Secret, Shown};
use fence::{End, Leave, Outcome, Refusal};
use journal::Sequence;

use crate::Judgement;
use crate::office::{Fenced, Office, Runner};
use crate::prepare::Prepared;
use crate::reach::Reach;
use crate::record::{Record, Told, unwritten};
use crate::stopped::{By, Stopped};

/// Leave to run one call once, behind one fence.
#[must_use = "a permit that is dropped closes its call as aborted"]
pub struct Permit {
    judgement: Option<Judgement>,
    work: Option<Work>,
    begun: Option<fence::Begun>,
    approved: Option<(Arc<Asked>, Shown)>,
    search_key: Option<Secret>,
    told: Told,
    open: Open,
    /// The record of its start, where that is yet to be put on disk.
    unkept: Option<Sequence>,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Work {
    /// A command is executed.
    Command(Box<Prepared>),
    /// Files are touched.
    Files(Box<Reach>),
    /// Neither: the tool is told by the call alone.
    Other,
}

/// What was decided about a call, on the way to its permit.
pub(crate) struct Decided {
    pub(crate) work: Work,
    /// The question that was answered with yes, and by whom.
    pub(crate) approved: Option<(Arc<Asked>, Shown)>,
    /// The key of the search provider, where one is asked.
    pub(crate) search_key: Option<Secret>,
    /// The record of its start, where that is yet to be put on disk.
    pub(crate) unkept: Option<Sequence>,
}

/// A call that was started in the journal and must be ended there.
struct Open {
    office: Option<Arc<Office>>,
    record: Option<Record>,
}

impl Open {
    fn close(&mut self, outcome: journal::Outcome, told: Told) {
        if let Some(record) = self.record.take() {
            record.finished(self.office.as_deref(), outcome, told);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let told = Told { error_kind: Some(ErrorKind::Cancelled), ..Told::default() };
        self.close(journal::Outcome::Aborted, told);
    }
}

impl Permit {
    pub(crate) fn new(
        judgement: Judgement,
        decided: Decided,
        begun: Option<fence::Begun>,
        office: Option<Arc<Office>>,
        record: Record,
    ) -> Permit {
        let Decided { work, approved, search_key, unkept } = decided;
        let open = Open { office, record: Some(record) };
        Permit {
            judgement: Some(judgement),
            work: Some(work),
            begun,
            approved,
            search_key,
            told: Told::default(),
            open,
            unkept,
        }
    }

    /// The key of the search provider, where one is asked.
    pub(crate) const fn search_key(&self) -> Option<&Secret> {
        self.search_key.as_ref()
    }

    pub(crate) fn take_judgement(&mut self) -> Option<Judgement> {
        self.judgement.take()
    }

    /// What is to be done, once its start is on disk.
    pub(crate) fn take_work(&mut self) -> Result<Option<Work>, Stopped> {
        self.keep()?;
        Ok(self.work.take())
    }

    /// Sees to it that the start of the call is on disk.
    fn keep(&self) -> Result<(), Stopped> {
        match (&self.open.office, self.unkept) {
            (Some(office), Some(record)) => {
                office.journal.keep(record).map_err(|unavailable| unwritten(&unavailable))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn told_mut(&mut self) -> &mut Told {
        &mut self.told
    }

    pub(crate) fn told(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    pub(crate) fn close(&mut self, outcome: journal::Outcome, told: Told) {
        self.open.close(outcome, told);
    }

    /// What was approved may be typed into: its own exec session, in its own session.
    pub(crate) fn cover(&self, exec_session: Option<u64>) {
        let (Some(office), Some((asked, by)), Some(id)) = (&self.open.office, &self.approved, exec_session)
        else {
            return;
        };
        // Where it cannot be kept, typing is asked about.
        let _asked_again = office.grants.cover(asked, id, by);
    }

    /// Runs the call as a server: a program that is talked to over these streams (its input, its output, its errors) until it
    /// ends or `reins` end it. It is always fenced.
    ///
    /// # Errors
    /// There is no fence around it, the fence cannot be built as planned, or the program could not be started.
    pub fn serve(mut self, streams: [OwnedFd; 3], reins: &fence::Reins) -> Result<Outcome, Stopped> {
        let work = match self.take_work() {
            Ok(work) => work,
            Err(stopped) => return self.ended(Err(stopped)),
        };
        let Some(Work::Command(prepared)) = work else {
            return Err(Stopped::new(ErrorKind::Validation, By::Gate, "the call runs no command"));
        };
        let Some(plan) = &prepared.plan else {
            let why = "servers run behind a fence; `sandbox.mode: local` is for `bailiwick exec`";
            return self.ended(Err(Stopped::new(ErrorKind::SandboxDenied, By::Fence, why)));
        };
        let order = fence::Order {
            plan,
            program: &prepared.program,
            arguments: &prepared.arguments,
            streams: Some(streams.each_ref().map(AsFd::as_fd)),
            stands_in: false,
            bwrap: prepared.bwrap.as_deref(),
            reins: Some(reins),
            leave: Leave::given(),
        };
        let ran = fence::run(prepared.backend, &order);
        self.ended(ran.map_err(stopped))
    }

    /// Runs the call, with the standard streams and the terminal of this process. Where the configuration says by name that
    /// there is no fence, this process becomes the program, and its end is nobody's to see.
    ///
    /// # Errors
    /// The fence cannot be built as planned, or the program could not be started.
    pub fn run(mut self) -> Result<Outcome, Stopped> {
        let Some(Work::Command(prepared)) = self.work.take() else {
            return Err(Stopped::new(ErrorKind::Validation, By::Gate, "the call runs no command"));
        };
        if prepared.plan.is_none() {
            let fence = Some(Shown::word("none: the program takes the place of this process"));
            self.open.close(journal::Outcome::Finished, Told { fence, ..Told::default() });
            if let Some(office) = &self.open.office {
                let _unsealed = office.journal.seal();
            }
        }
        let begun = self.begun.take();
        let withheld = Cell::new(None);
        let condition = || {
            self.keep().map_err(|stopped| {
                let why = stopped.why.clone();
                withheld.set(Some(stopped));
                why
            })
        };
        let leave = Leave::after(&condition);
        let ran = match &self.open.office {
            Some(office) => office.runner.run(&prepared, begun, leave),
            None => Fenced.run(&prepared, begun, leave),
        };
        // The rest of the fence is cleared away once the end is written.
        let (ran, _remains) = match ran {
            Ok(ran) => (Ok(ran.outcome), ran.remains),
            Err(refusal) => (Err(withheld.take().unwrap_or_else(|| stopped(refusal))), None),
        };
        self.ended(ran)
    }

    /// Closes the call by what came of it.
    fn ended(&mut self, ran: Result<Outcome, Stopped>) -> Result<Outcome, Stopped> {
        match ran {
            Ok(outcome) => {
                let (kind, how) = match outcome.end {
                    End::Code(_) | End::Signal(_) => (None, journal::Outcome::Finished),
                    End::TimedOut => (Some(ErrorKind::Timeout), journal::Outcome::Aborted),
                };
                self.open.close(how, Told { error_kind: kind, ..told(&outcome) });
                Ok(outcome)
            }
            Err(stopped) => {
                let told = Told { error_kind: Some(stopped.kind), ..Told::default() };
                self.open.close(journal::Outcome::Denied, told);
                Err(stopped)
            }
        }
    }
}

fn told(outcome: &Outcome) -> Told {
    let (exit_code, signal) = match outcome.end {
        End::Code(code) => (Some(code), None),
        End::Signal(signal) => (None, Some(signal)),
        End::TimedOut => (None, None),
    };
    let blocked =
        outcome.blocked.iter().take(MOST_TOLD).map(|blocked| Shown::of(&blocked.to_string())).collect();
    let connected =
        outcome.connections.iter().take(MOST_TOLD).map(|passed| Shown::of(&passed.name)).collect();
    let hard = |hard: bool| {
        let named = outcome.held.limits.iter().filter(|bound| bound.hard == hard).map(|bound| bound.name);
        named.collect::<Vec<_>>().join(" ")
    };
    let fence = Some(Shown::of(&format!(
        "{}, Landlock {}, hard limits: {}; soft: {}",
        outcome.held.means.name(),
        outcome.held.landlock,
        hard(true),
        hard(false)
    )));
    Told { exit_code, signal, blocked, connected, fence, ..Told::default() }
}

/// So many refusals of the fence are written down for one call.
const MOST_TOLD: usize = 32;

fn stopped(refusal: Refusal) -> Stopped {
    match refusal {
        Refusal::Fence { missing, help } => Stopped::new(
            ErrorKind::SandboxDenied,
            By::Fence,
            format!("the fence cannot be built as planned: {missing}"),
        )
        .help(help),
        Refusal::Program(why) => Stopped::new(ErrorKind::NotFound, By::Fence, why),
        Refusal::Failed(why) | Refusal::NoLeave(why) => Stopped::new(ErrorKind::Unknown, By::Fence, why),
    }
}
