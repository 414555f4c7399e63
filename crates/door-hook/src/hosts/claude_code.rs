//! Claude Code: PreToolUse, PermissionRequest, PostToolUse.
//!
//! It honours all three verdicts. An allowing answer skips its own question, so for the tools that exist to ask the person
//! (a question, a plan) nothing is said. Before the person is asked (PermissionRequest) silence means: ask.

use serde_json::{Map, Value, json};

use super::{Question, principal, replacement};
use crate::answer::{Answer, Verdict};
use crate::asked::{Asked, Event, Refused};
use crate::host::Host;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::translate::{Around, Becomes, Tool};

/// Its tools.
pub(super) const TOOLS: &[Tool] = &[
    Tool::new("Bash", Becomes::Shell { command: &["command"], directory: &[] }, &["run_in_background"])
        .only_false(&["dangerouslyDisableSandbox"]),
    Tool::new(
        "Monitor",
        Becomes::Shell { command: &["command"], directory: &[] },
        &["timeout_ms", "persistent"],
    ),
    Tool::new("Read", Becomes::Read { path: &["file_path"] }, &["offset", "limit", "pages"]),
    Tool::new("Write", Becomes::Write { path: &["file_path"], content: &["content"] }, &[]),
    Tool::new(
        "Edit",
        Becomes::Edit {
            path: &["file_path"],
            old: &["old_string"],
            new: &["new_string"],
            all: &["replace_all"],
        },
        &[],
    ),
    Tool::new(
        "MultiEdit",
        Becomes::MultiEdit {
            path: &["file_path"],
            edits: &["edits"],
            old: &["old_string"],
            new: &["new_string"],
            all: &["replace_all"],
        },
        &[],
    ),
    Tool::new(
        "NotebookEdit",
        Becomes::Notebook { path: &["notebook_path"], source: &["new_source"] },
        &["cell_id", "cell_type", "edit_mode", "cell_number"],
    ),
    Tool::new("NotebookRead", Becomes::Read { path: &["notebook_path"] }, &["cell_id"]),
    Tool::new("Glob", Becomes::Glob { pattern: &["pattern"], path: &["path"] }, &[]),
    Tool::new("Grep", Becomes::Grep { pattern: &["pattern"], path: &["path"], glob: &["glob"] }, GREP_FORM),
    Tool::new("LS", Becomes::List { path: &["path"] }, &["ignore"]),
    Tool::new(
        "LSP",
        Becomes::Read { path: &["filePath", "file_path"] },
        &["operation", "line", "character", "query"],
    ),
    Tool::new("WebFetch", Becomes::Fetch { url: &["url"] }, &["prompt"]),
    Tool::new("WebSearch", Becomes::Search { query: &["query"] }, &["allowed_domains", "blocked_domains"]),
    Tool::new("Task", Becomes::Agent { tool: "Task", prompt: &["prompt"] }, AGENT_FORM),
    Tool::new("Agent", Becomes::Agent { tool: "Agent", prompt: &["prompt"] }, AGENT_FORM),
    Tool::new("TodoWrite", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("TaskCreate", Becomes::Nothing("TaskCreate"), &[]),
    Tool::new("TaskUpdate", Becomes::Nothing("TaskUpdate"), &[]),
    Tool::new("TaskGet", Becomes::Nothing("TaskGet"), &[]),
    Tool::new("TaskList", Becomes::Nothing("TaskList"), &[]),
    Tool::new("ToolSearch", Becomes::Nothing("ToolSearch"), &[]),
    Tool::new("BashOutput", Becomes::Nothing("BashOutput"), &[]),
    Tool::new("KillShell", Becomes::Nothing("KillShell"), &[]),
    Tool::new("TaskOutput", Becomes::Nothing("TaskOutput"), &[]),
    Tool::new("TaskStop", Becomes::Nothing("TaskStop"), &[]),
    Tool::new("EnterPlanMode", Becomes::Person("EnterPlanMode"), &[]),
    Tool::new("ExitPlanMode", Becomes::Person("ExitPlanMode"), &[]),
    Tool::new("AskUserQuestion", Becomes::Person("AskUserQuestion"), &[]),
];

/// How matches are shown.
const GREP_FORM: &[&str] = &[
    "output_mode",
    "-A",
    "-B",
    "-C",
    "context",
    "-n",
    "-i",
    "-o",
    "type",
    "head_limit",
    "offset",
    "multiline",
];

/// Which agent. Its permission mode and its isolation are not among them: they are asked about.
const AGENT_FORM: &[&str] =
    &["description", "subagent_type", "model", "run_in_background", "name", "team_name", "resume"];

pub(super) fn read(mut payload: Payload) -> Result<Asked, Refused> {
    let (event, name) = event(&payload.text("hook_event_name")?)?;
    let tool = payload.text("tool_name")?;
    let agent = payload.optional_text("agent_id")?;
    let kind = payload.optional_text("agent_type")?;
    let around = Around {
        cwd: Some(payload.text("cwd")?),
        session: Some(payload.text("session_id")?),
        id: payload.optional_text("tool_use_id")?,
        principal: principal(Host::ClaudeCode, agent, kind),
    };
    let turn = payload.optional_text("prompt_id")?;
    let input = payload.arguments("tool_input")?;
    let succeeded = (event == Event::After).then_some(name == "PostToolUse");
    let question = Question {
        host: Host::ClaudeCode,
        event,
        name,
        tools: TOOLS,
        tool: &tool,
        input,
        around,
        turn,
        succeeded,
    };
    Ok(question.asked())
}

/// The events that Claude Code and VS Code share.
pub(super) fn event(name: &str) -> Result<(Event, &'static str), Refused> {
    match name {
        "PreToolUse" => Ok((Event::Before, "PreToolUse")),
        "PermissionRequest" => Ok((Event::Permission, "PermissionRequest")),
        "PostToolUse" => Ok((Event::After, "PostToolUse")),
        "PostToolUseFailure" => Ok((Event::After, "PostToolUseFailure")),
        _ => Err(Refused::new("the event is not one that this hook answers")),
    }
}

pub(super) fn write(asked: &Asked, answer: &Answer) -> Reply {
    match asked.event {
        Event::After => Reply::silent(),
        Event::Before => before(asked, answer),
        Event::Permission => {
            let decision = match answer.verdict {
                // The person is about to be asked, which is what was wanted.
                Verdict::Ask => return Reply::silent(),
                Verdict::Allow if asked.hands_off => return Reply::silent(),
                Verdict::Allow => {
                    let mut decision = Map::new();
                    decision.insert("behavior".into(), "allow".into());
                    if let Some(command) = replacement(asked, answer) {
                        decision.insert("updatedInput".into(), asked.input_with(command));
                    }
                    Value::Object(decision)
                }
                Verdict::Deny => json!({"behavior": "deny", "message": answer.agent_reason()}),
            };
            Reply::json(
                &json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}),
            )
        }
    }
}

/// The answer to PreToolUse, which VS Code takes in the same form.
pub(super) fn before(asked: &Asked, answer: &Answer) -> Reply {
    let (word, reason) = match answer.verdict {
        Verdict::Allow if asked.hands_off => return Reply::silent(),
        Verdict::Allow => ("allow", answer.person_reason()),
        // Of a question the person sees the reason, of a refusal the agent.
        Verdict::Ask => ("ask", answer.person_reason()),
        Verdict::Deny => ("deny", answer.agent_reason()),
    };
    let mut output = Map::new();
    output.insert("hookEventName".into(), "PreToolUse".into());
    output.insert("permissionDecision".into(), word.into());
    output.insert("permissionDecisionReason".into(), reason.into());
    if answer.verdict != Verdict::Deny
        && let Some(command) = replacement(asked, answer)
    {
        output.insert("updatedInput".into(), asked.input_with(command));
    }
    Reply::json(&json!({ "hookSpecificOutput": output }))
}
