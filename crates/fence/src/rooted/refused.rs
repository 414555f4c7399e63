//! Why a path was not opened. Every refusal names the path, and a link where one was at fault.

use std::fmt;
use std::path::PathBuf;

use crate::rooted::open::Kind;

/// Why a path was not opened, or what was asked was not done with it.
#[derive(Debug)]
pub enum Refused {
    /// It is beneath no root.
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// A link beneath a root leads to where no root is.
    LedOut {
        /// The link.
        link: PathBuf,
        /// What it says.
        target: PathBuf,
    },
    /// It is hidden.
    Hidden {
        /// The path.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It may be read only, since it is protected.
    Protected {
        /// The path.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It may be read only.
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// There is nothing.
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// There is something already.
    Present {
        /// The path.
        path: PathBuf,
    },
    /// It is not of the kind that is wanted.
    Kind {
        /// The path.
        path: PathBuf,
        /// What it is.
        found: Kind,
        /// What is wanted.
        wanted: Kind,
    },
    /// A link of the kernel's, which leads past every root.
    Magic {
        /// The link.
        link: PathBuf,
    },
    /// More links than anybody follows.
    TooManyLinks {
        /// The path.
        path: PathBuf,
    },
    /// It was changed while it was looked at, again and again.
    Changing {
        /// The path.
        path: PathBuf,
    },
    /// The owner of a file cannot be kept.
    Owner {
        /// The path.
        path: PathBuf,
    },
    /// The kernel has no `openat2`.
    NoOpenat2,
    /// The system says no.
    Failed {
        /// The path.
        path: PathBuf,
        /// What was tried, as a verb.
        what: &'static str,
        /// Its answer.
        error: std::io::Error,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Outside { path } => {
                write!(out, "`{}` is outside the directories that are open to this call", path.display())
            }
            Refused::LedOut { link, target } => write!(
                out,
                "`{}` is a link to `{}`, which is outside the directories that are open to this call",
                link.display(),
                target.display()
            ),
            Refused::Hidden { path, why } => write!(out, "`{}` is hidden: {why}", path.display()),
            Refused::Protected { path, why } => write!(out, "`{}` is protected: {why}", path.display()),
            Refused::ReadOnly { path } => write!(out, "`{}` may be read but not changed", path.display()),
            Refused::Missing { path } => write!(out, "there is no `{}`", path.display()),
            Refused::Present { path } => write!(out, "there is a `{}` already", path.display()),
            Refused::Kind { path, found, wanted } => {
                write!(out, "`{}` is {}, not {}", path.display(), found.name(), wanted.name())
            }
            Refused::Magic { link } => {
                write!(out, "`{}` is a link of the kernel's, which is never followed", link.display())
            }
            Refused::TooManyLinks { path } => write!(out, "`{}` goes through too many links", path.display()),
            Refused::Changing { path } => {
                write!(out, "`{}` was changed while it was being opened, again and again", path.display())
            }
            Refused::Owner { path } => write!(
                out,
                "`{}` belongs to somebody else, and a new file in its place could not be given to them",
                path.display()
            ),
            Refused::NoOpenat2 => out.write_str(
                "files cannot be opened beneath a directory here: the kernel has no `openat2` (Linux 5.6)",
            ),
            Refused::Failed { path, what, error } => {
                write!(out, "`{}` could not be {what}: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for Refused {}
