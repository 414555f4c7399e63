//! What the journal promises, against kills, power losses, failing disks, edits and races.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "helpers of a test may fail as the test itself may, and start the processes that it kills"
)]

mod edits;
mod errors;
mod golden;
mod histories;
mod kills;
mod places;
mod power_loss;
mod reading;
mod stage;
