//! What the journal is told of one call: it was asked for, somebody was asked, it ran, it ended. Everything that goes in is
//! masked by its type.

use std::time::Instant;

use approval::{Asked, Outcome as Said, Proposal, rfc3339};
use call::{DigestKey, Principal, RawCall, Request, Shown};
use journal::{Event, Kind, Payload, Sequence, Who};

use crate::Judgement;
use crate::office::Office;
use crate::stopped::{By, Stopped};

/// The record of one call, from its first line to its last.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    tool: Shown,
    call: Shown,
    session: Option<Shown>,
    run: Option<Shown>,
    who: Who,
    begun: Instant,
    /// The first line, until it is written together with the next.
    waiting: Vec<Event>,
    /// A hook of the call's host has written the request down, under the same name.
    handed_on: bool,
    /// What the policy says of a call that was handed on, until it starts.
    carried: Option<Payload>,
    /// With its end, nothing more is written by this process.
    alone: bool,
}

/// How a call that ran came out, as far as the journal is told.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// The program's own code.
    pub exit_code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it did not do what was asked.
    pub error_kind: Option<call::ErrorKind>,
    /// Bytes that came out.
    pub output_bytes: Option<u64>,
    /// Their digest.
    pub output_sha256: Option<Shown>,
    /// What came out, masked, where the configuration says so.
    pub output: Option<Shown>,
    /// What the fence refused.
    pub blocked: Vec<Shown>,
    /// What was reached beyond the fence, by name.
    pub connected: Vec<Shown>,
    /// The fence that stood around it.
    pub fence: Option<Shown>,
}

impl Record {
    /// The record of a call that came in.
    #[expect(clippy::disallowed_methods, reason = "how long a call took is measured here")]
    pub(crate) fn of(raw: &RawCall, call: Shown, run: Option<&str>, key: &DigestKey) -> Record {
        let name = |text: &str| Shown::identifier(text, key);
        Record {
            tool: Shown::of(&raw.tool),
            call,
            session: raw.session.as_deref().map(name),
            run: run.map(name),
            who: Who::of(&Principal::clone(&raw.principal)),
            begun: Instant::now(),
            waiting: Vec::new(),
            handed_on: false,
            carried: None,
            alone: false,
        }
    }

    /// The same, of a call that a hook of its host has put to the gate before: its story is told once. What is decided now stands
    /// with its start.
    pub(crate) fn handed_on(mut self, handed_on: bool) -> Record {
        self.handed_on = handed_on;
        self
    }

    fn event(&self, kind: Kind, payload: Payload) -> Event {
        Event::new(kind, payload)
            .in_run(self.run.clone())
            .in_session(self.session.clone())
            .about(Some(self.call.clone()))
            .by(Some(self.who.clone()))
    }

    fn payload(&self) -> Payload {
        Payload::new().with("tool", &self.tool)
    }

    /// It was asked for, and this is what the policy says.
    pub(crate) fn requested(&mut self, judgement: &Judgement, request: &Request, whole: Option<Shown>) {
        let ruling = &judgement.ruling;
        let hidden = judgement.analysis.hidden();
        let effects: Vec<Shown> = judgement
            .analysis
            .parts
            .iter()
            .flat_map(|part| &part.effects)
            .take(MOST_EFFECTS)
            .map(|effect| Shown::of(&hidden.effect(effect)))
            .collect();
        let at = ruling.rule.at.as_ref();
        let rule = Payload::new()
            .with("id", Shown::of(&ruling.rule.id))
            .with("file", at.map(|at| Shown::of(&at.file)))
            .with("line", at.map(|at| at.line).filter(|line| *line > 0));
        let payload = self
            .payload()
            .with("request", request)
            .with("command", whole)
            .with("approval_key", request.approval_key())
            .with("decision", ruling.decision.name())
            .with("reason", Shown::of(&ruling.reason))
            .with("rule", rule)
            .with("risk", risk(&ruling.risk))
            .with("effects", effects);
        if self.handed_on {
            self.carried = Some(payload);
        } else {
            self.waiting.push(self.event(Kind::ToolCallRequested, payload));
        }
        if ruling.rule.id == policy::OWN {
            let payload =
                self.payload().with("reason", Shown::of(&ruling.reason)).with("risk", risk(&ruling.risk));
            self.waiting.push(self.event(Kind::SecurityViolation, payload));
        }
    }

    /// It was asked for and could not be read.
    pub(crate) fn malformed(&mut self, why: &str) {
        let payload = self.payload().with("decision", "deny").with("reason", Shown::of(why));
        self.waiting.push(self.event(Kind::ToolCallRequested, payload));
    }

    /// Somebody is asked.
    pub(crate) fn asking(&mut self, asked: &Asked, expires_ms: u64) {
        let payload = self
            .payload()
            .with("approval_key", &asked.key)
            .with("confirmation_id", asked.id.shown())
            .with("reason", &asked.reason)
            .with("risk", risk(&asked.risk))
            .with("expires_at", Shown::of(&rfc3339(expires_ms)));
        self.waiting.push(self.event(Kind::ApprovalRequested, payload));
    }

    /// Somebody answered, or nobody did.
    pub(crate) fn decided(&mut self, said: &Said) {
        let payload = self
            .payload()
            .with("approval_key", said.key())
            .with("confirmation_id", said.id().shown())
            .with("decision", said.decision().name())
            .with("reason", said.reason().name())
            .with("by", said.by())
            .with("note", said.note())
            .with("narrowed_from", said.narrowed_from().map(approval::Decision::name));
        self.waiting.push(self.event(Kind::ApprovalDecided, payload));
    }

    /// A rule was saved, or could not be.
    pub(crate) fn ruled(&mut self, proposal: &Proposal, by: &Shown, saved: &Result<Shown, String>) {
        let payload = self
            .payload()
            .with("rule", Shown::of(&proposal.snippet()))
            .with("by", by)
            .with("file", saved.as_ref().ok())
            .with("error", saved.as_ref().err().map(|why| Shown::of(why)));
        self.waiting.push(self.event(Kind::RuleAdded, payload));
    }

    /// It starts: from here on it has an end. What is written here is on disk when this returns, or, where that is to be seen to
    /// meanwhile, once the record that is given has been kept.
    pub(crate) fn started(
        &mut self,
        office: Option<&Office>,
        fence: Shown,
        alone: bool,
    ) -> Result<Option<Sequence>, Stopped> {
        self.alone = alone;
        let payload = self.carried.take().unwrap_or_else(|| self.payload()).with("fence", fence);
        self.waiting.push(self.event(Kind::ToolCallStarted, payload));
        let last = self.write(office, !alone)?;
        Ok(last.filter(|_| alone))
    }

    /// Writes what waits, so that whoever reads along sees a question while it is open. The last record of it.
    pub(crate) fn write(
        &mut self,
        office: Option<&Office>,
        durable: bool,
    ) -> Result<Option<Sequence>, Stopped> {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(office) = office else { return Ok(None) };
        office.write(&waiting, durable).map_err(|unavailable| unwritten(&unavailable))
    }

    /// The yes that a hook of its host left for it was found.
    pub(crate) fn left_by(&mut self, by: &Shown) {
        self.carried = self.carried.take().map(|carried| carried.with("approved_by", by));
    }

    /// What was let through before and is not let through now is told anew.
    pub(crate) fn tell(&mut self) {
        if let Some(carried) = self.carried.take() {
            self.waiting.push(self.event(Kind::ToolCallRequested, carried));
        }
    }

    /// It does not run.
    pub(crate) fn stopped(mut self, office: Option<&Office>, stopped: &Stopped) {
        self.tell();
        let payload = self
            .payload()
            .with("outcome", journal::Outcome::Denied.name())
            .with("error_kind", stopped.kind.name())
            .with("by", stopped.by.name())
            .with("reason", Shown::of(&stopped.why))
            .with("duration_ms", self.took());
        self.waiting.push(self.event(Kind::ToolCallFinished, payload));
        // It was refused already: a journal that cannot be written takes nothing from that.
        let _unwritten = self.write(office, false);
    }

    /// It ended.
    pub(crate) fn finished(mut self, office: Option<&Office>, outcome: journal::Outcome, told: Told) {
        let blocked = (!told.blocked.is_empty()).then_some(told.blocked);
        let connected = (!told.connected.is_empty()).then_some(told.connected);
        let payload = self
            .payload()
            .with("outcome", outcome.name())
            .with("exit_code", told.exit_code)
            .with("signal", told.signal)
            .with("error_kind", told.error_kind.map(call::ErrorKind::name))
            .with("duration_ms", self.took())
            .with("output_bytes", told.output_bytes)
            .with("output_sha256", told.output_sha256)
            .with("output", told.output)
            .with("fence", told.fence)
            .with("blocked", blocked)
            .with("connected", connected);
        self.waiting.push(self.event(Kind::ToolCallFinished, payload));
        // What ran has run: the journal closes the call itself when this line could not be written.
        if let (true, Some(office)) = (self.alone, office) {
            let _unwritten = office.write_last(&self.waiting);
        } else {
            let _unwritten = self.write(office, false);
        }
    }

    fn took(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A call that cannot be written down does not run.
pub(crate) fn unwritten(why: &journal::Unavailable) -> Stopped {
    Stopped::new(call::ErrorKind::Unknown, By::Journal, format!("journal_unavailable: {why}"))
        .help("a call that cannot be written down does not run; `bailiwick journal verify` says more")
}

/// So many effects of one call are written down.
const MOST_EFFECTS: usize = 64;

fn risk(risk: &effects::Risk) -> Payload {
    let factors: Vec<Shown> = risk.factors.iter().map(|factor| Shown::of(factor)).collect();
    Payload::new().with("level", risk.level.name()).with("factors", factors)
}
