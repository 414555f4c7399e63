//! What is put into each host's settings.

use serde_json::{Value, json};

use crate::host::Host;
use crate::rewrite::quote;

/// One entry: under which keys, and what.
pub(super) struct Hook {
    /// Keys from the top to the list that it belongs to.
    pub(super) path: [&'static str; 2],
    pub(super) entry: Value,
}

/// Seconds until a host gives up. The hook itself gives up long before.
const PATIENCE: u64 = 60;

/// The entries for a host whose settings are JSON, and what a new file starts with.
pub(super) fn hooks(host: Host, binary: &str) -> (Value, Vec<Hook>) {
    let deciding = blocking(host, binary);
    let telling = plain(host, binary);
    let nothing = json!({});
    let versioned = json!({"version": 1});
    match host {
        Host::ClaudeCode => {
            let guard =
                json!({"type": "command", "command": deciding, "timeout": PATIENCE, "onFailure": "block"});
            let note = json!({"type": "command", "command": telling, "timeout": PATIENCE});
            let group = |hook: &Value| json!({"matcher": "*", "hooks": [hook]});
            let hooks = vec![
                Hook { path: ["hooks", "PreToolUse"], entry: group(&guard) },
                Hook { path: ["hooks", "PermissionRequest"], entry: group(&guard) },
                Hook { path: ["hooks", "PostToolUse"], entry: group(&note) },
            ];
            (nothing, hooks)
        }
        Host::Codex => {
            let group = |command: &str| json!({"hooks": [{"type": "command", "command": command, "timeout": PATIENCE}]});
            let hooks = vec![
                Hook { path: ["hooks", "PreToolUse"], entry: group(&deciding) },
                Hook { path: ["hooks", "PermissionRequest"], entry: group(&deciding) },
                Hook { path: ["hooks", "PostToolUse"], entry: group(&telling) },
            ];
            (nothing, hooks)
        }
        Host::GeminiCli => {
            let group = |command: &str| {
                json!({"matcher": "*", "hooks": [
                    {"name": "bailiwick", "type": "command", "command": command, "timeout": PATIENCE * 1000}]})
            };
            let hooks = vec![
                Hook { path: ["hooks", "BeforeTool"], entry: group(&deciding) },
                Hook { path: ["hooks", "AfterTool"], entry: group(&telling) },
            ];
            (nothing, hooks)
        }
        Host::Cursor => {
            let guard = json!({"command": deciding, "timeout": PATIENCE, "failClosed": true});
            let hook = |event: &'static str| Hook { path: ["hooks", event], entry: guard.clone() };
            let hooks = ["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"];
            (versioned, hooks.into_iter().map(hook).collect())
        }
        // VS Code reads the file of Copilot CLI: one entry serves both, and the hook tells them apart.
        Host::CopilotCli | Host::VsCode => {
            let entry = |command: &str| json!({"type": "command", "bash": command, "timeoutSec": PATIENCE});
            let hooks = vec![
                Hook { path: ["hooks", "preToolUse"], entry: entry(&deciding) },
                Hook { path: ["hooks", "postToolUse"], entry: entry(&telling) },
            ];
            (versioned, hooks)
        }
        Host::OpenCode => (nothing, Vec::new()),
    }
}

/// Whether a command of a settings file is one of ours for this host.
pub(super) fn is_ours(host: Host, command: &str) -> bool {
    let asks = format!(" hook {}", word(host));
    command.contains("bailiwick")
        && command.split_once(&asks).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '))
}

fn word(host: Host) -> &'static str {
    match host {
        Host::VsCode => Host::CopilotCli.name(),
        other => other.name(),
    }
}

fn plain(host: Host, binary: &str) -> String {
    format!("{} hook {}", quote(binary), word(host))
}

/// The command with an end that blocks, whatever becomes of the program: it is missing, it is killed, it crashes. Most hosts
/// take only exit code 2 for a refusal, and Codex only with a reason.
fn blocking(host: Host, binary: &str) -> String {
    let command = plain(host, binary);
    match host {
        // It blocks by itself (`failClosed`), and is not said to use a shell.
        Host::Cursor => command,
        _ => format!(
            "{command} || {{ echo 'bailiwick: the hook failed, so the call is blocked' >&2; exit 2; }}"
        ),
    }
}
