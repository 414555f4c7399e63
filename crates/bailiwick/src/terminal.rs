//! Whether colour is wanted, and the few colours there are.

use std::io::IsTerminal;

/// How to write for whoever reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// Colour only on a terminal that wants it.
    pub(crate) fn of_stdout() -> Style {
        Style { colour: std::io::stdout().is_terminal() && wants_colour() }
    }

    /// With colour or without.
    pub(crate) const fn new(colour: bool) -> Style {
        Style { colour }
    }

    /// Whether there is colour.
    pub(crate) const fn is_coloured(self) -> bool {
        self.colour
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Whether whoever reads wants colour, as the environment says.
#[expect(clippy::disallowed_methods, reason = "the terminal's wishes stand in the environment")]
pub(crate) fn wants_colour() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !unwanted && !dumb
}
