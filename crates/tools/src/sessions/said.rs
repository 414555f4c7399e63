//! What a session answers, and why it does not.

use std::fmt;
use std::time::Duration;

use call::ErrorKind;
use fence::{Blocked, Refusal};
use serde_json::json;

use crate::ended::Ended;
use crate::outcome::Outcome;
use crate::readable::Text;

/// What a program said since it was last asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The session, while it is there to be asked again.
    pub session: Option<u64>,
    /// How the program ended, if it has.
    pub end: Option<Ended>,
    /// Standard output, or all of a terminal.
    pub stdout: Text,
    /// Standard error, where there is no terminal.
    pub stderr: Text,
    /// What the fence refused it, told at the end.
    pub blocked: Vec<Blocked>,
    /// The means that hold the plan.
    pub enforced: &'static str,
    /// The digests of all that both streams had, unless it was too much; told at the end.
    pub sha256: Option<[Option<String>; 2]>,
    /// How long this answer took.
    pub duration: Duration,
}

impl Said {
    /// Whether the program still runs.
    #[must_use]
    pub fn running(&self) -> bool {
        self.end.is_none()
    }

    /// The answer of a tool.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        let mut data =
            json!({ "session_id": self.session, "running": self.running(), "fence": self.enforced });
        if let (Some(data), Some([stdout, stderr])) = (data.as_object_mut(), self.sha256.clone()) {
            let blocked: Vec<String> = self.blocked.iter().map(ToString::to_string).collect();
            data.insert("blocked".into(), blocked.into());
            data.insert("stdout_sha256".into(), stdout.into());
            data.insert("stderr_sha256".into(), stderr.into());
        }
        Outcome {
            ok: self.end.is_none_or(|end| end == Ended::Code(0)),
            truncated: self.stdout.omitted > 0 || self.stderr.omitted > 0,
            exit_code: self.end.and_then(Ended::exit_code),
            error_kind: self.end.and_then(Ended::error_kind),
            duration_ms: 0,
            stdout: self.stdout.text,
            stderr: self.stderr.text,
            data: Some(data),
            retryable: false,
            retry_after_ms: None,
        }
        .took(self.duration)
    }
}

/// Why a session does not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionError {
    /// There is none of this number, or not for whoever asks.
    NotFound(u64),
    /// There are as many as there may be.
    Full(usize),
    /// The program does not read what was typed before.
    Busy,
    /// More than can be typed at once.
    TooMuch(usize),
    /// It has no terminal.
    NoTerminal,
    /// It was taken back.
    Cancelled,
    /// The fence cannot be built as planned, or the program could not be started.
    Refused(Refusal),
    /// Something of ours failed.
    Failed(String),
}

impl SessionError {
    /// The kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            SessionError::NotFound(_) => ErrorKind::NotFound,
            SessionError::TooMuch(_) | SessionError::NoTerminal => ErrorKind::Validation,
            SessionError::Cancelled => ErrorKind::Cancelled,
            SessionError::Refused(Refusal::Fence { .. }) => ErrorKind::SandboxDenied,
            SessionError::Refused(Refusal::Program(_)) => ErrorKind::NotFound,
            SessionError::Full(_)
            | SessionError::Busy
            | SessionError::Refused(Refusal::Failed(_) | Refusal::NoLeave(_))
            | SessionError::Failed(_) => ErrorKind::Unknown,
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(self, SessionError::Full(_) | SessionError::Busy)
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::NotFound(id) => write!(out, "there is no session {id}: it has ended, or never was"),
            SessionError::Full(most) => write!(out, "there are {most} sessions already; end one first"),
            SessionError::Busy => out.write_str("the program has not read yet what was typed before"),
            SessionError::TooMuch(most) => write!(out, "at most {most} bytes can be typed at once"),
            SessionError::NoTerminal => out.write_str("the program has no terminal"),
            SessionError::Cancelled => out.write_str("it was taken back"),
            SessionError::Refused(refusal) => write!(out, "{refusal}"),
            SessionError::Failed(why) => out.write_str(why),
        }
    }
}

impl From<SessionError> for Outcome {
    fn from(error: SessionError) -> Outcome {
        Outcome { retryable: error.retryable(), ..Outcome::error(error.kind(), error.to_string()) }
    }
}
