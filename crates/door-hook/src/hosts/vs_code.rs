//! VS Code: PreToolUse, PostToolUse, in the form of Claude Code's answers, with names of its own for tools and fields.
//!
//! It also runs what is written for Claude Code (`.claude/settings.json`) and for Copilot CLI (`.github/hooks`), and
//! Copilot CLI sends this form where a hook is written for VS Code: then the tools are Copilot's.

use super::claude_code::{before, event};
use super::{Question, copilot_cli, principal};
use crate::answer::Answer;
use crate::asked::{Asked, Event, Refused};
use crate::host::Host;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::translate::{Around, Becomes, Tool};

const PATH: &[&str] = &["filePath", "file_path", "path"];

const TOOLS: &[Tool] = &[
    Tool::new("run_in_terminal", TERMINAL, TERMINAL_FORM),
    Tool::new("runTerminalCommand", TERMINAL, TERMINAL_FORM),
    Tool::new(
        "read_file",
        Becomes::Read { path: PATH },
        &["startLine", "endLine", "offset", "limit", "startLineNumberBaseZero", "endLineNumberBaseZero"],
    ),
    Tool::new("view_image", Becomes::Read { path: PATH }, &[]),
    Tool::new("copilot_getNotebookSummary", Becomes::Read { path: PATH }, &[]),
    Tool::new("read_notebook_cell_output", Becomes::Read { path: PATH }, &["cellId"]),
    Tool::new("create_file", Becomes::Write { path: PATH, content: &["content"] }, &["explanation"]),
    Tool::new("createFile", Becomes::Write { path: PATH, content: &["content"] }, &["explanation"]),
    Tool::new("insert_edit_into_file", Becomes::Write { path: PATH, content: &["code"] }, &["explanation"]),
    Tool::new("create_directory", Becomes::Directory { path: &["dirPath"] }, &["explanation"]),
    Tool::new(
        "replace_string_in_file",
        Becomes::Edit { path: PATH, old: &["oldString"], new: &["newString"], all: &["replaceAll"] },
        &["explanation"],
    ),
    Tool::new(
        "multi_replace_string_in_file",
        Becomes::Edits {
            edits: &["replacements"],
            path: &["filePath"],
            old: &["oldString"],
            new: &["newString"],
        },
        &["explanation"],
    ),
    Tool::new("apply_patch", Becomes::Patch { text: &["input"] }, &["explanation"]),
    Tool::new(
        "edit_notebook_file",
        Becomes::Notebook { path: PATH, source: &["newCode"] },
        &["explanation", "editType", "language", "cellId"],
    ),
    Tool::new("list_dir", Becomes::List { path: &["path", "dirPath"] }, &[]),
    Tool::new(
        "file_search",
        Becomes::Glob { pattern: &["query"], path: &[] },
        &["maxResults", "includeIgnoredFiles"],
    ),
    Tool::new(
        "grep_search",
        Becomes::Grep { pattern: &["query"], path: &[], glob: &["includePattern"] },
        &["isRegexp", "maxResults", "includeIgnoredFiles"],
    ),
    Tool::new("semantic_search", Becomes::Grep { pattern: &["query"], path: &[], glob: &[] }, &[]),
    Tool::new(
        "list_code_usages",
        Becomes::Grep { pattern: &["symbolName", "symbol"], path: &[], glob: &[] },
        &["filePaths", "lineContent", "filePath"],
    ),
    Tool::new(
        "search_workspace_symbols",
        Becomes::Grep { pattern: &["symbolName"], path: &[], glob: &[] },
        &[],
    ),
    Tool::new("fetch_webpage", Becomes::FetchMany { urls: &["urls"] }, &["query"]),
    Tool::new("open_simple_browser", Becomes::Fetch { url: &["url"] }, &[]),
    Tool::new("github_repo", Becomes::Search { query: &["query"] }, &["repo"]),
    Tool::new("runSubagent", AGENT, AGENT_FORM),
    Tool::new(
        "search_subagent",
        Becomes::Agent { tool: "Agent", prompt: &["query"] },
        &["details", "description"],
    ),
    Tool::new("manage_todo_list", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("get_terminal_output", Becomes::Nothing("BashOutput"), &[]),
    Tool::new("kill_terminal", Becomes::Nothing("KillShell"), &[]),
    Tool::new("get_task_output", Becomes::Nothing("TaskOutput"), &[]),
    Tool::new("get_errors", Becomes::Nothing("TaskOutput"), &[]),
    Tool::new("get_vscode_api", Becomes::Nothing("ToolSearch"), &[]),
    Tool::new("tool_search", Becomes::Nothing("ToolSearch"), &[]),
    Tool::new("vscode_askQuestions", Becomes::Person("AskUserQuestion"), &[]),
];

const TERMINAL: Becomes = Becomes::Shell { command: &["command"], directory: &[] };
const TERMINAL_FORM: &[&str] = &["explanation", "goal", "isBackground", "mode"];
const AGENT: Becomes = Becomes::Agent { tool: "Agent", prompt: &["prompt"] };
const AGENT_FORM: &[&str] = &["description", "agentName", "model"];

/// Whether a question that came to Claude Code's hook is VS Code's.
pub(super) fn asks(payload: &Payload) -> bool {
    let tool = payload.optional_text("tool_name").ok().flatten().unwrap_or_default();
    payload.has("hookEventName")
        || (payload.has("timestamp") && !payload.has("permission_mode") && knows(TOOLS, &tool))
}

fn knows(tools: &[Tool], name: &str) -> bool {
    tools.iter().any(|tool| tool.name == name)
}

pub(super) fn read(mut payload: Payload) -> Result<Asked, Refused> {
    let either = |payload: &Payload, camel: &str, snake: &str| match payload.optional_text(camel)? {
        Some(text) => Ok(Some(text)),
        None => payload.optional_text(snake),
    };
    let named = either(&payload, "hookEventName", "hook_event_name")?
        .ok_or_else(|| Refused::new("`hookEventName` is missing"))?;
    let (event, name) = match named.as_str() {
        "preToolUse" => event("PreToolUse")?,
        "postToolUse" => event("PostToolUse")?,
        other => event(other)?,
    };
    if event == Event::Permission {
        return Err(Refused::new("the event is not one that this hook answers"));
    }
    let tool = payload.text("tool_name")?;
    let agent = either(&payload, "agentId", "agent_id")?;
    let kind = either(&payload, "agentType", "agent_type")?;
    let around = Around {
        cwd: Some(payload.text("cwd")?),
        session: either(&payload, "sessionId", "session_id")?,
        id: either(&payload, "toolUseId", "tool_use_id")?,
        principal: principal(Host::VsCode, agent, kind),
    };
    let input = payload.arguments("tool_input")?;
    let copilots = !knows(TOOLS, &tool) && knows(copilot_cli::TOOLS, &tool);
    let succeeded = (event == Event::After).then_some(name == "PostToolUse");
    let question = Question {
        host: Host::VsCode,
        event,
        name,
        tools: if copilots { copilot_cli::TOOLS } else { TOOLS },
        tool: &tool,
        input,
        around,
        turn: None,
        succeeded,
    };
    Ok(question.asked())
}

pub(super) fn write(asked: &Asked, answer: &Answer) -> Reply {
    match asked.event {
        Event::After | Event::Permission => Reply::silent(),
        Event::Before => before(asked, answer),
    }
}
