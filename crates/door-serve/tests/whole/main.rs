//! The door from outside: a server on a loopback port, and clients that write bytes.

mod approving;
mod asking;
mod authzen;
mod bounds;
mod connecting;
mod document;
mod names;
mod server;
mod streams;
mod tightening;
mod tokens;
