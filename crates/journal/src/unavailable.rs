//! Why the journal cannot be written. Whoever cannot write a decision down denies the call with `journal_unavailable`.

use std::io;
use std::path::Path;

/// The journal cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// The kind of reason.
    pub why: Why,
    /// What went wrong, where, and what to do.
    pub message: String,
}

/// Kinds of reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// No space is left, or a quota is used up.
    Full,
    /// The disk, or the directory, may not be written.
    ReadOnly,
    /// A file or directory is not ours, is open to others, or is not what it should be.
    Unsafe,
    /// What is there does not hang together.
    Damaged,
    /// Somebody else has held the lock for too long.
    Busy,
    /// A sync failed before: what is on disk is not known any more.
    Poisoned,
    /// A key is missing or wrong.
    Keys,
    /// Any other input or output error.
    Io,
}

impl Why {
    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Why::Full => "full",
            Why::ReadOnly => "read_only",
            Why::Unsafe => "unsafe",
            Why::Damaged => "damaged",
            Why::Busy => "busy",
            Why::Poisoned => "poisoned",
            Why::Keys => "keys",
            Why::Io => "io",
        }
    }
}

impl Unavailable {
    pub(crate) fn new(why: Why, message: impl Into<String>) -> Self {
        Unavailable { why, message: message.into() }
    }

    /// What is there does not hang together: nothing is added to it before somebody has looked.
    pub(crate) fn damaged(what: impl std::fmt::Display) -> Self {
        Self::new(
            Why::Damaged,
            format!(
                "{what}; `bailiwick journal verify` names the record; move the directory away to begin a new journal"
            ),
        )
    }

    /// `doing` failed with `error`.
    pub(crate) fn io(doing: impl std::fmt::Display, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Why::Full
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Why::ReadOnly,
            io::ErrorKind::WouldBlock => Why::Busy,
            io::ErrorKind::InvalidData => Why::Unsafe,
            _ => Why::Io,
        };
        let help = match why {
            Why::Full => "; free some space: it works again at once",
            Why::Busy => "; another process has held the journal's lock for too long",
            _ => "",
        };
        Self::new(why, format!("{doing}: {error}{help}"))
    }

    pub(crate) fn unsafe_place(path: &Path, what: impl std::fmt::Display) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("`{}` {what}", path.display()))
    }
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the journal cannot be written: {}", self.message)
    }
}

impl std::error::Error for Unavailable {}
