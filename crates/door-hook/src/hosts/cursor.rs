//! Cursor: preToolUse, beforeShellExecution, beforeMCPExecution, beforeReadFile, and what it tells afterwards.
//!
//! Before a tool runs and before a file is read it takes a question without enforcing it, so there a question becomes a
//! refusal. One shell call fires both preToolUse and beforeShellExecution.

use serde_json::{Map, Value, json};

use super::{Question, principal, replacement};
use crate::answer::{Answer, Verdict};
use crate::asked::{Asked, Event, Refused};
use crate::host::Host;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::translate::{Around, Becomes, Part, Tool, Translated, mcp, unknown};

const PATH: &[&str] = &["file_path", "path", "target_file", "filePath"];
const OLD: &[&str] = &["old_string", "oldString", "old_str"];
const NEW: &[&str] = &["new_string", "newString", "new_str"];

const TOOLS: &[Tool] = &[
    Tool::new(
        "Shell",
        Becomes::Shell { command: &["command"], directory: &["cwd", "working_directory"] },
        &["is_background", "explanation", "block_until_ms"],
    ),
    Tool::new("Read", Becomes::Read { path: PATH }, &["offset", "limit", "explanation"]),
    Tool::new("Write", Becomes::Write { path: PATH, content: &["content", "contents"] }, &["explanation"]),
    Tool::new("Edit", EDIT, &["explanation"]),
    Tool::new("StrReplace", EDIT, &["explanation"]),
    Tool::new(
        "MultiEdit",
        Becomes::MultiEdit {
            path: PATH,
            edits: &["edits"],
            old: OLD,
            new: NEW,
            all: &["replace_all", "replaceAll"],
        },
        &["explanation"],
    ),
    Tool::new(
        "EditNotebook",
        Becomes::Notebook {
            path: &["target_notebook", "notebook_path", "file_path"],
            source: &["new_string", "new_source"],
        },
        &["old_string", "cell_idx", "is_new_cell", "cell_language"],
    ),
    Tool::new("Delete", Becomes::Delete { path: PATH }, &["explanation"]),
    Tool::new(
        "LS",
        Becomes::List { path: &["path", "target_directory"] },
        &["ignore", "ignore_globs", "explanation"],
    ),
    Tool::new(
        "Glob",
        Becomes::Glob { pattern: &["pattern", "glob_pattern"], path: &["path", "target_directory"] },
        &["explanation"],
    ),
    Tool::new(
        "Grep",
        Becomes::Grep { pattern: &["pattern", "query"], path: &["path"], glob: &["glob"] },
        &[
            "output_mode",
            "-A",
            "-B",
            "-C",
            "-n",
            "-i",
            "type",
            "head_limit",
            "offset",
            "multiline",
            "explanation",
        ],
    ),
    Tool::new("WebFetch", Becomes::Fetch { url: &["url"] }, &["prompt", "explanation"]),
    Tool::new("WebSearch", Becomes::Search { query: &["query", "search_term"] }, &["explanation"]),
    Tool::new(
        "Task",
        Becomes::Agent { tool: "Task", prompt: &["prompt"] },
        &["description", "subagent_type", "model", "name"],
    ),
    Tool::new("TodoWrite", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("AskQuestion", Becomes::Person("AskUserQuestion"), &[]),
];

const EDIT: Becomes = Becomes::Edit { path: PATH, old: OLD, new: NEW, all: &["replace_all", "replaceAll"] };

/// The server of a tool whose server Cursor does not name.
const SOME_SERVER: &str = "cursor";

pub(super) fn read(mut payload: Payload) -> Result<Asked, Refused> {
    let (event, name) = match payload.text("hook_event_name")?.as_str() {
        "preToolUse" => (Event::Before, "preToolUse"),
        "beforeShellExecution" => (Event::Before, "beforeShellExecution"),
        "beforeMCPExecution" => (Event::Before, "beforeMCPExecution"),
        "beforeReadFile" => (Event::Before, "beforeReadFile"),
        "postToolUse" => (Event::After, "postToolUse"),
        "afterShellExecution" => (Event::After, "afterShellExecution"),
        "afterMCPExecution" => (Event::After, "afterMCPExecution"),
        _ => return Err(Refused::new("the event is not one that this hook answers")),
    };
    let cwd = match payload.optional_text("cwd")? {
        Some(cwd) => Some(cwd),
        None => payload.first_text("workspace_roots")?,
    };
    let around = Around {
        // FAIL-CLOSED: without a directory nobody can tell what a relative path means.
        cwd: Some(cwd.ok_or_else(|| Refused::new("neither `cwd` nor `workspace_roots` is there"))?),
        session: Some(payload.text("conversation_id")?),
        id: payload.optional_text("tool_use_id")?,
        principal: principal(
            Host::Cursor,
            payload.optional_text("subagent_id")?,
            payload.optional_text("subagent_type")?,
        ),
    };
    let turn = payload.optional_text("generation_id")?;
    let question = |tool, input| Question {
        host: Host::Cursor,
        event,
        name,
        tools: TOOLS,
        tool,
        input,
        around,
        turn,
        succeeded: None,
    };
    Ok(match name {
        "beforeShellExecution" | "afterShellExecution" => {
            let mut input = Map::new();
            input.insert("command".into(), payload.text("command")?.into());
            let mut asked = question("Shell", input).asked();
            // Only preToolUse can change what runs.
            asked.shell = None;
            asked
        }
        "beforeReadFile" => {
            let mut input = Map::new();
            input.insert("file_path".into(), payload.text("file_path")?.into());
            let attached = attached(&payload)?;
            let mut asked = question("Read", input).asked();
            let more: Vec<_> = attached
                .into_iter()
                .filter_map(|path| {
                    let mut call = asked.calls.first()?.clone();
                    call.args = json!({ "file_path": path });
                    Some(call)
                })
                .collect();
            asked.calls.extend(more);
            asked
        }
        "beforeMCPExecution" | "afterMCPExecution" => {
            let tool = payload.text("tool_name")?;
            let input = payload.arguments("tool_input")?;
            let call = server_tool(tool.strip_prefix("MCP:").unwrap_or(&tool), &input);
            question(&tool, input).with(Translated { calls: vec![call], shell: None, hands_off: false })
        }
        _ => {
            let tool = payload.text("tool_name")?;
            let input = payload.arguments("tool_input")?;
            match tool.strip_prefix("MCP:") {
                Some(bare) => {
                    let call = server_tool(bare, &input);
                    question(&tool, input).with(Translated {
                        calls: vec![call],
                        shell: None,
                        hands_off: false,
                    })
                }
                None => question(&tool, input).asked(),
            }
        }
    })
}

/// Files that are read together with the one that is asked about.
fn attached(payload: &Payload) -> Result<Vec<String>, Refused> {
    let items = match payload.get("attachments") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(Refused::new("`attachments` is not a list")),
    };
    let path = |item: &Value| {
        let found = ["file_path", "filePath"].iter().find_map(|key| item.get(*key).and_then(Value::as_str));
        found.filter(|path| !path.is_empty()).map(str::to_owned)
    };
    items
        .iter()
        .map(|item| path(item).ok_or_else(|| Refused::new("an attachment has no `file_path`")))
        .collect()
}

fn server_tool(bare: &str, input: &Map<String, Value>) -> Part {
    mcp(SOME_SERVER, bare, input).unwrap_or_else(|| unknown(Host::Cursor, bare, input))
}

pub(super) fn write(asked: &Asked, answer: &Answer) -> Reply {
    if asked.event == Event::After {
        return Reply::json(&json!({}));
    }
    let asks = matches!(asked.name, "beforeShellExecution" | "beforeMCPExecution");
    let answer = if asks { answer.clone() } else { answer.without_asking() };
    let mut output = Map::new();
    let word = match answer.verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    };
    output.insert("permission".into(), word.into());
    if answer.verdict != Verdict::Allow {
        output.insert("user_message".into(), answer.person_reason().into());
        if asked.name != "beforeReadFile" {
            output.insert("agent_message".into(), answer.agent_reason().into());
        }
    } else if asked.name == "preToolUse"
        && let Some(command) = replacement(asked, &answer)
    {
        output.insert("updated_input".into(), asked.input_with(command));
    }
    Reply::json(&Value::Object(output))
}
