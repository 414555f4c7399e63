//! A call that whoever hands it in runs, and that needs nothing but to be judged and written down: no person, no engine, no
//! program. It is let through in the time that the disk takes, so that its door need not set a thread aside for it.

use call::{Arguments, RawCall};
use policy::Decision;
use tools::Outcome;

use crate::Gate;
use crate::admit::Terms;
use crate::caveat::Caveat;
use crate::permit::Permit;
use crate::stopped::Stopped;

/// Leave to run one call once, given to whoever asked for it. Where it is dropped, the journal learns that the call was broken off.
#[must_use = "leave that is dropped closes its call as aborted"]
pub struct Entrusted(Permit);

impl Gate {
    /// Lets a call of a tool that is not known here through, if the policy allows it by itself; the decision is on disk when this
    /// returns. `None`: it is not as simple as that, nothing was written, and [`Gate::admit`] is to decide.
    #[must_use]
    pub fn entrust(&self, raw: RawCall, caveat: &Caveat) -> Option<Result<Entrusted, Stopped>> {
        // An engine takes its time; a doubt is somebody's to dispel; what was added to the gate is run by the gate.
        if self.config.engine().is_some() || caveat.doubt.is_some() || self.custom.contains_key(&raw.tool) {
            return None;
        }
        let record = self.record_of(&raw, None);
        let session = raw.session.clone().unwrap_or_default();
        let judgement = self.judge(raw).ok()?;
        let unknown_here = judgement.call.known_tool().is_none()
            && matches!(judgement.call.arguments(), Arguments::Custom(_));
        if judgement.ruling.decision != Decision::Allow || !unknown_here {
            return None;
        }
        let terms = Terms { caveat: caveat.clone(), ..Terms::default() };
        Some(self.permit(judgement, &session, terms, None, record).map(Entrusted))
    }
}

impl Entrusted {
    /// It ended like this.
    pub fn ended(mut self, outcome: &Outcome) {
        self.0.conclude(outcome);
    }
}
