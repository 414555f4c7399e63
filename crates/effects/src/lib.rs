//! What would it do?
//!
//! Commands and tool arguments go in, effects come out: what would be read, written, deleted, connected to, run.
//! What a command does is knowledge, and knowledge is data: see `knowledge/README.md`. What cannot be found out is
//! [`Effect::Unknown`], never a guess.

mod analyse;
mod analysis;
mod arg;
mod classify;
pub mod code;
mod decode;
mod doing;
mod effect;
mod engine;
mod evaluate;
mod flow;
mod glob;
mod hosts;
mod knowledge;
mod links;
mod masked;
mod names;
mod normal;
mod options;
mod output;
mod place;
mod places;
mod redirect;
mod refused;
mod risk;
mod roles;
mod special;
mod transparent;
mod variables;

pub use analyse::analyse;
pub use analysis::{Analysis, Level, Part, Risk};
pub use effect::{Carries, Class, Connection, Effect, Origin, Peer, Place, Target};
pub use masked::Hidden;
pub use normal::{Normal, normalize};
pub use place::{Files, NoFiles, Surroundings};
