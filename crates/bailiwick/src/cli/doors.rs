//! Flags of the doors that others come in by: hooks, MCP, HTTP, and what puts them into others' settings.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use door_hook::Host;

use super::{SafetyArgs, Setup};

fn hosts() -> PossibleValuesParser {
    PossibleValuesParser::new(Host::ALL.map(Host::name))
}

/// Whose question to answer.
#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The host
    #[arg(value_parser = hosts())]
    pub(crate) host: String,
}

pub(super) const MCP_HELP: &str = "\
Examples:
  bailiwick mcp                                        the built-in tools, on the standard streams
  bailiwick mcp --listen 127.0.0.1:8765                the same over HTTP, with a token
  bailiwick mcp proxy --name files -- npx -y some-server .
  bailiwick mcp proxy                                  every server of `mcp.servers`";

/// What to serve.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Serve over HTTP at this address of the loopback interface
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

/// What to serve.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Stand in front of other MCP servers: their tools pass the gate, they themselves run behind the fence
    Proxy(McpProxy),
}

/// In front of which servers.
#[derive(Debug, Args)]
pub(crate) struct McpProxy {
    /// What rules call the server: its tools are mcp__NAME__TOOL; without a program, one of `mcp.servers`
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Hand this variable of the environment to the server
    #[arg(long, value_name = "VARIABLE", requires = "command")]
    pub(crate) env: Vec<String>,
    /// The server's program and its arguments; without one, those of `mcp.servers`
    #[arg(last = true, value_name = "SERVER")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

pub(super) const INIT_HELP: &str = "\
Examples:
  bailiwick init                  the coding agents that are found on this machine
  bailiwick init claude-code
  bailiwick init --dry-run        show the changes, make none
  bailiwick init --undo           take the hooks out again
  bailiwick init mcp claude-code  the built-in tools as an MCP server of this project
  bailiwick init mcp --wrap files an MCP server that the clients have already, behind the proxy";

pub(super) const SERVE_HELP: &str = "\
Everything but the page's own files needs the token, which is made at the first start and printed as part of the page's
address where standard error is a terminal; otherwise the name of its file is.

Examples:
  bailiwick serve
  bailiwick serve --listen 127.0.0.1:9000 --config team.yaml
  bailiwick serve --socket ~/.bailiwick.sock";

/// Where to listen.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The address and port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8377", conflicts_with = "socket")]
    pub(crate) listen: std::net::SocketAddr,
    /// Listen where other machines can reach it: all of it, the token included, goes unencrypted over the network
    #[arg(long, requires = "listen")]
    pub(crate) reachable_by_others: bool,
    /// Listen at a socket in the file system instead
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Make a new token; the old one counts no more
    #[arg(long)]
    pub(crate) new_token: bool,
    #[command(flatten)]
    pub(crate) safety: SafetyArgs,
}

/// Around which agents.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Init {
    #[command(subcommand)]
    pub(crate) command: Option<InitCommand>,
    /// The hosts; by default those that are found here
    #[arg(value_name = "HOST", value_parser = hosts())]
    pub(crate) hosts: Vec<String>,
    /// Show the changes, make none
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take the hooks out again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Do not ask before the changes are made
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// What else to set up.
#[derive(Debug, Subcommand)]
pub(crate) enum InitCommand {
    /// Add `bailiwick mcp` to the MCP servers of a client, or put the proxy in front of one that it has
    Mcp(InitMcp),
}

/// Which server, for whom.
#[derive(Debug, Args)]
pub(crate) struct InitMcp {
    /// The clients; by default those that have a file for their servers here
    #[arg(value_name = "HOST", value_parser = server_hosts())]
    pub(crate) hosts: Vec<String>,
    /// Put the proxy in front of this server
    #[arg(long, value_name = "NAME", conflicts_with = "undo")]
    pub(crate) wrap: Option<String>,
    /// Show the changes, make none
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take our server out again, and the proxy from in front of others
    #[arg(long)]
    pub(crate) undo: bool,
    /// Do not ask before the changes are made
    #[arg(long, short)]
    pub(crate) yes: bool,
}

fn server_hosts() -> PossibleValuesParser {
    PossibleValuesParser::new(door_hook::settings::SERVER_HOSTS.map(Host::name))
}
