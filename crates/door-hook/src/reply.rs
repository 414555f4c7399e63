//! What the hook prints and how it exits, and what makes each host block when there is no answer.

use serde_json::{Value, json};

use crate::host::Host;

/// The exit code by which every host knows that it must block.
const BLOCK: u8 = 2;

/// What the hook prints and how it exits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

impl Reply {
    /// One JSON object, and success.
    pub(crate) fn json(value: &Value) -> Reply {
        Reply { stdout: format!("{value}\n"), stderr: String::new(), exit: 0 }
    }

    /// Nothing to say: the host goes on as if there were no hook.
    pub(crate) const fn silent() -> Reply {
        Reply { stdout: String::new(), stderr: String::new(), exit: 0 }
    }
}

/// What makes this host block: the question could not be read, there is no configuration, the journal cannot be written,
/// something is broken. `why` is shown to the agent.
///
/// | host | what it does with it |
/// |---|---|
/// | Claude Code, Codex, Gemini CLI, VS Code | exit 2 blocks, standard error is the reason (Codex wants one) |
/// | Cursor | exit 2 denies; the object says why |
/// | Copilot CLI | a command hook that fails denies; the object says why |
/// | OpenCode | our own plugin throws on anything but exit 0 |
///
/// A crash leaves no reply at all: for hosts that would then go on, the command in their settings ends with
/// `|| exit 2` ([`crate::settings`]).
#[must_use]
pub fn failure(host: Host, why: &str) -> Reply {
    // FAIL-CLOSED: an answer that cannot be given is a denial.
    let why = match why.trim() {
        "" => "something is broken",
        why => why,
    };
    let reason = format!(
        "Bailiwick could not judge this call, so it is blocked: {why}. `bailiwick doctor` may tell more."
    );
    let stdout = match host {
        Host::ClaudeCode | Host::Codex | Host::GeminiCli | Host::VsCode => String::new(),
        Host::Cursor => {
            format!("{}\n", json!({"permission": "deny", "user_message": reason, "agent_message": reason}))
        }
        Host::CopilotCli => {
            format!("{}\n", json!({"permissionDecision": "deny", "permissionDecisionReason": reason}))
        }
        Host::OpenCode => format!("{}\n", json!({"decision": "deny", "reason": reason})),
    };
    Reply { stdout, stderr: format!("{reason}\n"), exit: BLOCK }
}
