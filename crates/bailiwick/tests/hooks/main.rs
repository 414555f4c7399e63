//! Coding agents' hosts, as they meet Bailiwick: the commands that `init` wrote into their settings, run through `sh` with the
//! questions that they ask, and the answers read as they read them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

mod approving;
mod deciding;
mod events;
mod failing;
mod handing_on;
#[path = "../shared/home.rs"]
mod home;
mod hosts;
mod machine;
mod parity;
mod plugin;
mod setting_up;
