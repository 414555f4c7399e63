//! The few colours of the prompt, and whether they are wanted.

/// How to write for whoever reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No colours.
    Plain,
    /// Colours.
    Coloured,
}

impl Style {
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        match self {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// The colour of a level of warning.
    pub(crate) fn level(self, level: &str, text: &str) -> String {
        match level {
            "LOW" => self.paint("1;32", text),
            "MEDIUM" => self.paint("1;33", text),
            _ => self.paint("1;31", text),
        }
    }
}
