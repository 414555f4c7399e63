//! Which means hold a plan on this machine.

use std::ffi::OsString;
use std::path::Path;

use crate::leave::Leave;
use crate::outcome::{Outcome, Refusal};
use crate::plan::Plan;

/// The means, by the names that the configuration has for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The first that can hold the plan here.
    Auto,
    /// Namespaces, Landlock and seccomp.
    Linux,
    /// Landlock and seccomp alone.
    Landlock,
    /// `bwrap` for the namespaces.
    Bubblewrap,
    /// macOS.
    Seatbelt,
    /// Windows.
    Windows,
    /// A Linux distribution inside Windows.
    Wsl,
    /// None, by name.
    Local,
}

impl Backend {
    /// Reads a word of the configuration.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Backend> {
        Some(match name {
            "auto" => Backend::Auto,
            "linux" => Backend::Linux,
            "landlock" => Backend::Landlock,
            "bubblewrap" => Backend::Bubblewrap,
            "seatbelt" => Backend::Seatbelt,
            "windows" => Backend::Windows,
            "wsl" => Backend::Wsl,
            "local" => Backend::Local,
            _ => return None,
        })
    }
}

/// Whether a fence of this kind can be built here: it is tried, not looked up.
///
/// # Errors
/// What is missing, and how to get it.
#[cfg(target_os = "linux")]
pub fn tried(backend: Backend) -> Result<(), Refusal> {
    tried_with(backend, None)
}

/// The same, with `bwrap` where the configuration says it is.
///
/// # Errors
/// What is missing, and how to get it.
#[cfg(target_os = "linux")]
pub fn tried_with(backend: Backend, bwrap: Option<&Path>) -> Result<(), Refusal> {
    match backend {
        Backend::Auto | Backend::Linux | Backend::Bubblewrap | Backend::Landlock => {
            crate::linux::tried(backend, bwrap)
        }
        _ => Err(elsewhere(backend)),
    }
}

fn elsewhere(backend: Backend) -> Refusal {
    Refusal::Fence {
        missing: format!("{backend:?} does not exist on this machine"),
        help: "use `sandbox.mode: auto`".into(),
    }
}

/// A program to be run behind a fence.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// What it can touch.
    pub plan: &'a Plan,
    /// Its file.
    pub program: &'a Path,
    /// Its arguments, its name among them.
    pub arguments: &'a [OsString],
    /// Standard input, output and error; those of this process where none are given.
    pub streams: Option<[std::os::fd::BorrowedFd<'a>; 3]>,
    /// This process stands in for the program: the terminal that it is started from and the signals that it gets are the
    /// program's. Otherwise neither is touched.
    pub stands_in: bool,
    /// Where `bwrap` is, if not in its usual place.
    pub bwrap: Option<&'a Path>,
    /// How another thread gets at the program, and at a terminal of its own.
    pub reins: Option<&'a crate::reins::Reins>,
    /// What is asked before it starts.
    pub leave: Leave<'a>,
}

/// Runs a program behind the fence until it and all that it started have ended.
///
/// # Errors
/// The fence cannot be built as planned, or the program could not be started.
#[cfg(target_os = "linux")]
pub fn run(backend: Backend, order: &Order<'_>) -> Result<Outcome, Refusal> {
    run_begun(backend, order, None).map(|(outcome, _remains)| outcome)
}

/// The same, in a fence that was begun before its plan was known, with the standard streams of this process. What remains of the
/// fence is given back, to be dropped when there is nothing better to do.
///
/// # Errors
/// The fence cannot be built as planned, or the program could not be started.
#[cfg(target_os = "linux")]
pub fn run_begun(
    backend: Backend,
    order: &Order<'_>,
    begun: Option<crate::linux::Begun>,
) -> Result<(Outcome, crate::linux::Remains), Refusal> {
    match backend {
        Backend::Auto | Backend::Linux | Backend::Landlock | Backend::Bubblewrap => {
            crate::linux::run(backend, order, begun)
        }
        _ => Err(elsewhere(backend)),
    }
}
