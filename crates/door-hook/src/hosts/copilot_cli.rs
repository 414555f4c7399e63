//! GitHub Copilot CLI: preToolUse, postToolUse. The two differ by `toolResult` alone: the event has no name in the
//! question. The arguments come as an object or as a text that holds one.

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
    Tool::new(
        "bash",
        Becomes::Shell { command: &["command"], directory: &[] },
        &["sessionId", "shellId", "async", "mode", "initial_wait", "detach"],
    ),
    Tool::new("view", Becomes::Read { path: &["path"] }, &["view_range", "forceReadLargeFiles"]),
    Tool::new("create", Becomes::Write { path: &["path"], content: &["file_text", "content"] }, &[]),
    Tool::new(
        "edit",
        Becomes::Edit {
            path: &["path"],
            old: &["old_str", "old_string"],
            new: &["new_str", "new_string"],
            all: &["replace_all"],
        },
        &[],
    ),
    Tool::new("apply_patch", Becomes::Patch { text: &["input", "patch"] }, &["explanation"]),
    Tool::new(
        "grep",
        Becomes::Grep { pattern: &["pattern"], path: &["path"], glob: &["glob"] },
        &["output_mode", "-A", "-B", "-C", "-n", "-i", "type", "head_limit", "multiline"],
    ),
    Tool::new("glob", Becomes::Glob { pattern: &["pattern"], path: &["path"] }, &[]),
    Tool::new("web_fetch", Becomes::Fetch { url: &["url"] }, &["max_length", "start_index", "raw"]),
    Tool::new("web_search", Becomes::Search { query: &["query"] }, &[]),
    Tool::new(
        "task",
        Becomes::Agent { tool: "Task", prompt: &["prompt"] },
        &["description", "agent_type", "model", "mode", "name"],
    ),
    Tool::new("read_bash", Becomes::Nothing("BashOutput"), &[]),
    Tool::new("list_bash", Becomes::Nothing("BashOutput"), &[]),
    Tool::new("stop_bash", Becomes::Nothing("KillShell"), &[]),
    Tool::new("read_agent", Becomes::Nothing("TaskOutput"), &[]),
    Tool::new("list_agents", Becomes::Nothing("TaskList"), &[]),
    Tool::new("update_todo", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("report_intent", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("fetch_copilot_cli_documentation", Becomes::Nothing("ToolSearch"), &[]),
    Tool::new("ask_user", Becomes::Person("AskUserQuestion"), &[]),
    Tool::new("exit_plan_mode", Becomes::Person("ExitPlanMode"), &[]),
];

pub(super) fn read(mut payload: Payload) -> Result<Asked, Refused> {
    let after = payload.has("toolResult");
    let (event, name) = if after { (Event::After, "postToolUse") } else { (Event::Before, "preToolUse") };
    let tool = payload.text("toolName")?;
    let around = Around {
        cwd: Some(payload.text("cwd")?),
        session: payload.optional_text("sessionId")?,
        id: payload.optional_text("toolCallId")?,
        principal: principal(
            Host::CopilotCli,
            payload.optional_text("agentId")?,
            payload.optional_text("agentType")?,
        ),
    };
    let succeeded = payload
        .get("toolResult")
        .and_then(|result| result.get("resultType"))
        .and_then(Value::as_str)
        .map(|word| word == "success");
    let input = payload.arguments("toolArgs")?;
    let question = Question {
        host: Host::CopilotCli,
        event,
        name,
        tools: TOOLS,
        tool: &tool,
        input,
        around,
        turn: None,
        succeeded,
    };
    Ok(question.asked())
}

pub(super) fn write(asked: &Asked, answer: &Answer) -> Reply {
    if asked.event == Event::After {
        return Reply::silent();
    }
    let (word, reason) = match answer.verdict {
        Verdict::Allow if asked.hands_off => return Reply::silent(),
        Verdict::Allow => ("allow", answer.person_reason()),
        Verdict::Ask => ("ask", answer.person_reason()),
        Verdict::Deny => ("deny", answer.agent_reason()),
    };
    let mut output = Map::new();
    output.insert("permissionDecision".into(), word.into());
    output.insert("permissionDecisionReason".into(), reason.into());
    if answer.verdict == Verdict::Allow
        && let Some(command) = replacement(asked, answer)
    {
        output.insert("modifiedArgs".into(), asked.input_with(command));
    }
    Reply::json(&json!(output))
}
