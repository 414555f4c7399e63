//! One configuration file (or the flags), read: known keys only, each with a value of the right kind and its place.

use std::sync::Arc;

use super::keys::{self, Key, Kind};
use super::nearest::nearest;
use super::node::{self, At, ConfigError, Node, Value};

/// Where a layer comes from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Compiled in.
    BuiltIn,
    /// `/etc/bailiwick/`
    Managed,
    /// The user's own.
    User,
    /// `.bailiwick.yaml` in the workspace, which an agent can write: it may only tighten.
    Workspace,
    /// `--config`
    Given,
    /// Flags of the command line.
    Flags,
    /// What came along with one request: it may only tighten.
    Request,
}

impl Origin {
    /// Whether a layer from here may only tighten: whoever wrote it is not the one who is protected.
    #[must_use]
    pub const fn only_tightens(self) -> bool {
        match self {
            Origin::Workspace | Origin::Request => true,
            Origin::BuiltIn | Origin::Managed | Origin::User | Origin::Given | Origin::Flags => false,
        }
    }
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Layer {
    pub(crate) origin: Origin,
    pub(crate) file: Arc<str>,
    pub(crate) settings: Vec<Setting>,
}

/// One key that a file sets.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    /// Where the key stands.
    pub(crate) at: At,
    pub(crate) node: Node,
}

impl Layer {
    /// Reads a file's text.
    ///
    /// # Errors
    /// An unknown key, a value of the wrong kind, or text that is neither YAML nor JSON.
    pub fn parse(origin: Origin, file: &str, text: &str) -> Result<Layer, ConfigError> {
        let root = node::parse(file, text)?;
        let mut settings = Vec::new();
        read_section("", root, &mut settings)?;
        Ok(Layer { origin, file: Arc::from(file), settings })
    }

    /// Rule files that this one names, with the place of the naming.
    pub fn policies(&self) -> impl Iterator<Item = (&str, &At)> {
        self.settings
            .iter()
            .filter(|setting| setting.key.path == "policies")
            .filter_map(|setting| match &setting.node.value {
                Value::List(items) => Some(items.iter()),
                _ => None,
            })
            .flatten()
            .filter_map(|node| match &node.value {
                Value::Text(text) => Some((text.as_str(), &node.at)),
                _ => None,
            })
    }

    /// The file's name.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }
}

fn read_section(section: &str, node: Node, into: &mut Vec<Setting>) -> Result<(), ConfigError> {
    let Value::Map(entries) = node.value else {
        let what = if section.is_empty() { "a mapping of keys" } else { "a mapping" };
        return Err(node.expected(what));
    };
    for (key_node, value) in entries {
        let Value::Text(name) = &key_node.value else {
            return Err(key_node.expected("a key"));
        };
        let path = if section.is_empty() { name.clone() } else { format!("{section}.{name}") };
        if let Some(key) = keys::find(&path) {
            check(key, &value)?;
            into.push(Setting { key, at: key_node.at, node: value });
        } else if keys::is_section(&path) {
            // An empty section (`sandbox:` with nothing below) says nothing.
            if value.value != Value::Null {
                read_section(&path, value, into)?;
            }
        } else {
            let help = nearest(name, keys::children(section))
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some(format!("known here: {}", known(section))));
            let message = if section.is_empty() {
                format!("unknown key `{name}`")
            } else {
                format!("unknown key `{name}` in `{section}`")
            };
            return Err(ConfigError { at: key_node.at, message, help });
        }
    }
    Ok(())
}

fn known(section: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in keys::children(section) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Checks the outer shape; what is inside rules is read where they are made.
fn check(key: &Key, node: &Node) -> Result<(), ConfigError> {
    match (key.kind, &node.value) {
        (Kind::Bool, Value::Bool(_)) | (Kind::Text, Value::Text(_) | Value::Number(_)) => Ok(()),
        (Kind::Bool, _) => Err(node.expected("`true` or `false`")),
        (Kind::Text, _) => Err(node.expected("text")),
        (Kind::Whole(_), _) => whole(key, node).map(|_| ()),
        (Kind::Seconds, Value::Number(seconds)) if *seconds > 0.0 => Ok(()),
        (Kind::Seconds, _) => Err(node.expected("a number of seconds above 0")),
        (Kind::Word(words), Value::Text(word)) => {
            if words.contains(&word.as_str()) {
                return Ok(());
            }
            let help = nearest(word, words.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            Err(ConfigError {
                at: node.at.clone(),
                message: format!("`{}` cannot be `{word}`; it is one of {}", key.path, words.join(", ")),
                help,
            })
        }
        // `network: {mode: off}` is text in YAML 1.2, but other tools' YAML 1.1 writers turn it into `false`.
        (Kind::Word(words), Value::Bool(false)) if words.contains(&"off") => Ok(()),
        (Kind::Word(words), _) => Err(node.expected(&format!("one of {}", words.join(", ")))),
        (Kind::Texts, Value::List(items)) => {
            for item in items {
                text(item)?;
            }
            Ok(())
        }
        (Kind::Texts, Value::Null) => Ok(()),
        (Kind::Texts, _) => Err(node.expected("a list of text")),
        (Kind::Effects | Kind::Places | Kind::Servers, Value::Map(_) | Value::Null) => Ok(()),
        (Kind::Places, _) => Err(node.expected("a mapping from names to paths")),
        (Kind::Servers, _) => Err(node.expected("a mapping from names to servers")),
        (Kind::Effects, _) => {
            Err(node.expected("a mapping from effects to `allow`, `fenced`, `ask` or `deny`"))
        }
        (
            Kind::PathRules | Kind::CommandRules | Kind::Rules | Kind::ApprovalRules | Kind::Cases,
            Value::List(_) | Value::Null,
        ) => Ok(()),
        (Kind::PathRules | Kind::CommandRules | Kind::Rules | Kind::ApprovalRules | Kind::Cases, _) => {
            Err(node.expected("a list"))
        }
    }
}

/// The whole number in a node.
pub(crate) fn whole(key: &Key, node: &Node) -> Result<u64, ConfigError> {
    let Kind::Whole(minimum) = key.kind else {
        return Err(node.expected("something else"));
    };
    let wanted = format!("a whole number of at least {minimum}");
    match node.value {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the guard leaves only whole numbers below 2^53"
        )]
        Value::Number(number)
            if number.fract() == 0.0 && number >= minimum as f64 && number <= 9_007_199_254_740_992.0 =>
        {
            Ok(number as u64)
        }
        Value::Number(number) => Err(node.error(format!("`{}` must be {wanted}, not {number}", key.path))),
        _ => Err(node.expected(&wanted)),
    }
}

/// The text in a node; a bare number is the text that it was (`7z`, `443`).
pub(crate) fn text(node: &Node) -> Result<String, ConfigError> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(node.expected("text")),
    }
}

/// The list of texts in a node, each with its place.
pub(crate) fn texts(node: &Node) -> Result<Vec<(String, At)>, ConfigError> {
    match &node.value {
        Value::List(items) => items.iter().map(|item| Ok((text(item)?, item.at.clone()))).collect(),
        Value::Null => Ok(Vec::new()),
        _ => Err(node.expected("a list of text")),
    }
}

/// A text, or a list of them.
pub(crate) fn one_or_more(node: &Node) -> Result<Vec<(String, At)>, ConfigError> {
    match &node.value {
        Value::List(_) => texts(node),
        _ => Ok(vec![(text(node)?, node.at.clone())]),
    }
}
