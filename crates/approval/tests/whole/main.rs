//! The whole way of a question: asked, answered by whoever may, kept or not.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod always;
mod asking;
mod clocks;
mod elsewhere;
mod faults;
mod granting;
mod granting_by_files;
mod prompting;
mod ruling;
mod running_a_program;
mod settling;
mod spoofing;
mod terminal;
