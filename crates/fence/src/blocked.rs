//! What a fence refused, and what would allow it.

use std::fmt;
use std::path::PathBuf;

/// Something that the program tried and did not get.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Blocked {
    /// A system call.
    Call(String),
    /// A host that it wanted to connect to.
    Host(String),
    /// A protected name that it made; it was moved to the second path.
    Made(PathBuf, PathBuf),
    /// A protected name that it made, and that could not be moved away.
    Left(PathBuf, String),
}

impl Blocked {
    /// The line of configuration that would allow it, where there is one.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Blocked::Call(_) => None,
            // An address by itself cannot be allowed; a name can.
            Blocked::Host(name) if name.is_empty() => None,
            Blocked::Host(name) => Some(format!("sandbox.network: {{mode: allowlist, allow: [\"{name}\"]}}")),
            Blocked::Made(path, _) | Blocked::Left(path, _) => {
                Some(format!("sandbox.write: [\"{}\"]", path.display()))
            }
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocked::Call(name) => write!(out, "the system call {name} was refused"),
            Blocked::Host(name) if name.is_empty() => {
                write!(out, "a connection to an address that no allowed name leads to was refused")
            }
            Blocked::Host(name) => write!(out, "a connection to {name} was refused"),
            Blocked::Made(path, now) => {
                write!(out, "{} is protected and was made; it is now {}", path.display(), now.display())
            }
            Blocked::Left(path, why) => {
                write!(out, "{} is protected, was made, and could not be moved away: {why}", path.display())
            }
        }
    }
}
