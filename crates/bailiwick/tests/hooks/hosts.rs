//! Every host as it behaves: where its settings have the hook, how it asks, what it does with an answer.

use door_hook::Host;
use serde_json::{Value, json};

use crate::home::{Home, Ran};

/// What a host does with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// Runs it.
    Runs,
    /// Asks the person.
    Asks,
    /// Blocks it.
    Blocks,
}

/// The command that a host runs before a tool, from the settings file that `init` wrote.
pub(crate) fn command(machine: &Home, host: Host) -> String {
    let json = |name: &str| -> Value { serde_json::from_str(&machine.read(name)).expect("JSON") };
    let text = |value: &Value| value.as_str().expect("a command").to_owned();
    match host {
        Host::ClaudeCode => {
            text(&json(".claude/settings.json")["hooks"]["PreToolUse"][0]["hooks"][0]["command"])
        }
        Host::Codex => text(&json(".codex/hooks.json")["hooks"]["PreToolUse"][0]["hooks"][0]["command"]),
        Host::GeminiCli => {
            text(&json(".gemini/settings.json")["hooks"]["BeforeTool"][0]["hooks"][0]["command"])
        }
        Host::Cursor => {
            let entry = &json(".cursor/hooks.json")["hooks"]["preToolUse"][0];
            assert_eq!(entry["failClosed"], true);
            text(&entry["command"])
        }
        Host::CopilotCli => text(&json(".copilot/hooks/bailiwick.json")["hooks"]["preToolUse"][0]["bash"]),
        Host::VsCode => text(&json("work/.github/hooks/bailiwick.json")["hooks"]["preToolUse"][0]["bash"]),
        Host::OpenCode => {
            let plugin = machine.read(".config/opencode/plugins/bailiwick.js");
            let line =
                plugin.lines().find_map(|line| line.strip_prefix("const PROGRAM = ")).expect("a program");
            let program: String = serde_json::from_str(line.trim_end_matches(';')).expect("a text");
            format!("'{program}' hook opencode")
        }
    }
}

/// A tool that every host has under a name of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tool<'a> {
    Shell(&'a str),
    Read(&'a str),
    Write(&'a str),
}

/// The question before a tool runs; nothing where the host has no such tool.
pub(crate) fn question(host: Host, machine: &Home, session: &str, tool: Tool<'_>) -> Option<Value> {
    let cwd = machine.work();
    let (path, name, mut input) = match tool {
        Tool::Shell(command) => (
            "",
            ["Bash", "run_shell_command", "Shell", "bash", "run_in_terminal"],
            json!({"command": command}),
        ),
        Tool::Read(path) => (path, ["Read", "read_file", "Read", "view", "read_file"], json!({})),
        Tool::Write(path) => {
            (path, ["Write", "write_file", "Write", "create", "create_file"], json!({"content": "x"}))
        }
    };
    let mut at = |key: &str| {
        if !path.is_empty() {
            input[key] = path.into();
        }
        input.clone()
    };
    Some(match host {
        Host::ClaudeCode => json!({
            "session_id": session, "transcript_path": "/t", "cwd": cwd, "hook_event_name": "PreToolUse",
            "permission_mode": "default", "tool_use_id": "toolu_1", "tool_name": name[0], "tool_input": at("file_path"),
        }),
        // It reads and writes files by its shell and by patches.
        Host::Codex if !matches!(tool, Tool::Shell(_)) => return None,
        Host::Codex => json!({
            "session_id": session, "cwd": cwd, "hook_event_name": "PreToolUse", "turn_id": "t", "model": "m",
            "tool_use_id": "call_1", "tool_name": "Bash", "tool_input": input,
        }),
        Host::GeminiCli => json!({
            "session_id": session, "transcript_path": "/t", "cwd": cwd, "hook_event_name": "BeforeTool",
            "timestamp": "2026-01-31T12:00:00Z", "tool_name": name[1], "tool_input": at("file_path"),
        }),
        Host::Cursor => json!({
            "hook_event_name": "preToolUse", "conversation_id": session, "generation_id": "g",
            "workspace_roots": [cwd], "cwd": cwd, "tool_use_id": "u", "tool_name": name[2], "tool_input": at("file_path"),
        }),
        Host::CopilotCli => json!({
            "sessionId": session, "timestamp": 1, "cwd": cwd, "toolName": name[3], "toolArgs": at("path"),
        }),
        Host::VsCode => json!({
            "sessionId": session, "timestamp": "2026-01-31T12:00:00Z", "cwd": cwd, "hookEventName": "PreToolUse",
            "toolUseId": "u", "tool_name": name[4], "tool_input": at("filePath"),
        }),
        Host::OpenCode => {
            let name = match tool {
                Tool::Shell(_) => "bash",
                Tool::Read(_) => "read",
                Tool::Write(_) => "write",
            };
            json!({
                "hook": "tool.execute.before", "tool": name, "sessionID": session, "callID": "c",
                "directory": cwd, "args": at("filePath"),
            })
        }
    })
}

/// Asks as the host would.
pub(crate) fn ask(host: Host, machine: &Home, session: &str, tool: Tool<'_>) -> Option<Ran> {
    let question = question(host, machine, session, tool)?.to_string();
    Some(machine.shell(&command(machine, host), &question))
}

/// What the host does with an answer, by its own rules.
pub(crate) fn does(host: Host, ran: &Ran) -> Does {
    let answer: Option<Value> = serde_json::from_str(ran.out.trim()).ok();
    let silent = ran.out.trim().is_empty();
    match (host, ran.code) {
        // It wants a reason with it.
        (Host::Codex, Some(2)) if ran.err.trim().is_empty() => return Does::Runs,
        (_, Some(2)) => return Does::Blocks,
        (_, Some(0)) => {}
        // A hook that fails closed by the settings, or by what the host is.
        (Host::Cursor | Host::CopilotCli | Host::OpenCode, _) => return Does::Blocks,
        (Host::GeminiCli, Some(code)) if code != 1 => return Does::Blocks,
        _ => return Does::Runs,
    }
    let member = |keys: &[&str]| -> String {
        let mut value = answer.clone().unwrap_or_default();
        for key in keys {
            value = value[*key].clone();
        }
        value.as_str().unwrap_or_default().to_owned()
    };
    let word = match host {
        Host::ClaudeCode | Host::Codex | Host::VsCode => {
            member(&["hookSpecificOutput", "permissionDecision"])
        }
        Host::GeminiCli | Host::OpenCode => member(&["decision"]),
        Host::Cursor => member(&["permission"]),
        Host::CopilotCli => member(&["permissionDecision"]),
    };
    match (host, word.as_str()) {
        (Host::Codex, "allow") => {
            assert!(answer.expect("an answer")["hookSpecificOutput"]["updatedInput"].is_object());
            Does::Runs
        }
        (Host::Codex, "deny") if member(&["hookSpecificOutput", "permissionDecisionReason"]).is_empty() => {
            Does::Runs
        }
        (Host::OpenCode, "allow") => Does::Runs,
        // Its plugin throws on everything else.
        (Host::OpenCode, _) => Does::Blocks,
        (_, "deny") => Does::Blocks,
        // Not enforced, or a hook that has failed: the call goes on.
        (Host::Codex | Host::Cursor, "ask") => Does::Runs,
        (_, "ask") => Does::Asks,
        (_, "allow") => Does::Runs,
        (_, "") if silent => Does::Runs,
        (_, other) => panic!("{host:?} got {other:?}: {ran:?}"),
    }
}

/// The command that the host runs in place of the one that was asked about.
pub(crate) fn rewritten(host: Host, ran: &Ran) -> Option<String> {
    let answer: Value = serde_json::from_str(ran.out.trim()).ok()?;
    let input = match host {
        Host::ClaudeCode | Host::Codex | Host::VsCode => &answer["hookSpecificOutput"]["updatedInput"],
        Host::GeminiCli => &answer["hookSpecificOutput"]["tool_input"],
        Host::Cursor => &answer["updated_input"],
        Host::CopilotCli => &answer["modifiedArgs"],
        Host::OpenCode => &answer["args"],
    };
    input["command"].as_str().map(str::to_owned)
}

/// Whether the host can put a question before a tool runs.
pub(crate) fn asks(host: Host) -> bool {
    !matches!(host, Host::Codex | Host::Cursor | Host::OpenCode)
}
