//! Why a tool did not do what was asked, and which kind of error that is: one table for all file tools.

use call::ErrorKind;
use fence::rooted::Refused;

use crate::outcome::Outcome;

/// Why a tool did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    kind: ErrorKind,
    message: String,
    retryable: bool,
}

impl Failure {
    /// Says why. Characters that could deceive a reader are made visible.
    #[must_use]
    pub fn new(kind: ErrorKind, message: &str) -> Failure {
        Failure { kind, message: call::visible_lines(message).to_string(), retryable: false }
    }

    /// Which kind of error it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Why, in words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn validation(message: &str) -> Failure {
        Failure::new(ErrorKind::Validation, message)
    }

    /// Reading or writing failed in the middle.
    pub(crate) fn io(path: &std::path::Path, error: &std::io::Error) -> Failure {
        let message = format!("`{}` could not be read: {error}", path.display());
        Failure::new(kind_of(error), &message)
    }
}

fn kind_of(error: &std::io::Error) -> ErrorKind {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            ErrorKind::Permission
        }
        std::io::ErrorKind::NotFound => ErrorKind::NotFound,
        std::io::ErrorKind::InvalidFilename => ErrorKind::Validation,
        _ => ErrorKind::Unknown,
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        let kind = match &refused {
            Refused::Outside { .. }
            | Refused::LedOut { .. }
            | Refused::Hidden { .. }
            | Refused::Protected { .. }
            | Refused::ReadOnly { .. }
            | Refused::Magic { .. }
            | Refused::Owner { .. } => ErrorKind::Permission,
            Refused::Missing { .. } => ErrorKind::NotFound,
            Refused::Present { .. } | Refused::Kind { .. } | Refused::TooManyLinks { .. } => {
                ErrorKind::Validation
            }
            Refused::Changing { .. } => ErrorKind::Unknown,
            Refused::NoOpenat2 => ErrorKind::SandboxDenied,
            Refused::Failed { error, .. } => kind_of(error),
        };
        let retryable = matches!(refused, Refused::Changing { .. });
        Failure { retryable, ..Failure::new(kind, &refused.to_string()) }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Outcome {
        let retryable = failure.retryable;
        Outcome { retryable, ..Outcome::error(failure.kind, failure.message) }
    }
}
