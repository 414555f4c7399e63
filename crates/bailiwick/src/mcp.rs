//! `bailiwick mcp` and `bailiwick mcp proxy`: the doors for MCP clients.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use door_mcp::{Clients, Door, Listening, Proxy, Token, Upstream};
use gate::policy::{Server, is_server_name};
use gate::{Desk, Gate, Machine};

use crate::approvers::Audience;
use crate::cli::{Mcp, McpCommand, McpProxy};
use crate::setup::told_to_agents;

/// What names a proxied server where nobody does.
const UNNAMED: &str = "server";

/// Runs the command.
pub(crate) fn run(arguments: &Mcp) -> Result<u8, String> {
    let ran = match &arguments.command {
        Some(McpCommand::Proxy(proxied)) => proxy(proxied),
        None => serve(arguments),
    };
    // Clients hand on what a server says there.
    ran.map_err(|why| if std::io::stderr().is_terminal() { why } else { told_to_agents(&why).to_owned() })
}

fn serve(arguments: &Mcp) -> Result<u8, String> {
    let gate = arguments.setup.gate_for(None, Vec::new())?.running();
    let gate = Arc::new(arguments.setup.with_office(gate, &[], Audience::Client)?);
    let clients = if arguments.listen.is_some() { Clients::Many } else { Clients::One };
    let served = door_mcp::run(clients, async {
        let door = Door::new(Arc::clone(&gate))?;
        match arguments.listen {
            None => door_mcp::serve_stdio(door).await,
            Some(address) => {
                let (token, file) = token(&gate)?;
                let listening = Listening::at(address).await?;
                Machine::tell(format_args!(
                    "bailiwick: {}; the token is in {}",
                    listening.url(),
                    file.display()
                ));
                listening.serve(door, token, crate::stop::stop()?).await
            }
        }
    });
    ended(&gate, served)
}

fn proxy(arguments: &McpProxy) -> Result<u8, String> {
    let gate = arguments.setup.gate_for(None, Vec::new())?.running();
    let servers = servers(arguments, &gate)?;
    let desk = Desk::of(gate.world(), gate.config())?;
    let pins = Arc::new(desk.pins(desk.keys()?.digest_key()));
    let gate = Arc::new(arguments.setup.with_office(gate, &[], Audience::Client)?);
    let session = Proxy::session()?;
    let upstream =
        |server: Server| Upstream::new(server, Arc::clone(&gate), Arc::clone(&pins), session.clone());
    let proxy = Proxy::new(Arc::clone(&gate), servers.into_iter().map(upstream).collect(), session.clone())?;
    let served = door_mcp::run(Clients::One, door_mcp::serve_stdio(proxy));
    ended(&gate, served)
}

/// The servers that are meant: the one on the command line, the one of this name, or all that are configured.
fn servers(arguments: &McpProxy, gate: &Gate) -> Result<Vec<Server>, String> {
    let config = gate.config();
    if let Some(name) = arguments.name.as_deref().filter(|name| !is_server_name(name)) {
        return Err(format!(
            "`{name}` cannot be a server's name: letters, digits, `-` and single `_` inside"
        ));
    }
    match (&arguments.name, arguments.command.is_empty()) {
        (Some(name), true) => config.server(name).map(|server| vec![server.clone()]),
        (None, true) if config.servers().is_empty() => Err(
            "there is no server to stand in front of: `bailiwick mcp proxy -- SERVER…`, or `mcp.servers` in your configuration"
                .into(),
        ),
        (None, true) => Ok(config.servers().to_vec()),
        (name, false) => Ok(vec![Server {
            name: name.clone().unwrap_or_else(|| UNNAMED.into()),
            command: arguments.command.clone(),
            env: environment(&arguments.env)?,
            cwd: None,
            network: Vec::new(),
            at: gate::policy::At::file("the command line"),
        }]),
    }
}

/// These variables, as this process has them.
fn environment(names: &[String]) -> Result<Vec<(String, String)>, String> {
    let all = Machine::environment();
    let one = |name: &String| {
        let found = all.iter().find(|(known, _)| known == name.as_str());
        let value = found.and_then(|(_, value)| value.to_str());
        value
            .map(|value| (name.clone(), value.to_owned()))
            .ok_or_else(|| format!("`--env {name}`: it is not set"))
    };
    names.iter().map(one).collect()
}

/// Seals the journal.
fn ended(gate: &Gate, served: door_mcp::Served) -> Result<u8, String> {
    if let Some(office) = gate.office() {
        let _unsealed = office.journal.seal();
    }
    served.map(|()| 0)
}

/// The token that clients over HTTP must show; made where there is none.
fn token(gate: &Gate) -> Result<(Token, PathBuf), String> {
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let directory =
        gate.world().keys.clone().ok_or("there is no home directory to keep a token in; set HOME")?;
    let file = directory.join("mcp-token");
    if let Some(text) = gate.world().disk.read(&file).map_err(|why| format!("{} {why}", file.display()))? {
        return Ok((Token::new(&text)?, file));
    }
    let text = Machine::random::<32>()?.map(|byte| format!("{byte:02x}")).concat();
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory)
        .and_then(|()| std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file))
        .and_then(|mut made| made.write_all(text.as_bytes()))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    Ok((Token::new(&text)?, file))
}
