//! What can an agent do?
//!
//! The built-in tools. None of them asks whether it may: the gate has answered that before, and hands over what may be touched.

pub mod cancel;
mod clock;
mod drain;
pub mod ended;
pub mod exec;
pub mod job;
mod kept;
pub mod outcome;
pub mod output;
pub mod readable;
pub mod screen;
pub mod sessions;
mod turns;

pub use cancel::{Cancel, CancelOnDrop};
pub use ended::{Ended, refused};
pub use exec::{Capture, Ran, run_captured};
pub use job::{Job, Size};
pub use outcome::Outcome;
pub use output::{Bounds, Output, Stream};
pub use readable::Text;
pub use screen::Screen;
pub use sessions::{Ask, Said, SessionBounds, SessionError, Sessions, Start};
