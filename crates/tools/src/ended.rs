//! How a program ended, as a tool tells it.

use call::ErrorKind;
use fence::{End, Refusal, Reins};

use crate::outcome::Outcome;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ended {
    /// By itself, with this code.
    Code(u8),
    /// By a signal.
    Signal(i32),
    /// Its time was up.
    TimedOut,
    /// It was taken back.
    Cancelled,
}

impl Ended {
    pub(crate) fn new(end: End, reins: &Reins) -> Ended {
        match end {
            // What ends it for us is this signal.
            End::Signal(9) if reins.is_ended() => Ended::Cancelled,
            End::Code(code) => Ended::Code(code),
            End::Signal(signal) => Ended::Signal(signal),
            End::TimedOut => Ended::TimedOut,
        }
    }

    /// The code that a shell would give for it.
    #[must_use]
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Ended::Code(code) => Some(i32::from(code)),
            Ended::Signal(signal) => Some(signal.saturating_add(128)),
            Ended::TimedOut | Ended::Cancelled => None,
        }
    }

    /// The kind of error that it is, where it was not the program's own end.
    #[must_use]
    pub fn error_kind(self) -> Option<ErrorKind> {
        match self {
            Ended::Code(_) | Ended::Signal(_) => None,
            Ended::TimedOut => Some(ErrorKind::Timeout),
            Ended::Cancelled => Some(ErrorKind::Cancelled),
        }
    }
}

/// Why a program was not run, as an answer.
#[must_use]
pub fn refused(refusal: &Refusal) -> Outcome {
    let kind = match refusal {
        Refusal::Fence { .. } => ErrorKind::SandboxDenied,
        Refusal::Program(_) => ErrorKind::NotFound,
        Refusal::Failed(_) | Refusal::NoLeave(_) => ErrorKind::Unknown,
    };
    Outcome::error(kind, refusal.to_string())
}
