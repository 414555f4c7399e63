//! A call of each host, as it would put it: what `doctor` sends to a hook to see whether it answers.

use door_hook::Host;
use serde_json::{Value, json};

/// The question before a shell command.
pub(crate) fn sample(host: Host, directory: &str, session: &str, command: &str) -> Value {
    let input = json!({ "command": command });
    match host {
        Host::ClaudeCode => json!({
            "session_id": session, "transcript_path": "", "cwd": directory, "hook_event_name": "PreToolUse",
            "permission_mode": "default", "tool_name": "Bash", "tool_input": input,
        }),
        Host::Codex => json!({
            "session_id": session, "cwd": directory, "hook_event_name": "PreToolUse", "turn_id": "1",
            "model": "none", "tool_name": "Bash", "tool_input": input,
        }),
        Host::GeminiCli => json!({
            "session_id": session, "transcript_path": "", "cwd": directory, "hook_event_name": "BeforeTool",
            "timestamp": "2026-01-31T12:00:00Z", "tool_name": "run_shell_command", "tool_input": input,
        }),
        Host::Cursor => json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": session, "generation_id": "1",
            "workspace_roots": [directory], "command": command, "cwd": directory,
        }),
        Host::CopilotCli => json!({
            "sessionId": session, "timestamp": 1, "cwd": directory, "toolName": "bash", "toolArgs": input,
        }),
        Host::VsCode => json!({
            "sessionId": session, "timestamp": "2026-01-31T12:00:00Z", "cwd": directory,
            "hookEventName": "PreToolUse", "tool_name": "run_in_terminal",
            "tool_input": {"command": command, "explanation": "", "isBackground": false},
        }),
        Host::OpenCode => json!({
            "hook": "tool.execute.before", "tool": "bash", "sessionID": session, "callID": "1",
            "directory": directory, "args": input,
        }),
    }
}
