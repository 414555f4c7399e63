//! The fence, as those meet it who want out of it and those who do not want to notice it. Everything is run twice: bare,
//! where it must succeed, and behind the fence. Holds FNC-1, FNC-4, FNC-5 and FNC-6.

#![cfg(target_os = "linux")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "helpers of a test may fail as the test itself may, and prepare the world that they test in"
)]

mod bombs;
mod escape;
mod everyday;
mod everyday_rows;
mod everyday_streams;
mod hidden_away;
mod inheritance;
mod protected;
mod runner;
mod servers;
mod setting;
mod survivors;
mod trace;
