//! Gemini CLI: BeforeTool, AfterTool.
//!
//! `ask` is honoured though it is not documented. A rewritten field is merged into the tool's input.

use serde_json::{Map, Value, json};

use super::{Question, principal, replacement};
use crate::answer::{Answer, Verdict};
use crate::asked::{Asked, Event, Refused};
use crate::host::Host;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::translate::{Around, Becomes, Tool, Translated, mcp};

const TOOLS: &[Tool] = &[
    Tool::new(
        "run_shell_command",
        Becomes::Shell { command: &["command"], directory: &["directory", "dir_path"] },
        &["is_background"],
    ),
    Tool::new(
        "read_file",
        Becomes::Read { path: &["file_path", "absolute_path", "path"] },
        &["offset", "limit", "start_line", "end_line"],
    ),
    Tool::new(
        "read_many_files",
        Becomes::ReadMany { paths: &["include", "paths"] },
        &["exclude", "recursive", "useDefaultExcludes", "file_filtering_options"],
    ),
    Tool::new(
        "write_file",
        Becomes::Write { path: &["file_path"], content: &["content"] },
        &["modified_by_user", "ai_proposed_content"],
    ),
    Tool::new(
        "replace",
        Becomes::Edit {
            path: &["file_path"],
            old: &["old_string"],
            new: &["new_string"],
            all: &["allow_multiple", "replace_all"],
        },
        &["instruction", "expected_replacements", "modified_by_user", "ai_proposed_content"],
    ),
    Tool::new(
        "list_directory",
        Becomes::List { path: &["dir_path", "path"] },
        &["ignore", "file_filtering_options", "respect_git_ignore"],
    ),
    Tool::new(
        "glob",
        Becomes::Glob { pattern: &["pattern"], path: &["dir_path", "path"] },
        &["case_sensitive", "respect_git_ignore", "respect_gemini_ignore"],
    ),
    Tool::new("search_file_content", SEARCH, SEARCH_FORM),
    Tool::new("grep_search", SEARCH, SEARCH_FORM),
    Tool::new("web_fetch", Becomes::FetchNamed { text: &["prompt", "url"] }, &[]),
    Tool::new("google_web_search", Becomes::Search { query: &["query"] }, &[]),
    Tool::new(
        "codebase_investigator",
        Becomes::Agent { tool: "Agent", prompt: &["objective", "query"] },
        &[],
    ),
    Tool::new("write_todos", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("update_topic", Becomes::Nothing("TodoWrite"), &[]),
    Tool::new("complete_task", Becomes::Nothing("TaskUpdate"), &[]),
    Tool::new("get_internal_docs", Becomes::Nothing("ToolSearch"), &[]),
    Tool::new("enter_plan_mode", Becomes::Person("EnterPlanMode"), &[]),
    Tool::new("exit_plan_mode", Becomes::Person("ExitPlanMode"), &[]),
    Tool::new("ask_user", Becomes::Person("AskUserQuestion"), &[]),
];

const SEARCH: Becomes = Becomes::Grep {
    pattern: &["pattern"],
    path: &["dir_path", "path"],
    glob: &["include_pattern", "include"],
};

const SEARCH_FORM: &[&str] = &[
    "exclude_pattern",
    "names_only",
    "case_sensitive",
    "fixed_strings",
    "context",
    "after",
    "before",
    "no_ignore",
    "max_matches_per_file",
    "total_max_matches",
];

pub(super) fn read(mut payload: Payload) -> Result<Asked, Refused> {
    let (event, name) = match payload.text("hook_event_name")?.as_str() {
        "BeforeTool" => (Event::Before, "BeforeTool"),
        "AfterTool" => (Event::After, "AfterTool"),
        _ => return Err(Refused::new("the event is not one that this hook answers")),
    };
    let tool = payload.text("tool_name")?;
    let around = Around {
        cwd: Some(payload.text("cwd")?),
        session: Some(payload.text("session_id")?),
        id: payload.optional_text("tool_use_id")?,
        principal: principal(Host::GeminiCli, payload.optional_text("agent_id")?, None),
    };
    let input = payload.arguments("tool_input")?;
    let server = payload.get("mcp_context").and_then(|context| {
        let text = |key: &str| context.get(key).and_then(Value::as_str);
        mcp(text("server_name")?, text("tool_name")?, &input)
    });
    let question = Question {
        host: Host::GeminiCli,
        event,
        name,
        tools: TOOLS,
        tool: &tool,
        input,
        around,
        turn: None,
        succeeded: None,
    };
    Ok(match server {
        Some(call) => question.with(Translated { calls: vec![call], shell: None, hands_off: false }),
        None => question.asked(),
    })
}

pub(super) fn write(asked: &Asked, answer: &Answer) -> Reply {
    if asked.event == Event::After {
        return Reply::json(&json!({}));
    }
    let mut output = Map::new();
    match answer.verdict {
        Verdict::Allow if asked.hands_off => {}
        Verdict::Allow => {
            output.insert("decision".into(), "allow".into());
            if let Some(command) = replacement(asked, answer) {
                let changed = json!({"tool_input": {asked.command_key: command}});
                output.insert("hookSpecificOutput".into(), changed);
            }
        }
        Verdict::Ask => {
            output.insert("decision".into(), "ask".into());
            output.insert("reason".into(), answer.agent_reason().into());
            output.insert("systemMessage".into(), answer.person_reason().into());
        }
        Verdict::Deny => {
            output.insert("decision".into(), "deny".into());
            output.insert("reason".into(), answer.agent_reason().into());
        }
    }
    Reply::json(&Value::Object(output))
}
