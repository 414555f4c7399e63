//! The door from outside: a server on a loopback port, and clients that write bytes.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test says what it expects, and has files of its own"
)]

mod approving;
mod asking;
mod authzen;
mod bounds;
mod connecting;
mod document;
mod inquiring;
mod names;
mod server;
mod streams;
mod tightening;
mod tokens;
