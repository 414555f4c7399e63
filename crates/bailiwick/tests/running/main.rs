//! Who said yes, and what happened, as somebody at a terminal meets it: questions, grants, the journal.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of a test may fail as the test itself may"
)]

mod asking;
mod calling;
mod denied;
#[path = "../shared/home.rs"]
mod home;
mod job_control;
mod opened;
mod recorded;
mod searching;
mod self_approval;
mod skills;
mod typing;
mod unfenced;
mod unheard;
mod unwritable;
