//! The file tools on real files: what they do, what they refuse and say, and that nobody who swaps names under them leads
//! them out of their roots (FNC-3).

#![expect(clippy::disallowed_methods, reason = "tests make files, look at them and take time")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails says so by panicking")]

mod listing;
mod patching;
mod planned;
mod races;
mod reading;
mod refusals;
mod searching;
mod support;
mod writing;
