//! Who is asked, in which order and for how long, and what the journal keeps: the sections `approval` and `journal`.
//!
//! An agent can write the workspace's file, so none of these keys may stand there: it could name an approver of its own. The
//! one exception makes the journal stricter.

use std::sync::Arc;

use call::{could_be_tool, same_tool};
use effects::{Analysis, Class, Effect, Level, Part};

use super::apply::{fields, items, truth, unknown_field};
use super::layer::{self, Origin, Setting, one_or_more, text, texts};
use super::node::{At, ConfigError, Node};
use super::{Config, Set};
use crate::command_list::Entry;
use crate::paths::{Base, PathPattern};
use crate::rule::{classes, level, path_of};

/// The section `approval`.
#[derive(Debug)]
pub struct ApprovalSettings {
    /// Rows that answer questions; the first that matches decides.
    pub rules: Vec<Arc<ApprovalRule>>,
    /// A program that answers questions, with its arguments.
    pub command: Option<Set<Vec<String>>>,
    /// How long it may take, in milliseconds.
    pub command_timeout_ms: Set<u64>,
    /// Who is asked, in order.
    pub providers: Set<Vec<ApprovalProvider>>,
    /// How many questions of one session may be open.
    pub max_pending: Set<u64>,
    /// How long a grant for the session holds, in seconds.
    pub session_grants_ttl_s: Set<u64>,
    /// How long auto-approve holds at most, in seconds.
    pub auto_approve_max_s: Set<u64>,
}

/// The section `journal`.
#[derive(Debug)]
pub struct JournalSettings {
    /// When a record counts as written.
    pub sync: Set<JournalSync>,
    /// Whether the (redacted) output of commands is kept.
    pub output: Set<bool>,
    /// How large a file grows before the next one is begun, in MiB.
    pub rotate_mb: Set<u64>,
    /// Where the journal is, if not in the user's state directory.
    pub directory: Option<Set<String>>,
}

/// Somebody who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalProvider {
    /// The rows of `approval.rules`.
    Rules,
    /// The program of `approval.command`.
    Command,
    /// Whoever sits at the terminal.
    Terminal,
    /// Whoever is at the console, while somebody is.
    Queue,
}

impl ApprovalProvider {
    const ALL: [(&'static str, ApprovalProvider); 4] = [
        ("rules", ApprovalProvider::Rules),
        ("command", ApprovalProvider::Command),
        ("terminal", ApprovalProvider::Terminal),
        ("queue", ApprovalProvider::Queue),
    ];

    /// The word in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ApprovalProvider::Rules => "rules",
            ApprovalProvider::Command => "command",
            ApprovalProvider::Terminal => "terminal",
            ApprovalProvider::Queue => "queue",
        }
    }
}

/// When a record of the journal counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JournalSync {
    /// Each is synced on its own.
    Always,
    /// Those of one moment are synced together.
    Group,
    /// When the operating system sees fit.
    Os,
}

impl JournalSync {
    /// The word in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            JournalSync::Always => "always",
            JournalSync::Group => "group",
            JournalSync::Os => "os",
        }
    }
}

/// What a row answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalWord {
    /// Yes, once.
    Approved,
    /// Yes, and the same again in this session.
    ApprovedForSession,
    /// No.
    Denied,
    /// No, and the run ends.
    Abort,
}

impl ApprovalWord {
    const ALL: [(&'static str, ApprovalWord); 4] = [
        ("approved", ApprovalWord::Approved),
        ("approved_for_session", ApprovalWord::ApprovedForSession),
        ("denied", ApprovalWord::Denied),
        ("abort", ApprovalWord::Abort),
    ];

    const fn is_yes(self) -> bool {
        matches!(self, ApprovalWord::Approved | ApprovalWord::ApprovedForSession)
    }
}

/// One row of `approval.rules`. A row that says yes must fit every command, path and effect of the call; one that says no
/// needs one of them.
#[derive(Debug)]
pub struct ApprovalRule {
    /// Where it stands.
    pub at: At,
    /// What it answers.
    pub decision: ApprovalWord,
    /// Why, in the words of whoever wrote it.
    pub reason: Option<String>,
    tools: Vec<String>,
    commands: Vec<Entry>,
    programs: Vec<String>,
    paths: Vec<PathPattern>,
    effects: Vec<Class>,
    risk: Option<Level>,
}

/// Every key of a row, with a line for the reference page.
pub(crate) const APPROVAL_RULE_KEYS: &[(&str, &str)] = &[
    ("tool", "The tool's name, as in rules."),
    ("command", "The command starts with one of these, by meaning, as in `safety.allowlist`."),
    ("argv0", "The program: its name, or the path that it was called by."),
    ("path", "Patterns of paths, as in `safety.allowed_paths`."),
    ("effect", "Classes of effects. A row that approves a gain of rights must name `privilege`."),
    ("risk", "A row that says yes: at most this risk. A row that says no: at least this."),
    ("decision", "approved, approved_for_session, denied or abort."),
    ("reason", "Shown with the answer."),
];

impl ApprovalSettings {
    pub(super) fn of_profile(at: &At) -> Self {
        let number = |value: u64| Set { value, at: at.clone() };
        ApprovalSettings {
            rules: Vec::new(),
            command: None,
            command_timeout_ms: number(30_000),
            providers: Set {
                value: ApprovalProvider::ALL.iter().map(|(_, provider)| *provider).collect(),
                at: at.clone(),
            },
            max_pending: number(100),
            session_grants_ttl_s: number(8 * 3600),
            auto_approve_max_s: number(3600),
        }
    }
}

impl JournalSettings {
    pub(super) fn of_profile(at: &At) -> Self {
        JournalSettings {
            sync: Set { value: JournalSync::Group, at: at.clone() },
            output: Set { value: false, at: at.clone() },
            rotate_mb: Set { value: 64, at: at.clone() },
            directory: None,
        }
    }
}

/// Puts one setting of these sections into the configuration.
pub(super) fn apply(
    config: &mut Config,
    setting: &Setting,
    origin: Origin,
    base: &Base,
) -> Result<(), ConfigError> {
    let (path, node) = (setting.key.path, &setting.node);
    let stricter = path == "journal.sync" && text(node)? == "always";
    if origin.only_tightens() && !stricter {
        return Err(ConfigError {
            at: setting.at.clone(),
            message: format!("`{path}` may not stand in a workspace file"),
            help: Some(
                "an agent could say who approves and what is recorded; put it into your own configuration"
                    .into(),
            ),
        });
    }
    let number =
        || Ok::<_, ConfigError>(Set { value: layer::whole(setting.key, node)?, at: setting.at.clone() });
    let (approval, journal) = (&mut config.approval, &mut config.journal);
    match path {
        "approval.rules" => {
            for item in items(node) {
                approval.rules.push(Arc::new(ApprovalRule::read(item, base)?));
            }
        }
        "approval.command" => approval.command = command(setting, base)?,
        "approval.command_timeout_ms" => approval.command_timeout_ms = number()?,
        "approval.providers" => {
            let mut value = Vec::new();
            for (word, at) in texts(node)? {
                let provider = named(&ApprovalProvider::ALL, &word, at, "a provider")?;
                if !value.contains(&provider) {
                    value.push(provider);
                }
            }
            approval.providers = Set { value, at: setting.at.clone() };
        }
        "approval.max_pending" => approval.max_pending = number()?,
        "approval.session_grants_ttl_s" => approval.session_grants_ttl_s = number()?,
        "approval.auto_approve_max_s" => approval.auto_approve_max_s = number()?,
        "journal.sync" => {
            let value = match text(node)?.as_str() {
                "always" => JournalSync::Always,
                "os" => JournalSync::Os,
                _ => JournalSync::Group,
            };
            journal.sync = Set { value, at: setting.at.clone() };
        }
        "journal.output" => journal.output = Set { value: truth(node)?, at: setting.at.clone() },
        "journal.rotate_mb" => journal.rotate_mb = number()?,
        "journal.directory" => {
            let value = crate::paths::plain(&text(node)?, base).map_err(|message| ConfigError {
                at: node.at.clone(),
                message,
                help: None,
            })?;
            journal.directory = Some(Set { value, at: setting.at.clone() });
        }
        _ => {}
    }
    Ok(())
}

/// The program must be named by its path: along `PATH` somebody else's could be found.
fn command(setting: &Setting, base: &Base) -> Result<Option<Set<Vec<String>>>, ConfigError> {
    let mut words: Vec<String> = texts(&setting.node)?.into_iter().map(|(word, _)| word).collect();
    let Some(program) = words.first_mut() else { return Ok(None) };
    if !program.starts_with('/') && !program.starts_with("~/") {
        return Err(setting.node.error(format!(
            "`{program}` must be named by its whole path, so that nobody can put another program in its place"
        )));
    }
    *program = crate::paths::plain(program, base).map_err(|message| ConfigError {
        at: setting.at.clone(),
        message,
        help: None,
    })?;
    Ok(Some(Set { value: words, at: setting.at.clone() }))
}

fn named<T: Copy>(known: &[(&str, T)], word: &str, at: At, what: &str) -> Result<T, ConfigError> {
    known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| ConfigError {
        at,
        message: format!("`{word}` is not {what}"),
        help: Some(format!("known: {}", known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))),
    })
}

impl ApprovalRule {
    fn read(node: &Node, base: &Base) -> Result<ApprovalRule, ConfigError> {
        let mut rule = ApprovalRule {
            at: node.at.clone(),
            decision: ApprovalWord::Denied,
            reason: None,
            tools: Vec::new(),
            commands: Vec::new(),
            programs: Vec::new(),
            paths: Vec::new(),
            effects: Vec::new(),
            risk: None,
        };
        let mut decision = None;
        for (key, value) in fields(node, "a mapping with `decision` and conditions")? {
            match text(key)?.as_str() {
                "tool" => rule.tools = one_or_more(value)?.into_iter().map(|(tool, _)| tool).collect(),
                "command" => {
                    for (entry, at) in one_or_more(value)? {
                        rule.commands.push(Entry::new(&entry, at)?);
                    }
                }
                "argv0" => rule.programs = one_or_more(value)?.into_iter().map(|(name, _)| name).collect(),
                "path" => {
                    for (pattern, at) in one_or_more(value)? {
                        rule.paths.push(super::apply::pattern(&pattern, at, base)?);
                    }
                }
                "effect" => {
                    for (word, at) in one_or_more(value)? {
                        rule.effects.extend(classes(&word, &at)?);
                    }
                }
                "risk" => rule.risk = Some(level(value)?),
                "decision" => {
                    let word = text(value)?;
                    decision = Some(named(&ApprovalWord::ALL, &word, value.at.clone(), "a decision")?);
                }
                "reason" => rule.reason = Some(text(value)?),
                other => {
                    let known: Vec<&'static str> = APPROVAL_RULE_KEYS.iter().map(|(key, _)| *key).collect();
                    return Err(unknown_field(key, other, &known));
                }
            }
        }
        rule.decision = decision.ok_or_else(|| node.error("a row of `approval.rules` has no `decision`"))?;
        if rule.decision.is_yes() && !rule.has_conditions() {
            return Err(ConfigError {
                at: node.at.clone(),
                message: "a row that approves everything is not read".into(),
                help: Some("say what it approves: tool, command, argv0, path, effect or risk".into()),
            });
        }
        Ok(rule)
    }

    fn has_conditions(&self) -> bool {
        let Self { tools, commands, programs, paths, effects, risk, .. } = self;
        !(tools.is_empty()
            && commands.is_empty()
            && programs.is_empty()
            && paths.is_empty()
            && effects.is_empty()
            && risk.is_none())
    }

    /// Whether the row answers this call. What cannot be told is no match for a yes.
    #[must_use]
    pub fn matches(&self, tool: &str, analysis: &Analysis, risk: Level) -> bool {
        if self.decision.is_yes() {
            self.fits(tool, analysis, risk)
        } else {
            self.meets(tool, analysis, risk)
        }
    }

    /// For a yes: everything about the call is what the row says.
    fn fits(&self, tool: &str, analysis: &Analysis, risk: Level) -> bool {
        let every_part =
            |holds: &dyn Fn(&Part) -> bool| !analysis.parts.is_empty() && analysis.parts.iter().all(holds);
        let mut classes = all_effects(analysis).filter_map(Effect::class).peekable();
        let mut paths = all_effects(analysis).filter_map(path_of).peekable();
        let gains_rights = all_effects(analysis).any(|effect| matches!(effect, Effect::Privilege(_)));
        (self.tools.is_empty() || self.tools.iter().any(|known| same_tool(known, tool)))
            && (self.commands.is_empty()
                || every_part(&|part| self.commands.iter().any(|entry| entry.covers(part))))
            && (self.programs.is_empty()
                || every_part(&|part| self.programs.iter().any(|name| runs(part, name))))
            && (self.paths.is_empty()
                || (paths.peek().is_some()
                    && paths.all(|(path, _)| {
                        !crate::meeting::is_pattern(path)
                            && self.paths.iter().any(|pattern| pattern.matches(path) == Some(true))
                    })))
            && (self.effects.is_empty()
                || (classes.peek().is_some() && classes.all(|class| self.effects.contains(&class))))
            && (!gains_rights || self.effects.contains(&Class::Privilege))
            && self.risk.is_none_or(|most| risk <= most)
    }

    /// For a no: something about the call is what the row says, condition by condition.
    fn meets(&self, tool: &str, analysis: &Analysis, risk: Level) -> bool {
        let parts = &analysis.parts;
        (self.tools.is_empty() || self.tools.iter().any(|known| could_be_tool(known, tool)))
            && (self.commands.is_empty() || self.commands.iter().any(|entry| entry.names(parts)))
            && (self.programs.is_empty()
                || parts.iter().any(|part| {
                    self.programs
                        .iter()
                        .any(|name| runs(part, name) || part.via.iter().any(|via| via == name))
                }))
            && (self.paths.is_empty()
                || all_effects(analysis).filter_map(path_of).any(|(path, given)| {
                    self.paths.iter().any(|pattern| {
                        pattern.could_match(path)
                            || given.is_some_and(|given| pattern.could_match_given(given))
                    })
                }))
            && (self.effects.is_empty()
                || all_effects(analysis).filter_map(Effect::class).any(|class| self.effects.contains(&class)))
            && self.risk.is_none_or(|least| risk >= least)
    }
}

fn all_effects(analysis: &Analysis) -> impl Iterator<Item = &Effect> {
    analysis.parts.iter().flat_map(|part| &part.effects)
}

/// Whether a part runs this program, by its name or by the path that it was called by.
fn runs(part: &Part, name: &str) -> bool {
    if name.contains('/') {
        return part.argv.as_ref().and_then(|argv| argv.first()).is_some_and(|program| program == name);
    }
    part.normal.program == name
}
