//! Programs behind the real fence, run to their end and in sessions.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests start processes, look at them and wait"
)]

mod captured;
mod endings;
mod sessions;
mod stage;
