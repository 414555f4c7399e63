//! Terms that come with a yes. What is not known cannot be honoured, so it is a no.

use std::fmt;

/// Something that must be done for a call to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obligation {
    /// The result is written to the journal in full detail after the call.
    LogAfterExecution,
    /// Whoever approves must type the words.
    TypedConfirmation,
    /// It may run only behind the fence.
    Sandbox,
}

impl Obligation {
    /// Every one that can be honoured.
    pub const ALL: [Obligation; 3] =
        [Obligation::LogAfterExecution, Obligation::TypedConfirmation, Obligation::Sandbox];

    /// Its name in rules and in an engine's answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Obligation::LogAfterExecution => "log_after_execution",
            Obligation::TypedConfirmation => "require_typed_confirmation",
            Obligation::Sandbox => "require_sandbox",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Obligation> {
        Obligation::ALL.into_iter().find(|obligation| obligation.name() == name)
    }
}

impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
