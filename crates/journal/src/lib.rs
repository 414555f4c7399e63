//! What happened?
//!
//! An append-only log of JSON Lines in a directory of its own. A decision is on disk before its process starts: [`Journal::append`]
//! returns when it is, and whoever gets [`Unavailable`] instead denies the call.
//!
//! ```text
//! Event (sanitized by its types) ─→ line: chain fields, body, hash ─→ batch ─→ lock, write, sync ─→ Sequence
//! ```
//!
//! Each line carries the hash of the one before, so that no record can be changed, moved or left out unnoticed; checkpoints are
//! signed, so that nobody without the key can compute the chain anew; the last checkpoint ([`Head`]) can be kept elsewhere, so that
//! a cut tail is found.
//!
//! Many processes may append at once; at every moment one of them writes.

mod calls;
mod checkpoint;
mod directory;
mod event;
mod export;
mod host;
mod journal;
mod keys;
mod line;
mod payload;
mod reader;
mod record;
mod running;
mod segment;
pub mod simulated;
mod stats;
mod tail;
mod time;
mod timeline;
mod unavailable;
mod verify;
mod view;
mod volume;
mod what;
mod writer;

pub use checkpoint::Head;
pub use directory::Directory;
pub use event::{Event, Kind, Outcome, Who};
pub use export::{Exporter, Format};
pub use host::{Boot, Host, ThisHost};
pub use journal::{Journal, Opened, Place, Sealer, Sequence};
pub use keys::{Keys, PublicKey};
pub use payload::{Fact, Payload};
pub use reader::{Filter, Going, Position, Reader, Unreadable};
pub use record::Record;
pub use stats::{Day, Stats};
pub use time::Timestamp;
pub use timeline::{Colour, timeline};
pub use unavailable::{Unavailable, Why};
pub use verify::{Bad, Report};
pub use view::{Decision, Decisions, audit_entry, gate_event, is_yes};
pub use volume::{Access, Medium, Volume};
pub use writer::{Settings, Sync};
