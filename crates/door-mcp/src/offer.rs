//! The built-in tools as they are offered: those that can run here and that the policy does not deny, with honest hints.

use std::sync::Arc;

use gate::Gate;
use gate::call::{Category, RawCall, Tool, tools};
use rmcp::model::{Tool as Offered, ToolAnnotations};
use serde_json::{Value, json};

/// Whether there is a person who answers an agent's own questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum People {
    /// The client puts forms to somebody.
    Reached,
    /// Nobody.
    None,
}

/// Everything that is offered.
pub(crate) fn all(gate: &Gate, people: People) -> Vec<Offered> {
    tools().iter().filter(|tool| runs_here(tool, people) && is_allowed(gate, tool)).map(described).collect()
}

/// Whether a call of it can be run by this door at all.
fn runs_here(tool: &Tool, people: People) -> bool {
    !tool.host
        && match tool.category {
            Category::Exec | Category::Read => !tool.name.starts_with("skill_"),
            Category::Stdin | Category::Write | Category::None => true,
            Category::Human => people == People::Reached,
            Category::Agent | Category::Connect | Category::Custom => false,
        }
}

/// Whether the policy lets the most harmless call of it be judged at all.
fn is_allowed(gate: &Gate, tool: &Tool) -> bool {
    sample(tool.name).is_none_or(|sample| gate.offers(RawCall::new(tool.name, sample)))
}

fn described(tool: &Tool) -> Offered {
    let schema = match tool.schema() {
        Value::Object(schema) => schema.clone(),
        _ => serde_json::Map::new(),
    };
    let mut offered = Offered::new(tool.name, tool.about, Arc::new(schema));
    offered.annotations = Some(hints(tool));
    offered
}

/// What a client may tell its person about a tool.
fn hints(tool: &Tool) -> ToolAnnotations {
    let (reads, destroys, again, open) = match tool.category {
        Category::Read => (true, false, true, false),
        Category::Write => (false, true, tool.name == "file_write", false),
        Category::None => (true, false, true, false),
        Category::Human => (true, false, false, true),
        Category::Connect => (true, false, true, true),
        Category::Exec | Category::Stdin | Category::Agent | Category::Custom => (false, true, false, true),
    };
    ToolAnnotations::new().read_only(reads).destructive(destroys).idempotent(again).open_world(open)
}

/// Arguments by which it is found out whether the policy denies a tool whatever it is called with.
fn sample(name: &str) -> Option<Value> {
    Some(match name {
        "shell_exec" => json!({"argv": ["true"]}),
        "shell" => json!({"command": ["true"]}),
        "shell_command" => json!({"command": "true"}),
        "exec_command" => json!({"cmd": "true"}),
        "write_stdin" => json!({"session_id": 1}),
        "file_read" => json!({"path": "README.md"}),
        "read_file" => json!({"file_path": "README.md"}),
        "list_dir" => json!({"dir_path": "."}),
        "grep_files" => json!({"pattern": "x"}),
        "view_image" => json!({"path": "image.png"}),
        "file_write" => json!({"path": "README.md", "content": ""}),
        "apply_patch" => json!({"input": "*** Begin Patch\n*** Add File: a\n+a\n*** End Patch"}),
        "ask_human" => json!({"question": "?"}),
        "request_user_input" => json!({"questions": [{"id": "a", "header": "a", "question": "?"}]}),
        "update_plan" => json!({"plan": [{"step": "a", "status": "pending"}]}),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_runs_here_has_a_sample_of_its_arguments() {
        for tool in tools().iter().filter(|tool| runs_here(tool, People::Reached)) {
            let sample = sample(tool.name).unwrap_or_else(|| panic!("{} has none", tool.name));
            gate::call::Call::parse(RawCall::new(tool.name, sample))
                .unwrap_or_else(|invalid| panic!("{}: {invalid}", tool.name));
        }
    }

    #[test]
    fn a_tool_that_only_reads_says_so_and_no_other_does() {
        // name, readOnly, destructive, idempotent, openWorld
        let table = [
            ("file_read", true, false, true, false),
            ("grep_files", true, false, true, false),
            ("file_write", false, true, true, false),
            ("apply_patch", false, true, false, false),
            ("shell_command", false, true, false, true),
            ("write_stdin", false, true, false, true),
            ("update_plan", true, false, true, false),
        ];
        for (name, reads, destroys, again, open) in table {
            let hints = hints(gate::call::tool(name).unwrap());
            let expected = ToolAnnotations::new()
                .read_only(reads)
                .destructive(destroys)
                .idempotent(again)
                .open_world(open);
            assert_eq!(hints, expected, "{name}");
        }
    }
}
