//! The three answers, in order of severity. Combining answers is taking the greatest.

use std::fmt;

/// May it run?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Yes.
    Allow,
    /// Only if somebody says so.
    Ask,
    /// No, whoever says so.
    Deny,
}

impl Decision {
    /// The lowercase word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        }
    }

    /// Reads a word; `require_approval` is another one for `ask`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Decision> {
        match name {
            "allow" => Some(Decision::Allow),
            "ask" | "require_approval" => Some(Decision::Ask),
            "deny" => Some(Decision::Deny),
            _ => None,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
