//! A yes as a value: bound to one approval key, used up by being shown. Only whoever asked gets it (as part of the [`Verdict`]),
//! not those who answer or look on, who learn the [`Outcome`]. It cannot be made by hand:
//! ```compile_fail,E0423
//! let consent = approval::Consent(panic!());
//! ```
//! nor copied, to be used twice:
//! ```compile_fail,E0599
//! fn twice(consent: approval::Consent) -> (approval::Consent, approval::Consent) {
//!     (consent.clone(), consent)
//! }
//! ```
//! nor made from an outcome that anybody may copy:
//! ```compile_fail,E0599
//! fn again(outcome: &approval::Outcome) -> Option<approval::Consent> {
//!     outcome.clone().consent()
//! }
//! ```
//! nor used after it was spent:
//! ```compile_fail,E0382
//! fn again(consent: approval::Consent, key: &call::ApprovalKey) {
//!     let _ = consent.spend(key);
//!     let _ = consent.spend(key);
//! }
//! ```

use call::ApprovalKey;

use crate::outcome::Outcome;

/// What came of a question, for whoever asked it.
#[derive(Debug)]
#[must_use]
pub struct Verdict(Outcome);

impl Verdict {
    pub(crate) const fn new(outcome: Outcome) -> Self {
        Verdict(outcome)
    }

    pub(crate) fn add_note(&mut self, note: &str) {
        self.0.add_note(note);
    }

    /// What was decided, for the record.
    pub const fn outcome(&self) -> &Outcome {
        &self.0
    }

    /// The leave that a yes gives, for one call, once.
    ///
    /// # Errors
    /// It was a no.
    pub fn into_consent(self) -> Result<Consent, Box<Outcome>> {
        if self.0.is_yes() { Ok(Consent(self.0)) } else { Err(Box::new(self.0)) }
    }
}

/// Leave to run one call.
#[derive(Debug)]
#[must_use]
pub struct Consent(Outcome);

/// A consent that was shown for the call that it was given to.
#[derive(Debug)]
#[must_use]
pub struct Spent(Outcome);

/// A yes to another call.
#[derive(Debug)]
pub struct Mismatch {
    /// What the yes was given to.
    pub given: Box<Outcome>,
}

impl Consent {
    /// Shows it for what is about to run: a yes to anything else is a no.
    ///
    /// # Errors
    /// What would run is not what was approved.
    pub fn spend(self, key: &ApprovalKey) -> Result<Spent, Mismatch> {
        if self.0.key() == key { Ok(Spent(self.0)) } else { Err(Mismatch { given: Box::new(self.0) }) }
    }

    /// What was said.
    pub const fn outcome(&self) -> &Outcome {
        &self.0
    }
}

impl Spent {
    /// What was said.
    pub const fn outcome(&self) -> &Outcome {
        &self.0
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("what would run is not what was approved")
    }
}

impl std::error::Error for Mismatch {}
