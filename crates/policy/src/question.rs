//! What is asked of a policy: one call, what it would do, and where it would run.

use call::{Category, Sandbox};
use effects::Analysis;

use crate::engine::Consultation;

/// Everything that a ruling may depend on.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The tool's category.
    pub category: Category,
    /// The text of a shell call, for patterns that look at the whole of it.
    pub text: Option<&'a str>,
    /// What the call would do.
    pub analysis: &'a Analysis,
    /// What the call says about the fence.
    pub sandbox: Sandbox,
    /// `sandbox_permissions: require_escalated`
    pub escalated: bool,
    /// The time that the call wants, in milliseconds.
    pub wall_ms: Option<u64>,
    /// The memory that the call may use, in MiB.
    pub memory_mb: Option<u64>,
    /// The fence that would really be around it.
    pub fence: &'a Fence,
    /// The arguments of a tool that is not built in, for rules that look at them.
    pub arguments: Option<&'a serde_json::Value>,
    /// What the external engine says.
    pub engine: &'a Consultation,
}

impl Question<'_> {
    /// Whether the call runs a command.
    #[must_use]
    pub fn runs_commands(&self) -> bool {
        self.category == Category::Exec
    }
}

/// What the fence around a call can really hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Its name, for messages.
    pub name: &'static str,
    /// Paths outside what the plan shows can be neither written nor, where hidden, read.
    pub holds_paths: bool,
    /// Connections that the plan does not name cannot be made.
    pub holds_network: bool,
    /// Why it holds less than everything, and what would help.
    pub lacks: Option<&'static str>,
}

impl Fence {
    /// No fence at all.
    #[must_use]
    pub const fn none(why: &'static str) -> Fence {
        Fence { name: "none", holds_paths: false, holds_network: false, lacks: Some(why) }
    }

    /// Whether every boundary is held.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.holds_paths && self.holds_network
    }
}
