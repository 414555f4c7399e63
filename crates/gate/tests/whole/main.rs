//! The gate as a whole: the same meaning, the same ruling; nothing sheltered, nothing evaded, ordinary work undisturbed.

#![expect(clippy::expect_used, clippy::panic, reason = "helpers of a test may fail as the test itself may")]

mod evasions;
mod everyday;
mod joining;
mod parity;
mod stage;
