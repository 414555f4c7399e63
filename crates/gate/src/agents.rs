//! Other agents: the tools that start and steer them pass the gate like every call; what they do is the front door's.

use call::Call;
use tools::{Cancel, Outcome};

/// Starts and steers other agents.
pub trait Agents: Send + Sync {
    /// Does what a call of `spawn_agent`, `wait`, `send_input`, `close_agent` or `resume_agent` asks, after the gate let it
    /// through. The call says who asks.
    fn perform(&self, call: &Call, cancel: &Cancel) -> Outcome;
}
