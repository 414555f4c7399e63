//! The condition `args` of a rule: what the arguments of a tool that is not built in must look like.
//!
//! A dotted path leads to a value (`options.path`; `\.` is a dot inside a name); a list on the way means each of its items. What
//! is there is held against a regular expression: text as it is, everything else as JSON. Like all conditions that look at several
//! things, a rule that denies or asks needs one of them, a rule that allows needs all, and at least one.

use serde_json::Value;

use crate::config::{ConfigError, Node, Value as Written, one_or_more, text};
use crate::decision::Decision;
use crate::pattern::{Found, Pattern};

/// The most values that one path may lead to; more of them count as what is stricter.
const MOST_VALUES: usize = 10_000;

/// One path, and what is to be found there.
#[derive(Debug)]
pub(crate) struct Argument {
    steps: Vec<String>,
    patterns: Vec<Pattern>,
}

impl Argument {
    /// Reads `{path: pattern or patterns}`.
    pub(crate) fn read_all(node: &Node) -> Result<Vec<Argument>, ConfigError> {
        let Written::Map(entries) = &node.value else {
            return Err(node.expected("a mapping from paths of arguments to regular expressions"));
        };
        let one = |(path, patterns): &(Node, Node)| {
            let steps = steps(&text(path)?);
            if steps.iter().any(String::is_empty) {
                return Err(path.error("a path of arguments is names with dots between them"));
            }
            let pattern = |(text, at): (String, _)| {
                Pattern::new(&text).map_err(|message| ConfigError {
                    at,
                    message: format!("`{text}`: {message}"),
                    help: None,
                })
            };
            let patterns = one_or_more(patterns)?.into_iter().map(pattern).collect::<Result<Vec<_>, _>>()?;
            Ok(Argument { steps, patterns })
        };
        entries.iter().map(one).collect()
    }

    /// Whether it holds for these arguments, in a rule that does this.
    pub(crate) fn holds(&self, arguments: &Value, action: Decision) -> bool {
        let strict = action != Decision::Allow;
        let Some(values) = self.values(arguments) else { return strict };
        let hit = |value: &&Value| {
            let shown;
            let text = match value {
                Value::String(text) => text.as_str(),
                other => {
                    shown = other.to_string();
                    shown.as_str()
                }
            };
            // FAIL-CLOSED: a pattern that cannot be evaluated counts as found where that is the stricter reading.
            self.patterns.iter().any(|pattern| match pattern.search(text) {
                Found::Yes => true,
                Found::No => false,
                Found::Failed => strict,
            })
        };
        if strict { values.iter().any(hit) } else { !values.is_empty() && values.iter().all(hit) }
    }

    /// What the path leads to; nothing where that is too much to look at.
    fn values<'a>(&self, arguments: &'a Value) -> Option<Vec<&'a Value>> {
        let mut here = vec![arguments];
        for step in &self.steps {
            here = each(here)?.into_iter().filter_map(|value| value.get(step)).collect();
        }
        each(here)
    }
}

/// The items of lists, and lists in them, in their place.
fn each(values: Vec<&Value>) -> Option<Vec<&Value>> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> = values.into_iter().rev().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().rev()),
            other => found.push(other),
        }
        if open.len().saturating_add(found.len()) > MOST_VALUES {
            return None;
        }
    }
    Some(found)
}

/// The names of a path.
fn steps(path: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut characters = path.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '.' => steps.push(String::new()),
            '\\' if characters.peek() == Some(&'.') => {
                characters.next();
                if let Some(step) = steps.last_mut() {
                    step.push('.');
                }
            }
            other => {
                if let Some(step) = steps.last_mut() {
                    step.push(other);
                }
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn argument(path: &str, patterns: &[&str]) -> Argument {
        let patterns = patterns.iter().map(|pattern| Pattern::new(pattern).unwrap()).collect();
        Argument { steps: steps(path), patterns }
    }

    #[test]
    fn a_path_leads_to_values_and_a_list_means_each_of_its_items() {
        // path, pattern, arguments, holds in a rule that denies, and in one that allows
        let table = [
            ("path", "^/etc/", json!({"path": "/etc/hosts"}), true, true),
            ("path", "^/etc/", json!({"path": "/srv"}), false, false),
            ("path", "^/etc/", json!({"other": "/etc/hosts"}), false, false),
            ("path", "^/etc/", json!("/etc/hosts"), false, false),
            ("a.b", "^1$", json!({"a": {"b": 1}}), true, true),
            ("a.b", "^true$", json!({"a": [{"b": true}, {"b": false}]}), true, false),
            ("paths", "^/srv/", json!({"paths": ["/srv/a", "/etc/b"]}), true, false),
            ("paths", "^/srv/", json!({"paths": ["/srv/a", ["/srv/b"]]}), true, true),
            ("paths", ".", json!({"paths": []}), false, false),
            ("a\\.b", "x", json!({"a.b": "x", "a": {"b": "y"}}), true, true),
            ("a", "\"b\":\"x\"", json!({"a": {"b": "x"}}), true, true),
        ];
        for (path, pattern, arguments, denies, allows) in table {
            let argument = argument(path, &[pattern]);
            assert_eq!(argument.holds(&arguments, Decision::Deny), denies, "{path} {pattern} {arguments}");
            assert_eq!(argument.holds(&arguments, Decision::Ask), denies, "{path} {pattern} {arguments}");
            assert_eq!(argument.holds(&arguments, Decision::Allow), allows, "{path} {pattern} {arguments}");
        }
    }

    #[test]
    fn more_values_than_can_be_looked_at_hold_only_where_that_is_stricter() {
        let many = json!({"paths": vec!["/srv/a"; MOST_VALUES + 1]});
        let argument = argument("paths", &["^/srv/"]);
        assert!(argument.holds(&many, Decision::Deny));
        assert!(!argument.holds(&many, Decision::Allow));
    }
}
