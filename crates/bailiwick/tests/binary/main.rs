//! The binary, as its users meet it. One crate, so that its helpers are built once.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of a test may fail as the test itself may"
)]

mod canaries;
mod canary;
mod check;
mod engine;
mod journeys;
mod policy_command;
mod program;
