//! What can it touch?
//!
//! ```text
//! Wishes ─→ Plan ─→ backend ─→ Outcome
//!   what    what    how this   how it ended,
//!   policy  it can  machine    what was refused
//!   asks    touch   holds it
//! ```
//!
//! The plan is pure. A backend enforces all of it or refuses: there is no weaker fence than the one that was planned.

pub mod backend;
#[cfg(unix)]
mod bare;
pub mod blocked;
#[cfg(target_os = "linux")]
pub mod console;
pub mod draw;
pub mod drive;
#[cfg(target_os = "linux")]
pub mod egress;
mod knowledge;
pub mod leave;
#[cfg(target_os = "linux")]
mod linux;
pub mod network;
pub mod outcome;
pub mod plan;
#[cfg(target_os = "linux")]
pub mod reins;
#[cfg(target_os = "linux")]
pub mod rooted;
pub mod seatbelt;
#[cfg(target_os = "linux")]
pub mod status;
mod survey;
#[cfg(target_os = "linux")]
mod sys;
pub mod terrain;
#[cfg(target_os = "linux")]
mod unfenced;
pub mod unfit;
pub mod windows;
pub mod wsl;

pub use backend::{Backend, Order, run, run_begun, tried, tried_with};
#[cfg(unix)]
pub use bare::become_unfenced;
pub use blocked::Blocked;
#[cfg(target_os = "linux")]
pub use console::Console;
pub use draw::{Impossible, Wishes, draw};
pub use leave::{Cleared, Leave};
#[cfg(target_os = "linux")]
pub use linux::{Ahead, Begun, Remains, Starter};
pub use network::{Host, Network};
pub use outcome::{Bound, End, Held, Means, Outcome, Passed, Refusal};
pub use plan::{Access, Limits, Plan, Reach};
#[cfg(target_os = "linux")]
pub use reins::{Reins, Tty};
pub use survey::Survey;
#[cfg(target_os = "linux")]
pub use sys::alarm::LastWord;
pub use terrain::{Ground, Terrain};
#[cfg(target_os = "linux")]
pub use unfenced::run_unfenced;
pub use unfit::Unfit;

/// Ends this process by a signal, as the program that it stood for was ended.
#[cfg(target_os = "linux")]
pub fn end_by(signal: i32) {
    sys::kernel::end_by(signal);
}
