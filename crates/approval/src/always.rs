//! The narrowest useful rule that a yes for always would write down.

/// A rule that could be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    name: String,
    lines: Vec<String>,
}

impl Proposal {
    /// The rule as an entry of a configuration's `rules:`.
    #[must_use]
    pub fn snippet(&self) -> String {
        self.lines.join("\n")
    }

    /// What else it would allow, in lines.
    pub(crate) fn radius_lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// The rule's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}
