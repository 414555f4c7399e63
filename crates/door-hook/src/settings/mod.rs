//! A host's settings: our hook is put in and taken out, and everything else stays as it is. Texts in, texts out.
//!
//! A file that cannot be read is refused, never overwritten. Putting the hook in twice changes nothing. Taking it out gives
//! back the very bytes that were there before.

mod codex_servers;
mod edit;
mod hooks;
mod jsonc;
mod opencode;
mod places;
mod servers;
mod switches;

use serde_json::{Value as Json, json};

use crate::host::Host;
use edit::{Form, append, remove};
use hooks::{Hook, hooks, is_ours};
use jsonc::{Node, Value};

pub use places::{Found, Place, Scope, detect, places, read_too};
pub use servers::{HOSTS as SERVER_HOSTS, add_server, server_file, undo_servers, wrap_server};
pub use switches::{is_trusted, switched_off};

/// A settings file that cannot be read, or does not have the form that its host wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong, in words.
    pub why: String,
}

impl Unreadable {
    fn new(why: impl Into<String>) -> Unreadable {
        Unreadable { why: why.into() }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the settings are left as they are: {}", self.why)
    }
}

impl std::error::Error for Unreadable {}

/// What taking the hook out leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undone {
    /// It was not in there.
    Nothing,
    /// This text.
    Text(String),
    /// Nothing worth keeping: the file was ours.
    Gone,
}

/// The settings with our hook in them. `text` is what the file holds, if there is one; `binary` is the full path of the
/// program, which is what keeps a program of the same name elsewhere from being run in its place.
///
/// # Errors
/// The text cannot be read, or has something else where hooks belong.
pub fn add(host: Host, text: Option<&str>, binary: &str) -> Result<String, Unreadable> {
    if host == Host::OpenCode {
        return opencode::add(text, binary);
    }
    let (start, hooks) = hooks(host, binary);
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(fresh(start, hooks)) };
    // What is there from an earlier version, or from another place of the program, goes first.
    if is_current(host, text, &hooks)? {
        return Ok(text.to_owned());
    }
    let mut text = match take_out(host, text)? {
        Undone::Nothing => text.to_owned(),
        Undone::Text(text) => text,
        Undone::Gone => return Ok(fresh(start, hooks)),
    };
    for (key, value) in start.as_object().into_iter().flatten() {
        let root = object(&text)?;
        if root.member(key).is_none() {
            text = append(&text, &root, Some(key), value);
        }
    }
    for hook in hooks {
        text = put(&text, &hook)?;
    }
    Ok(text)
}

/// The settings without our hook. `before` is the copy that was made when it was put in, if there is one.
///
/// # Errors
/// The text cannot be read.
pub fn undo(host: Host, text: &str, before: Option<&str>) -> Result<Undone, Unreadable> {
    if host == Host::OpenCode {
        return opencode::undo(text);
    }
    let undone = take_out(host, text)?;
    // Where nothing else changed since, the copy is the answer, whatever it looked like.
    if let (Some(before), Some(binary)) = (before, binary_in(host, text))
        && undone != Undone::Nothing
        && add(host, Some(before), &binary).is_ok_and(|again| again == text)
    {
        return Ok(Undone::Text(before.to_owned()));
    }
    Ok(undone)
}

/// Whether our hook is in these settings, for every event that it belongs to.
///
/// # Errors
/// The text cannot be read.
pub fn is_in(host: Host, text: &str, binary: &str) -> Result<bool, Unreadable> {
    if host == Host::OpenCode {
        return Ok(opencode::add(Some(text), binary)? == text);
    }
    if text.trim().is_empty() {
        return Ok(false);
    }
    let (_, hooks) = hooks(host, binary);
    is_current(host, text, &hooks)
}

/// A file that holds nothing but our hook.
fn fresh(start: Json, hooks: Vec<Hook>) -> String {
    let mut lists = serde_json::Map::new();
    for Hook { path: [_, event], entry } in hooks {
        lists.insert(event.to_owned(), json!([entry]));
    }
    let mut root = start;
    if let Some(members) = root.as_object_mut() {
        members.insert("hooks".into(), Json::Object(lists));
    }
    let form = Form::of("");
    format!("{}\n", form.pretty(&root, ""))
}

fn object(text: &str) -> Result<Node, Unreadable> {
    let root = Node::read(text)?;
    match root.value {
        Value::Object(_) => Ok(root),
        Value::Array(_) | Value::Text(_) | Value::Bool(_) | Value::Other => {
            Err(Unreadable::new("it is not an object"))
        }
    }
}

/// Adds one entry to the list that it belongs to, which is made where it is missing.
fn put(text: &str, hook: &Hook) -> Result<String, Unreadable> {
    let [outer, event] = hook.path;
    let root = object(text)?;
    let Some(lists) = root.member(outer) else {
        return Ok(append(text, &root, Some(outer), &json!({event: [hook.entry]})));
    };
    if !matches!(lists.node.value, Value::Object(_)) {
        return Err(Unreadable::new(format!("`{outer}` is not an object")));
    }
    let Some(list) = lists.node.member(event) else {
        return Ok(append(text, &lists.node, Some(event), &json!([hook.entry])));
    };
    if !matches!(list.node.value, Value::Array(_)) {
        return Err(Unreadable::new(format!("`{outer}.{event}` is not a list")));
    }
    Ok(append(text, &list.node, None, &hook.entry))
}

/// Takes out every entry of ours, and what was made only to hold it.
fn take_out(host: Host, text: &str) -> Result<Undone, Unreadable> {
    let mut held = text.to_owned();
    let mut changed = false;
    // Each round takes one thing out, so there are no more rounds than bytes.
    while let Some((shorter, all)) = take_one(host, &held)? {
        if all {
            return Ok(Undone::Gone);
        }
        held = shorter;
        changed = true;
    }
    if !changed {
        return Ok(Undone::Nothing);
    }
    let (start, _) = hooks(host, "");
    let bare = format!("{}\n", Form::of("").pretty(&start, ""));
    let made_here = start != json!({}) && held == bare;
    Ok(if made_here { Undone::Gone } else { Undone::Text(held) })
}

/// Takes out the last entry of ours (the first one put in shows how the container was before), and tells whether nothing is left that was not made for it.
fn take_one(host: Host, text: &str) -> Result<Option<(String, bool)>, Unreadable> {
    let root = object(text)?;
    let Some(outer) = position(&root, "hooks") else { return Ok(None) };
    let Some(lists) = root.items().get(outer).map(|item| &item.node) else { return Ok(None) };
    for (event, list) in lists.items().iter().enumerate().rev() {
        if !matches!(list.node.value, Value::Array(_)) {
            continue;
        }
        for (index, entry) in list.node.items().iter().enumerate().rev() {
            let inner = entry.node.member("hooks").map(|item| &item.node);
            let ours = |node: &Node| {
                [node.text("command"), node.text("bash")].into_iter().flatten().any(|c| is_ours(host, c))
            };
            let held = inner.map_or(&[][..], Node::items);
            let whole = ours(&entry.node) || (!held.is_empty() && held.iter().all(|item| ours(&item.node)));
            if whole {
                return Ok(without(text, &[(&list.node, index), (lists, event), (&root, outer)]));
            }
            // Somebody put a hook of theirs beside ours.
            if let (Some(inner), Some(mine)) = (inner, held.iter().position(|item| ours(&item.node))) {
                return Ok(remove(text, inner, mine).map(|(text, _)| (text, false)));
            }
        }
    }
    Ok(None)
}

/// Takes out the first of these items, which lie around each other, and those around it that were made only for it.
fn without(text: &str, path: &[(&Node, usize)]) -> Option<(String, bool)> {
    let mut taken = None;
    for (container, index) in path {
        let (shorter, empty) = remove(text, container, *index)?;
        taken = Some((shorter, empty));
        if !empty {
            break;
        }
    }
    taken
}

fn position(node: &Node, key: &str) -> Option<usize> {
    node.items().iter().position(|item| item.key.as_deref() == Some(key))
}

/// Whether every entry is there once, as it would be written today.
fn is_current(host: Host, text: &str, hooks: &[Hook]) -> Result<bool, Unreadable> {
    let root = object(text)?;
    let lists = root.member("hooks").map(|item| &item.node);
    let all = lists.into_iter().flat_map(Node::items).flat_map(|list| list.node.items());
    let ours = all.filter(|entry| commands(&entry.node).iter().any(|command| is_ours(host, command)));
    if ours.count() != hooks.len() {
        return Ok(false);
    }
    Ok(hooks.iter().all(|hook| {
        let [outer, event] = hook.path;
        let list = root.member(outer).and_then(|item| item.node.member(event));
        let same = |entry: &jsonc::Item| {
            let written = text.get(entry.at.clone()).and_then(|text| serde_json::from_str::<Json>(text).ok());
            written.as_ref() == Some(&hook.entry)
        };
        list.is_some_and(|list| list.node.items().iter().any(same))
    }))
}

/// The commands of an entry, of either form.
fn commands(entry: &Node) -> Vec<&str> {
    let direct = [entry.text("command"), entry.text("bash")];
    let inner = entry.member("hooks").map_or(&[][..], |item| item.node.items());
    let inner = inner.iter().filter_map(|item| item.node.text("command"));
    direct.into_iter().flatten().chain(inner).collect()
}

/// The program that our entry in these settings runs.
fn binary_in(host: Host, text: &str) -> Option<String> {
    let root = Node::read(text).ok()?;
    let lists = &root.member("hooks")?.node;
    let command = lists
        .items()
        .iter()
        .flat_map(|list| list.node.items())
        .flat_map(|entry| commands(&entry.node))
        .find(|command| is_ours(host, command))?;
    let (quoted, _) = command.split_once(" hook ")?;
    match quoted.strip_prefix('\'').and_then(|quoted| quoted.strip_suffix('\'')) {
        Some(inner) => Some(inner.replace("'\\''", "'")),
        None => Some(quoted.to_owned()),
    }
}
