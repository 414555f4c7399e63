//! Who said yes?
//!
//! ```text
//! Asked ─→ Approver::begin ─┬─→ Settled(Verdict)   a grant, auto-approve, nobody to ask, a full queue
//!                           └─→ Open(Question) ─→ answer() ─→ Verdict ─→ Consent ─→ spend(key)
//! ```
//!
//! A question has an id, a deadline on the monotonic clock and exactly one [`Outcome`]. Providers are asked in order; anybody
//! who knows the id may answer meanwhile; the first valid answer wins, and everybody learns the same winner. Silence, a crash,
//! a disconnect, a shutdown and a full queue are a no. A yes becomes a [`Consent`], which is bound to one approval key and is
//! used up by being shown.
//!
//! Nothing here writes a journal: what must be recorded is in the values that come back.

mod always;
mod approver;
mod asked;
mod board;
mod clock;
mod command;
mod consent;
mod console_lock;
mod coordinator;
mod elsewhere;
mod grants;
mod outcome;
mod prompt;
mod provider;
mod rules;
mod run_guard;
mod saved_rule;
mod slot;
mod style;
mod terminal;
mod ticket;
mod tty;

/// What the board and its slots are built from. A test puts other ones in their place and tries every interleaving.
mod sync {
    pub(crate) use std::sync::{Arc, Condvar, Mutex};
}

pub use always::{Proposal, Radius, propose};
pub use approver::{Approver, Begun, Question};
pub use asked::{AskId, Asked, CONFIRMATION, Facts};
pub use clock::{Clock, Moment, SystemClock, rfc3339};
pub use command::{PASSED_ON, Program};
pub use consent::{Consent, Mismatch, Spent, Verdict};
pub use console_lock::ConsoleLock;
pub use coordinator::{Coordinator, Limits, Timekeeper, Unresolved};
pub use elsewhere::Elsewhere;
pub use grants::{About, AutoStatus, Deferred, Extent, Grant, GrantKind, Grants, NotGranted};
pub use outcome::{Answer, Cause, Decision, Invalid, Outcome, Reason};
pub use prompt::{always_prompt, explanation, place, prompt, what_of};
pub use provider::{Callback, Later, Provider, Queue, Reply, Wait};
pub use rules::{Rule, Rules};
pub use run_guard::{RunGuard, RunState};
pub use saved_rule::{CannotEdit, Provenance, add_rule};
pub use style::Style;
pub use terminal::{Console, OpenConsole, Terminal};
pub use ticket::Ticket;
pub use tty::Tty;
