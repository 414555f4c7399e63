//! YAML as a tree of values that remember their lines, as far as the front matter of a skill needs it.
//!
//! What front matter does not need (tags, anchors, aliases, several documents, keys that stand twice) is refused. Depth and
//! number of values are bounded, and the tree is built without recursion.

use granit_parser::{Event, Parser, ScalarStyle, Span};

const MAX_DEPTH: usize = 16;
const MAX_VALUES: usize = 4096;
/// The most keys of one mapping, so that looking for those that stand twice stays cheap.
const MAX_KEYS: usize = 256;

/// A value and its line, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A scalar as it was written, and whether it stood without quotes.
    Scalar(String, Quoted),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoted {
    Yes,
    No,
}

/// What is wrong, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Node {
    pub(crate) fn wrong(&self, message: impl Into<String>) -> Wrong {
        Wrong { line: self.line, message: message.into() }
    }

    pub(crate) fn map(&self, what: &str) -> Result<&[(String, Node)], Wrong> {
        match &self.value {
            Value::Map(entries) => Ok(entries),
            _ => Err(self.wrong(format!("expected {what} to be a mapping, found {}", self.kind()))),
        }
    }

    pub(crate) fn list(&self, what: &str) -> Result<&[Node], Wrong> {
        match &self.value {
            Value::List(items) => Ok(items),
            _ => Err(self.wrong(format!("expected {what} to be a list, found {}", self.kind()))),
        }
    }

    /// A scalar as it was written: `5` and `true` are words of a command as well as `x` is. Nothing is no text.
    pub(crate) fn text(&self, what: &str) -> Result<&str, Wrong> {
        match &self.value {
            Value::Scalar(text, quoted) if *quoted == Quoted::Yes || !is_null(text) => Ok(text),
            _ => Err(self.wrong(format!("expected {what} to be text, found {}", self.kind()))),
        }
    }

    fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar(text, Quoted::No) if is_null(text) => "nothing",
            Value::Scalar(..) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Reads a text of bounded length. `None`: there is no value in it.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Wrong> {
    let mut builder = Builder::default();
    let line = |span: Span| span.start.line();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Wrong {
            line: error.marker().line(),
            message: format!("not valid YAML: {}", error.info()),
        })?;
        let refuse = |message: &str| Err(Wrong { line: line(span), message: message.into() });
        match event {
            Event::Scalar(_, _, anchor, Some(_))
            | Event::Scalar(_, _, anchor @ 1.., _)
            | Event::SequenceStart(_, anchor, Some(_))
            | Event::SequenceStart(_, anchor @ 1.., _)
            | Event::MappingStart(_, anchor, Some(_))
            | Event::MappingStart(_, anchor @ 1.., _) => {
                return refuse(if anchor == 0 { "tags are not read" } else { "anchors are not read" });
            }
            Event::Scalar(text, style, ..) => {
                let quoted = if style == ScalarStyle::Plain { Quoted::No } else { Quoted::Yes };
                let value = Value::Scalar(text.into_owned(), quoted);
                builder.push(Node { line: line(span), value })?;
            }
            Event::SequenceStart(..) => {
                builder.open(Node { line: line(span), value: Value::List(Vec::new()) })?
            }
            Event::MappingStart(..) => {
                builder.open(Node { line: line(span), value: Value::Map(Vec::new()) })?
            }
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            Event::Alias(_) => return refuse("aliases are not read"),
            Event::DocumentStart(..) if builder.root.is_some() => {
                return refuse("a second document is not read");
            }
            _ => {}
        }
    }
    Ok(builder.root)
}

#[derive(Default)]
struct Builder {
    /// What is open, each with a key that waits for its value.
    open: Vec<(Node, Option<(String, usize)>)>,
    root: Option<Node>,
    values: usize,
}

impl Builder {
    fn open(&mut self, node: Node) -> Result<(), Wrong> {
        if self.open.len() >= MAX_DEPTH {
            return Err(node.wrong(format!("nested deeper than {MAX_DEPTH}")));
        }
        if let Some((Node { value: Value::Map(_), .. }, None)) = self.open.last() {
            return Err(node.wrong("a key is text"));
        }
        self.open.push((node, None));
        Ok(())
    }

    fn close(&mut self) -> Result<(), Wrong> {
        match self.open.pop() {
            Some((node, _)) => self.push(node),
            None => Ok(()),
        }
    }

    fn push(&mut self, node: Node) -> Result<(), Wrong> {
        self.values = self.values.saturating_add(1);
        if self.values > MAX_VALUES {
            return Err(node.wrong(format!("more than {MAX_VALUES} values")));
        }
        let Some((parent, waiting)) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut parent.value, waiting.take()) {
            (Value::List(items), _) => items.push(node),
            (Value::Map(_), None) => match node.value {
                Value::Scalar(text, _) => *waiting = Some((text, node.line)),
                Value::List(_) | Value::Map(_) => return Err(node.wrong("a key is text")),
            },
            (Value::Map(entries), Some((key, line))) => {
                if entries.len() >= MAX_KEYS {
                    return Err(Wrong { line, message: format!("more than {MAX_KEYS} keys in one mapping") });
                }
                if entries.iter().any(|(other, _)| *other == key) {
                    return Err(Wrong { line, message: format!("`{key}` stands here twice") });
                }
                entries.push((key, node));
            }
            (Value::Scalar(..), _) => {}
        }
        Ok(())
    }
}
