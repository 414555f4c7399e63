//! What is asked about a call, and how the answer is told if it is no.

use std::sync::Arc;

use approval::{AskId, Asked, Outcome};
use call::{ErrorKind, RawCall, Request, Shown};
use policy::Ruling;

use crate::office::Office;
use crate::record::Record;
use crate::stopped::{By, Stopped};
use crate::{Gate, Judgement};

impl Gate {
    /// The record of a call that came in: under the id that it has, or one of ours.
    pub(crate) fn record_of(&self, raw: &RawCall, run: Option<&str>) -> Record {
        let id = raw.id.as_deref().map(|id| Shown::identifier(id, &self.digest_key));
        let ours = || Shown::name(self.office.as_deref().map(|office| (office.names)()).unwrap_or_default());
        Record::of(raw, id.unwrap_or_else(ours), run, &self.digest_key)
    }
}

/// The question whether a request may run.
pub(crate) fn question(office: &Office, judgement: &Judgement, session: &str, request: Request) -> Asked {
    let (name, key) = (AskId::from_bytes((office.names)()), request.approval_key());
    let analysis = Arc::clone(&judgement.analysis);
    let mut asked =
        Asked::new(name, session, judgement.call.tool(), request, key, &judgement.ruling, analysis);
    asked.principal = Shown::of(&judgement.call.principal().id);
    asked
}

/// What the policy's refusal says.
pub(crate) fn refused(ruling: &Ruling, kind: ErrorKind, why: String) -> Stopped {
    let place = ruling.rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    Stopped {
        rule: Some(format!("{}{place}", ruling.rule.id)),
        help: ruling.help.clone(),
        ..Stopped::new(kind, By::Policy, why)
    }
}

/// The same where approval was wanting.
pub(crate) fn unapproved(ruling: &Ruling, kind: ErrorKind, why: String) -> Stopped {
    Stopped { by: By::Approval, ..refused(ruling, kind, why) }
}

/// What is said after a no: why it was asked, and who said so.
pub(crate) fn declined(ruling: &Ruling, said: &Outcome) -> Stopped {
    let note = said.note().map(|note| format!(": {note}")).unwrap_or_default();
    let why = format!("{} ({} by {}{note})", ruling.reason, said.decision().name(), said.by());
    unapproved(ruling, said.error_kind().unwrap_or(ErrorKind::Permission), why)
}
