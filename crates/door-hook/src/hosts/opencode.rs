//! OpenCode: a plugin of ours ([`crate::settings`]) hands on what `tool.execute.before` gets, and throws unless it is
//! allowed. So the form of question and answer is our own:
//!
//! ```text
//! {"hook": "tool.execute.before", "tool", "sessionID", "callID"?, "agent"?, "directory", "args"}
//! {"decision": "allow", "args"?}    {"decision": "deny", "reason"}
//! ```
//!
//! OpenCode asks people only by its own configuration, so a question becomes a refusal.

use serde_json::{Map, Value};

use super::{Question, principal, replacement};
use crate::answer::{Answer, Verdict};
use crate::asked::{Asked, Event, Refused};
use crate::host::Host;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::translate::{Around, Becomes, Tool};

const PATH: &[&str] = &["filePath"];

const TOOLS: &[Tool] = &[
    Tool::new("bash", Becomes::Shell { command: &["command"], directory: &["workdir"] }, &["background"]),
    Tool::new("read", Becomes::Read { path: PATH }, &["offset", "limit"]),
    Tool::new("write", Becomes::Write { path: PATH, content: &["content"] }, &[]),
    Tool::new(
        "edit",
        Becomes::Edit { path: PATH, old: &["oldString"], new: &["newString"], all: &["replaceAll"] },
        &[],
    ),
    Tool::new(
        "multiedit",
        Becomes::MultiEdit {
            path: PATH,
            edits: &["edits"],
            old: &["oldString"],
            new: &["newString"],
            all: &["replaceAll"],
        },
        &[],
    ),
    Tool::new("patch", Becomes::Patch { text: &["patchText"] }, &[]),
    Tool::new("apply_patch", Becomes::Patch { text: &["patchText"] }, &[]),
    Tool::new("list", Becomes::List { path: &["path"] }, &["ignore"]),
    Tool::new("glob", Becomes::Glob { pattern: &["pattern"], path: &["path"] }, &[]),
    Tool::new("grep", Becomes::Grep { pattern: &["pattern"], path: &["path"], glob: &["include"] }, &[]),
    Tool::new("lsp", Becomes::Read { path: PATH }, &["operation", "line", "character", "query"]),
    Tool::new("webfetch", Becomes::Fetch { url: &["url"] }, &["format", "timeout"]),
    Tool::new(
        "websearch",
        Becomes::Search { query: &["query"] },
        &["numResults", "livecrawl", "type", "contextMaxCharacters"],
    ),
    Tool::new("codesearch", Becomes::Search { query: &["query"] }, &["tokensNum"]),
    Tool::new(
        "task",
        Becomes::Agent { tool: "Task", prompt: &["prompt"] },
        &["description", "subagent_type", "task_id", "background"],
    ),
    Tool::new(
        "batch",
        Becomes::Batch { calls: &["tool_calls"], tool: &["tool"], input: &["parameters"] },
        &[],
    ),
    Tool::new("todowrite", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("todoread", Becomes::Nothing("TaskList"), &[]),
    Tool::new("invalid", Becomes::Nothing("ToolSearch"), &[]),
    Tool::new("plan_enter", Becomes::Person("EnterPlanMode"), &[]),
    Tool::new("plan_exit", Becomes::Person("ExitPlanMode"), &[]),
    Tool::new("question", Becomes::Person("AskUserQuestion"), &[]),
];

pub(super) fn read(mut payload: Payload) -> Result<Asked, Refused> {
    let (event, name) = match payload.text("hook")?.as_str() {
        "tool.execute.before" => (Event::Before, "tool.execute.before"),
        "tool.execute.after" => (Event::After, "tool.execute.after"),
        _ => return Err(Refused::new("the event is not one that this hook answers")),
    };
    let tool = payload.text("tool")?;
    let around = Around {
        cwd: Some(payload.text("directory")?),
        session: Some(payload.text("sessionID")?),
        id: payload.optional_text("callID")?,
        principal: principal(Host::OpenCode, payload.optional_text("agent")?, None),
    };
    let input = payload.arguments("args")?;
    let question = Question {
        host: Host::OpenCode,
        event,
        name,
        tools: TOOLS,
        tool: &tool,
        input,
        around,
        turn: None,
        succeeded: None,
    };
    Ok(question.asked())
}

pub(super) fn write(asked: &Asked, answer: &Answer) -> Reply {
    let answer = answer.without_asking();
    let mut output = Map::new();
    match answer.verdict {
        _ if asked.event == Event::After => {
            output.insert("decision".into(), "allow".into());
        }
        Verdict::Allow => {
            output.insert("decision".into(), "allow".into());
            if let Some(command) = replacement(asked, &answer) {
                output.insert("args".into(), asked.input_with(command));
            }
        }
        Verdict::Ask | Verdict::Deny => {
            output.insert("decision".into(), "deny".into());
            output.insert("reason".into(), answer.agent_reason().into());
        }
    }
    Reply::json(&Value::Object(output))
}
