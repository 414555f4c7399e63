//! The command line: every command and flag, and what is made from them (completions, manual page).

use std::io::Write;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use door_hook::Host;

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
        // `exec` stands before every command of somebody's day: only its own flags are put together for it. Whatever is not
        // plainly one of them is left to the whole.
        let mut words = std::env::args_os().skip(1);
        let (first, second) = (words.next(), words.next());
        // So does `hook`, before every call of an agent: a host's name and nothing else is all that it takes.
        if first.as_deref().is_some_and(|word| word == "hook")
            && let Some(host) = second.as_ref().and_then(|word| word.to_str()).and_then(Host::from_name)
            && words.next().is_none()
        {
            return Cli { command: Command::Hook(Hook { host: host.name().to_owned() }) };
        }
        let mut words = std::env::args_os().skip(1);
        if words.next().is_some_and(|word| word == "exec") {
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

const RUN_HELP: &str = "\
What must be approved is put to `approval.rules` and `approval.command`; where neither is configured the run fails at once.
Exit codes: 0 done; 1 the model could not be reached; 2 wrong use; 3 a limit was reached (steps, output); 124 its time was up;
125 the configuration does not do; 126 the same call was denied twice, or the run was ended at a question; 130 cancelled.

Examples:
  bailiwick run --profile dev 'make the tests pass'
  bailiwick run --read-only --json 'what does this program do?'
  bailiwick run --resume run-1a2b-3c4d-5e6f 'now write it down'";

const CHAT_HELP: &str = "\
In the conversation: /auto, /edit and /default set how much is approved without a question, /plan and /grants show the plan
and what was granted, /help lists all. Ctrl-C interrupts the turn; twice quits.";

/// What to let a model do.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The task; - reads it from standard input
    #[arg(required_unless_present = "resume")]
    pub(crate) task: Option<String>,
    /// Print what happens, one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// How to talk to a model.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// What to begin with.
#[derive(Debug, Args)]
pub(crate) struct Tui {
    /// What is said first
    #[arg(value_name = "TEXT")]
    pub(crate) first: Option<String>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// Which model, how far, and how carefully: for everything that runs an agent.
#[derive(Debug, Clone, Args)]
pub(crate) struct AgentArgs {
    /// Take this run up again: what was said, never what was granted
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// The protocol of the model: openai or anthropic
    #[arg(long, value_name = "NAME", value_parser = ["openai", "anthropic"])]
    pub(crate) provider: Option<String>,
    /// Where the model is served, if not by the provider itself
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// The most steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: Option<u64>,
    /// The longest time: seconds, or with ms, s, m or h
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    pub(crate) time: Option<u64>,
    #[command(flatten)]
    pub(crate) safety: SafetyArgs,
}

/// How careful a run is. Where nothing is said, see `transport.rs`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SafetyArgs {
    /// Ask before everything that writes or executes
    #[arg(long, overrides_with = "no_require_approval")]
    pub(crate) require_approval: bool,
    /// Ask only about what the policy asks about
    #[arg(long, overrides_with = "require_approval")]
    pub(crate) no_require_approval: bool,
    /// Nothing outside the working directory may be touched
    #[arg(long, overrides_with = "no_restrict_to_cwd")]
    pub(crate) restrict_to_cwd: bool,
    /// No boundary but the policy's
    #[arg(long, overrides_with = "restrict_to_cwd")]
    pub(crate) no_restrict_to_cwd: bool,
    /// Further paths that may never be touched: patterns, separated by commas
    #[arg(long, value_name = "GLOB,…", value_delimiter = ',')]
    pub(crate) denied_paths: Vec<String>,
    /// Only these paths may be touched, in place of the working directory: patterns, separated by commas
    #[arg(long, value_name = "GLOB,…", value_delimiter = ',')]
    pub(crate) allowed_paths: Vec<String>,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

const EXEC_HELP: &str = "\
Exit codes: the program's own; 124 its time was up, 125 Bailiwick itself failed, 126 the gate or the fence
refused, 127 there is no such program.

Examples:
  bailiwick exec -- cargo test
  bailiwick exec --net crates.example.org -- cargo fetch
  bailiwick exec --write ../shared --time 60 -- ./generate.sh
  bailiwick exec --plan -- make";

/// What to run, and what it may touch beyond what the configuration says.
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// A further path to read
    #[arg(long, value_name = "P")]
    pub(crate) read: Vec<PathBuf>,
    /// A further path to write
    #[arg(long, value_name = "P")]
    pub(crate) write: Vec<PathBuf>,
    /// Connections: off, open, or host names separated by commas
    #[arg(long, value_name = "off|HOST,…|open")]
    pub(crate) net: Option<String>,
    /// Memory in MiB, or with K, M or G
    #[arg(long, value_name = "SIZE", value_parser = mebibytes)]
    pub(crate) memory: Option<u64>,
    /// Time in seconds, or with ms, s, m or h
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    pub(crate) time: Option<u64>,
    /// Print what the program could touch, and run nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// The session of the coding agent whose hook rewrote the command: its host times it, and nobody is asked at a terminal
    #[arg(long, value_name = "S", hide = true)]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

impl Exec {
    /// What the flags say of the sandbox, as the YAML that they stand for.
    pub(crate) fn terms(&self) -> Result<Vec<String>, String> {
        let quoted = |text: &str| serde_json::to_string(text).map_err(|error| error.to_string());
        let paths = |paths: &[PathBuf]| {
            let each = paths.iter().map(|path| match path.to_str() {
                Some(text) => quoted(text),
                None => Err(format!("{} is not UTF-8 text", path.display())),
            });
            each.collect::<Result<Vec<_>, _>>().map(|texts| texts.join(", "))
        };
        let mut terms = Vec::new();
        if !self.read.is_empty() {
            terms.push(format!("read: [{}]", paths(&self.read)?));
        }
        if !self.write.is_empty() {
            terms.push(format!("write: [{}]", paths(&self.write)?));
        }
        match self.net.as_deref() {
            None => {}
            Some("off" | "open") => {
                terms.push(format!("network: {{mode: {}}}", self.net.as_deref().unwrap_or("off")))
            }
            Some(hosts) => {
                let hosts = hosts.split(',').map(quoted).collect::<Result<Vec<_>, _>>()?.join(", ");
                terms.push(format!("network: {{mode: allowlist, allow: [{hosts}]}}"));
            }
        }
        let mut limits = Vec::new();
        limits.extend(self.memory.map(|memory| format!("memory_mb: {memory}")));
        limits.extend(self.time.map(|time| format!("wall_ms: {time}")));
        if !limits.is_empty() {
            terms.push(format!("limits: {{{}}}", limits.join(", ")));
        }
        Ok(terms)
    }
}

fn scaled(text: &str, units: &[(&str, u64, u64)]) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let number: u64 = digits.parse().map_err(|_| format!("`{text}` is no whole number"))?;
    let Some((_, times, by)) = units.iter().find(|row| row.0.eq_ignore_ascii_case(unit)) else {
        return Err(format!("`{unit}` is no unit here"));
    };
    match number.saturating_mul(*times) / by {
        0 => Err(format!("`{text}` is too little")),
        value => Ok(value),
    }
}

fn mebibytes(text: &str) -> Result<u64, String> {
    scaled(
        text,
        &[
            ("", 1, 1),
            ("m", 1, 1),
            ("mb", 1, 1),
            ("g", 1024, 1),
            ("gb", 1024, 1),
            ("k", 1, 1024),
            ("kb", 1, 1024),
        ],
    )
}

fn milliseconds(text: &str) -> Result<u64, String> {
    scaled(text, &[("", 1000, 1), ("s", 1000, 1), ("ms", 1, 1), ("m", 60_000, 1), ("h", 3_600_000, 1)])
}

/// Where, and under which configuration.
#[derive(Debug, Clone, Args)]
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

const GRANTS_HELP: &str = "\
Examples:
  bailiwick grants                        what holds now, and what waits for an answer
  bailiwick grants approve 3f2a           yes, once, to a question that waits (its first digits are enough)
  bailiwick grants approve 3f2a --for-session
  bailiwick grants revoke --all
  bailiwick grants auto --session S --for 30m --tool file_write";

/// What to do with grants.
#[derive(Debug, Args)]
pub(crate) struct Grants {
    #[command(subcommand)]
    pub(crate) command: Option<GrantsCommand>,
    /// As JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with grants.
#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// What holds now, and what waits for an answer
    List {
        /// Only of this session
        #[arg(long)]
        session: Option<String>,
    },
    /// Say yes to a question that waits
    Approve {
        /// The question's id, or its first digits
        id: String,
        /// The yes holds for the rest of its session
        #[arg(long)]
        for_session: bool,
    },
    /// Say no to a question that waits
    Deny {
        /// The question's id, or its first digits
        id: String,
    },
    /// Take a grant back
    Revoke {
        /// The grant's id, or its first digits
        #[arg(required_unless_present_any = ["all", "session"])]
        id: Option<String>,
        /// All grants of this session
        #[arg(long, conflicts_with = "id")]
        session: Option<String>,
        /// All grants of all sessions, automatic approval among them
        #[arg(long, conflicts_with_all = ["id", "session"])]
        all: bool,
    },
    /// Answer the questions of a session with yes for a while
    Auto {
        /// The session
        #[arg(long)]
        session: String,
        /// Only for this tool
        #[arg(long)]
        tool: Option<String>,
        /// For how long: seconds, or with s, m or h
        #[arg(long = "for", value_name = "TIME", value_parser = milliseconds, default_value = "15m")]
        lasts: u64,
        /// Switch it off
        #[arg(long)]
        off: bool,
    },
}

const JOURNAL_HELP: &str = "\
Times are dates (2026-01-31, 2026-01-31T12:00:00Z) or how long ago: 30m, 12h, 7d.

Examples:
  bailiwick journal tail -f
  bailiwick journal show 3f2a91
  bailiwick journal verify --head saved-head.json
  bailiwick journal export --format csv --since 7d > week.csv";

/// What to do with the journal.
#[derive(Debug, Args)]
pub(crate) struct Journal {
    #[command(subcommand)]
    pub(crate) command: JournalCommand,
    /// As JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Where the journal is, if not in its usual place
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// What to do with the journal.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// The last records, one line each
    Tail {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
        /// Go on as records are added
        #[arg(short, long)]
        follow: bool,
        /// Only of this session
        #[arg(long)]
        session: Option<String>,
        /// Only from this time on
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
    },
    /// One call's whole story
    Show {
        /// The call's id, or its first characters
        call: String,
    },
    /// Decisions by day, the commonest reasons, what an allow rule would save
    Stats {
        /// Only from this time on
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
    },
    /// Check every record, the chain and the signatures
    Verify {
        /// A head that was exported before: the journal must still contain it
        #[arg(long, value_name = "FILE")]
        head: Option<PathBuf>,
        /// The public key to check against, as `journal key` printed it
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Print the last signed checkpoint, to be kept elsewhere
    Head,
    /// Print the public key that checkpoints are signed with
    Key,
    /// Print all records in another form
    Export {
        /// In which form
        #[arg(long, default_value = "jsonl")]
        format: ExportFormat,
        /// Only from this time on
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only of this session
        #[arg(long)]
        session: Option<String>,
    },
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The records as they are
    Jsonl,
    /// A table of decisions
    Csv,
    /// Log records of OpenTelemetry
    OtlpJson,
    /// Attempts, approvals and violations, one JSON object a line
    Audit,
    /// Who wanted what, what the policy said, what a person said, what came of it: one JSON object a call
    Decisions,
}

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

const INIT_HELP: &str = "\
Examples:
  bailiwick init                  the coding agents that are found on this machine
  bailiwick init claude-code
  bailiwick init --dry-run        show the changes, make none
  bailiwick init --undo           take the hooks out again";

/// Around which agents.
#[derive(Debug, Args)]
pub(crate) struct Init {
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
    /// Judge the calls of the journal anew under another configuration
    Replay {
        /// Only calls from this time on
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Where the journal is, if not in its usual place
        #[arg(long, value_name = "DIR")]
        journal: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: Setup,
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
