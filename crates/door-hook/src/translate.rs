//! From a host's tool to the calls that the gate knows. Each host has a table of its tools ([`Tool`]); this is what is
//! done with a row.
//!
//! FAIL-CLOSED: a tool without a row, a row whose fields are not there as expected, and a field that no row names become
//! calls of tools that nobody knows, and those are asked about.

use gate::call::{RawCall, tool as known_tool};
use serde_json::{Map, Value, json};

use crate::host::Host;

/// Names of a field, of which a call has one. Hosts renamed some over time.
pub(crate) type Keys = &'static [&'static str];

/// One tool of a host.
pub(crate) struct Tool {
    /// What the host calls it.
    pub(crate) name: &'static str,
    /// What it is to the gate.
    pub(crate) becomes: Becomes,
    /// Further fields, which do not change what the call touches.
    pub(crate) harmless: Keys,
    /// Fields that may only be `false`.
    pub(crate) only_false: Keys,
}

/// What a tool is to the gate.
#[derive(Clone, Copy)]
pub(crate) enum Becomes {
    /// Text for bash, in a directory.
    Shell { command: Keys, directory: Keys },
    /// Reads a file.
    Read { path: Keys },
    /// Reads files; a pattern among them is not resolved.
    ReadMany { paths: Keys },
    /// Writes a file.
    Write { path: Keys, content: Keys },
    /// Makes a directory.
    Directory { path: Keys },
    /// Changes a part of a file.
    Edit { path: Keys, old: Keys, new: Keys, all: Keys },
    /// Changes parts of a file.
    MultiEdit { path: Keys, edits: Keys, old: Keys, new: Keys, all: Keys },
    /// Changes parts of files: each step names its own.
    Edits { edits: Keys, path: Keys, old: Keys, new: Keys },
    /// Changes a cell of a notebook.
    Notebook { path: Keys, source: Keys },
    /// Deletes a file.
    Delete { path: Keys },
    /// Changes files by a patch.
    Patch { text: Keys },
    /// Lists a directory.
    List { path: Keys },
    /// Lists files by a pattern.
    Glob { pattern: Keys, path: Keys },
    /// Searches in files.
    Grep { pattern: Keys, path: Keys, glob: Keys },
    /// Fetches a page.
    Fetch { url: Keys },
    /// Fetches pages.
    FetchMany { urls: Keys },
    /// Fetches the pages whose addresses stand in a text.
    FetchNamed { text: Keys },
    /// Searches the web.
    Search { query: Keys },
    /// Starts an agent, by this tool of ours.
    Agent { tool: &'static str, prompt: Keys },
    /// Several calls in one.
    Batch { calls: Keys, tool: Keys, input: Keys },
    /// Touches nothing, like this tool of the gate's; its fields do not matter.
    Nothing(&'static str),
    /// The same, but the host itself asks the person something: that is left to it.
    Person(&'static str),
}

impl Tool {
    pub(crate) const fn new(name: &'static str, becomes: Becomes, harmless: Keys) -> Tool {
        Tool { name, becomes, harmless, only_false: &[] }
    }

    pub(crate) const fn only_false(mut self, keys: Keys) -> Tool {
        self.only_false = keys;
        self
    }
}

/// A tool call of a host, translated.
pub(crate) struct Translated {
    /// Tool, arguments, and the directory where they count, where the call named one.
    pub(crate) calls: Vec<Part>,
    /// The key and the text of a command that the host would run as it is given back.
    pub(crate) shell: Option<(&'static str, String)>,
    /// An allowing answer is left unsaid.
    pub(crate) hands_off: bool,
}

/// One of the calls.
pub(crate) struct Part {
    pub(crate) tool: String,
    pub(crate) args: Value,
    pub(crate) directory: Option<String>,
}

/// Translates a call.
pub(crate) fn translate(host: Host, tools: &[Tool], name: &str, input: &Map<String, Value>) -> Translated {
    translate_to(host, tools, name, input, 1)
}

/// Translates a call that may hold others, so many levels deep.
fn translate_to(
    host: Host,
    tools: &[Tool],
    name: &str,
    input: &Map<String, Value>,
    levels: usize,
) -> Translated {
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        return Translated { calls: vec![unknown(host, name, input)], shell: None, hands_off: false };
    };
    let fields = Fields { input };
    let read = match tool.becomes {
        Becomes::Batch { calls, tool, input } => {
            (levels > 0).then(|| batch(host, tools, &fields, [calls, tool, input])).flatten()
        }
        other => other.read(&fields),
    };
    let Some(mut calls) = read else {
        return Translated { calls: vec![unknown(host, name, input)], shell: None, hands_off: false };
    };
    if host == Host::CopilotCli {
        calls.iter_mut().for_each(seconds_to_milliseconds);
    }
    if !matches!(tool.becomes, Becomes::Nothing(_) | Becomes::Person(_)) {
        calls.extend(unknown_fields(host, tool, input));
    }
    let shell = match tool.becomes {
        Becomes::Shell { command, .. } => fields.text(command),
        _ => None,
    };
    Translated { calls, shell, hands_off: matches!(tool.becomes, Becomes::Person(_)) }
}

/// A tool of an MCP server.
pub(crate) fn mcp(server: &str, tool: &str, input: &Map<String, Value>) -> Option<Part> {
    let named = |name: &str| !name.is_empty() && name.bytes().all(in_names);
    // `mcp__a__b__c` must not be read as another server's tool.
    let fits = named(server) && named(tool) && !server.contains("__");
    let name = format!("mcp__{server}__{tool}");
    (fits && name.len() <= gate::call::bounds::MAX_TOOL_NAME).then(|| Part {
        tool: name,
        args: Value::Object(input.clone()),
        directory: None,
    })
}

/// A call of a tool that is not known. It keeps its name, so that a rule can name it, unless that is the name of a tool of
/// ours or no name at all.
pub(crate) fn unknown(host: Host, name: &str, input: &Map<String, Value>) -> Part {
    let plain = !name.is_empty() && name.bytes().all(in_names);
    let tool = match (plain, known_tool(name)) {
        (true, None) => name.to_owned(),
        (true, Some(_)) => format!("{}:{name}", host.name()),
        (false, _) => format!("{}:unnamed", host.name()),
    };
    let fits = tool.len() <= gate::call::bounds::MAX_TOOL_NAME;
    let tool = if fits { tool } else { format!("{}:unnamed", host.name()) };
    let args =
        if plain && fits { Value::Object(input.clone()) } else { json!({"tool": name, "arguments": input}) };
    Part { tool, args, directory: None }
}

/// One call for each field that the row does not name.
fn unknown_fields(host: Host, tool: &Tool, input: &Map<String, Value>) -> Vec<Part> {
    let named = tool.becomes.keys();
    let told = |key: &str| named.iter().any(|keys| keys.contains(&key)) || tool.harmless.contains(&key);
    let open = |(key, value): &(&String, &Value)| match value {
        Value::Null => false,
        Value::Bool(false) if tool.only_false.contains(&key.as_str()) => false,
        _ => !told(key),
    };
    let part = |(key, value): (&String, &Value)| {
        let name = format!("{}:{}.{key}", host.name(), tool.name);
        let fits = key.bytes().all(in_names) && name.len() <= gate::call::bounds::MAX_TOOL_NAME;
        let tool = if fits { name } else { format!("{}:{}.unnamed", host.name(), tool.name) };
        Part { tool, args: json!({ "field": key, "value": value }), directory: None }
    };
    input.iter().filter(open).map(part).collect()
}

const fn in_names(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'/' | b'-')
}

/// The calls in a batch; nothing where one of them is not one.
fn batch(host: Host, tools: &[Tool], fields: &Fields<'_>, keys: [Keys; 3]) -> Option<Vec<Part>> {
    let [calls, tool, input] = keys;
    let mut parts = Vec::new();
    for item in fields.list(calls)? {
        let item = Fields { input: item.as_object()? };
        let (_, name) = item.text(tool)?;
        let input = item.object(input)?;
        parts.extend(translate_to(host, tools, &name, input, 0).calls);
    }
    (!parts.is_empty()).then_some(parts)
}

impl Becomes {
    /// All fields that it reads.
    fn keys(&self) -> Vec<Keys> {
        match *self {
            Becomes::Shell { command, directory } => vec![command, directory, TIMEOUT, DESCRIPTION],
            Becomes::Read { path }
            | Becomes::Directory { path }
            | Becomes::Delete { path }
            | Becomes::List { path } => vec![path],
            Becomes::ReadMany { paths } => vec![paths],
            Becomes::Write { path, content } => vec![path, content],
            Becomes::Edit { path, old, new, all } => vec![path, old, new, all],
            Becomes::MultiEdit { path, edits, .. } => vec![path, edits],
            Becomes::Edits { edits, .. } => vec![edits],
            Becomes::Notebook { path, source } => vec![path, source],
            Becomes::Patch { text } | Becomes::FetchNamed { text } => vec![text],
            Becomes::Glob { pattern, path } => vec![pattern, path],
            Becomes::Grep { pattern, path, glob } => vec![pattern, path, glob],
            Becomes::Fetch { url } => vec![url],
            Becomes::FetchMany { urls } => vec![urls],
            Becomes::Search { query } => vec![query],
            Becomes::Agent { prompt, .. } => vec![prompt],
            Becomes::Batch { calls, .. } => vec![calls],
            Becomes::Nothing(_) | Becomes::Person(_) => vec![],
        }
    }

    /// The calls; nothing where the fields are not what is expected.
    fn read(&self, fields: &Fields<'_>) -> Option<Vec<Part>> {
        let one = |tool: &str, args: Value| Some(vec![Part { tool: tool.into(), args, directory: None }]);
        match *self {
            Becomes::Shell { command, directory } => {
                let (_, command) = fields.text(command)?;
                let mut args = Map::new();
                args.insert("command".into(), command.into());
                if let Some(timeout) = fields.input.get("timeout").and_then(Value::as_u64) {
                    args.insert("timeout".into(), timeout.into());
                }
                if let Some(Value::String(why)) = fields.input.get("description") {
                    args.insert("description".into(), why.clone().into());
                }
                let directory = fields.optional(directory)?.map(|(_, path)| path);
                Some(vec![Part { tool: "Bash".into(), args: Value::Object(args), directory }])
            }
            Becomes::Read { path } => one("Read", json!({"file_path": fields.path(path)?})),
            Becomes::ReadMany { paths } => fields.texts(paths)?.into_iter().map(read_one).collect(),
            Becomes::Write { path, content } => {
                let (_, content) = fields.text(content)?;
                one("Write", json!({"file_path": fields.path(path)?, "content": content}))
            }
            Becomes::Directory { path } => {
                one("Write", json!({"file_path": fields.path(path)?, "content": ""}))
            }
            Becomes::Edit { path, old, new, all } => {
                let path = fields.path(path)?;
                let (_, old) = fields.text(old)?;
                let (_, new) = fields.text(new)?;
                let all = fields.flag(all)?;
                one(
                    "Edit",
                    json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": all}),
                )
            }
            Becomes::MultiEdit { path, edits, old, new, all } => {
                let path = fields.path(path)?;
                let mut steps = Vec::new();
                for item in fields.list(edits)? {
                    let item = Fields { input: item.as_object()? };
                    // A step that names a file of its own would change another one than was judged.
                    if item.input.keys().any(|key| key.to_ascii_lowercase().contains("path")) {
                        let (_, other) = item.text(&["filePath", "file_path", "path"])?;
                        if other != path {
                            return None;
                        }
                    }
                    let (_, old) = item.text(old)?;
                    let (_, new) = item.text(new)?;
                    let all = item.flag(all)?;
                    steps.push(json!({"old_string": old, "new_string": new, "replace_all": all}));
                }
                one("MultiEdit", json!({"file_path": path, "edits": steps}))
            }
            Becomes::Edits { edits, path, old, new } => {
                let mut parts = Vec::new();
                for item in fields.list(edits)? {
                    let item = Fields { input: item.as_object()? };
                    let edit = Becomes::Edit { path, old, new, all: &[] };
                    parts.extend(edit.read(&item)?);
                }
                (!parts.is_empty()).then_some(parts)
            }
            Becomes::Notebook { path, source } => {
                let source = fields.optional(source)?.map(|(_, text)| text).unwrap_or_default();
                one("NotebookEdit", json!({"notebook_path": fields.path(path)?, "new_source": source}))
            }
            Becomes::Delete { path } => {
                let path = fields.path(path)?;
                if path.contains(['\n', '\r']) || path.trim() != path {
                    return None;
                }
                let patch = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
                one("apply_patch", json!({ "input": patch }))
            }
            Becomes::Patch { text } => one("apply_patch", json!({"input": fields.text(text)?.1})),
            Becomes::List { path } => {
                let path = fields.optional_path(path)?.unwrap_or_else(|| ".".into());
                one("list_dir", json!({ "dir_path": path }))
            }
            Becomes::Glob { pattern, path } => {
                let mut args = json!({"pattern": fields.text(pattern)?.1});
                set(&mut args, "path", fields.optional_path(path)?);
                one("Glob", args)
            }
            Becomes::Grep { pattern, path, glob } => {
                let mut args = json!({"pattern": fields.text(pattern)?.1});
                set(&mut args, "path", fields.optional_path(path)?);
                let glob = fields.optional(glob)?.map(|(_, text)| text);
                // A pattern that leads elsewhere would search where nobody looked.
                if glob.as_deref().is_some_and(|glob| glob.starts_with(['/', '~']) || glob.contains("..")) {
                    return None;
                }
                set(&mut args, "glob", glob);
                one("Grep", args)
            }
            Becomes::Fetch { url } => one("WebFetch", json!({"url": fields.text(url)?.1})),
            Becomes::FetchMany { urls } => {
                let fetch = |url: String| Part {
                    tool: "WebFetch".into(),
                    args: json!({ "url": url }),
                    directory: None,
                };
                let parts: Vec<Part> = fields.texts(urls)?.into_iter().map(fetch).collect();
                (!parts.is_empty()).then_some(parts)
            }
            Becomes::FetchNamed { text } => {
                let (_, text) = fields.text(text)?;
                let fetch = |url: &str| Part {
                    tool: "WebFetch".into(),
                    args: json!({ "url": url }),
                    directory: None,
                };
                let parts: Vec<Part> = addresses(&text)?.into_iter().map(fetch).collect();
                (!parts.is_empty()).then_some(parts)
            }
            Becomes::Search { query } => one("WebSearch", json!({"query": fields.text(query)?.1})),
            Becomes::Agent { tool, prompt } => {
                let (_, prompt) = fields.text(prompt)?;
                let key = if tool == "spawn_agent" { "message" } else { "prompt" };
                one(tool, json!({ key: prompt }))
            }
            Becomes::Nothing(tool) | Becomes::Person(tool) => one(tool, json!({})),
            // A batch is read by its caller, which knows the tools.
            Becomes::Batch { .. } => None,
        }
    }
}

/// One host counts the time of a command in seconds.
fn seconds_to_milliseconds(part: &mut Part) {
    if let Some(timeout) = part.args.get_mut("timeout")
        && let Some(seconds) = timeout.as_u64()
    {
        *timeout = seconds.saturating_mul(1000).min(gate::call::MAX_SAFE_INTEGER).into();
    }
}

const TIMEOUT: Keys = &["timeout"];
const DESCRIPTION: Keys = &["description"];

/// One of many files to read. A pattern could name a file that must not be read, so it is not taken for a path.
fn read_one(path: String) -> Option<Part> {
    let plain = !path.contains(['*', '?', '[', ']', '{', '}', '!']) && !has_scheme(&path) && !path.is_empty();
    plain.then(|| Part { tool: "Read".into(), args: json!({ "file_path": path }), directory: None })
}

/// The web addresses in a text; nothing where there is an address of another kind.
fn addresses(text: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '(' | ')'))
    {
        let Some((scheme, _)) = word.split_once("://") else { continue };
        let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        if !web {
            return None;
        }
        found.push(word.trim_end_matches([',', '.', ';', ']', '}']));
    }
    Some(found)
}

/// `untitled:/a`, `file:///a`: what an editor would open is not the path that this spells.
fn has_scheme(path: &str) -> bool {
    path.split_once(":/").is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
    })
}

fn set(args: &mut Value, key: &str, value: Option<String>) {
    if let (Some(members), Some(value)) = (args.as_object_mut(), value) {
        members.insert(key.to_owned(), value.into());
    }
}

/// The fields of a call.
struct Fields<'a> {
    input: &'a Map<String, Value>,
}

impl Fields<'_> {
    /// The one field of these that is there: outer nothing where there are two.
    fn one(&self, keys: Keys) -> Option<Option<(&'static str, &Value)>> {
        let mut there = keys.iter().filter_map(|key| {
            self.input.get(*key).filter(|value| !value.is_null()).map(|value| (*key, value))
        });
        let first = there.next();
        there.next().is_none().then_some(first)
    }

    fn text(&self, keys: Keys) -> Option<(&'static str, String)> {
        match self.one(keys)?? {
            (key, Value::String(text)) => Some((key, text.clone())),
            _ => None,
        }
    }

    fn optional(&self, keys: Keys) -> Option<Option<(&'static str, String)>> {
        match self.one(keys)? {
            None => Some(None),
            Some((_, Value::String(text))) if text.is_empty() => Some(None),
            Some((key, Value::String(text))) => Some(Some((key, text.clone()))),
            Some(_) => None,
        }
    }

    fn path(&self, keys: Keys) -> Option<String> {
        self.text(keys).map(|(_, path)| path).filter(|path| !path.is_empty() && !has_scheme(path))
    }

    fn optional_path(&self, keys: Keys) -> Option<Option<String>> {
        match self.optional(keys)? {
            None => Some(None),
            Some((_, path)) if has_scheme(&path) => None,
            Some((_, path)) => Some(Some(path)),
        }
    }

    fn flag(&self, keys: Keys) -> Option<bool> {
        match self.one(keys)? {
            None => Some(false),
            Some((_, value)) => value.as_bool(),
        }
    }

    fn list(&self, keys: Keys) -> Option<&Vec<Value>> {
        self.one(keys)??.1.as_array().filter(|items| !items.is_empty())
    }

    fn texts(&self, keys: Keys) -> Option<Vec<String>> {
        self.list(keys)?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
    }

    fn object(&self, keys: Keys) -> Option<&Map<String, Value>> {
        self.one(keys)??.1.as_object()
    }
}

impl Part {
    /// The call, seen from the host that asks.
    pub(crate) fn raw(self, around: &Around) -> RawCall {
        let mut raw = RawCall::new(self.tool, self.args);
        raw.cwd = match (self.directory, &around.cwd) {
            (Some(own), _) if own.starts_with('/') => Some(own),
            (Some(own), Some(cwd)) => Some(format!("{}/{own}", cwd.trim_end_matches('/'))),
            // A directory relative to one that is not known.
            (Some(own), None) => Some(own),
            (None, cwd) => cwd.clone(),
        };
        raw.session.clone_from(&around.session);
        raw.id.clone_from(&around.id);
        raw.principal = around.principal.clone();
        raw
    }
}

/// What is the same for all calls of one question.
pub(crate) struct Around {
    pub(crate) cwd: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) principal: gate::call::Principal,
}
