//! The one error of this crate: arguments that are not what the tool takes.
//!
//! It names the place and what was expected. Of what was given it shows types and sizes, numbers and booleans, never
//! the content of a string: an argument in the wrong place may be a password.

use serde_json::Value;

use crate::ErrorKind;
use crate::mask::mask;
use crate::visible::visible;

/// Arguments that are not what the tool takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// Where, as a JSON path: `$.argv[2]`.
    pub path: String,
    /// What was expected there: `an integer of at least 1`.
    pub expected: String,
    /// What was there instead, without its content: `a string of 12 characters`.
    pub got: String,
}

impl Invalid {
    /// An error at the root; whoever holds the value that encloses it adds where it was ([`Invalid::in_key`]).
    pub(crate) fn new(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Invalid { path: "$".into(), expected: expected.into(), got: got.into() }
    }

    /// The same error, seen from the object that holds the value under `key`.
    pub(crate) fn in_key(mut self, key: &str) -> Self {
        let step = match shown_key(key) {
            Some(key) if key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => format!("$.{key}"),
            Some(key) => format!("$[\"{key}\"]"),
            None => "$[…]".to_owned(),
        };
        self.path.replace_range(..self.path.len().min(1), &step);
        self
    }

    /// The same error, seen from the array that holds the value at `index`.
    pub(crate) fn in_item(mut self, index: usize) -> Self {
        self.path.replace_range(..self.path.len().min(1), &format!("$[{index}]"));
        self
    }

    /// Its kind.
    #[must_use]
    pub const fn error_kind(&self) -> ErrorKind {
        ErrorKind::Validation
    }
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` must be {}, got {}", self.path, self.expected, self.got)
    }
}

impl std::error::Error for Invalid {}

/// A value in words, without the content of strings.
pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Null => "`null`".into(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(text) => described_text(text),
        Value::Array(items) => format!("an array of {}", counted(items.len(), "item")),
        Value::Object(members) => format!("an object of {}", counted(members.len(), "key")),
    }
}

/// A string in words.
pub(crate) fn described_text(text: &str) -> String {
    if text.is_empty() {
        "an empty string".into()
    } else {
        format!("a string of {}", counted(text.chars().count(), "character"))
    }
}

/// `1 item`, `2 items`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A key as it may be shown: short, harmless to a terminal, and not itself something that looks secret.
pub(crate) fn shown_key(key: &str) -> Option<String> {
    let short = key.len() <= 40 && !key.is_empty();
    let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b' '));
    // 24 characters of letters and digits mixed are more likely a token than a name.
    let name = key.len() < 24 || !key.bytes().any(|b| b.is_ascii_digit());
    (short && plain && name && mask(key) == key).then(|| visible(key))
}

/// An unknown key in words, with the nearest of the `known` ones.
pub(crate) fn unknown_key(key: &str, known: &[&str]) -> String {
    let shown = match shown_key(key) {
        Some(key) => format!("the unknown key `{key}`"),
        None => format!("an unknown key of {}", counted(key.chars().count(), "character")),
    };
    match nearest(key, known) {
        Some(near) => format!("{shown} (did you mean `{near}`?)"),
        None => shown,
    }
}

/// The known word that is fewest edits away, where that is close enough to be meant.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.len() > 40 {
        return None;
    }
    let limit = (word.len() / 3).max(1);
    let (distance, name) = known.iter().map(|name| (edits(word, name), *name)).min()?;
    (distance <= limit).then_some(name)
}

/// How many insertions, deletions and changes lead from one word to the other; case does not count.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<u8> = to.bytes().map(|b| b.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, a) in from.bytes().map(|b| b.to_ascii_lowercase()).enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        let mut next = vec![left];
        for (b, above) in to.iter().zip(row.iter().skip(1)) {
            let changed = diagonal + usize::from(a != *b);
            left = changed.min(left + 1).min(above + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_reads_as_a_sentence() {
        let error = Invalid::new("an integer of at least 1", described(&json!(0))).in_key("timeout_ms");
        assert_eq!(error.to_string(), "`$.timeout_ms` must be an integer of at least 1, got `0`");
        let error = Invalid::new("a string", described(&json!([1]))).in_item(2).in_key("argv");
        assert_eq!(error.to_string(), "`$.argv[2]` must be a string, got an array of 1 item");
        assert_eq!(error.error_kind().name(), "validation");
    }

    #[test]
    fn strings_are_described_by_their_size() {
        let table = [
            (json!("hunter2"), "a string of 7 characters"),
            (json!(""), "an empty string"),
            (json!("é"), "a string of 1 character"),
            (json!(null), "`null`"),
            (json!(true), "`true`"),
            (json!(-1.5), "`-1.5`"),
            (json!({"hunter2": "hunter2"}), "an object of 1 key"),
        ];
        for (value, expected) in table {
            assert_eq!(described(&value), expected);
        }
    }

    #[test]
    fn the_nearest_known_key_is_suggested() {
        let known = ["argv", "cwd", "timeout_ms", "env"];
        let table = [
            ("timeout", "the unknown key `timeout`"),
            ("timeoutms", "the unknown key `timeoutms` (did you mean `timeout_ms`?)"),
            ("Argv", "the unknown key `Argv` (did you mean `argv`?)"),
            ("zzz", "the unknown key `zzz`"),
            ("a\u{1b}b", "an unknown key of 3 characters"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "an unknown key of 40 characters"),
        ];
        for (key, expected) in table {
            assert_eq!(unknown_key(key, &known), expected);
        }
    }
}
