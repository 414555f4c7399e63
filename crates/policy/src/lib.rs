//! May it run?
//!
//! Configuration goes in as text, questions as values; rulings come out. Nothing here reads a file, a clock or the network:
//! the same question under the same configuration always gets the same ruling. `order.rs` is the whole order of evaluation.

mod args;
mod command_list;
mod config;
mod decision;
mod engine;
mod meeting;
mod obligation;
mod order;
mod paths;
mod pattern;
mod question;
mod rule;
mod rule_list;
mod ruling;

pub use config::{
    AgentSettings, ApprovalProvider, ApprovalRule, ApprovalSettings, ApprovalWord, At, Case, Config,
    ConfigError, Equipment, JournalSettings, JournalSync, Layer, Limits, MAX_BYTES, Origin, Profile, REQUEST,
    Server, Set, Shown, Stance, is_server_name, reference, schema,
};
pub use decision::Decision;
pub use engine::{Answer, Consultation, MAX_ANSWER};
pub use obligation::Obligation;
pub use paths::{Base, PathPattern, anchored};
pub use question::{Fence, Question};
pub use rule::{Examples, Rule};
pub use ruling::{Cited, OWN, Ruling, Step, TraceLine, Warning};
