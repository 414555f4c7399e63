//! How a fenced program ended, or why it was not started.

use std::fmt;

use crate::blocked::Blocked;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// It ended by itself, with this code.
    Code(u8),
    /// A signal ended it.
    Signal(i32),
    /// Its time was up.
    TimedOut,
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What the fence refused it, as far as it can be seen.
    pub blocked: Vec<Blocked>,
}

/// Why a program was not started behind the fence that was planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The fence cannot be built here as planned.
    Fence {
        /// What is missing.
        missing: String,
        /// How to get it.
        help: String,
    },
    /// The program is not there, or cannot be executed.
    Program(String),
    /// Something of ours failed.
    Failed(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Fence { missing, help } => {
                write!(out, "the fence cannot be built as planned: {missing}; {help}")
            }
            Refusal::Program(why) | Refusal::Failed(why) => out.write_str(why),
        }
    }
}
