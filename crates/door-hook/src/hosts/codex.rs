//! Codex CLI: PreToolUse, PermissionRequest, PostToolUse.
//!
//! It takes no question before a tool runs: the hook would count as failed and the call would proceed, so a question
//! becomes a refusal. An allowing answer is taken only together with a rewritten command; otherwise nothing is said. One
//! key too many makes it drop the whole answer and proceed.
//!
//! Its working directory is the session's: a call that runs elsewhere does not say so. A rewritten command is judged once
//! more where it really runs.

use serde_json::json;

use super::{Question, principal, replacement};
use crate::answer::{Answer, Verdict};
use crate::asked::{Asked, Event, Refused};
use crate::host::Host;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::translate::{Around, Becomes, Tool};

const TOOLS: &[Tool] = &[
    Tool::new("Bash", Becomes::Shell { command: &["command"], directory: &["workdir", "cwd"] }, &[]),
    Tool::new("apply_patch", Becomes::Patch { text: &["command", "input"] }, &["description"]),
    Tool::new(
        "spawn_agent",
        Becomes::Agent { tool: "spawn_agent", prompt: &["message", "prompt"] },
        &["agent_type", "nickname", "description"],
    ),
    Tool::new("view_image", Becomes::Read { path: &["path"] }, &[]),
    Tool::new("web_search", Becomes::Search { query: &["query", "q"] }, &["recency", "limit"]),
    Tool::new("update_plan", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("request_user_input", Becomes::Person("AskUserQuestion"), &[]),
];

pub(super) fn read(mut payload: Payload) -> Result<Asked, Refused> {
    let (event, name) = match payload.text("hook_event_name")?.as_str() {
        "PreToolUse" => (Event::Before, "PreToolUse"),
        "PermissionRequest" => (Event::Permission, "PermissionRequest"),
        "PostToolUse" => (Event::After, "PostToolUse"),
        _ => return Err(Refused::new("the event is not one that this hook answers")),
    };
    let tool = payload.text("tool_name")?;
    let agent = payload.optional_text("agent_id")?;
    let kind = payload.optional_text("agent_type")?;
    let around = Around {
        cwd: Some(payload.text("cwd")?),
        session: Some(payload.text("session_id")?),
        id: payload.optional_text("tool_use_id")?,
        principal: principal(Host::Codex, agent, kind),
    };
    let turn = payload.optional_text("turn_id")?;
    let input = payload.arguments("tool_input")?;
    let question = Question {
        host: Host::Codex,
        event,
        name,
        tools: TOOLS,
        tool: &tool,
        input,
        around,
        turn,
        succeeded: None,
    };
    Ok(question.asked())
}

pub(super) fn write(asked: &Asked, answer: &Answer) -> Reply {
    let decision = match asked.event {
        Event::After => return Reply::silent(),
        Event::Before => {
            let answer = answer.without_asking();
            let output = match (answer.verdict, replacement(asked, &answer)) {
                (Verdict::Allow, None) => return Reply::silent(),
                (Verdict::Allow, Some(command)) => json!({
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "updatedInput": asked.input_with(command),
                }),
                (Verdict::Ask | Verdict::Deny, _) => json!({
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": answer.agent_reason(),
                }),
            };
            return Reply::json(&json!({ "hookSpecificOutput": output }));
        }
        Event::Permission => match answer.verdict {
            // The person is about to be asked, which is what was wanted.
            Verdict::Ask => return Reply::silent(),
            Verdict::Allow if asked.hands_off => return Reply::silent(),
            Verdict::Allow => json!({"behavior": "allow"}),
            Verdict::Deny => json!({"behavior": "deny", "message": answer.agent_reason()}),
        },
    };
    Reply::json(&json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}))
}
