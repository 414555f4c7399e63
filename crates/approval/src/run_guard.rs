//! The same call denied twice in a run ends the run: an agent that asks again and again is not waited out.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use call::ApprovalKey;

use crate::outcome::{Decision, Outcome};

/// How often the same call may be denied in a run.
const DENIALS: u32 = 2;
/// How many different calls of one run are counted; a run that is denied more than these is over.
const MAX_KEYS: usize = 10_000;
/// How many runs are counted at once.
const MAX_RUNS: usize = 10_000;

/// Counts denials, run by run.
#[derive(Debug, Default)]
pub struct RunGuard {
    runs: Mutex<BTreeMap<String, Run>>,
}

#[derive(Debug, Default)]
struct Run {
    denied: BTreeMap<ApprovalKey, u32>,
    ended: bool,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It goes on.
    GoesOn,
    /// It is over: `approval_denied`.
    Ended,
}

impl RunGuard {
    /// Counts an outcome, and says whether its run goes on.
    pub fn note(&self, run: &str, outcome: &Outcome) -> RunState {
        match outcome.decision() {
            Decision::Abort => self.end(run),
            Decision::Denied => self.denied(run, outcome.key()),
            Decision::Approved | Decision::ApprovedForSession | Decision::ApprovedAlways => self.state(run),
        }
    }

    /// Counts a denial.
    pub fn denied(&self, run: &str, key: &ApprovalKey) -> RunState {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.len() >= MAX_RUNS && !runs.contains_key(run) {
            // FAIL-CLOSED: a run that cannot be counted is not let go on.
            return RunState::Ended;
        }
        let entry = runs.entry(run.to_owned()).or_default();
        if entry.denied.len() >= MAX_KEYS {
            entry.ended = true;
        } else {
            let count = entry.denied.entry(key.clone()).or_insert(0);
            *count += 1;
            entry.ended |= *count >= DENIALS;
        }
        if entry.ended { RunState::Ended } else { RunState::GoesOn }
    }

    /// Ends a run.
    pub fn end(&self, run: &str) -> RunState {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.len() < MAX_RUNS || runs.contains_key(run) {
            runs.entry(run.to_owned()).or_default().ended = true;
        }
        RunState::Ended
    }

    /// Whether a run goes on.
    #[must_use]
    pub fn state(&self, run: &str) -> RunState {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.get(run).is_some_and(|run| run.ended) { RunState::Ended } else { RunState::GoesOn }
    }

    /// Forgets a run that is over and gone.
    pub fn forget(&self, run: &str) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}
