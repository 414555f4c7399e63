//! The MCP doors, as a client meets them: the built-in tools, and other servers behind the proxy.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

mod client;
mod proxying;
mod serving;
mod setting_up;
