//! The plan, drawn for machines that are made up: what typical ones get is stored in `plans/`, and what must hold for all is
//! tried on many small ones. Keeps FNC-7.
//!
//! `BLESS=1 cargo test -p bailiwick-fence --test plan` stores the plans as they are now.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

mod plan {
    mod field;
    mod properties;
    mod typical;
}
