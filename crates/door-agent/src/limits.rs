//! How far a run may go.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gate::policy::AgentSettings;

/// How far a run may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests to the model, of one agent.
    pub max_steps: u64,
    /// Time of the whole run.
    pub wall: Duration,
    /// Tokens that the model may write, children included.
    pub output_tokens: u64,
    /// Tokens that a conversation may take.
    pub context_tokens: u64,
    /// Children at one time.
    pub max_agents: u64,
    /// How deep children may have children.
    pub max_depth: u64,
}

impl From<&AgentSettings> for Limits {
    fn from(settings: &AgentSettings) -> Limits {
        Limits {
            max_steps: settings.max_steps.value,
            wall: Duration::from_millis(settings.wall_ms.value),
            output_tokens: settings.output_tokens.value,
            context_tokens: settings.context_tokens.value,
            max_agents: settings.max_agents.value,
            max_depth: settings.max_depth.value,
        }
    }
}

/// What a run has used, all agents together.
#[derive(Debug, Default)]
pub(crate) struct Used {
    input: AtomicU64,
    output: AtomicU64,
}

impl Used {
    pub(crate) fn add(&self, input: u64, output: u64) -> (u64, u64) {
        let input_before = self.input.fetch_add(input, Ordering::AcqRel);
        let output_before = self.output.fetch_add(output, Ordering::AcqRel);
        (input_before.saturating_add(input), output_before.saturating_add(output))
    }

    pub(crate) fn output(&self) -> u64 {
        self.output.load(Ordering::Acquire)
    }
}
