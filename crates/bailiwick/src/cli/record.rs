//! Flags of what looks back: grants and the journal.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::amount::milliseconds;

pub(super) const GRANTS_HELP: &str = "\
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

pub(super) const JOURNAL_HELP: &str = "\
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
