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
    /// What stood around it.
    pub held: Held,
    /// Connections that were let through, with the names that were meant.
    pub connections: Vec<Passed>,
}

/// What stood around a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// By which means.
    pub means: Means,
    /// The version of Landlock that was used; 0: none.
    pub landlock: u32,
    /// Limits, each with how well it is kept.
    pub limits: Vec<Bound>,
}

/// The means that held a plan. A filter of system calls is part of each that holds anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Means {
    /// Namespaces of the fence's own making.
    Namespaces,
    /// Namespaces that `bwrap` made.
    Bubblewrap,
    /// Landlock and the filter alone.
    Landlock,
    /// Nothing, by name.
    Unfenced,
}

impl Means {
    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Means::Namespaces => "namespaces",
            Means::Bubblewrap => "bubblewrap",
            Means::Landlock => "landlock",
            Means::Unfenced => "none",
        }
    }
}

/// A limit, and how well it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bound {
    /// What is limited, by the name that the configuration has for it.
    pub name: &'static str,
    /// How much there may be of it.
    pub value: u64,
    /// It holds for all that the program starts, together. Otherwise each process has it on its own, or it is not kept.
    pub hard: bool,
}

/// A connection that was let through, or several that were alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The host that was meant.
    pub name: String,
    /// The port.
    pub port: u16,
    /// The address that was dialled.
    pub address: Option<std::net::SocketAddr>,
    /// How many there were.
    pub times: u64,
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
    /// The last word before its start was no.
    NoLeave(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Fence { missing, help } => {
                write!(out, "the fence cannot be built as planned: {missing}; {help}")
            }
            Refusal::Program(why) | Refusal::Failed(why) | Refusal::NoLeave(why) => out.write_str(why),
        }
    }
}
