//! The kinds of error that a call can end in, and what each is to a shell and to HTTP: one table for all doors.

/// Why a call did not do what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The arguments are not what the tool takes.
    Validation,
    /// A rule or a person said no.
    Permission,
    /// The program, file, tool or session does not exist.
    NotFound,
    /// The fence cannot be built as planned, or stopped the call.
    SandboxDenied,
    /// It took too long.
    Timeout,
    /// Somebody must be asked, and nobody can be.
    HumanRequired,
    /// Somebody took it back.
    Cancelled,
    /// The configuration is wrong.
    ConfigError,
    /// Anything else.
    Unknown,
}

/// Kind, name, exit code, HTTP code.
///
/// Exit codes follow what shells and `timeout` use: 2 wrong use, 124 too late, 125 our own failure, 126 refused,
/// 127 not found, 130 interrupted. A call that nobody can approve is a conflict with the state of the world, not a
/// verdict, hence 409; a program that overran its time is 504, since 408 would blame the client.
const TABLE: [(ErrorKind, &str, u8, u16); 9] = [
    (ErrorKind::Validation, "validation", 2, 400),
    (ErrorKind::Permission, "permission", 126, 403),
    (ErrorKind::NotFound, "not_found", 127, 404),
    (ErrorKind::SandboxDenied, "sandbox_denied", 126, 403),
    (ErrorKind::Timeout, "timeout", 124, 504),
    (ErrorKind::HumanRequired, "human_required", 126, 409),
    (ErrorKind::Cancelled, "cancelled", 130, 499),
    (ErrorKind::ConfigError, "config_error", 125, 500),
    (ErrorKind::Unknown, "unknown", 125, 500),
];

impl ErrorKind {
    /// All kinds, in the order of the table.
    pub fn all() -> impl Iterator<Item = ErrorKind> {
        TABLE.iter().map(|row| row.0)
    }

    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The exit code of a command that ends so.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        self.row().2
    }

    /// The status code of an HTTP answer that ends so.
    #[must_use]
    pub fn http_status(self) -> u16 {
        self.row().3
    }

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    fn row(self) -> (ErrorKind, &'static str, u8, u16) {
        // FAIL-CLOSED: a kind without a row (the tests find it) would still be an error.
        TABLE.into_iter().find(|row| row.0 == self).unwrap_or((ErrorKind::Unknown, "unknown", 125, 500))
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_row_and_name() {
        let names = [
            "validation",
            "permission",
            "not_found",
            "sandbox_denied",
            "timeout",
            "human_required",
            "cancelled",
            "config_error",
            "unknown",
        ];
        assert_eq!(ErrorKind::all().map(ErrorKind::name).collect::<Vec<_>>(), names);
        for kind in ErrorKind::all() {
            assert_eq!(ErrorKind::from_name(kind.name()), Some(kind));
            assert_ne!(kind.exit_code(), 0, "an error never looks like success");
            assert!(kind.http_status() >= 400, "an error never looks like success");
        }
        assert_eq!(ErrorKind::from_name("Permission"), None);
    }

    #[test]
    fn refusals_exit_with_126_and_own_failures_with_125() {
        for kind in [ErrorKind::Permission, ErrorKind::SandboxDenied, ErrorKind::HumanRequired] {
            assert_eq!(kind.exit_code(), 126, "{kind}");
        }
        for kind in [ErrorKind::ConfigError, ErrorKind::Unknown] {
            assert_eq!(kind.exit_code(), 125, "{kind}");
        }
    }
}
