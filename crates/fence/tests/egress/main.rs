//! Egress from end to end on loopback: the program's side and the hosts are threads of the test, and names are in a table.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests look at clocks, and fail by panicking"
)]

mod bench;
mod direct;
mod ending;
mod lookups;
mod proxy;
mod world;
