//! Files for our own tools: opened beneath a root's descriptor, never checked first and opened then.
//!
//! ```text
//! path (absolute, no `..`) ─→ Area ─→ openat2(root, rest, BENEATH | NO_SYMLINKS) ─→ descriptor
//!                              │        │ a link is in the way
//!                              │        └─→ resolve: follow it by hand to (root, rest), and open that the same way
//!                              └─ Guard: is a name on the way hidden or protected?
//! ```
//!
//! An open that succeeded went through no link at all, so the names that it was given are the names of what it reached, and
//! a guard that judges names judges the file itself. Whatever swaps directories and links meanwhile can make an open fail,
//! or make it reach another file of the same name beneath the same root; it cannot make it reach anything else.
//!
//! What is not prevented: somebody who may move a directory out of a root while a file in it is being written takes the
//! file along. They could have moved it a moment later as well.
//!
//! Hard links are names like others. Writing goes to a new file that takes the name (see [`write`]), so other names keep
//! their content. Reading a file that has several names is refused where one of them is a hidden file that the guard can
//! name ([`Guard::hidden_files`]).

pub mod area;
pub mod directory;
pub mod guard;
pub mod open;
pub mod refused;
mod resolve;
pub mod room;
pub mod write;

pub use area::{Area, Right};
pub use directory::{Directory, Entry};
pub use guard::{Guard, Listed, Sight};
pub use open::{Identity, Kind, Opened};
pub use refused::Refused;
pub use room::{room, text_of};
pub use write::{Change, Commit, Spot, Staged};
