//! Our reading held against the shells themselves: no hidden command, no wrong word, no text that bash rejects. Keeps SHL-2, SHL-3 and SHL-4.
//!
//! Every case comes from a fixed seed, so a failure repeats. Many cases go into one shell process, each in a
//! subshell of its own.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod canary;
mod chance;
mod shells;
mod syntax;
mod words;
