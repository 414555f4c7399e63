//! The MCP doors, as a client meets them: the built-in tools, and other servers behind the proxy.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

/// Tests wait for what happens elsewhere.
#[expect(clippy::disallowed_methods, reason = "a test has a clock")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

mod approving;
mod beside;
mod client;
#[path = "../shared/home.rs"]
#[expect(dead_code, reason = "only some of it is used here")]
mod home;
mod over_http;
mod proxying;
mod serving;
mod setting_up;
