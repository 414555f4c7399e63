//! Configuration: files in layers, read strictly, merged so that every value remembers who set it.

mod agent;
mod apply;
mod approval;
mod equipment;
mod keys;
mod layer;
mod merge;
mod nearest;
mod node;
mod profile;
mod reference;
mod schema;
mod servers;
mod show;

pub use agent::AgentSettings;
pub use approval::{
    ApprovalProvider, ApprovalRule, ApprovalSettings, ApprovalWord, JournalSettings, JournalSync,
};
pub use equipment::Equipment;
pub use layer::{Layer, Origin};
pub use node::{At, ConfigError, MAX_BYTES, REQUEST};
pub use profile::{Profile, Stance};
pub use reference::reference;
pub use schema::schema;
pub use servers::{Server, is_server_name};
pub use show::Shown;

pub(crate) use layer::{one_or_more, text, texts};
pub(crate) use nearest::nearest;
pub(crate) use node::{Node, Value};

use effects::Class;

use crate::command_list::{CommandList, Entry};
use crate::decision::Decision;
use crate::paths::{Base, PathPattern};
use crate::pattern::Pattern;
use crate::question::Fence;
use crate::rule_list::RuleList;

/// A value and who set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    pub at: At,
}

/// The configuration that holds: all layers merged.
#[derive(Debug)]
pub struct Config {
    pub(crate) profile: Set<Profile>,
    pub(crate) mode: Set<Decision>,
    pub(crate) allowlist: CommandList,
    pub(crate) denylist: CommandList,
    pub(crate) denied_commands: CommandList,
    pub(crate) tool_allowlist: Vec<Set<String>>,
    pub(crate) tool_denylist: Vec<Set<String>>,
    pub(crate) read_only: Set<bool>,
    /// Each set is a boundary of its own: a path must be inside all of them.
    pub(crate) allowed_paths: Vec<PathSet>,
    pub(crate) denied_paths: Vec<PathPattern>,
    /// Bailiwick's own places: no rule of any file lifts this.
    pub(crate) own: Vec<PathPattern>,
    pub(crate) path_rules: Vec<PathRules>,
    pub(crate) command_rules: Vec<CommandRules>,
    pub(crate) require_approval_for_writes: Set<bool>,
    pub(crate) require_approval_for_execute: Set<bool>,
    pub(crate) complex_shell_asks: Set<bool>,
    pub(crate) stances: [Set<Stance>; Class::ALL.len()],
    pub(crate) rules: Vec<RuleList>,
    pub(crate) restricted: Set<bool>,
    pub(crate) sandbox_mode: Set<String>,
    pub(crate) network_mode: Set<String>,
    pub(crate) network_allow: Vec<String>,
    pub(crate) sandbox_read: Vec<String>,
    pub(crate) sandbox_write: Vec<String>,
    pub(crate) sandbox_env: Vec<String>,
    pub(crate) protect: Set<bool>,
    pub(crate) bwrap_path: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) approval_timeout_ms: Set<u64>,
    pub(crate) human_timeout_ms: Set<u64>,
    pub(crate) log_all_commands: Set<bool>,
    pub(crate) engine_url: Option<Set<String>>,
    pub(crate) engine_timeout_ms: Set<u64>,
    pub(crate) approval: ApprovalSettings,
    pub(crate) journal: JournalSettings,
    pub(crate) hooks_fence: Set<bool>,
    pub(crate) equipment: Equipment,
    pub(crate) servers: Vec<Server>,
    pub(crate) agent: AgentSettings,
    pub(crate) cases: Vec<Case>,
    /// Every setting as it was written, in the order in which it was applied: for `policy show`.
    pub(crate) written: Vec<(Origin, layer::Setting)>,
}

/// A boundary: paths that match one of the patterns are inside.
#[derive(Debug)]
pub(crate) struct PathSet {
    pub(crate) patterns: Vec<PathPattern>,
    pub(crate) at: At,
    pub(crate) origin: Origin,
}

/// The path rules of one origin, in order.
#[derive(Debug)]
pub(crate) struct PathRules {
    pub(crate) origin: Origin,
    pub(crate) rules: Vec<PathRule>,
}

/// `{pattern, allow_read, allow_write}`
#[derive(Debug)]
pub(crate) struct PathRule {
    pub(crate) pattern: PathPattern,
    pub(crate) allow_read: bool,
    pub(crate) allow_write: bool,
}

/// The command rules of one origin, in order.
#[derive(Debug)]
pub(crate) struct CommandRules {
    pub(crate) rules: Vec<CommandRule>,
}

/// `{pattern, decision, is_regex}`
#[derive(Debug)]
pub(crate) struct CommandRule {
    pub(crate) text: String,
    pub(crate) at: At,
    pub(crate) matcher: CommandMatcher,
    pub(crate) decision: Decision,
}

/// How a command rule looks at a command.
#[derive(Debug)]
pub(crate) enum CommandMatcher {
    /// By meaning.
    Meaning(Entry),
    /// By its text.
    Regex(Pattern),
}

/// Limits on what a command may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Memory in MiB.
    pub memory_mb: Set<u64>,
    /// Time in milliseconds.
    pub wall_ms: Set<u64>,
    /// Processes.
    pub processes: Set<u64>,
    /// Output that is kept.
    pub output_bytes: Set<u64>,
    /// Seconds on a processor for one process; 0: none is set.
    pub cpu_s: Set<u64>,
    /// Open files of one process.
    pub open_files: Set<u64>,
    /// The largest file, in MiB.
    pub file_mb: Set<u64>,
    /// Scratch places together, in MiB.
    pub scratch_mb: Set<u64>,
}

/// A call and the decision that a file's author expects for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// A command.
    pub command: Option<String>,
    /// Or a tool and its arguments, as JSON.
    pub tool: Option<(String, serde_json::Value)>,
    /// What is expected.
    pub expect: Decision,
    /// Where the case stands.
    pub at: At,
}

impl Config {
    /// The stance towards a class of effects.
    #[must_use]
    pub fn stance(&self, class: Class) -> &Set<Stance> {
        // `Class` is a plain enum that counts from 0, and the array has a place for each.
        let [first, ..] = &self.stances;
        self.stances.get(class as usize).unwrap_or(first)
    }

    /// The profile that everything started from.
    #[must_use]
    pub fn profile(&self) -> &Set<Profile> {
        &self.profile
    }

    /// Whether commands run behind the fence where the call says nothing.
    #[must_use]
    pub fn restricted(&self) -> bool {
        self.restricted.value
    }

    /// Whether nobody has said that commands run without a fence; they only would because no profile was chosen.
    #[must_use]
    pub fn leaves_fence_open(&self) -> bool {
        !self.restricted.value && self.restricted.at.line == 0
    }

    /// Which fence is wanted.
    #[must_use]
    pub fn sandbox_mode(&self) -> &Set<String> {
        &self.sandbox_mode
    }

    /// Which connections the fence lets through: `off`, `allowlist` or `open`.
    #[must_use]
    pub fn network_mode(&self) -> &Set<String> {
        &self.network_mode
    }

    /// Hosts that the fence may let through, as they were written.
    #[must_use]
    pub fn network_allow(&self) -> &[String] {
        &self.network_allow
    }

    /// Further paths that a fenced command may read.
    #[must_use]
    pub fn sandbox_read(&self) -> &[String] {
        &self.sandbox_read
    }

    /// Further paths that a fenced command may write.
    #[must_use]
    pub fn sandbox_write(&self) -> &[String] {
        &self.sandbox_write
    }

    /// Names of variables that a fenced command gets, beyond the usual.
    #[must_use]
    pub fn sandbox_env(&self) -> &[String] {
        &self.sandbox_env
    }

    /// Whether what decides what runs on the user's side is protected inside the workspace.
    #[must_use]
    pub fn protects(&self) -> bool {
        self.protect.value
    }

    /// Where bubblewrap is, if a file says so.
    #[must_use]
    pub fn bwrap_path(&self) -> Option<&str> {
        self.bwrap_path.as_deref()
    }

    /// Whether nothing may be written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only.value
    }

    /// Whether a fence holds every boundary that is set. Where the network is open it holds no connection, and what is not
    /// known could make one that would be asked about.
    #[must_use]
    pub fn is_held_by(&self, fence: &Fence) -> bool {
        let connects =
            self.network_mode.value == "open" && self.stance(Class::Connect).value != Stance::Allow;
        fence.holds() && !connects
    }

    /// Keeps every call away from a directory of Bailiwick's own, whatever the files say.
    ///
    /// # Errors
    /// The path is empty.
    pub fn keep_away_from(&mut self, directory: &str) -> Result<(), ConfigError> {
        let at = At::file("Bailiwick itself");
        let base = Base { cwd: directory.into(), home: None };
        let pattern = PathPattern::new("<cwd>/**", at.clone(), &base).map_err(|message| ConfigError {
            at,
            message,
            help: None,
        })?;
        self.own.push(pattern);
        Ok(())
    }

    /// Paths that are denied.
    pub fn denied(&self) -> impl Iterator<Item = &PathPattern> {
        self.denied_paths.iter().chain(&self.own)
    }

    /// Limits on what a command may use.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How long a question waits.
    #[must_use]
    pub fn approval_timeout_ms(&self) -> u64 {
        self.approval_timeout_ms.value
    }

    /// How long a question to a person waits.
    #[must_use]
    pub fn human_timeout_ms(&self) -> u64 {
        self.human_timeout_ms.value
    }

    /// Whether the journal keeps the masked text of every command.
    #[must_use]
    pub fn log_all_commands(&self) -> bool {
        self.log_all_commands.value
    }

    /// Who is asked, and for how long.
    #[must_use]
    pub fn approval(&self) -> &ApprovalSettings {
        &self.approval
    }

    /// What the journal keeps, and how.
    #[must_use]
    pub fn journal(&self) -> &JournalSettings {
        &self.journal
    }

    /// The model that an agent of ours talks to, and how far its runs may go.
    #[must_use]
    pub fn agent(&self) -> &AgentSettings {
        &self.agent
    }

    /// Whether every call of a tool is denied whatever its arguments, so that nobody need offer it.
    #[must_use]
    pub fn denies_tool(&self, tool: &str, category: call::Category) -> bool {
        use call::Category::{Human, None, Read};
        self.mode.value == Decision::Deny
            || (self.read_only.value && !matches!(category, Read | Human | None))
            || self.tool_denylist.iter().any(|entry| entry.value == tool)
    }

    /// Whether shell commands of a coding agent are rewritten to run behind the fence, where its host can do that.
    #[must_use]
    pub fn fences_hooks(&self) -> bool {
        self.hooks_fence.value
    }

    /// The external engine's address and patience, where one is configured.
    #[must_use]
    pub fn engine(&self) -> Option<(&str, u64)> {
        self.engine_url.as_ref().map(|url| (url.value.as_str(), self.engine_timeout_ms.value))
    }

    /// The `cases:` of the files.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Every rule, in the order of the files.
    pub fn rules(&self) -> impl Iterator<Item = &crate::Rule> {
        self.rules.iter().flat_map(|list| list.rules.iter())
    }
}
