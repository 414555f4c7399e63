//! One thing that happened, before it has a place in the chain.

use call::{Principal, Shown};

use crate::payload::{Fact, Payload, quote};
use crate::time::Timestamp;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// What kind of thing happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])* $variant),* }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Kind] = &[$(Kind::$variant),*];

            /// The name in the journal.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$variant => $name),* }
            }

            /// The kind with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Kind> {
                match name { $($name => Some(Kind::$variant),)* _ => None }
            }
        }
    };
}

kinds! {
    /// A call came in and the policy has spoken: `tool`, `request`, `approval_key`, `decision`, `reason`, `rule`, `risk`, `effects`.
    ToolCallRequested = "tool_call_requested",
    /// Somebody is asked: `tool`, `approval_key`, `confirmation_id`, `provider`, `expires_at`.
    ApprovalRequested = "approval_requested",
    /// Somebody answered, or nobody did: `tool`, `approval_key`, `decision`, `reason`, `by`.
    ApprovalDecided = "approval_decided",
    /// It runs: `tool`, `fence`.
    ToolCallStarted = "tool_call_started",
    /// It ended: `tool`, `outcome` (see [`Outcome`]), `exit_code`, `duration_ms`, `error_kind`, bytes and digests of output.
    ToolCallFinished = "tool_call_finished",
    /// A run of an agent began.
    RunStarted = "run_started",
    /// What was said in it so far is kept, by its digest: `conversation_sha256`, `steps`.
    RunSaved = "run_saved",
    /// It did what it was for.
    RunCompleted = "run_completed",
    /// It could not go on.
    RunFailed = "run_failed",
    /// Somebody stopped it.
    RunCancelled = "run_cancelled",
    /// Something tried what it must not: `tool`, `reason`, `risk`.
    SecurityViolation = "security_violation",
    /// The configuration in force is another.
    PolicyChanged = "policy_changed",
    /// A yes for a session was kept.
    GrantAdded = "grant_added",
    /// It was taken back, or ran out.
    GrantRevoked = "grant_revoked",
    /// A rule was added to the user's configuration.
    RuleAdded = "rule_added",
    /// Automatic approval was switched on, off, or ran out.
    AutoApprove = "auto_approve",
    /// A segment of the journal begins. (Written by the journal itself, as are the following.)
    Segment = "segment",
    /// Everything before is signed for.
    Checkpoint = "checkpoint",
    /// A torn tail was taken off.
    JournalRepaired = "journal_repaired",
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It ran to its own end, well or not.
    Finished,
    /// Policy, a person, the fence or the journal said no.
    Denied,
    /// It was stopped: cancelled, or out of time.
    Aborted,
    /// Whoever ran it is gone without a word. Only the journal itself writes this.
    Interrupted,
}

impl Outcome {
    /// The name in the journal.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Finished => "finished",
            Outcome::Denied => "denied",
            Outcome::Aborted => "aborted",
            Outcome::Interrupted => "interrupted",
        }
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What kind of thing.
    pub kind: Kind,
    /// The run that it belongs to.
    pub run_id: Option<Shown>,
    /// The session that it belongs to.
    pub session_id: Option<Shown>,
    /// The call that it is about.
    pub call_id: Option<Shown>,
    /// On whose behalf.
    pub principal: Option<Who>,
    /// What there is to say.
    pub payload: Payload,
}

/// On whose behalf something happened, masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    id: Shown,
    groups: Vec<Shown>,
    agent: Option<Shown>,
}

impl Who {
    /// The principal of a call.
    #[must_use]
    pub fn of(principal: &Principal) -> Self {
        Who {
            id: Shown::of(&principal.id),
            groups: principal.groups.iter().map(|group| Shown::of(group)).collect(),
            agent: None,
        }
    }

    /// And the agent that acts for it.
    #[must_use]
    pub fn through(mut self, agent: Shown) -> Self {
        self.agent = Some(agent);
        self
    }
}

impl Event {
    /// Something of this kind happened.
    #[must_use]
    pub const fn new(kind: Kind, payload: Payload) -> Self {
        Event { kind, run_id: None, session_id: None, call_id: None, principal: None, payload }
    }

    /// In this run.
    #[must_use]
    pub fn in_run(mut self, run: Option<Shown>) -> Self {
        self.run_id = run;
        self
    }

    /// In this session.
    #[must_use]
    pub fn in_session(mut self, session: Option<Shown>) -> Self {
        self.session_id = session;
        self
    }

    /// About this call.
    #[must_use]
    pub fn about(mut self, call: Option<Shown>) -> Self {
        self.call_id = call;
        self
    }

    /// On behalf of somebody.
    #[must_use]
    pub fn by(mut self, who: Option<Who>) -> Self {
        self.principal = who;
        self
    }

    /// The members of its line between the chain fields: from `"type"` on.
    pub(crate) fn body(&self, at: Timestamp) -> String {
        let mut out = String::with_capacity(320 + self.payload.len());
        head(self.kind, at, &mut out);
        self.write_ids(&mut out);
        out.push_str(",\"payload\":");
        self.payload.write_bounded(&mut out);
        out
    }

    /// The members that say whom and what it is about.
    fn write_ids(&self, out: &mut String) {
        let named = [("run_id", &self.run_id), ("session_id", &self.session_id), ("call_id", &self.call_id)];
        for (name, id) in named.into_iter().filter_map(|(name, id)| Some((name, id.as_ref()?))) {
            out.push_str(",\"");
            out.push_str(name);
            out.push_str("\":");
            text(id, out);
        }
        if let Some(who) = &self.principal {
            let facts = Payload::new()
                .with("id", &who.id)
                .with("groups", (!who.groups.is_empty()).then_some(&who.groups))
                .with("agent", who.agent.as_ref());
            out.push_str(",\"principal\":");
            facts.write_bounded(out);
        }
    }
}

/// The members of a line that the journal writes on its own account. `ids` says whom and what it is about, each member after a comma.
pub(crate) fn own_body(kind: Kind, at: Timestamp, ids: &str, payload: &Payload) -> String {
    let mut out = String::with_capacity(384);
    head(kind, at, &mut out);
    out.push_str(ids);
    out.push_str(",\"payload\":");
    payload.write_bounded(&mut out);
    out
}

fn head(kind: Kind, at: Timestamp, out: &mut String) {
    out.push_str("\"type\":\"");
    out.push_str(kind.name());
    out.push_str("\",\"timestamp\":\"");
    out.push_str(at.written().as_str());
    out.push('"');
}

fn text(shown: &Shown, out: &mut String) {
    fn one(fact: impl Fact, out: &mut String) {
        fact.write(out);
    }
    if shown.as_str().len() <= call::LONGEST_SHOWN { quote(shown.as_str(), out) } else { one(shown, out) }
}
