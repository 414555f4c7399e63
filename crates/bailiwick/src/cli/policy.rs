//! Flags of `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Setup;

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
