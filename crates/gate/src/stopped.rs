//! Why a call that came to the gate does not run, in words for whoever asked.

use call::ErrorKind;

/// Who stopped a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// The call itself was malformed, or is none that can be run here.
    Gate,
    /// A rule.
    Policy,
    /// Somebody who was asked, or nobody to ask.
    Approval,
    /// What would be around it cannot be built.
    Fence,
    /// The decision could not be written down.
    Journal,
}

impl By {
    /// The word in messages and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            By::Gate => "gate",
            By::Policy => "policy",
            By::Approval => "approval",
            By::Fence => "fence",
            By::Journal => "journal",
        }
    }
}

/// Why a call does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The kind.
    pub kind: ErrorKind,
    /// Who stopped it.
    pub by: By,
    /// Why.
    pub why: String,
    /// The rule that did, with its file and line, where it was one.
    pub rule: Option<String>,
    /// What would help.
    pub help: Vec<String>,
    /// The question that somebody may still answer, to be tried again afterwards.
    pub pending: Option<String>,
    /// The run is over: the same call was denied before.
    pub ends_run: bool,
}

impl Stopped {
    /// A call stopped for this reason.
    #[must_use]
    pub fn new(kind: ErrorKind, by: By, why: impl Into<String>) -> Stopped {
        let (rule, help, pending, ends_run) = (None, Vec::new(), None, false);
        Stopped { kind, by, why: why.into(), rule, help, pending, ends_run }
    }

    /// With something that would help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Stopped {
        let help = help.into();
        if !help.is_empty() {
            self.help.push(help);
        }
        self
    }
}
