//! Why a plan cannot be held by some means: every reason, not only the first.

use std::fmt;

/// What of a plan cannot be held, a sentence for each thing. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    reasons: Vec<String>,
}

impl Unfit {
    /// One reason.
    #[must_use]
    pub fn because(reason: impl Into<String>) -> Unfit {
        Unfit { reasons: vec![reason.into()] }
    }

    /// What was made, if there is nothing against it.
    ///
    /// # Errors
    /// There is.
    pub fn unless<T>(reasons: Vec<String>, made: T) -> Result<T, Unfit> {
        if reasons.is_empty() { Ok(made) } else { Err(Unfit { reasons }) }
    }

    /// The sentences.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reasons.join("; "))
    }
}
