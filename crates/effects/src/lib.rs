//! What would it do?
//!
//! Commands and tool arguments go in, effects come out: what would be read, written, deleted, connected to, run.
//! What a command does is knowledge, and knowledge is data: see `knowledge/README.md`. What cannot be found out is
//! [`Effect::Unknown`], never a guess.

mod analysis;
pub mod code;
mod effect;
mod normal;
mod place;

pub use analysis::{Analysis, Level, Part, Risk};
pub use effect::{Carries, Class, Connection, Effect, Origin, Peer, Place, Target};
pub use normal::Normal;
pub use place::{Files, NoFiles, Surroundings};
