//! A call of the past, as far as the journal tells it, put to the gate once more.
//!
//! The journal holds no secret and no file's content, so some calls come back only in part; those are said to be so.

use call::RawCall;
use serde_json::{Map, Value, json};

/// A call as the journal remembers it.
#[derive(Clone, PartialEq)]
pub struct Past {
    /// The call, to be judged again.
    pub call: RawCall,
    /// Whether nothing that a ruling depends on was masked or cut.
    pub whole: bool,
}

/// What stands for a text that was cut.
const CUT: &str = " characters, sha256 ";

/// Reads a call from the tool's name and the request of a record. `None` where the record does not tell enough.
#[must_use]
pub fn past(tool: &str, request: &Map<String, Value>) -> Option<Vec<Past>> {
    let text = |name: &str| request.get(name).and_then(Value::as_str);
    let sandbox: Map<String, Value> = ["sandbox", "sandbox_permissions"]
        .into_iter()
        .filter_map(|name| {
            Some((name.to_owned(), request.get(name).filter(|value| value.is_string())?.clone()))
        })
        .collect();
    let cwd = text("cwd").or_else(|| text("workdir")).or_else(|| text("directory"));
    let one = |tool: &str, mut args: Value| {
        if let Value::Object(args) = &mut args {
            args.extend(sandbox.clone());
        }
        let mut call = RawCall::new(tool, args);
        call.cwd = cwd.map(str::to_owned);
        Past { call, whole: true }
    };
    let calls = if let Some(argv) = request.get("argv").filter(|argv| argv.is_array()) {
        vec![one("shell_exec", json!({ "argv": argv }))]
    } else if let Some(command) = text("command").or_else(|| text("cmd")) {
        vec![one("shell_command", json!({ "command": command }))]
    } else if let Some(paths) = request.get("file_paths").and_then(Value::as_array) {
        paths.iter().map(|path| one("file_write", json!({ "path": path, "content": "" }))).collect()
    } else if tool == "file_write" {
        vec![one(tool, json!({ "path": text("path")?, "content": "" }))]
    } else if matches!(tool, "write_stdin" | "skill_exec") {
        return None;
    } else {
        let known = ["risk", "program", "backend", "fence", "directory", "run_by"];
        let args: Map<String, Value> = request
            .iter()
            .filter(|(name, _)| !known.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let mut call = RawCall::new(tool, Value::Object(args));
        call.cwd = text("directory").map(str::to_owned);
        vec![Past { call, whole: true }]
    };
    let told = Value::Object(request.clone()).to_string();
    let whole = !told.contains(CUT) && !told.contains(call::MASKED);
    Some(calls.into_iter().map(|past| Past { whole, ..past }).collect())
}
