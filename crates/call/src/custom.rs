//! Calls of tools that are not known here: whatever they hold, they are asked about.

use serde_json::{Map, Value};

use crate::form::Form;
use crate::intent::Intent;
use crate::mask::mask_json;

/// The arguments of a tool that is not known, with all the secrets that they may hold.
///
/// They cannot be shown:
/// ```compile_fail,E0277
/// fn show(arguments: &call::CustomArguments) {
///     println!("{arguments:?}");
/// }
/// ```
pub struct CustomArguments(Value);

impl CustomArguments {
    pub(crate) const fn new(arguments: Value) -> Self {
        CustomArguments(arguments)
    }

    /// The arguments themselves. Every use must end in an execution or a digest, never in something shown or stored.
    #[must_use]
    pub const fn expose(&self) -> &Value {
        &self.0
    }

    pub(crate) fn intents(&self, tool: &str) -> Vec<Intent> {
        vec![Intent::Unknown { why: format!("`{tool}` is not a built-in tool") }]
    }

    pub(crate) fn fill(&self, form: &mut Form<'_>) {
        form.shown("arguments", mask_json(&without_env_values(&self.0)));
        let digest = form.key().digest_json("arguments", &self.0);
        form.value("arguments_digest", digest);
    }
}

/// Every object under the key `env` becomes the list of its keys, under `env_keys`.
fn without_env_values(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_env_values).collect(),
        Value::Object(members) => {
            let mut kept = Map::new();
            for (key, value) in members {
                if key.eq_ignore_ascii_case("env") || key.eq_ignore_ascii_case("environment") {
                    kept.insert("env_keys".into(), env_keys(value));
                } else {
                    kept.insert(key.clone(), without_env_values(value));
                }
            }
            Value::Object(kept)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The names of variables, from an object or from a list of `NAME=value`.
fn env_keys(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
            names.sort_unstable();
            names.into()
        }
        Value::Array(items) => {
            let name = |item: &Value| match item.as_str().and_then(|item| item.split_once('=')) {
                Some((name, _)) => Value::from(name),
                None => Value::from("[masked]"),
            };
            items.iter().map(name).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::from("[masked]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn env_is_reduced_to_names_wherever_it_is() {
        let table = [
            (json!({"env": {"B": "x", "A": "y"}}), json!({"env_keys": ["A", "B"]})),
            (json!({"a": [{"ENV": ["A=x", "loose"]}]}), json!({"a": [{"env_keys": ["A", "[masked]"]}]})),
            (json!({"environment": "A=x"}), json!({"env_keys": "[masked]"})),
            (json!({"environs": "A=x"}), json!({"environs": "A=x"})),
        ];
        for (given, expected) in table {
            assert_eq!(without_env_values(&given), expected);
        }
    }
}
