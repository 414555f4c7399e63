//! The last word before a program starts. A fence takes a while to build, and what must be done before the program runs (its record
//! must be on disk) can be done meanwhile; without it, nothing starts.

use std::fmt;

use crate::outcome::Refusal;

/// What is asked when a fence is as good as built and no process of the program is there yet.
#[derive(Clone, Copy)]
pub struct Leave<'a>(Option<&'a dyn Fn() -> Result<(), String>>);

impl<'a> Leave<'a> {
    /// Nothing is left to be done: it may start.
    #[must_use]
    pub const fn given() -> Leave<'static> {
        Leave(None)
    }

    /// It may start if this succeeds. It may be asked more than once, where a fence is tried in more than one way.
    #[must_use]
    pub const fn after(condition: &'a dyn Fn() -> Result<(), String>) -> Leave<'a> {
        Leave(Some(condition))
    }

    /// Asks. Whoever starts a program must show what comes of it.
    ///
    /// # Errors
    /// It may not start.
    pub fn ask(&self) -> Result<Cleared, Refusal> {
        match self.0.map_or(Ok(()), |condition| condition()) {
            Ok(()) => Ok(Cleared(())),
            Err(why) => Err(Refusal::NoLeave(why)),
        }
    }
}

impl fmt::Debug for Leave<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_none() { "Leave(given)" } else { "Leave(to be asked)" })
    }
}

/// A program may start.
#[derive(Debug)]
pub struct Cleared(());
