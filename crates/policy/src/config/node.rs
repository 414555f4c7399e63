//! A configuration file as a tree of values that remember where they stood.
//!
//! YAML and JSON are both read here. JSON is a subset of YAML as far as configuration goes, so one parser serves; what
//! YAML adds and configuration does not need (tags, anchors, aliases, several documents, duplicate keys) is refused.

use std::fmt;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, Span};

/// The deepest nesting of a configuration file.
const MAX_DEPTH: usize = 32;
/// The most keys in one mapping, so that looking for duplicates stays cheap.
const MAX_KEYS: usize = 512;
/// The largest configuration file.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// A place in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// The file as the user would name it, or `built-in`.
    pub file: Arc<str>,
    /// From 1; 0 for what has no line.
    pub line: u32,
    /// From 1; 0 for what has no column.
    pub column: u32,
}

impl At {
    /// A place without a line.
    #[must_use]
    pub fn file(name: &str) -> At {
        At { file: Arc::from(name), line: 0, column: 0 }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        Ok(())
    }
}

/// What is wrong with a configuration, where, and what would help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Where.
    pub at: At,
    /// What is wrong: lowercase, no full stop, input in backticks.
    pub message: String,
    /// What would help, where that is known.
    pub help: Option<String>,
}

/// What a request that brings configuration is called in place of a file.
pub const REQUEST: &str = "the request";

impl ConfigError {
    /// Whether it is the request that is wrong, and no file.
    #[must_use]
    pub fn of_request(&self) -> bool {
        &*self.at.file == REQUEST
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at.file)?;
        if self.at.line > 0 {
            write!(f, ":{}:{}", self.at.line, self.at.column)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) value: Value,
}

/// The kinds of value that configuration knows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// What kind of value it is, for messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> ConfigError {
        ConfigError { at: self.at.clone(), message: message.into(), help: None }
    }

    pub(crate) fn expected(&self, what: &str) -> ConfigError {
        self.error(format!("expected {what}, found {}", self.kind()))
    }
}

/// Reads a file's text.
pub(crate) fn parse(file: &str, text: &str) -> Result<Node, ConfigError> {
    let file: Arc<str> = Arc::from(file);
    let here = |span: Span| At {
        file: Arc::clone(&file),
        line: u32::try_from(span.start.line()).unwrap_or(0),
        column: u32::try_from(span.start.col()).unwrap_or(0).saturating_add(1),
    };
    let refuse = |span: Span, message: &str| ConfigError {
        at: here(span),
        message: message.into(),
        help: Some("configuration is plain YAML or JSON".into()),
    };
    if text.len() > MAX_BYTES {
        return Err(ConfigError {
            at: At { file: Arc::clone(&file), line: 0, column: 0 },
            message: format!("the file has {} bytes, more than {MAX_BYTES}", text.len()),
            help: None,
        });
    }
    let mut builder = Builder { open: Vec::new(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| ConfigError {
            at: At {
                file: Arc::clone(&file),
                line: u32::try_from(error.marker().line()).unwrap_or(0),
                column: u32::try_from(error.marker().col()).unwrap_or(0).saturating_add(1),
            },
            message: format!("not valid YAML: {}", error.info()),
            help: None,
        })?;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if anchor != 0 || tag.is_some() {
                    return Err(refuse(span, "anchors and tags are not read"));
                }
                let value = match style {
                    ScalarStyle::Plain => plain(&text),
                    _ => Value::Text(text.into_owned()),
                };
                builder.push(Node { at: here(span), value })?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                if anchor != 0 || tag.is_some() {
                    return Err(refuse(span, "anchors and tags are not read"));
                }
                builder.open(Node { at: here(span), value: Value::List(Vec::new()) })?;
            }
            Event::MappingStart(_, anchor, tag) => {
                if anchor != 0 || tag.is_some() {
                    return Err(refuse(span, "anchors and tags are not read"));
                }
                builder.open(Node { at: here(span), value: Value::Map(Vec::new()) })?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            Event::Alias(_) => return Err(refuse(span, "aliases are not read")),
            Event::DocumentStart(..) if builder.root.is_some() => {
                return Err(refuse(span, "a second document in one file is not read"));
            }
            _ => {}
        }
    }
    let empty = Node { at: At { file, line: 1, column: 1 }, value: Value::Map(Vec::new()) };
    Ok(match builder.root {
        None | Some(Node { value: Value::Null, .. }) => empty,
        Some(node) => node,
    })
}

/// What a plain scalar means in YAML 1.2's core schema. (`yes`, `no`, `on`, `off` are text there; a key that wants
/// true or false refuses them by name, rather than guessing.)
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let numeric = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
        && text.bytes().any(|b| b.is_ascii_digit());
    match text.parse::<f64>() {
        Ok(number) if numeric && number.is_finite() => Value::Number(number),
        _ => Value::Text(text.into()),
    }
}

/// Builds the tree from events without recursion.
struct Builder {
    open: Vec<(Node, Option<Node>)>,
    root: Option<Node>,
}

impl Builder {
    fn open(&mut self, node: Node) -> Result<(), ConfigError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(node.error(format!("nested deeper than {MAX_DEPTH}")));
        }
        self.open.push((node, None));
        Ok(())
    }

    fn close(&mut self) -> Result<(), ConfigError> {
        match self.open.pop() {
            Some((node, _)) => self.push(node),
            None => Ok(()),
        }
    }

    fn push(&mut self, node: Node) -> Result<(), ConfigError> {
        let Some((parent, pending)) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut parent.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match pending.take() {
                None => *pending = Some(node),
                Some(key) => {
                    if entries.len() >= MAX_KEYS {
                        return Err(key.error(format!("more than {MAX_KEYS} keys in one mapping")));
                    }
                    if let Value::Text(name) = &key.value
                        && entries
                            .iter()
                            .any(|(k, _)| matches!(&k.value, Value::Text(other) if other == name))
                    {
                        return Err(key.error(format!("`{name}` stands here twice")));
                    }
                    entries.push((key, node));
                }
            },
            _ => {}
        }
        Ok(())
    }
}
