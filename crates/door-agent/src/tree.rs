//! What all agents of one run share.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use gate::call::Principal;
use gate::journal::{Kind, Payload};
use gate::{Gate, Hands, RunEvent};

use crate::colleagues::Colleague;
use crate::control::Control;
use crate::event::Failure;
use crate::limits::{Limits, Used};
use crate::model::Client;
use crate::sink::Sink;
use crate::switchboard::Switchboard;

/// What all agents of one run share.
pub(crate) struct Tree {
    pub(crate) gate: Arc<Gate>,
    pub(crate) hands: Arc<Hands>,
    pub(crate) client: Arc<Client>,
    pub(crate) limits: Limits,
    pub(crate) used: Used,
    pub(crate) run: String,
    pub(crate) session: String,
    pub(crate) principal: Principal,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) board: Switchboard,
    pub(crate) instructions: String,
    /// One question after the other.
    pub(crate) admitting: Mutex<()>,
    pub(crate) root: Arc<Control>,
    pub(crate) sink: Sink,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) so_far: SoFar,
}

/// What has come of the run so far.
#[derive(Default)]
pub(crate) struct SoFar {
    failed: OnceLock<(Failure, String)>,
    colleagues: Mutex<BTreeMap<String, Colleague>>,
    calls: std::sync::atomic::AtomicU64,
}

impl Tree {
    /// The whole run is over, for this reason; the first one counts.
    pub(crate) fn fail(&self, reason: Failure, message: String) {
        let _first = self.so_far.failed.set((reason, message));
        self.root.cancel();
        for colleague in self.colleagues().values() {
            colleague.control.cancel();
        }
    }

    pub(crate) fn failed(&self) -> Option<(Failure, String)> {
        self.so_far.failed.get().cloned()
    }

    pub(crate) fn colleagues(&self) -> MutexGuard<'_, BTreeMap<String, Colleague>> {
        self.so_far.colleagues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the next call.
    pub(crate) fn next_call(&self) -> String {
        let number = self.so_far.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("{}.{}", self.session, number.saturating_add(1))
    }

    /// Takes the open questions of an agent's call back.
    pub(crate) fn withdraw(&self, agent: &Sink) {
        let Some(office) = self.gate.office() else { return };
        for id in self.board.asked(&self.run, agent) {
            let _settled = office.approver.coordinator().cancel(id, "the run was stopped");
        }
    }

    pub(crate) fn record(
        &self,
        kind: Kind,
        run: &str,
        who: &Principal,
        facts: Payload,
    ) -> Result<(), String> {
        self.gate.record_run(RunEvent { kind, run, session: &self.session, principal: who, facts })
    }
}
