//! MCP servers in a client's settings: ours is added, somebody else's is wrapped by the proxy, and both are undone. Everything else
//! in the file stays as it is.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::edit::{Form, append, remove};
use super::jsonc::{Node, Value};
use super::{Undone, Unreadable, codex_servers, object, position};
use crate::host::Host;

/// What our server is called in a client's settings.
pub(super) const OURS: &str = "bailiwick";

/// The hosts whose servers can be set up here.
pub const HOSTS: [Host; 5] = [Host::ClaudeCode, Host::Codex, Host::Cursor, Host::VsCode, Host::GeminiCli];

/// Where a host keeps its servers: of the project where it has such a file, else of the user.
#[must_use]
pub fn server_file(host: Host, home: &Path, workspace: Option<&Path>) -> Option<PathBuf> {
    match host {
        Host::ClaudeCode => Some(workspace?.join(".mcp.json")),
        Host::VsCode => Some(workspace?.join(".vscode/mcp.json")),
        Host::Cursor => Some(workspace.unwrap_or(home).join(".cursor/mcp.json")),
        Host::GeminiCli => Some(workspace.unwrap_or(home).join(".gemini/settings.json")),
        Host::Codex => Some(home.join(".codex/config.toml")),
        Host::CopilotCli | Host::OpenCode => None,
    }
}

/// The key above a host's servers.
fn above(host: Host) -> &'static str {
    if host == Host::VsCode { "servers" } else { "mcpServers" }
}

fn entry(host: Host, binary: &str, arguments: &[&str]) -> Map<String, Json> {
    let mut entry = Map::new();
    if host == Host::VsCode {
        entry.insert("type".into(), "stdio".into());
    }
    entry.insert("command".into(), binary.into());
    entry.insert("args".into(), json!(arguments));
    entry
}

/// The settings with our server in them.
///
/// # Errors
/// The text cannot be read, or has something else where servers belong.
pub fn add_server(host: Host, text: Option<&str>, binary: &str) -> Result<String, Unreadable> {
    if host == Host::Codex {
        return codex_servers::add(text.unwrap_or_default(), binary);
    }
    let ours = Json::Object(entry(host, binary, &["mcp"]));
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        let whole = json!({above(host): {OURS: ours}});
        return Ok(format!("{}\n", Form::of("").pretty(&whole, "")));
    };
    let root = object(text)?;
    let Some(servers) = root.member(above(host)) else {
        return Ok(append(text, &root, Some(above(host)), &json!({OURS: ours})));
    };
    if !matches!(servers.node.value, Value::Object(_)) {
        return Err(Unreadable::new(format!("`{}` is not an object", above(host))));
    }
    match servers.node.member(OURS) {
        None => Ok(append(text, &servers.node, Some(OURS), &ours)),
        Some(known) if read(text, &known.node).ok().map(Json::Object).as_ref() == Some(&ours) => {
            Ok(text.to_owned())
        }
        Some(known) => replaced(text, &known.node, &ours),
    }
}

/// The settings with one of its servers behind the proxy.
///
/// # Errors
/// The text cannot be read, there is no such server, or it is none that is started by a command.
pub fn wrap_server(host: Host, text: &str, name: &str, binary: &str) -> Result<String, Unreadable> {
    if host == Host::Codex {
        return codex_servers::wrap(text, name, binary);
    }
    let root = object(text)?;
    let servers = root.member(above(host)).map(|item| &item.node);
    let Some(known) = servers.and_then(|servers| servers.member(name)) else {
        let items = servers.map_or(&[][..], Node::items);
        return Err(missing(name, items.iter().filter_map(|item| item.key.as_deref())));
    };
    let mut held = read(text, &known.node)?;
    if unwrapped(&held).is_some() {
        return Ok(text.to_owned());
    }
    let command = held.get("command").and_then(Json::as_str).ok_or_else(|| not_started(name))?;
    let words = match held.get("args") {
        None => Vec::new(),
        Some(args) => serde_json::from_value(args.clone()).map_err(|_| not_words(name))?,
    };
    let variables = held.get("env").and_then(Json::as_object).into_iter().flat_map(Map::keys);
    let arguments = proxied(name, variables.map(String::as_str), command, words);
    held.insert("command".into(), binary.into());
    held.insert("args".into(), json!(arguments));
    replaced(text, &known.node, &Json::Object(held))
}

/// The settings without our server, and with what was wrapped as it was.
///
/// # Errors
/// The text cannot be read.
pub fn undo_servers(host: Host, text: &str) -> Result<Undone, Unreadable> {
    if host == Host::Codex {
        return codex_servers::undo(text);
    }
    let mut held = text.to_owned();
    let mut changed = false;
    // Each round puts one server back, and there are no more of them than bytes.
    while let Some(next) = unwrap_one(host, &held)? {
        held = next;
        changed = true;
    }
    let root = object(&held)?;
    let place = position(&root, above(host));
    let servers = place.and_then(|place| root.items().get(place)).map(|item| &item.node);
    let ours = servers.and_then(|servers| position(servers, OURS));
    if let (Some(outer), Some(servers), Some(ours)) = (place, servers, ours) {
        let (shorter, empty) = remove(&held, servers, ours).unwrap_or_else(|| (held.clone(), false));
        if !empty {
            return Ok(Undone::Text(shorter));
        }
        return Ok(match remove(&held, &root, outer) {
            Some((_, true)) => Undone::Gone,
            Some((shorter, false)) => Undone::Text(shorter),
            None => Undone::Text(shorter),
        });
    }
    Ok(if changed { Undone::Text(held) } else { Undone::Nothing })
}

fn unwrap_one(host: Host, text: &str) -> Result<Option<String>, Unreadable> {
    let root = object(text)?;
    let servers = root.member(above(host)).map(|item| &item.node);
    for server in servers.map_or(&[][..], Node::items) {
        let Ok(mut held) = read(text, &server.node) else { continue };
        if let Some((command, arguments)) = unwrapped(&held) {
            held.insert("command".into(), command.into());
            held.insert("args".into(), arguments.into());
            return replaced(text, &server.node, &Json::Object(held)).map(Some);
        }
    }
    Ok(None)
}

/// The command behind the proxy, where this is one.
fn unwrapped(entry: &Map<String, Json>) -> Option<(String, Vec<String>)> {
    let words = entry.get("args")?.as_array()?.iter().filter_map(Json::as_str).map(str::to_owned);
    behind(entry.get("command")?.as_str()?, words.collect())
}

/// What a server's program and its arguments stand behind, where they are the proxy.
pub(super) fn behind(command: &str, words: Vec<String>) -> Option<(String, Vec<String>)> {
    let binary = Path::new(command).file_name()?.to_str()?;
    let proxied = binary == OURS && words.starts_with(&["mcp".to_owned(), "proxy".to_owned()]);
    let mut behind = words.into_iter().skip_while(|word| word != "--").skip(1);
    proxied.then(|| behind.next().map(|command| (command, behind.collect())))?
}

/// The arguments of the proxy that stands in front of a server.
pub(super) fn proxied<'a>(
    name: &str,
    variables: impl Iterator<Item = &'a str>,
    command: &str,
    words: Vec<String>,
) -> Vec<String> {
    let mut arguments = vec!["mcp".to_owned(), "proxy".into(), "--name".into(), plain(name)];
    arguments.extend(variables.flat_map(|variable| ["--env".to_owned(), variable.to_owned()]));
    arguments.extend(["--".to_owned(), command.to_owned()]);
    arguments.extend(words);
    arguments
}

pub(super) fn missing<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Unreadable {
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
    Unreadable::new(format!("there is no server `{name}` in it; {known}"))
}

pub(super) fn not_started(name: &str) -> Unreadable {
    Unreadable::new(format!("the server `{name}` is not started by a command; only those can be wrapped"))
}

pub(super) fn not_words(name: &str) -> Unreadable {
    Unreadable::new(format!("the arguments of `{name}` are not a list of text"))
}

/// A name that rules can use.
fn plain(name: &str) -> String {
    let mut plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    while plain.contains("__") {
        plain = plain.replace("__", "_");
    }
    let plain = plain.trim_matches('_');
    if plain.is_empty() { "server".into() } else { plain.chars().take(64).collect() }
}

fn read(text: &str, node: &Node) -> Result<Map<String, Json>, Unreadable> {
    let written = text.get(node.at.clone()).unwrap_or_default();
    match serde_json::from_str(written) {
        Ok(Json::Object(members)) => Ok(members),
        Ok(_) => Err(Unreadable::new("a server in it is not an object")),
        // Comments would be lost.
        Err(error) => Err(Unreadable::new(format!("a server in it is not plain JSON: {error}"))),
    }
}

/// The text with another value in the place of this one.
fn replaced(text: &str, node: &Node, value: &Json) -> Result<String, Unreadable> {
    let (Some(before), Some(after)) = (text.get(..node.at.start), text.get(node.at.end..)) else {
        return Err(Unreadable::new("it changed meanwhile"));
    };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    Ok(format!("{before}{}{after}", Form::of(text).pretty(value, &indent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: &str = "/opt/bailiwick";

    #[test]
    fn our_server_goes_in_once_and_comes_out_without_a_trace() {
        let table = [
            (
                Host::ClaudeCode,
                "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\"\n    }\n  }\n}\n",
            ),
            (Host::Cursor, "{}\n"),
            (Host::GeminiCli, "{\n  \"theme\": \"dark\" // mine\n}\n"),
            (Host::VsCode, "{\n  \"servers\": {}\n}\n"),
        ];
        for (host, before) in table {
            let with = add_server(host, Some(before), BINARY).unwrap();
            assert!(with.contains(BINARY), "{with}");
            assert_eq!(add_server(host, Some(&with), BINARY).unwrap(), with, "twice changes nothing");
            assert_eq!(undo_servers(host, &with).unwrap(), Undone::Text(before.into()), "{with}");
            assert_eq!(undo_servers(host, before).unwrap(), Undone::Nothing);
        }
        let fresh = add_server(Host::VsCode, None, BINARY).unwrap();
        assert!(fresh.contains("\"servers\"") && fresh.contains("\"stdio\""), "{fresh}");
        assert_eq!(undo_servers(Host::VsCode, &fresh).unwrap(), Undone::Gone);
    }

    #[test]
    fn a_server_is_wrapped_with_its_arguments_and_the_names_of_its_variables_and_unwrapped_again() {
        let before = "{\n  \"mcpServers\": {\n    \"my files\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"fs\"\n      ],\n      \"env\": {\n        \"KEY\": \"value\"\n      }\n    }\n  }\n}\n";
        let wrapped = wrap_server(Host::ClaudeCode, before, "my files", BINARY).unwrap();
        let read: Json = serde_json::from_str(&wrapped).unwrap();
        let entry = &read["mcpServers"]["my files"];
        assert_eq!(entry["command"], BINARY);
        assert_eq!(
            entry["args"],
            json!(["mcp", "proxy", "--name", "my_files", "--env", "KEY", "--", "npx", "-y", "fs"])
        );
        assert_eq!(entry["env"], json!({"KEY": "value"}));
        assert_eq!(
            wrap_server(Host::ClaudeCode, &wrapped, "my files", BINARY).unwrap(),
            wrapped,
            "once is enough"
        );
        assert_eq!(undo_servers(Host::ClaudeCode, &wrapped).unwrap(), Undone::Text(before.into()));
        for (text, name) in
            [(before, "other"), ("{\"mcpServers\": {\"a\": {\"url\": \"http://x\"}}}", "a"), ("[]", "a")]
        {
            assert!(wrap_server(Host::ClaudeCode, text, name, BINARY).is_err(), "{text} {name}");
        }
    }
}
