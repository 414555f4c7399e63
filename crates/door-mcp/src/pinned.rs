//! Whether a server's tools are still what they were: each is held against the fingerprint that it had when it was first seen.
//! One that has changed is asked about, whatever the policy allows, until a person has approved a call of what it is now; until
//! then a model does not get to read what it says about itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gate::{Caveat, Pinned, Pins};
use rmcp::model::Tool;
use serde_json::{Map, Value, json};

/// A fingerprint that no tool has.
const UNKNOWN: &str = "";

/// The tools of one server, as they were and are.
pub(crate) struct Known {
    pins: Arc<Pins>,
    /// The server's name and how it is started.
    server: String,
    tools: Mutex<Pinned>,
}

impl Known {
    /// The tools that a server has now, held against what is known of it. What is new is remembered.
    pub(crate) fn meet(pins: &Arc<Pins>, server: &str, now: &[Tool]) -> Known {
        let known = Known { pins: Arc::clone(pins), server: server.to_owned(), tools: Mutex::default() };
        let mut tools = match pins.read(server) {
            Ok(tools) => tools.unwrap_or_default(),
            // FAIL-CLOSED: where nothing can be known, every tool may be another.
            Err(why) => {
                gate::Machine::tell(format_args!(
                    "bailiwick: {why}: every tool of the server is asked about anew"
                ));
                now.iter().map(|tool| (tool.name.to_string(), UNKNOWN.to_owned())).collect()
            }
        };
        let before = tools.len();
        for tool in now {
            tools.entry(tool.name.to_string()).or_insert_with(|| known.fingerprint(tool));
        }
        let grown = tools.len() > before;
        *known.held() = tools;
        if grown {
            known.keep();
        }
        known
    }

    /// What the gate is to know of a call of this tool.
    pub(crate) fn caveat(&self, server: &str, tool: &Tool) -> Caveat {
        let now = self.fingerprint(tool);
        let before = self.held().get(tool.name.as_ref()).cloned();
        let doubt = match before {
            Some(before) if before == now => None,
            Some(before) if before != UNKNOWN => Some(format!(
                "the tool `{}` of the MCP server `{server}` has changed since it was first seen or last approved: what it says \
                 about itself is not the same",
                tool.name
            )),
            _ => Some(format!(
                "it cannot be known whether the tool `{}` of the MCP server `{server}` is the one that it was",
                tool.name
            )),
        };
        Caveat { bound: vec![("tool_fingerprint", now)], doubt }
    }

    /// A call of this tool, as it is now, was let through.
    pub(crate) fn accept(&self, tool: &Tool) {
        let now = self.fingerprint(tool);
        let before = self.held().insert(tool.name.to_string(), now.clone());
        if before.as_ref() != Some(&now) {
            self.keep();
        }
    }

    /// The tool as a model may read it.
    pub(crate) fn shown(&self, tool: &Tool) -> Tool {
        if self.held().get(tool.name.as_ref()) == Some(&self.fingerprint(tool)) {
            return tool.clone();
        }
        let mut withheld = tool.clone();
        withheld.title = None;
        withheld.output_schema = None;
        withheld.icons = None;
        withheld.meta = None;
        withheld.annotations = None;
        withheld.description = Some(
            "This tool has changed since it was last approved. Bailiwick withholds what it says about itself until a person has \
             approved a call of it."
                .into(),
        );
        withheld.input_schema = Arc::new(without_words(&tool.input_schema, 0));
        withheld
    }

    fn fingerprint(&self, tool: &Tool) -> String {
        self.pins.fingerprint(&json!({
            "name": tool.name, "title": tool.title, "description": tool.description,
            "inputSchema": *tool.input_schema, "outputSchema": tool.output_schema.as_deref(),
            "annotations": tool.annotations,
        }))
    }

    fn keep(&self) {
        let tools = self.held().clone();
        if let Err(why) = self.pins.write(&self.server, &tools) {
            gate::Machine::tell(format_args!(
                "bailiwick: what the tools of a server look like cannot be kept: {why}"
            ));
        }
    }

    fn held(&self) -> MutexGuard<'_, Pinned> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A schema without the sentences in it.
fn without_words(schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    const WORDS: [&str; 6] = ["description", "title", "$comment", "examples", "default", "const"];
    let mut kept = Map::new();
    if depth > 32 {
        return kept;
    }
    for (key, value) in schema {
        match value {
            // A property may be called so; then it is a schema.
            Value::Object(inner) => drop(kept.insert(key.clone(), without_words(inner, depth + 1).into())),
            _ if WORDS.contains(&key.as_str()) => {}
            Value::Array(items) => {
                let item = |item: &Value| match item {
                    Value::Object(inner) => without_words(inner, depth + 1).into(),
                    other => other.clone(),
                };
                kept.insert(key.clone(), items.iter().map(item).collect());
            }
            other => drop(kept.insert(key.clone(), other.clone())),
        }
    }
    kept
}
