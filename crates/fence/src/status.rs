//! What the fence holds on this machine, part by part. Every part is tried: a fence is built around a program that does what
//! the part forbids.

/// One part of the fence, or a whole backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// It is a backend that holds an ordinary plan.
    pub whole: bool,
    /// How it is held, or why it is not.
    pub held: Result<String, String>,
}

/// Tries every part.
#[cfg(target_os = "linux")]
#[must_use]
pub fn parts() -> Vec<Part> {
    crate::linux::status::parts()
}
