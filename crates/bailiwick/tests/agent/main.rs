//! `run` and `chat` as somebody meets them, with a model that follows a script.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

mod chatting;
mod children;
mod ending;
mod flags;
#[path = "../running/home.rs"]
#[expect(dead_code, reason = "only some of it is used here")]
mod home;
mod parity;
mod resuming;
mod running;
#[path = "../../../door-agent/tests/scripted/mod.rs"]
mod scripted;
mod secrets;
mod talk;
