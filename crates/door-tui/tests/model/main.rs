//! The screen without a terminal: what it shows, and what its keys do.

#![expect(clippy::expect_used, reason = "helpers of a test may fail as the test itself may")]

mod answering;
mod screens;
mod situations;
