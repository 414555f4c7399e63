//! Questions to people at terminals and through functions, skills in real folders, and searches at a server of this machine.

#![expect(clippy::disallowed_methods, reason = "tests make files and take time")]
#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

mod asking;
mod callback;
mod searching;
mod skills;
