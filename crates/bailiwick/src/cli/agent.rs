//! Flags of what runs an agent: which model, how far, how carefully.

use clap::Args;

use super::Setup;
use super::amount::milliseconds;

pub(super) const RUN_HELP: &str = "\
What must be approved is put to `approval.rules` and `approval.command`; where neither is configured the run fails at once.
Exit codes: 0 done; 1 the model could not be reached; 2 wrong use; 3 a limit was reached (steps, output); 124 its time was up;
125 the configuration does not do; 126 the same call was denied twice, or the run was ended at a question; 130 cancelled.

Examples:
  bailiwick run --profile dev 'make the tests pass'
  bailiwick run --read-only --json 'what does this program do?'
  bailiwick run --resume run-1a2b-3c4d-5e6f 'now write it down'";

pub(super) const CHAT_HELP: &str = "\
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

/// How careful to be. Where nothing is said, see `transport.rs`.
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
