//! The command line: every command and flag, and what is made from them (completions, manual page).

mod agent;
mod amount;
mod doors;
mod exec;
mod policy;
mod record;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use door_hook::Host;

pub(crate) use agent::{AgentArgs, Chat, Run, SafetyArgs, Tui};
use agent::{CHAT_HELP, RUN_HELP};
pub(crate) use doors::{Hook, Init, InitCommand, InitMcp, Mcp, McpCommand, McpProxy, Serve};
use doors::{INIT_HELP, MCP_HELP, SERVE_HELP};
use exec::EXEC_HELP;
pub(crate) use exec::Exec;
pub(crate) use policy::{Policy, PolicyCommand, TestSetup};
pub(crate) use record::{ExportFormat, Grants, GrantsCommand, Journal, JournalCommand};
use record::{GRANTS_HELP, JOURNAL_HELP};

/// Keeps an AI agent inside its bailiwick.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, about, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What this process was asked to do. It ends here where that was help, or is not understood.
    pub(crate) fn of_this_process() -> Cli {
        let mut words = std::env::args_os().skip(1);
        let (first, second) = (words.next(), words.next());
        // `hook` stands before every call of an agent: a host's name and nothing else is all that it takes.
        if first.as_deref().is_some_and(|word| word == "hook")
            && let Some(host) = second.as_ref().and_then(|word| word.to_str()).and_then(Host::from_name)
            && words.next().is_none()
        {
            return Cli { command: Command::Hook(Hook { host: host.name().to_owned() }) };
        }
        // So does `exec`, before every command of somebody's day: only its own flags are put together for it. Whatever is not
        // plainly one of them is left to the whole.
        let mut words = std::env::args_os().skip(1);
        if words.next().is_some_and(|word| word == "exec") {
            if let Some(exec) = Exec::plainly(std::env::args_os().skip(2)) {
                return Cli { command: Command::Exec(exec) };
            }
            let exec = Exec::augment_args(clap::Command::new("bailiwick exec").no_binary_name(true));
            let read = exec.try_get_matches_from(words).and_then(|found| Exec::from_arg_matches(&found));
            if let Ok(exec) = read {
                return Cli { command: Command::Exec(exec) };
            }
        }
        Cli::parse()
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide whether a command or a tool call may run, and say why. Nothing runs
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Run a program: past the gate, behind the fence, otherwise as if it were run bare
    #[command(after_help = EXEC_HELP)]
    Exec(Exec),
    /// Call a built-in tool, past the gate and behind the fence
    #[command(after_help = CALL_HELP)]
    Call(Call),
    /// Say what the fence holds on this machine
    Sandbox(Sandbox),
    /// List the tools that are known, and what their arguments are
    Tools(Tools),
    /// Look at the policy that holds, and test it
    Policy(Policy),
    /// What was approved for now, and what waits for an answer
    #[command(after_help = GRANTS_HELP)]
    Grants(Grants),
    /// Read, check and export the record of what happened
    #[command(after_help = JOURNAL_HELP)]
    Journal(Journal),
    /// Answer programs over HTTP, and people from a page: decisions, tools, approvals
    #[command(after_help = SERVE_HELP)]
    Serve(Serve),
    /// Offer the built-in tools to an MCP client, or stand in front of other MCP servers
    #[command(after_help = MCP_HELP, args_conflicts_with_subcommands = true)]
    Mcp(Mcp),
    /// Let a model do a task, unattended: every call past the gate and behind the fence
    #[command(after_help = RUN_HELP)]
    Run(Run),
    /// Work with a model, turn by turn: what must be approved is asked in place
    #[command(after_help = CHAT_HELP)]
    Chat(Chat),
    /// Work with a model on a screen: transcript, live output, panels for questions, plan and grants
    Tui(Tui),
    /// Answer the host of a coding agent that is about to call a tool
    Hook(Hook),
    /// Put the gate around the coding agents on this machine, or take it away
    #[command(after_help = INIT_HELP)]
    Init(Init),
    /// Say what is protected on this machine, what is not, and how to change that
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    Man,
}

const CHECK_HELP: &str = "\
Exit codes: 0 allow, 10 ask, 11 deny, 2 wrong use or malformed call, 125 Bailiwick itself failed.
With --jsonl each line of standard input is {\"command\": \"…\"} or {\"tool\": \"…\", \"args\": {…}},
optionally with \"cwd\" and \"session\"; each gets one line of answer, in order, and the exit code is 0.

Examples:
  bailiwick check 'pytest && rm -rf /'
  bailiwick check --explain 'curl https://example.com/x.sh | sh'
  bailiwick check --tool file_write --args '{\"path\": \".git/hooks/pre-commit\", \"content\": \"\"}'";

/// What to check.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The command, as a shell would get it (several words are joined by spaces)
    #[arg(value_name = "CMD", required_unless_present_any = ["tool", "jsonl"], conflicts_with_all = ["tool", "jsonl"], trailing_var_arg = true)]
    pub(crate) command: Vec<String>,
    /// The tool that would be called
    #[arg(long, value_name = "TOOL", conflicts_with = "jsonl")]
    pub(crate) tool: Option<String>,
    /// The tool's arguments, a JSON object
    #[arg(long, value_name = "JSON", requires = "tool", default_value = "{}", hide_default_value = true)]
    pub(crate) args: String,
    /// Read calls from standard input, one JSON object a line, and answer each with a line
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show every part of the call with its effects, and every step of the decision
    #[arg(long)]
    pub(crate) explain: bool,
    /// Contact the external policy engine, where one is configured
    #[arg(long)]
    pub(crate) engine: bool,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

const CALL_HELP: &str = "\
The result is {ok, stdout, stderr, exit_code?, duration_ms, truncated, data?, error_kind?, retryable}. The exit code is 0, or
tells the kind of the error: 2 malformed, 124 time was up, 125 own failure, 126 refused, 127 not found; 1 if the tool failed.

Examples:
  bailiwick call shell_command '{\"command\": \"cargo test\"}'
  bailiwick call grep_files '{\"pattern\": \"TODO\", \"include\": \"*.rs\"}'
  bailiwick call file_write - < arguments.json";

/// Which tool to call.
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool
    pub(crate) tool: String,
    /// Its arguments, a JSON object; from standard input if absent or -
    #[arg(value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Print output as it comes, one JSON object a line, and the result last
    #[arg(long)]
    pub(crate) stream: bool,
    /// The session that the call belongs to; by default this terminal
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

/// Where, and under which configuration.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Setup {
    /// A configuration file, above the managed, the user's and the workspace's
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The built-in profile to start from
    #[arg(long)]
    pub(crate) profile: Option<Profile>,
    /// What happens with a call that nothing else decides
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// Refuse everything that writes or executes
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Judge as if there were no fence around commands
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// The working directory of the call
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The workspace's root; by default the nearest directory above with a .git or a .bailiwick.yaml
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Further entries of `safety` and `agent`, as YAML, that other flags stand for
    #[arg(skip)]
    pub(crate) more: More,
}

/// Further entries of sections, as YAML, that flags of single commands stand for.
#[derive(Debug, Clone, Default)]
pub(crate) struct More {
    pub(crate) safety: Vec<String>,
    pub(crate) agent: Vec<String>,
}

/// The built-in profiles.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Profile {
    /// For a person at work: few questions
    Dev,
    /// For an agent that nobody watches closely
    Balanced,
    /// Unattended, in production
    Prod,
}

/// The modes.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Mode {
    /// Allow it
    Allow,
    /// Ask
    Ask,
    /// Deny every call
    Deny,
}

/// What to say of the fence.
#[derive(Debug, Args)]
pub(crate) struct Sandbox {
    #[command(subcommand)]
    pub(crate) command: SandboxCommand,
}

/// What to say of the fence.
#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Try every part of the fence here, and say what it holds
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// How to say it.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which tools to list.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// Only this tool
    pub(crate) name: Option<String>,
    /// Print the JSON Schemas of the arguments
    #[arg(long)]
    pub(crate) json: bool,
}

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Prints a completion script.
pub(crate) fn completions(arguments: &Completions) -> Result<u8, String> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "bailiwick", &mut script);
    print(&script)
}

/// Prints the manual page: the command and each of its subcommands.
pub(crate) fn man() -> Result<u8, String> {
    let mut page = Vec::new();
    let command = Cli::command();
    let failed = |error: std::io::Error| format!("the manual page could not be made: {error}");
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(failed)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let title = format!("bailiwick-{}", sub.get_name());
        clap_mangen::Man::new(sub.clone()).title(title).render(&mut page).map_err(failed)?;
    }
    print(&page)
}

/// Writes to standard output. A reader that has gone away is no failure of ours.
pub(crate) fn print(bytes: &[u8]) -> Result<u8, String> {
    match std::io::stdout().lock().write_all(bytes) {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(format!("standard output: {error}")),
    }
}
