//! A call as a door received it, before anything about it is believed.

use serde_json::{Map, Value};

use crate::invalid::{Invalid, described, unknown_key};
use crate::strict_json;

/// A call as a door received it. It may hold secrets: it can be neither shown nor serialized.
#[derive(Clone, PartialEq)]
pub struct RawCall {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The working directory of whoever asks.
    pub cwd: Option<String>,
    /// The session that it belongs to.
    pub session: Option<String>,
    /// Who asks.
    pub principal: Principal,
    /// By which its asker knows it.
    pub id: Option<String>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// A name.
    pub id: String,
    /// The groups that it belongs to.
    pub groups: Vec<String>,
}

impl Default for Principal {
    fn default() -> Self {
        Principal { id: "agent".into(), groups: Vec::new() }
    }
}

impl RawCall {
    /// A call of `tool` with `args`, from nobody in particular.
    #[must_use]
    pub fn new(tool: impl Into<String>, args: Value) -> Self {
        RawCall {
            tool: tool.into(),
            args,
            cwd: None,
            session: None,
            principal: Principal::default(),
            id: None,
        }
    }

    /// A command for bash, as a coding agent's host would ask.
    #[must_use]
    pub fn command(text: impl Into<String>) -> Self {
        let mut args = Map::new();
        args.insert("command".into(), Value::String(text.into()));
        RawCall::new("Bash", Value::Object(args))
    }

    /// Reads a JSON text: `{"tool", "args", "cwd"?, "session"?, "principal"?, "id"?}`, or `{"command"}` in place of
    /// the first two, which is a command for bash.
    ///
    /// # Errors
    /// Anything else, an unknown key, a key that is there twice, and text that is not UTF-8.
    pub fn from_json(bytes: &[u8]) -> Result<RawCall, Invalid> {
        RawCall::from_value(strict_json::read(bytes)?)
    }

    /// The same from JSON that was read strictly already.
    ///
    /// # Errors
    /// As [`RawCall::from_json`].
    pub fn from_value(value: Value) -> Result<RawCall, Invalid> {
        RawCall::from_value_beside(value, &[])
    }

    /// The same where a door knows further keys, which it has taken out already: whoever misspells one is told of them too.
    ///
    /// # Errors
    /// As [`RawCall::from_json`].
    pub fn from_value_beside(value: Value, beside: &[&str]) -> Result<RawCall, Invalid> {
        let mut line = match value {
            Value::Object(members) => members,
            other => return Err(Invalid::new("an object", described(&other))),
        };
        let command = optional_text(&mut line, "command")?;
        let tool = optional_text(&mut line, "tool")?;
        let args = line.shift_remove("args");
        let mut raw = match (command, tool, args) {
            (Some(command), None, None) => RawCall::command(command),
            (None, Some(tool), args) => RawCall::new(tool, args.unwrap_or_else(|| Value::Object(Map::new()))),
            (Some(_), _, _) => {
                return Err(Invalid::new("either `command`, or `tool` and `args`", "both"));
            }
            (None, None, _) => {
                return Err(Invalid::new("an object with `command`, or with `tool` and `args`", "neither"));
            }
        };
        raw.cwd = optional_text(&mut line, "cwd")?;
        raw.session = optional_text(&mut line, "session")?;
        raw.id = optional_text(&mut line, "id")?;
        if let Some(principal) = line.shift_remove("principal").filter(|principal| !principal.is_null()) {
            raw.principal = Principal::read(principal).map_err(|error| error.in_key("principal"))?;
        }
        match line.keys().next() {
            Some(key) => {
                let mut known = vec!["tool", "args", "command", "cwd", "session", "principal", "id"];
                known.extend(beside);
                let listed: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
                Err(Invalid::new(format!("an object of {}", listed.join(", ")), unknown_key(key, &known)))
            }
            None => Ok(raw),
        }
    }
}

impl std::fmt::Debug for RawCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawCall").finish_non_exhaustive()
    }
}

impl Principal {
    /// Reads a name, or `{"id", "groups"?}`.
    ///
    /// # Errors
    /// Anything else.
    pub fn read(value: Value) -> Result<Principal, Invalid> {
        let mut members = match value {
            Value::String(id) => return Ok(Principal { id, groups: Vec::new() }),
            Value::Object(members) => members,
            other => return Err(Invalid::new("a string or an object of `id`, `groups`", described(&other))),
        };
        let id = optional_text(&mut members, "id")?
            .ok_or_else(|| Invalid::new("a string", "nothing").in_key("id"))?;
        let groups = match members.shift_remove("groups") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                let text = |(at, item): (usize, Value)| match item {
                    Value::String(text) => Ok(text),
                    other => Err(Invalid::new("a string", described(&other)).in_item(at).in_key("groups")),
                };
                items.into_iter().enumerate().map(text).collect::<Result<_, _>>()?
            }
            Some(other) => {
                return Err(Invalid::new("an array of strings", described(&other)).in_key("groups"));
            }
        };
        match members.keys().next() {
            Some(key) => {
                Err(Invalid::new("an object of `id`, `groups`", unknown_key(key, &["id", "groups"])))
            }
            None => Ok(Principal { id, groups }),
        }
    }
}

fn optional_text(members: &mut Map<String, Value>, key: &str) -> Result<Option<String>, Invalid> {
    match members.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Invalid::new("a string", described(&other)).in_key(key)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_read_or_refused() {
        let raw = RawCall::from_json(br#"{"command": "ls", "cwd": "/w", "session": "s", "principal": "p"}"#)
            .unwrap();
        assert_eq!((raw.tool.as_str(), &raw.args), ("Bash", &json!({"command": "ls"})));
        assert_eq!((raw.cwd.as_deref(), raw.session.as_deref()), (Some("/w"), Some("s")));
        assert_eq!(raw.principal.id, "p");
        let line =
            br#"{"tool": "t", "args": {"a": 1}, "id": "7", "principal": {"id": "p", "groups": ["g"]}}"#;
        let raw = RawCall::from_json(line).unwrap();
        assert_eq!((raw.tool.as_str(), &raw.args, raw.id.as_deref()), ("t", &json!({"a": 1}), Some("7")));
        assert_eq!(raw.principal.groups, ["g"]);
        assert_eq!(RawCall::from_json(br#"{"tool": "t", "cwd": null}"#).unwrap().args, json!({}));

        let table = [
            ("[]", "`$` must be an object, got an array of 0 items"),
            ("{}", "`$` must be an object with `command`, or with `tool` and `args`, got neither"),
            (r#"{"command": 1}"#, "`$.command` must be a string, got `1`"),
            (
                r#"{"command": "a", "tool": "b"}"#,
                "`$` must be either `command`, or `tool` and `args`, got both",
            ),
            (
                r#"{"command": "a", "args": {}}"#,
                "`$` must be either `command`, or `tool` and `args`, got both",
            ),
            (r#"{"tool": "a", "cwd": {}}"#, "`$.cwd` must be a string, got an object of 0 keys"),
            (
                r#"{"tool": "a", "arg": {}}"#,
                "`$` must be an object of `tool`, `args`, `command`, `cwd`, `session`, `principal`, `id`, \
                 got the unknown key `arg` (did you mean `args`?)",
            ),
            (r#"{"tool": "a", "principal": {}}"#, "`$.principal.id` must be a string, got nothing"),
            (
                r#"{"tool": "a", "principal": {"id": "x", "groups": [1]}}"#,
                "`$.principal.groups[0]` must be a string, got `1`",
            ),
            (
                r#"{"tool": "a", "principal": {"id": "x", "role": 1}}"#,
                "`$.principal` must be an object of `id`, `groups`, got the unknown key `role`",
            ),
            (r#"{"tool": "a", "tool": "b"}"#, "`$` must be an object with each key once, got `tool` twice"),
        ];
        for (line, expected) in table {
            assert_eq!(RawCall::from_json(line.as_bytes()).unwrap_err().to_string(), expected);
        }
    }
}
