//! Programs behind the real fence, run to their end and in sessions.

mod captured;
mod stage;
