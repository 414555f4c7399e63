//! What would it do?
//!
//! Commands and tool arguments go in, effects come out: what would be read, written, deleted, connected to, run.
//! What a command does is knowledge, and knowledge is data: see `knowledge/README.md`. What cannot be found out is
//! [`Effect::Unknown`], never a guess.

mod analysis;
mod effect;
mod normal;
mod place;

pub use analysis::{Analysis, Level, Part, Risk};
pub use effect::{Carries, Class, Connection, Effect, Origin, Peer, Place, Target};
pub use normal::{Normal, normalize};
pub use place::{Files, NoFiles, Surroundings};
/// What a call would do. FAIL-CLOSED: nothing is understood yet, so everything is unknown.
#[must_use]
pub fn analyse(intents: &[call::Intent], _around: &Surroundings<'_>) -> Analysis {
    let part = |_: &call::Intent| Part {
        span: None,
        text: String::new(),
        argv: None,
        normal: Normal::default(),
        via: Vec::new(),
        effects: vec![Effect::Unknown("commands are not understood yet".into())],
    };
    Analysis { parts: intents.iter().map(part).collect(), complex: None, risk: Risk::default() }
}
