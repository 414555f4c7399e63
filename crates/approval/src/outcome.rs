//! Answers and outcomes: what somebody says, and what then holds.
//!
//! An [`Answer`] is anybody's word. An [`Outcome`] can only come from here, after the answer was held against the question:
//! ```compile_fail,E0451
//! fn forged(asked: &approval::Asked) -> approval::Outcome {
//!     approval::Outcome { decision: approval::Decision::Approved, ..panic!() }
//! }
//! ```

use call::{ApprovalKey, ErrorKind, Shown};

use crate::asked::{AskId, Asked};

/// What somebody decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Yes, once.
    Approved,
    /// Yes, and the same again until the session ends.
    ApprovedForSession,
    /// Yes, and a rule for the future: the one that was proposed.
    ApprovedAlways,
    /// No.
    Denied,
    /// No, and the whole run ends.
    Abort,
}

impl Decision {
    /// Every one.
    pub const ALL: [Decision; 5] = [
        Decision::Approved,
        Decision::ApprovedForSession,
        Decision::ApprovedAlways,
        Decision::Denied,
        Decision::Abort,
    ];

    /// The word in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Decision::Approved => "approved",
            Decision::ApprovedForSession => "approved_for_session",
            Decision::ApprovedAlways => "approved_always",
            Decision::Denied => "denied",
            Decision::Abort => "abort",
        }
    }

    /// Reads a word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Decision> {
        Decision::ALL.into_iter().find(|decision| decision.name() == name)
    }

    /// Whether the call may run.
    #[must_use]
    pub const fn is_yes(self) -> bool {
        match self {
            Decision::Approved | Decision::ApprovedForSession | Decision::ApprovedAlways => true,
            Decision::Denied | Decision::Abort => false,
        }
    }
}

/// Why an outcome is what it is, in the words of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Somebody who was asked said so, or was meant to and failed.
    Provider,
    /// A grant of this session covers it.
    Cached,
    /// There was nobody to ask, or nobody who could be waited for.
    NoProvider,
    /// Nobody answered in time.
    Timeout,
    /// Auto-approve is on.
    AutoApprove,
}

impl Reason {
    /// The word in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reason::Provider => "provider",
            Reason::Cached => "cached",
            Reason::NoProvider => "no_provider",
            Reason::Timeout => "timeout",
            Reason::AutoApprove => "auto_approve",
        }
    }
}

/// How an outcome came about, more finely than its [`Reason`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Somebody answered.
    Answered,
    /// A provider crashed, answered nonsense or could not be asked.
    ProviderFailed,
    /// A grant of this session covers it.
    Granted,
    /// Auto-approve is on.
    AutoApproved,
    /// No provider could be asked.
    NobodyToAsk,
    /// Too many questions are open.
    QueueFull,
    /// Nobody answered in time.
    TimedOut,
    /// Whoever asked took the question back.
    Cancelled,
    /// Whoever asked went away.
    Abandoned,
    /// Bailiwick shuts down.
    ShutDown,
}

impl Cause {
    /// The word in records.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Cause::Answered | Cause::ProviderFailed => Reason::Provider,
            Cause::Granted => Reason::Cached,
            Cause::AutoApproved => Reason::AutoApprove,
            Cause::NobodyToAsk | Cause::QueueFull | Cause::Cancelled | Cause::Abandoned | Cause::ShutDown => {
                Reason::NoProvider
            }
            Cause::TimedOut => Reason::Timeout,
        }
    }
}

/// Somebody's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What they say.
    pub decision: Decision,
    /// Who.
    pub by: Shown,
    /// The words that they typed, where some are wanted.
    pub typed: Option<String>,
    /// What they add.
    pub note: Option<Shown>,
    /// The key of what they saw, where they say it: a yes to something else is no yes.
    pub key: Option<ApprovalKey>,
}

impl Answer {
    /// A plain answer.
    #[must_use]
    pub fn new(decision: Decision, by: &str) -> Self {
        Answer { decision, by: Shown::of(by), typed: None, note: None, key: None }
    }

    /// With the words that were typed.
    #[must_use]
    pub fn typing(mut self, words: &str) -> Self {
        self.typed = Some(words.to_owned());
        self
    }

    /// With a remark.
    #[must_use]
    pub fn noting(mut self, note: &str) -> Self {
        self.note = Some(Shown::of(note));
        self
    }

    /// Bound to what was seen.
    #[must_use]
    pub fn to(mut self, key: &ApprovalKey) -> Self {
        self.key = Some(key.clone());
        self
    }

    /// What this answer amounts to for this question.
    ///
    /// # Errors
    /// A yes without the words that are wanted, or to another call. It is then no answer at all.
    pub(crate) fn to_question(&self, asked: &Asked) -> Result<Outcome, Invalid> {
        if self.key.as_ref().is_some_and(|key| *key != asked.key) {
            return Err(Invalid::OtherCall);
        }
        if self.decision.is_yes()
            && let Some(words) = asked.confirmation
            && self.typed.as_deref().map(str::trim) != Some(words)
        {
            return Err(Invalid::NotTyped(words));
        }
        let decision = match self.decision {
            Decision::ApprovedForSession if !asked.may_grant_session() => Decision::Approved,
            Decision::ApprovedAlways if asked.always.is_none() || asked.confirmation.is_some() => {
                Decision::Approved
            }
            other => other,
        };
        Ok(Outcome {
            decision,
            said: self.decision,
            cause: Cause::Answered,
            by: self.by.clone(),
            note: self.note.clone(),
            id: asked.id,
            session: asked.session.clone(),
            key: asked.key.clone(),
        })
    }
}

/// Why an answer does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// These words must be typed.
    NotTyped(&'static str),
    /// It is an answer to another call.
    OtherCall,
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Invalid::NotTyped(words) => write!(f, "a yes to this needs the typed words `{words}`"),
            Invalid::OtherCall => f.write_str("the answer is to another call"),
        }
    }
}

impl std::error::Error for Invalid {}

/// What holds for one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    decision: Decision,
    said: Decision,
    cause: Cause,
    by: Shown,
    note: Option<Shown>,
    id: AskId,
    session: String,
    key: ApprovalKey,
}

impl Outcome {
    /// A yes that rests on what was said before.
    pub(crate) fn standing(asked: &Asked, cause: Cause, by: Shown, note: Option<Shown>) -> Outcome {
        let decision = match cause {
            Cause::Granted | Cause::AutoApproved => Decision::Approved,
            // FAIL-CLOSED: nothing else stands for a yes.
            _ => Decision::Denied,
        };
        Outcome { decision, said: decision, cause, by, note, ..Outcome::no(asked, cause, "") }
    }

    /// FAIL-CLOSED: everything that is no answer is a no.
    pub(crate) fn no(asked: &Asked, cause: Cause, note: &str) -> Outcome {
        Outcome {
            decision: Decision::Denied,
            said: Decision::Denied,
            cause,
            by: Shown::word("bailiwick"),
            note: (!note.is_empty()).then(|| Shown::of(note)),
            id: asked.id,
            session: asked.session.clone(),
            key: asked.key.clone(),
        }
    }

    pub(crate) fn add_note(&mut self, note: &str) {
        let whole = match &self.note {
            Some(known) => format!("{known}; {note}"),
            None => note.to_owned(),
        };
        self.note = Some(Shown::of(&whole));
    }

    /// What was decided.
    #[must_use]
    pub const fn decision(&self) -> Decision {
        self.decision
    }

    /// What was said, where more was said than could be given.
    #[must_use]
    pub fn narrowed_from(&self) -> Option<Decision> {
        (self.said != self.decision).then_some(self.said)
    }

    /// Why, in the words of the record.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.cause.reason()
    }

    /// How it came about.
    #[must_use]
    pub const fn cause(&self) -> Cause {
        self.cause
    }

    /// Who decided.
    #[must_use]
    pub const fn by(&self) -> &Shown {
        &self.by
    }

    /// What was added.
    #[must_use]
    pub const fn note(&self) -> Option<&Shown> {
        self.note.as_ref()
    }

    /// Which question.
    #[must_use]
    pub const fn id(&self) -> AskId {
        self.id
    }

    /// In which session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// What was decided about.
    #[must_use]
    pub const fn key(&self) -> &ApprovalKey {
        &self.key
    }

    /// Whether the call may run.
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        self.decision.is_yes()
    }

    /// The kind of error that a no is.
    #[must_use]
    pub const fn error_kind(&self) -> Option<ErrorKind> {
        if self.decision.is_yes() {
            return None;
        }
        Some(match self.cause {
            Cause::Answered | Cause::Granted | Cause::AutoApproved => match self.decision {
                Decision::Abort => ErrorKind::Cancelled,
                _ => ErrorKind::Permission,
            },
            Cause::ProviderFailed | Cause::QueueFull => ErrorKind::HumanRequired,
            Cause::NobodyToAsk => ErrorKind::ConfigError,
            Cause::TimedOut => ErrorKind::Timeout,
            Cause::Cancelled | Cause::Abandoned | Cause::ShutDown => ErrorKind::Cancelled,
        })
    }
}
