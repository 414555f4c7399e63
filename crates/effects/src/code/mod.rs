//! Inline code: what a text in a programming language would do, as far as a cheap and sound reading finds it.

/// What was found in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Everything that the code does is among the findings.
    pub complete: bool,
    /// What it does.
    pub findings: Vec<Finding>,
}

/// One thing that code does. Paths are as the code has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Reads a file.
    Read(String),
    /// Writes a file.
    Write(String),
    /// Deletes a file or a directory.
    Delete {
        /// What.
        path: String,
        /// With everything below.
        recursive: bool,
    },
    /// Connects, to this host where it is known.
    Connect(Option<String>),
    /// Runs shell text.
    RunShell(String),
    /// Runs a program.
    RunArgv(Vec<String>),
    /// Runs something that is not known.
    RunUnknown,
    /// Sets a variable.
    Environment(String),
    /// Destroys what cannot be got back.
    History(String),
    /// Changes the machine.
    System(String),
}

/// Reads code.
#[must_use]
pub fn read(_language: &str, _text: &str) -> Reading {
    Reading::default()
}
