//! From a call to a [`Permit`]: the policy speaks, somebody is asked where it says so, and the decision is on disk before
//! anything starts.

use std::ffi::OsString;
use std::sync::Arc;

use approval::{Asked, Begun, Cause, RunState, rfc3339};
use call::{Category, ErrorKind, RawCall, Shown, What};
use policy::Decision;

use crate::caveat::Caveat;
use crate::permit::{Decided, Permit, Work};
use crate::question::{declined, question, refused, unapproved};
use crate::record::Record;
use crate::stopped::{By, Stopped};
use crate::{Gate, Judgement};

/// Under which circumstances a call is to run.
#[derive(Default)]
pub struct Terms {
    /// The environment of whoever asks; the fence lets through what it may.
    pub environment: Vec<(OsString, OsString)>,
    /// The program's standard input is a terminal with a person in front of it, who types the code that the call does not
    /// show.
    pub typed: bool,
    /// A person watches it at a terminal: it is not timed.
    pub untimed: bool,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// A fence that was begun for it.
    pub begun: Option<fence::Begun>,
    /// This process is there for this call alone. So its decision is put on disk while the fence is built rather than before
    /// (nothing starts without it either way), and its end is signed for at once.
    pub alone: bool,
    /// A hook of the call's host let it through before, under the same id, and runs it by this.
    pub handed_on: bool,
    /// Takes it back.
    pub cancel: tools::Cancel,
    /// What whoever hands it in knows of it.
    pub caveat: Caveat,
    /// Hosts that its program may connect to, beside those of the configuration.
    pub hosts: Vec<String>,
    /// Is told what the call was judged to be, before anybody is asked about it.
    pub told: Option<ToldJudgement>,
}

/// Hears of a judgement, and of the call as it may be shown.
pub type ToldJudgement = Box<dyn FnOnce(&Judgement, &call::Request) + Send>;

impl Gate {
    /// The whole way from a call to leave to run it.
    ///
    /// # Errors
    /// It was refused: by the policy, by whoever was asked, by the fence or by the journal.
    pub fn admit(&self, raw: RawCall, mut terms: Terms) -> Result<Permit, Stopped> {
        let begun = terms.begun.take();
        let mut record = self.record_of(&raw, terms.run.as_deref()).handed_on(terms.handed_on);
        let session = raw.session.clone().unwrap_or_default();
        let judgement = match self.judge(raw) {
            Ok(mut judgement) => {
                terms.caveat.weigh(&mut judgement);
                judgement
            }
            Err(invalid) => {
                record.malformed(&invalid.to_string());
                let stopped = Stopped::new(ErrorKind::Validation, By::Gate, invalid.to_string());
                record.stopped(self.office.as_deref(), &stopped);
                return Err(stopped);
            }
        };
        self.permit(judgement, &session, terms, begun, record)
    }

    /// From what was judged to the permit.
    pub(crate) fn permit(
        &self,
        judgement: Judgement,
        session: &str,
        terms: Terms,
        begun: Option<fence::Begun>,
        mut record: Record,
    ) -> Result<Permit, Stopped> {
        match self.weigh(&judgement, session, terms, &mut record) {
            Ok(decided) => Ok(Permit::new(judgement, decided, begun, self.office.clone(), record)),
            Err(stopped) => {
                record.stopped(self.office.as_deref(), &stopped);
                Err(stopped)
            }
        }
    }

    /// What whoever asked is told of a ruling that denies.
    #[must_use]
    pub fn refusal(&self, judgement: &Judgement) -> Stopped {
        refused(&judgement.ruling, ErrorKind::Permission, judgement.ruling.reason.clone())
    }

    /// Policy, preparation, approval and journal, in that order.
    fn weigh(
        &self,
        judgement: &Judgement,
        session: &str,
        terms: Terms,
        record: &mut Record,
    ) -> Result<Decided, Stopped> {
        let ruling = &judgement.ruling;
        let search_key = self.search_key(judgement, &terms.environment);
        let work = match ruling.decision {
            Decision::Deny => None,
            Decision::Allow | Decision::Ask => Some(self.work(judgement, terms.environment, &terms.hosts)),
        };
        // What could be prepared is bound into the request; what could not be is written down as it was asked for.
        let request = match &work {
            Some(Ok(Work::Command(prepared))) if ruling.decision == Decision::Ask => {
                self.bound(judgement, prepared)
            }
            Some(Ok(Work::Command(prepared))) => self.fenced_request(judgement, prepared),
            _ => self.request(judgement),
        };
        let request = terms.caveat.bind(request);
        record.requested(judgement, &request, self.whole_command(judgement));
        if let Some(told) = terms.told {
            told(judgement, &request);
        }
        let Some(work) = work else {
            return Err(self.refusal(judgement));
        };
        let mut work = work?;
        let left = match ruling.decision {
            Decision::Ask if terms.handed_on => self.taken_ticket(judgement, session, record),
            Decision::Allow | Decision::Ask | Decision::Deny => None,
        };
        let by_typing = terms.typed && self.rests_on_typing(judgement);
        let approved = if left.is_some() {
            left
        } else if ruling.decision == Decision::Ask && !by_typing {
            Some(self.ask(
                judgement,
                session,
                (&work, &terms.caveat),
                &request,
                terms.run.as_deref(),
                record,
            )?)
        } else {
            None
        };
        let fence = match &mut work {
            Work::Command(prepared) => {
                if let Some(stopped) = prepared.lost.take() {
                    return Err(stopped);
                }
                if terms.untimed {
                    prepared.untimed();
                }
                match &prepared.plan {
                    Some(_) => Shown::of(&self.config.sandbox_mode().value),
                    None => Shown::word("none"),
                }
            }
            Work::Files(_) => Shown::word("files beneath open roots"),
            Work::Other => Shown::word("none: nothing is touched"),
        };
        let unkept = record.started(self.office.as_deref(), fence, terms.alone)?;
        Ok(Decided { work, approved, search_key, unkept })
    }

    /// What is to be done for a call, by the kind of its tool.
    fn work(
        &self,
        judgement: &Judgement,
        environment: Vec<(OsString, OsString)>,
        hosts: &[String],
    ) -> Result<Work, Stopped> {
        if let Some(stopped) = self.unresolved(judgement) {
            return Err(stopped);
        }
        if judgement.call.exec().is_some() {
            let mut prepared = self.prepare(judgement, environment)?;
            prepared.reach(hosts)?;
            return Ok(Work::Command(Box::new(prepared)));
        }
        match self.descriptors.of(&judgement.call).category() {
            _ if judgement.call.known_tool().is_none() => Ok(Work::Other),
            Category::Read | Category::Write => {
                self.reach(judgement).map(|reach| Work::Files(Box::new(reach)))
            }
            _ => Ok(Work::Other),
        }
    }

    /// Asks whoever can be asked. A yes is spent on exactly what was prepared.
    fn ask(
        &self,
        judgement: &Judgement,
        session: &str,
        (work, caveat): (&Work, &Caveat),
        request: &call::Request,
        run: Option<&str>,
        record: &mut Record,
    ) -> Result<(Arc<Asked>, Shown), Stopped> {
        let ruling = &judgement.ruling;
        let Some(office) = self.office.as_deref() else {
            let why = format!("somebody must be asked, and nobody can be: {}", ruling.reason);
            return Err(refused(ruling, ErrorKind::HumanRequired, why));
        };
        if run.is_some_and(|run| office.guard.state(run) == RunState::Ended) {
            let why = "the run is over: the same call was denied before";
            return Err(Stopped { ends_run: true, ..Stopped::new(ErrorKind::Permission, By::Approval, why) });
        }
        let mut asked = question(office, judgement, session, request.clone());
        asked.run = run.map(str::to_owned);
        if let Some(keeper) = &office.keeper {
            asked.always =
                approval::propose(ruling, &judgement.analysis).map(|proposal| keeper.weigh(proposal));
        }
        let asked = Arc::new(asked);
        let verdict = match office.approver.begin(Arc::clone(&asked)) {
            Begun::Settled(verdict) => *verdict,
            Begun::Open(question) => {
                record.asking(question.asked(), question.expires_ms());
                record.write(Some(office), false)?;
                question.answer()
            }
        };
        record.decided(verdict.outcome());
        if verdict.outcome().decision() == approval::Decision::ApprovedAlways
            && let (Some(keeper), Some(proposal)) = (&office.keeper, &asked.always)
        {
            let (by, when) =
                (verdict.outcome().by(), rfc3339(office.approver.coordinator().clock().date_ms()));
            let saved = keeper.save(proposal, by.as_str(), &when, ruling.reason.as_str());
            record.ruled(proposal, by, &saved);
        }
        let ends_run = run.map(|run| office.guard.note(run, verdict.outcome())) == Some(RunState::Ended);
        let consent = verdict.into_consent().map_err(|said| {
            let stopped = declined(ruling, &said);
            // A run that has nobody to ask is set up wrongly; a single call may still find somebody later.
            let kind = match stopped.kind {
                ErrorKind::ConfigError if run.is_none() => ErrorKind::HumanRequired,
                kind => kind,
            };
            // Whoever comes too late, or was never reached, can still say yes to exactly this, for the next time.
            let deferred = matches!(said.cause(), Cause::NobodyToAsk | Cause::TimedOut)
                .then(|| office.grants.defer(&asked).ok())
                .flatten();
            let pending = deferred.map(|id| id.to_string());
            Stopped { kind, ends_run, pending, ..stopped }
        })?;
        // FAIL-CLOSED: what was approved may have been changed while somebody thought about it.
        if !self.is_unchanged(judgement) {
            let why = "the skill's action is no longer what was approved: its files or its command changed";
            return Err(Stopped { ends_run, ..unapproved(ruling, ErrorKind::Permission, why.into()) });
        }
        let now = match work {
            Work::Command(prepared) => self.bound(judgement, prepared),
            Work::Files(_) | Work::Other => self.request(judgement),
        };
        let now = caveat.bind(now).approval_key();
        let spent = consent.spend(&now).map_err(|mismatch| Stopped {
            ends_run,
            ..unapproved(ruling, ErrorKind::Permission, mismatch.to_string())
        })?;
        let by = spent.outcome().by().clone();
        Ok((asked, by))
    }

    /// The whole text of a command, masked, where the configuration wants every command written down in full.
    pub(crate) fn whole_command(&self, judgement: &Judgement) -> Option<Shown> {
        if !self.config.log_all_commands() {
            return None;
        }
        Some(match judgement.call.exec()?.what {
            What::Words(words) => Shown::of(&call::mask_argv(words).join(" ")),
            What::Text(text, _) => Shown::of(text),
        })
    }
}
