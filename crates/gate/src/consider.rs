//! A call that somebody else runs: a coding agent's host asks first, and runs it itself afterwards. The policy speaks, a yes
//! that was given before is looked for, whoever answers without a terminal is asked, and the decision is on disk before the
//! host hears it. What nobody could be asked waits under its id for a person.

use std::path::PathBuf;
use std::sync::Arc;

use approval::{Asked, Begun, Cause, GrantKind, Grants};
use call::{ErrorKind, RawCall, Shown};
use fence::Terrain;
use policy::Decision;

use crate::lately;
use crate::office::Office;
use crate::question::{declined, question, unapproved};
use crate::record::{Record, Told};
use crate::stopped::{By, Stopped};
use crate::{Gate, Judgement};

/// What a host can do with an answer.
#[derive(Debug, Clone, Copy)]
pub struct Hearing {
    /// It can put a question to the person itself.
    pub asks: bool,
    /// It asks about the same call once more before it runs it: a yes for once is used up then, not now.
    pub again: bool,
    /// What it runs goes through the gate once more, which writes its decision down before it starts anything: this one
    /// need not be waited for.
    pub gated_again: bool,
    /// Nothing new is to wait for an answer: the person is about to be asked.
    pub passing: bool,
    /// It asked about the same call before, under the same id, and that is written down.
    pub told_before: bool,
}

/// What is to be answered.
#[derive(Debug)]
pub enum Considered {
    /// It may run.
    Allowed {
        /// Why.
        reason: String,
        /// By the policy alone, without anybody's yes.
        by_policy: bool,
    },
    /// A person is to be asked; the question waits under its name, if it could be kept.
    Asked(Stopped),
    /// It may not run.
    Denied(Stopped),
}

/// One of the calls that a host's one call is.
struct Case {
    judgement: Judgement,
    request: call::Request,
    record: Record,
    session: String,
}

/// What came of asking about one call.
enum Said {
    Yes,
    No(Stopped),
    Nobody(Stopped),
}

impl Gate {
    /// What is to be answered about these calls, which are one call of the host's: the strictest ruling holds for all.
    #[must_use]
    pub fn consider(&self, calls: Vec<RawCall>, hearing: Hearing) -> Considered {
        let Some(office) = self.office.as_deref() else {
            let why = "a call that cannot be written down does not run";
            return Considered::Denied(Stopped::new(ErrorKind::Unknown, By::Journal, why));
        };
        let mut cases = Vec::new();
        let mut malformed = None;
        for raw in calls {
            let mut record = self.record_of(&raw, None).handed_on(hearing.told_before);
            let session = raw.session.clone().unwrap_or_default();
            match self.judge(raw) {
                Ok(judgement) => {
                    let request = self.hosted_request(&judgement);
                    cases.push(Case { judgement, request, record, session });
                }
                Err(invalid) => {
                    record.malformed(&invalid.to_string());
                    let stopped = Stopped::new(ErrorKind::Validation, By::Gate, invalid.to_string());
                    record.stopped(Some(office), &stopped);
                    malformed.get_or_insert(stopped);
                }
            }
        }
        for case in &mut cases {
            case.record.requested(&case.judgement, &case.request, self.whole_command(&case.judgement));
        }
        if let Some(stopped) = malformed {
            return deny(office, cases, stopped);
        }
        let Some(worst) = cases.iter().max_by_key(|case| case.judgement.ruling.decision) else {
            // FAIL-CLOSED: a question about nothing is none that was understood.
            let why = "the question has no call in it";
            return Considered::Denied(Stopped::new(ErrorKind::Validation, By::Gate, why));
        };
        let reason = worst.judgement.ruling.reason.clone();
        match worst.judgement.ruling.decision {
            Decision::Deny => {
                let stopped = self.refusal(&worst.judgement);
                deny(office, cases, stopped)
            }
            Decision::Allow => settle(office, cases, hearing, reason, true),
            Decision::Ask => self.ask_all(office, cases, hearing, reason),
        }
    }

    /// A call that the host ran has ended.
    pub fn considered_ended(&self, raw: &RawCall, succeeded: Option<bool>) {
        let Some(office) = self.office.as_deref() else { return };
        let error_kind = (succeeded == Some(false)).then_some(ErrorKind::Unknown);
        let told = Told { error_kind, fence: Some(Shown::word("run by its host")), ..Told::default() };
        self.record_of(raw, None).finished(Some(office), journal::Outcome::Finished, told);
    }

    /// Whether the journal in this directory has the end of a call among its last records: a command that ran behind the fence has
    /// its end from there.
    #[must_use]
    pub fn has_ended(&self, raw: &RawCall, journal: &std::path::Path) -> bool {
        let Some(id) = raw.id.as_deref().map(|id| Shown::identifier(id, &self.digest_key)) else {
            return false;
        };
        lately::any(journal, |record| {
            record.kind == journal::Kind::ToolCallFinished && record.call_id.as_deref() == Some(id.as_str())
        })
    }

    /// What a yes is bound to where the host runs the call: the call and its directory. The program, the environment and the
    /// content of files are the host's, and are not seen here.
    fn hosted_request(&self, judgement: &Judgement) -> call::Request {
        self.request(judgement)
            .bind("directory", &judgement.seen.cwd)
            .bind("run_by", judgement.call.principal().groups.first().map_or("host", String::as_str))
    }

    fn ask_all(&self, office: &Office, mut cases: Vec<Case>, hearing: Hearing, reason: String) -> Considered {
        let to_ask = |case: &Case| {
            (case.judgement.ruling.decision == Decision::Ask)
                .then(|| Arc::new(question(office, &case.judgement, &case.session, case.request.clone())))
        };
        let asked: Vec<Option<Arc<Asked>>> = cases.iter().map(to_ask).collect();
        let mut nobody: Option<Stopped> = None;
        // A yes for once is used up only when nothing else stands in the way.
        for (case, asked) in cases.iter_mut().zip(&asked) {
            let Some(asked) = asked else { continue };
            if stands(&office.grants, asked) {
                continue;
            }
            match ask(office, case, asked, hearing) {
                Ok(Said::Yes) => {}
                Ok(Said::No(stopped)) | Err(stopped) => return deny(office, cases, stopped),
                Ok(Said::Nobody(stopped)) => match &mut nobody {
                    None => nobody = Some(stopped),
                    Some(first) => {
                        first.help.push("several questions wait: `bailiwick grants` lists them".into());
                    }
                },
            }
        }
        if let Some(stopped) = nobody {
            if hearing.asks {
                return wait(office, cases, stopped);
            }
            // Refused until a person has said yes elsewhere.
            refuse(office, cases, &stopped);
            return Considered::Asked(stopped);
        }
        if !hearing.again {
            for (case, asked) in cases.iter_mut().zip(&asked) {
                let Some(asked) = asked.as_ref().filter(|asked| stands(&office.grants, asked)) else {
                    continue;
                };
                match ask(office, case, asked, hearing) {
                    Ok(Said::Yes) => {}
                    // Somebody else used the yes up, or took it back, just now.
                    Ok(Said::No(stopped) | Said::Nobody(stopped)) | Err(stopped) => {
                        return deny(office, cases, stopped);
                    }
                }
            }
        }
        if hearing.gated_again
            && !hearing.again
            && let Err(unkept) = self.leave_tickets(office, &cases)
        {
            return deny(office, cases, unkept);
        }
        settle(office, cases, hearing, format!("{reason}; somebody approved it"), false)
    }

    /// A yes was used up here, and what the host runs comes to the gate once more: it finds a yes for exactly this command in this
    /// directory, under this id, once.
    fn leave_tickets(&self, office: &Office, cases: &[Case]) -> Result<(), Stopped> {
        for case in cases.iter().filter(|case| case.judgement.ruling.decision == Decision::Ask) {
            let Some(ticket) = self.ticket(office, &case.judgement, &case.session) else { continue };
            // FAIL-CLOSED: without it the command would only be refused later.
            office.grants.hand_on(&ticket, &Shown::word("hook")).map_err(|why| {
                Stopped::new(
                    ErrorKind::Unknown,
                    By::Approval,
                    format!("the yes could not be handed on: {why}"),
                )
            })?;
        }
        Ok(())
    }

    /// The yes that a hook left for a call that was handed on. It is used up by this.
    pub(crate) fn taken_ticket(
        &self,
        judgement: &Judgement,
        session: &str,
        record: &mut Record,
    ) -> Option<(Arc<Asked>, Shown)> {
        let office = self.office.as_deref()?;
        let ticket = self.ticket(office, judgement, session)?;
        let grant = office.grants.covering(&ticket)?;
        record.left_by(&grant.by);
        Some((Arc::new(ticket), grant.by))
    }

    /// What a yes that is handed on is bound to: the command, the directory, and the call's id.
    fn ticket(&self, office: &Office, judgement: &Judgement, session: &str) -> Option<Asked> {
        let id = judgement.call.id()?;
        let directory = PathBuf::from(&judgement.seen.cwd);
        let directory = fence::Ground.follow(&directory).unwrap_or(directory);
        let request =
            self.request(judgement).bind("directory", &directory.to_string_lossy()).bind("handed_on", id);
        Some(question(office, judgement, session, request))
    }
}

/// Whether a yes stands for a question. Nothing is used up by looking.
fn stands(grants: &Grants, asked: &Asked) -> bool {
    let fits = |grant: &approval::Grant| match &grant.kind {
        GrantKind::Session | GrantKind::Once => grant.key.as_ref() == Some(&asked.key),
        GrantKind::Auto(tool) => {
            asked.confirmation.is_none() && tool.as_ref().is_none_or(|tool| *tool == asked.tool)
        }
        GrantKind::Cover(_) | GrantKind::Waiting { .. } => false,
    };
    grants.list(Some(&asked.session)).iter().any(fits)
}

/// Looks for a yes that stands, then asks those who answer by themselves.
fn ask(office: &Office, case: &mut Case, asked: &Arc<Asked>, hearing: Hearing) -> Result<Said, Stopped> {
    let ruling = &case.judgement.ruling;
    let verdict = match office.approver.begin(Arc::clone(asked)) {
        Begun::Settled(verdict) => *verdict,
        Begun::Open(question) => {
            case.record.asking(question.asked(), question.expires_ms());
            question.answer()
        }
    };
    let said = verdict.outcome();
    if said.cause() == Cause::NobodyToAsk {
        let kept = if hearing.passing { None } else { office.grants.defer(asked).ok() };
        let pending = kept.map(|id| id.to_string());
        let stopped = unapproved(ruling, ErrorKind::HumanRequired, ruling.reason.clone());
        return Ok(Said::Nobody(Stopped { pending, ..stopped }));
    }
    case.record.decided(said);
    match verdict.into_consent().map(|consent| consent.spend(&case.request.approval_key())) {
        Ok(Ok(_spent)) => Ok(Said::Yes),
        Ok(Err(mismatch)) => Ok(Said::No(unapproved(ruling, ErrorKind::Permission, mismatch.to_string()))),
        Err(said) => Ok(Said::No(declined(ruling, &said))),
    }
}

fn refuse(office: &Office, cases: Vec<Case>, stopped: &Stopped) {
    for case in cases {
        case.record.stopped(Some(office), stopped);
    }
}

/// All of them are refused.
fn deny(office: &Office, cases: Vec<Case>, stopped: Stopped) -> Considered {
    refuse(office, cases, &stopped);
    Considered::Denied(stopped)
}

/// The host asks the person, and may run it then: that it was asked about is on disk before.
fn wait(office: &Office, cases: Vec<Case>, stopped: Stopped) -> Considered {
    for mut case in cases {
        case.record.tell();
        if let Err(unwritten) = case.record.write(Some(office), true) {
            return Considered::Denied(unwritten);
        }
    }
    Considered::Asked(stopped)
}

/// It may run, once that is on disk.
fn settle(
    office: &Office,
    cases: Vec<Case>,
    hearing: Hearing,
    reason: String,
    by_policy: bool,
) -> Considered {
    let durable = !(hearing.gated_again && by_policy);
    for mut case in cases {
        if let Err(unwritten) = case.record.write(Some(office), durable) {
            return Considered::Denied(unwritten);
        }
    }
    Considered::Allowed { reason, by_policy }
}
