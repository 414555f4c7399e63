//! JSON with comments, read together with the place of everything, so that a change leaves all else as it is.
//!
//! Comments and commas before a closing bracket are taken, whatever the file's name: a host that does not take them has
//! refused the file before us.

use std::ops::Range;

use super::Unreadable;

/// Containers within each other.
const MAX_DEPTH: usize = 64;
/// The largest settings file that is read.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) value: Value,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Object(Vec<Item>),
    Array(Vec<Item>),
    Text(String),
    Bool(bool),
    Other,
}

/// A member of an object, or an item of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Its key, in an object.
    pub(super) key: Option<String>,
    /// From the key, or the value, to the end of the value.
    pub(super) at: Range<usize>,
    pub(super) node: Node,
    /// Where the comma after it stands.
    pub(super) comma: Option<usize>,
}

impl Node {
    /// Reads a text.
    pub(super) fn read(text: &str) -> Result<Node, Unreadable> {
        if text.len() > MAX_BYTES {
            return Err(Unreadable::new("it is larger than 4 MiB"));
        }
        let mut reader = Reader { text, at: 0 };
        if text.starts_with('\u{feff}') {
            reader.at = '\u{feff}'.len_utf8();
        }
        reader.pass()?;
        let node = reader.value(0)?;
        reader.pass()?;
        if reader.at == text.len() { Ok(node) } else { Err(reader.fault("something after the end")) }
    }

    /// The items of an object or an array.
    pub(super) fn items(&self) -> &[Item] {
        match &self.value {
            Value::Object(items) | Value::Array(items) => items,
            Value::Text(_) | Value::Bool(_) | Value::Other => &[],
        }
    }

    /// The member of this name.
    pub(super) fn member(&self, key: &str) -> Option<&Item> {
        match &self.value {
            Value::Object(items) => items.iter().find(|item| item.key.as_deref() == Some(key)),
            Value::Array(_) | Value::Text(_) | Value::Bool(_) | Value::Other => None,
        }
    }

    /// The text under this name.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match &self.member(key)?.node.value {
            Value::Text(text) => Some(text),
            Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Other => None,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, what: &str) -> Unreadable {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count().saturating_add(1);
        Unreadable::new(format!("line {line} has {what}"))
    }

    /// Passes over blanks and comments.
    fn pass(&mut self) -> Result<(), Unreadable> {
        loop {
            let rest = self.rest();
            let blank = rest.len().saturating_sub(rest.trim_start_matches([' ', '\t', '\r', '\n']).len());
            let rest = rest.get(blank..).unwrap_or_default();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => end.saturating_add(2),
                    None => return Err(self.fault("a comment that does not end")),
                }
            } else {
                0
            };
            self.at = self.at.saturating_add(blank).saturating_add(comment);
            if comment == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(self.fault("values nested deeper than 64"));
        }
        let start = self.at;
        let value = match self.byte() {
            Some(b'{') => Value::Object(self.items(b'}', depth)?),
            Some(b'[') => Value::Array(self.items(b']', depth)?),
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => self.word()?,
            None => return Err(self.fault("an end where a value should be")),
        };
        Ok(Node { at: start..self.at, value })
    }

    fn items(&mut self, close: u8, depth: usize) -> Result<Vec<Item>, Unreadable> {
        let mut items: Vec<Item> = Vec::new();
        self.at = self.at.saturating_add(1);
        loop {
            self.pass()?;
            if self.byte() == Some(close) {
                self.at = self.at.saturating_add(1);
                return Ok(items);
            }
            if items.last().is_some_and(|last| last.comma.is_none()) {
                return Err(self.fault("something else where a comma should be"));
            }
            let start = self.at;
            let key = if close == b'}' { Some(self.key(&items)?) } else { None };
            let node = self.value(depth.saturating_add(1))?;
            let at = start..self.at;
            self.pass()?;
            let comma = (self.byte() == Some(b',')).then_some(self.at);
            if comma.is_some() {
                self.at = self.at.saturating_add(1);
            }
            items.push(Item { key, at, node, comma });
        }
    }

    fn key(&mut self, before: &[Item]) -> Result<String, Unreadable> {
        if self.byte() != Some(b'"') {
            return Err(self.fault("something else where a key should be"));
        }
        let key = self.string()?;
        if before.iter().any(|item| item.key.as_deref() == Some(key.as_str())) {
            return Err(self.fault("a key that was there before"));
        }
        self.pass()?;
        if self.byte() != Some(b':') {
            return Err(self.fault("something else where a colon should be"));
        }
        self.at = self.at.saturating_add(1);
        self.pass()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, Unreadable> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.bytes().enumerate().skip(1).find_map(|(index, byte)| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends.then_some(index)
        });
        let Some(end) = end.and_then(|end| end.checked_add(1)) else {
            return Err(self.fault("a text that does not end"));
        };
        let decoded = rest.get(..end).and_then(|raw| serde_json::from_str(raw).ok());
        let Some(decoded) = decoded else { return Err(self.fault("a text that is not well-formed")) };
        self.at = self.at.saturating_add(end);
        Ok(decoded)
    }

    fn word(&mut self) -> Result<Value, Unreadable> {
        let rest = self.rest();
        let length =
            rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.')).count();
        let word = rest.get(..length).unwrap_or_default();
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ if serde_json::from_str::<serde_json::Value>(word).is_ok() => Value::Other,
            _ => return Err(self.fault("something that is no value")),
        };
        self.at = self.at.saturating_add(length);
        Ok(value)
    }
}
