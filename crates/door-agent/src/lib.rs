//! What does a model ask?
//!
//! The loop of an agent: a model is asked over HTTP, its calls pass the gate, and what came of them goes back to it, until there is
//! nothing more to do. The loop decides nothing: it translates a model's words into calls, and rulings into words that help it go
//! on.
//!
//! ```text
//!            Command ─→ ┌──────────────────────────────┐ ─→ Request ─→ model (HTTP)
//! front end             │ life: ask, make calls, tell   │ ←─ Reply   ←─
//!            Event   ←─ └──────────────────────────────┘ ─→ RawCall ─→ gate ─→ tools
//! ```
//!
//! A front end gives [`start`] what a run needs, shows every [`Event`], and sends [`Command`]s. Questions for approval and questions of
//! the agent to a person go through the gate's own providers and `tools::Human`; a [`Switchboard`] makes them events for a front end
//! that wants to answer by command.

mod calls;
mod colleagues;
mod command;
mod compaction;
mod control;
mod conversation;
mod event;
mod instructions;
mod kept;
mod life;
mod limits;
mod model;
mod modes;
mod offer;
mod result;
mod sink;
mod start;
mod switchboard;
mod tree;

pub use command::Command;
pub use conversation::{Conversation, Image, Message, ToolResult, ToolUse};
pub use event::{AskedHuman, End, Event, Failure, Mode, Question, Ruled, What};
pub use kept::Kept;
pub use limits::Limits;
pub use model::{Address, Client, Model, Provider};
pub use modes::{mode_of, set_mode};
pub use start::{Handle, Manner, Start, run_name, start};
pub use switchboard::Switchboard;
