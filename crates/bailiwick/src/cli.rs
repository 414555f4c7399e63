//! The command line: every command and flag, and what is made from them (completions, manual page).

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

/// Keeps an AI agent inside its bailiwick.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, about, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide whether a command or a tool call may run, and say why. Nothing runs
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// List the tools that are known, and what their arguments are
    Tools(Tools),
    /// Look at the policy that holds, and test it
    Policy(Policy),
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

/// Where, and under which configuration.
#[derive(Debug, Args)]
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

/// Which tools to list.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// Only this tool
    pub(crate) name: Option<String>,
    /// Print the JSON Schemas of the arguments
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the policy.
#[derive(Debug, Args)]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

/// What to do with the policy.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print every setting that holds, with the file and line that set it
    Show {
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: Setup,
    },
    /// Run the examples of a file's rules, and its cases
    Test {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        setup: TestSetup,
    },
    /// Print the JSON Schema of a configuration file
    Schema,
    /// Print the reference of the configuration, in Markdown
    Reference,
}

/// Where a policy is tested.
#[derive(Debug, Args)]
pub(crate) struct TestSetup {
    /// Judge as if there were no fence around commands
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// The working directory of the calls
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
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
