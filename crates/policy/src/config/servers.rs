//! Other people's MCP servers that `bailiwick mcp proxy` stands in front of: the section `mcp`.
//!
//! An agent can write the workspace's file, so no server may stand there: it could name a program of its own.

use super::apply::{fields, unknown_field};
use super::layer::{Origin, Setting, text, texts};
use super::node::{At, ConfigError, Node, Value};
use super::{Config, nearest};
use crate::rule::hosts_of;

/// An MCP server, as it is started.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name: rules call its tools `mcp__NAME__TOOL`.
    pub name: String,
    /// The program with its arguments.
    pub command: Vec<String>,
    /// Environment variables that it gets. They may be secret.
    pub env: Vec<(String, String)>,
    /// Where it is started, if not in the workspace.
    pub cwd: Option<String>,
    /// Hosts that it may connect to, beside those of `sandbox.network.allow`.
    pub network: Vec<String>,
    /// Where it is written.
    pub at: At,
}

const KEYS: [&str; 4] = ["command", "env", "cwd", "network"];

/// The longest name of a server.
const LONGEST_NAME: usize = 64;

/// Whether rules can name the tools of a server of this name: `mcp__NAME__TOOL` must be read in one way only.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}

pub(super) fn apply(config: &mut Config, setting: &Setting, origin: Origin) -> Result<(), ConfigError> {
    let Value::Map(entries) = &setting.node.value else { return Ok(()) };
    if origin == Origin::Workspace && !entries.is_empty() {
        return Err(ConfigError {
            at: setting.at.clone(),
            message: "`mcp.servers` may not stand in a workspace file".into(),
            help: Some("an agent could name a program of its own; put it into your configuration".into()),
        });
    }
    for (key, node) in entries {
        let name = text(key)?;
        if !is_server_name(&name) {
            return Err(key.error(format!(
                "`{name}` cannot be a server's name: it has letters, digits, `-` and single `_` inside"
            )));
        }
        let server = read(name, node)?;
        // A stronger file says anew what a server is.
        config.servers.retain(|known| known.name != server.name);
        config.servers.push(server);
    }
    Ok(())
}

/// Whether one of the servers names hosts that it may connect to. What cannot be read is refused elsewhere.
pub(super) fn connect(setting: &Setting) -> bool {
    let Value::Map(entries) = &setting.node.value else { return false };
    let names = |node: &Node| match &node.value {
        Value::Map(fields) => fields.iter().any(|(key, _)| text(key).is_ok_and(|key| key == "network")),
        _ => false,
    };
    entries.iter().any(|(_, node)| names(node))
}

fn read(name: String, node: &Node) -> Result<Server, ConfigError> {
    let (command, at) = (Vec::new(), node.at.clone());
    let mut server = Server { name, command, env: Vec::new(), cwd: None, network: Vec::new(), at };
    for (key, value) in fields(node, "a mapping with `command`")? {
        match text(key)?.as_str() {
            "command" => server.command = texts(value)?.into_iter().map(|(word, _)| word).collect(),
            "env" => {
                for (name, value) in fields(value, "a mapping from names to text")? {
                    server.env.push((text(name)?, text(value)?));
                }
            }
            "cwd" => server.cwd = Some(text(value)?),
            "network" => server.network = hosts_of(value)?,
            other => return Err(unknown_field(key, other, &KEYS)),
        }
    }
    if server.command.first().is_none_or(String::is_empty) {
        return Err(node.error(format!("the server `{}` has no `command`", server.name)));
    }
    Ok(server)
}

impl Config {
    /// The MCP servers that are configured.
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The server of this name.
    ///
    /// # Errors
    /// There is none; the nearest name is told.
    pub fn server(&self, name: &str) -> Result<&Server, String> {
        self.servers.iter().find(|server| server.name == name).ok_or_else(|| {
            let near = nearest(name, self.servers.iter().map(|server| server.name.as_str()));
            let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("there is no server `{name}` in `mcp.servers`{help}")
        })
    }
}
