//! Codex keeps its MCP servers in TOML, as `[mcp_servers.NAME]`. Comments, order and everything else stay as they are.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::servers::{OURS, behind, missing, not_started, not_words, proxied};
use super::{Undone, Unreadable};

/// The table of servers.
const SERVERS: &str = "mcp_servers";

pub(super) fn add(text: &str, binary: &str) -> Result<String, Unreadable> {
    let mut document = read(text)?;
    if !document.contains_key(SERVERS) {
        let mut servers = Table::new();
        // A line `[mcp_servers]` of its own would say nothing.
        servers.set_implicit(true);
        document.insert(SERVERS, Item::Table(servers));
    }
    let servers = servers(&mut document).ok_or_else(|| Unreadable::new("`mcp_servers` is not a table"))?;
    if let Some(known) = servers.get(OURS).and_then(Item::as_table_like)
        && started(known) == Some((binary.to_owned(), vec!["mcp".to_owned()]))
    {
        return Ok(text.to_owned());
    }
    let mut ours = Table::new();
    start(&mut ours, binary, ["mcp".to_owned()]);
    servers.insert(OURS, Item::Table(ours));
    Ok(document.to_string())
}

pub(super) fn wrap(text: &str, name: &str, binary: &str) -> Result<String, Unreadable> {
    let mut document = read(text)?;
    let Some(servers) = servers(&mut document) else { return Err(missing(name, std::iter::empty())) };
    if servers.get(name).is_none() {
        return Err(missing(name, servers.iter().map(|(known, _)| known)));
    }
    let server = servers.get_mut(name).and_then(Item::as_table_like_mut).ok_or_else(|| not_started(name))?;
    if server.get("command").and_then(Item::as_str).is_none() {
        return Err(not_started(name));
    }
    let (command, words) = started(server).ok_or_else(|| not_words(name))?;
    if behind(&command, words.clone()).is_some() {
        return Ok(text.to_owned());
    }
    let variables = server.get("env").and_then(Item::as_table_like);
    let names: Vec<String> =
        variables.into_iter().flat_map(TableLike::iter).map(|(name, _)| name.to_owned()).collect();
    let arguments = proxied(name, names.iter().map(String::as_str), &command, words);
    start(server, binary, arguments);
    Ok(document.to_string())
}

pub(super) fn undo(text: &str) -> Result<Undone, Unreadable> {
    let mut document = read(text)?;
    let Some(servers) = servers(&mut document) else { return Ok(Undone::Nothing) };
    let mut changed = servers.remove(OURS).is_some();
    for (_, server) in servers.iter_mut() {
        let Some(server) = server.as_table_like_mut() else { continue };
        if let Some((command, words)) = started(server).and_then(|(command, words)| behind(&command, words)) {
            start(server, &command, words);
            changed = true;
        }
    }
    if servers.is_empty() {
        document.remove(SERVERS);
    }
    let left = document.to_string();
    Ok(match changed {
        false => Undone::Nothing,
        true if left.trim().is_empty() => Undone::Gone,
        true => Undone::Text(left),
    })
}

fn read(text: &str) -> Result<DocumentMut, Unreadable> {
    text.parse().map_err(|error: toml_edit::TomlError| Unreadable::new(error.message().to_owned()))
}

fn servers(document: &mut DocumentMut) -> Option<&mut dyn TableLike> {
    document.get_mut(SERVERS)?.as_table_like_mut()
}

/// What starts a server: the program and its arguments.
fn started(server: &dyn TableLike) -> Option<(String, Vec<String>)> {
    let command = server.get("command")?.as_str()?.to_owned();
    let words = match server.get("args") {
        None => Vec::new(),
        Some(args) => {
            let words = args.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
            words.collect::<Option<_>>()?
        }
    };
    Some((command, words))
}

fn start(server: &mut dyn TableLike, command: &str, arguments: impl IntoIterator<Item = String>) {
    server.insert("command", value(command));
    let arguments: Array = arguments.into_iter().collect();
    if arguments.is_empty() {
        server.remove("args");
    } else {
        server.insert("args", value(arguments));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: &str = "/opt/bailiwick";

    #[test]
    fn our_server_goes_in_once_and_comes_out_without_a_trace() {
        for before in [
            "model = \"x\" # mine\n",
            "[mcp_servers.files]\ncommand = \"npx\"\n\n[features]\nhooks = true\n",
            "# only a comment\n",
        ] {
            let with = add(before, BINARY).unwrap();
            assert!(
                with.contains("[mcp_servers.bailiwick]\ncommand = \"/opt/bailiwick\"\nargs = [\"mcp\"]"),
                "{with}"
            );
            assert_eq!(add(&with, BINARY).unwrap(), with, "twice changes nothing");
            assert_eq!(undo(&with).unwrap(), Undone::Text(before.into()), "{with}");
            assert_eq!(undo(before).unwrap(), Undone::Nothing);
        }
        assert_eq!(undo(&add("", BINARY).unwrap()).unwrap(), Undone::Gone);
        for unfit in ["not toml at all", "mcp_servers = 3\n"] {
            assert!(add(unfit, BINARY).is_err(), "{unfit}");
        }
    }

    #[test]
    fn a_server_is_wrapped_with_its_arguments_and_the_names_of_its_variables_and_unwrapped_again() {
        let before = "[mcp_servers.\"my files\"]\ncommand = \"npx\"\nargs = [\"-y\", \"fs\"]\nenv = { KEY = \"value\" }\n";
        let wrapped = wrap(before, "my files", BINARY).unwrap();
        let words = "[\"mcp\", \"proxy\", \"--name\", \"my_files\", \"--env\", \"KEY\", \"--\", \"npx\", \"-y\", \"fs\"]";
        assert!(
            wrapped.contains(&format!("args = {words}")) && wrapped.contains("KEY = \"value\""),
            "{wrapped}"
        );
        assert_eq!(wrap(&wrapped, "my files", BINARY).unwrap(), wrapped, "once is enough");
        assert_eq!(undo(&wrapped).unwrap(), Undone::Text(before.into()));
        for (text, name) in [(before, "other"), ("[mcp_servers.a]\nurl = \"http://x\"\n", "a"), ("", "a")] {
            assert!(wrap(text, name, BINARY).is_err(), "{text} {name}");
        }
    }
}
