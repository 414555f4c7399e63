//! One rule of a `rules:` list: its conditions, and whether they hold for one command of a call.
//!
//! Conditions that stand side by side must all hold. Where a condition looks at several things (the paths that a command
//! touches, the hosts that it connects to), a rule that denies or asks needs one of them, a rule that allows needs
//! all: so neither can be used to smuggle something past the other.

use call::{could_be_tool, same_tool};
use effects::{Class, Connection, Effect, Level, Part, Peer, Place};

use crate::args::Argument;
use crate::command_list::Entry;
use crate::config::{At, ConfigError, Node, Value, nearest, one_or_more, text, texts};
use crate::decision::Decision;
use crate::obligation::Obligation;
use crate::pattern::{Found, Pattern};
use crate::question::Question;

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name: what rulings cite.
    pub name: String,
    /// Where it stands.
    pub at: At,
    /// What it says.
    pub action: Decision,
    /// Why, in the words of whoever wrote it.
    pub reason: Option<String>,
    pub(crate) risk: Option<Level>,
    pub(crate) obligations: Vec<Obligation>,
    pub(crate) examples: Examples,
    pub(crate) tools: Vec<String>,
    pub(crate) commands: Vec<Entry>,
    options_only: Option<Vec<String>>,
    more_operands: bool,
    pub(crate) contains: Vec<Entry>,
    pub(crate) command_patterns: Vec<Pattern>,
    path_patterns: Vec<Pattern>,
    pub(crate) effects: Vec<Class>,
    hosts: Vec<String>,
    hosts_except: Vec<String>,
    outside_workspace: Option<bool>,
    over_wall_ms: Option<u64>,
    over_memory_mb: Option<u64>,
    unfenced: Option<bool>,
    args: Vec<Argument>,
}

/// Commands that a rule must match and must not match, checked when it is loaded.
#[derive(Debug, Default)]
pub struct Examples {
    /// These it must match.
    pub matching: Vec<(String, At)>,
    /// These it must not.
    pub not_matching: Vec<(String, At)>,
}

/// Every key of a rule, with a line for the reference page.
pub(crate) const RULE_KEYS: &[(&str, &str)] = &[
    ("name", "What rulings and the journal call it."),
    ("action", "allow, ask (or require_approval), or deny."),
    (
        "tool",
        "The tool's name. `Bash` means every tool that runs commands, `Read`, `Write`, `Edit`, `Glob` and `Grep` the file tools; an MCP tool may be named in full or by its bare name.",
    ),
    ("tools", "Several of them."),
    ("commands", "The command starts with one of these, by meaning: `rm -rf` is `rm --force -r`."),
    ("options_only", "With `commands`: no option is given but these and those of the command, by meaning."),
    ("more_operands", "With `commands`: false: no operand is given beyond those of the command."),
    ("contains", "Some command of the call, or a wrapper around it (`sudo`), is one of these."),
    ("command_patterns", "Regular expressions, one of which is found in the command's text."),
    ("path_patterns", "Regular expressions for the paths that are touched."),
    ("effects", "Classes of effects."),
    ("hosts", "Hosts that are connected to: exact names, or `*.example.com`."),
    ("hosts_except", "Any host but these."),
    ("outside_workspace", "true: a path outside the workspace is touched; false: none is."),
    ("over_wall_ms", "The call wants more time than this."),
    ("over_memory_mb", "The call may use more memory than this."),
    ("unfenced", "true: the call would run without a fence that holds; false: with one."),
    (
        "args",
        "Of a tool that is not built in (an MCP tool): paths of its arguments, each with a regular expression, or several, that is found in the value there. `options.path` leads into a mapping; a list means each of its items.",
    ),
    ("reason", "Shown with the ruling."),
    ("description", "For readers of the file."),
    ("risk_level", "low, medium, high or critical: the least risk that a match is given."),
    (
        "obligations",
        "Terms that come with the ruling: log_after_execution, require_typed_confirmation, require_sandbox.",
    ),
    ("examples", "match: and not_match: lists of commands, checked whenever the file is loaded."),
];

impl Rule {
    pub(crate) fn read(node: &Node, number: usize) -> Result<Rule, ConfigError> {
        let Value::Map(entries) = &node.value else {
            return Err(node.expected("a rule: a mapping with `name` and `action`"));
        };
        let mut rule = Rule::bare("", Decision::Deny, node.at.clone());
        let mut action = None;
        for (key, value) in entries {
            let name = text(key)?;
            match name.as_str() {
                "name" => rule.name = text(value)?,
                "action" => {
                    let word = text(value)?;
                    action = Some(Decision::from_name(&word).ok_or_else(|| {
                        value.error(format!("`action` is allow, ask, require_approval or deny, not `{word}`"))
                    })?);
                }
                "tool" | "tools" => rule.tools.extend(one_or_more(value)?.into_iter().map(|(tool, _)| tool)),
                "commands" => rule.commands = entries_of(value)?,
                "options_only" => {
                    let options = one_or_more(value)?.into_iter().map(|(option, _)| option);
                    rule.options_only = Some(options.collect());
                }
                "more_operands" => rule.more_operands = truth(value)?,
                "contains" => rule.contains = entries_of(value)?,
                "command_patterns" => rule.command_patterns = patterns_of(value)?,
                "path_patterns" => rule.path_patterns = patterns_of(value)?,
                "effects" => {
                    for (word, at) in one_or_more(value)? {
                        rule.effects.extend(classes(&word, &at)?);
                    }
                }
                "hosts" => rule.hosts = hosts_of(value)?,
                "hosts_except" => rule.hosts_except = hosts_of(value)?,
                "outside_workspace" => rule.outside_workspace = Some(truth(value)?),
                "over_wall_ms" => rule.over_wall_ms = Some(amount(value)?),
                "over_memory_mb" => rule.over_memory_mb = Some(amount(value)?),
                "unfenced" => rule.unfenced = Some(truth(value)?),
                "args" => rule.args = Argument::read_all(value)?,
                "reason" => rule.reason = Some(text(value)?),
                "description" => drop(text(value)?),
                "risk_level" => rule.risk = Some(level(value)?),
                "obligations" => {
                    for (word, at) in texts(value)? {
                        rule.obligations.push(Obligation::from_name(&word).ok_or_else(|| ConfigError {
                            at,
                            message: format!("nobody here can honour the obligation `{word}`"),
                            help: Some(format!(
                                "known: {}",
                                Obligation::ALL.map(Obligation::name).join(", ")
                            )),
                        })?);
                    }
                }
                "examples" => rule.examples = examples_of(value)?,
                unknown => {
                    let help = nearest(unknown, RULE_KEYS.iter().map(|(key, _)| *key))
                        .map(|near| format!("did you mean `{near}`?"));
                    let message = format!("unknown key `{unknown}` in a rule");
                    return Err(ConfigError { at: key.at.clone(), message, help });
                }
            }
        }
        if rule.commands.is_empty() && (rule.options_only.is_some() || !rule.more_operands) {
            let message = "`options_only` and `more_operands` say more about `commands`, and there are none";
            return Err(node.error(message));
        }
        if rule.name.is_empty() {
            return Err(node.error(format!("rule {number} has no `name`")));
        }
        let built_in = rule.tools.iter().find(|tool| call::tool(tool).is_some());
        if let Some(tool) = built_in.filter(|_| !rule.args.is_empty()) {
            let message =
                format!("`args` looks at tools that are not built in, and `{tool}` is; say what it would do");
            return Err(node.error(message));
        }
        rule.action = action.ok_or_else(|| node.error(format!("rule `{}` has no `action`", rule.name)))?;
        Ok(rule)
    }

    /// The rule that a file's `default_action` amounts to: it matches whatever the file's other rules do not.
    pub(crate) fn default_action(action: Decision, at: At) -> Rule {
        let mut rule = Rule::bare("settings.default_action", action, at);
        rule.reason = Some("no rule of the file matches".into());
        rule
    }

    fn bare(name: &str, action: Decision, at: At) -> Rule {
        Rule {
            name: name.into(),
            at,
            action,
            reason: None,
            risk: None,
            obligations: Vec::new(),
            examples: Examples::default(),
            tools: Vec::new(),
            commands: Vec::new(),
            options_only: None,
            more_operands: true,
            contains: Vec::new(),
            command_patterns: Vec::new(),
            path_patterns: Vec::new(),
            effects: Vec::new(),
            hosts: Vec::new(),
            hosts_except: Vec::new(),
            outside_workspace: None,
            over_wall_ms: None,
            over_memory_mb: None,
            unfenced: None,
            args: Vec::new(),
        }
    }

    /// The commands that its author says it matches, and those that it does not.
    #[must_use]
    pub fn examples(&self) -> &Examples {
        &self.examples
    }

    /// Whether the rule holds for any part of a call.
    #[must_use]
    pub fn matches_any(&self, question: &Question<'_>) -> bool {
        question.analysis.parts.iter().any(|part| self.matches(question, part))
    }

    /// Whether the rule holds for one part of a call.
    pub(crate) fn matches(&self, question: &Question<'_>, part: &Part) -> bool {
        self.tool_matches(question)
            && self.command_matches(question, part)
            && self.path_matches(part)
            && self.effects_match(part)
            && self.hosts_match(part)
            && self.surroundings_match(question, part)
            && self.arguments_match(question)
    }

    fn tool_matches(&self, question: &Question<'_>) -> bool {
        self.tools.is_empty()
            || self.tools.iter().any(|tool| match self.action {
                Decision::Allow => same_tool(tool, question.tool),
                Decision::Ask | Decision::Deny => could_be_tool(tool, question.tool),
            })
    }

    fn arguments_match(&self, question: &Question<'_>) -> bool {
        self.args.is_empty()
            || question.arguments.is_some_and(|arguments| {
                self.args.iter().all(|argument| argument.holds(arguments, self.action))
            })
    }

    fn command_matches(&self, question: &Question<'_>, part: &Part) -> bool {
        if self.commands.is_empty() && self.contains.is_empty() && self.command_patterns.is_empty() {
            return true;
        }
        if !question.runs_commands() {
            return false;
        }
        let starts = self.commands.is_empty()
            || self.commands.iter().any(|entry| {
                let named = match self.action {
                    Decision::Allow => entry.covers(part),
                    Decision::Ask | Decision::Deny => entry.names(std::slice::from_ref(part)),
                };
                named && entry.says_all(part, self.options_only.as_deref(), self.more_operands)
            });
        let contains = self.contains.is_empty()
            || self.contains.iter().any(|entry| entry.names(&question.analysis.parts));
        starts && contains && self.patterns_match(question, part)
    }

    fn patterns_match(&self, question: &Question<'_>, part: &Part) -> bool {
        if self.command_patterns.is_empty() {
            return true;
        }
        let whole = match (self.action, question.text) {
            // A pattern such as `curl.*\| *sh` can only be seen in the whole text.
            (Decision::Ask | Decision::Deny, Some(text)) if question.analysis.parts.len() > 1 => Some(text),
            _ => None,
        };
        self.command_patterns.iter().any(|pattern| {
            self.counts(pattern.search(&part.text))
                || whole.is_some_and(|text| self.counts(pattern.search(text)))
        })
    }

    /// FAIL-CLOSED: a pattern that cannot be evaluated counts as found where that is the stricter reading.
    fn counts(&self, found: Found) -> bool {
        match found {
            Found::Yes => true,
            Found::No => false,
            Found::Failed => self.action != Decision::Allow,
        }
    }

    fn path_matches(&self, part: &Part) -> bool {
        if self.path_patterns.is_empty() {
            return true;
        }
        let mut targets = part.effects.iter().filter_map(path_of).peekable();
        if targets.peek().is_none() {
            return false;
        }
        let mut hit = |(path, given): (&str, Option<&str>)| {
            self.path_patterns.iter().any(|pattern| {
                self.counts(pattern.search(path))
                    || given.is_some_and(|given| self.counts(pattern.search(given)))
            })
        };
        match self.action {
            Decision::Allow => targets.all(&mut hit),
            Decision::Ask | Decision::Deny => targets.any(&mut hit),
        }
    }

    fn effects_match(&self, part: &Part) -> bool {
        if self.effects.is_empty() {
            return true;
        }
        let mut classes = part.effects.iter().filter_map(Effect::class).peekable();
        if classes.peek().is_none() {
            return false;
        }
        match self.action {
            Decision::Allow => classes.all(|class| self.effects.contains(&class)),
            Decision::Ask | Decision::Deny => classes.any(|class| self.effects.contains(&class)),
        }
    }

    fn hosts_match(&self, part: &Part) -> bool {
        let connections = || {
            part.effects.iter().filter_map(|effect| match effect {
                Effect::Connect(connection) => Some(connection),
                _ => None,
            })
        };
        let inside = self.hosts.is_empty() || {
            let mut any = connections().peekable();
            any.peek().is_some()
                && match self.action {
                    Decision::Allow => any.all(|connection| is_among(connection, &self.hosts)),
                    Decision::Ask | Decision::Deny => any.any(|connection| is_among(connection, &self.hosts)),
                }
        };
        let outside = self.hosts_except.is_empty() || {
            let mut any = connections().peekable();
            any.peek().is_some()
                && match self.action {
                    Decision::Allow => any.all(|connection| !is_among(connection, &self.hosts_except)),
                    Decision::Ask | Decision::Deny => {
                        any.any(|connection| !is_among(connection, &self.hosts_except))
                    }
                }
        };
        inside && outside
    }

    fn surroundings_match(&self, question: &Question<'_>, part: &Part) -> bool {
        let outside = self.outside_workspace.is_none_or(|wanted| {
            let found = part.effects.iter().any(|effect| match effect {
                Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => !matches!(
                    target.place,
                    Place::Nowhere | Place::Generated | Place::Workspace | Place::Protected
                ),
                _ => false,
            });
            // What is not known may be either: it matches where that is the stricter reading, and nowhere else.
            let unknown = part.effects.iter().any(|effect| matches!(effect, Effect::Unknown(_)));
            match (found, unknown) {
                (false, true) => self.action != Decision::Allow,
                _ => found == wanted,
            }
        });
        let time = self.over_wall_ms.is_none_or(|limit| question.wall_ms.is_none_or(|asked| asked > limit));
        let memory =
            self.over_memory_mb.is_none_or(|limit| question.memory_mb.is_none_or(|asked| asked > limit));
        let fence = self.unfenced.is_none_or(|wanted| wanted != question.fence.holds());
        outside && time && memory && fence
    }
}

/// The path that an effect is about, resolved and as it was given.
pub(crate) fn path_of(effect: &Effect) -> Option<(&str, Option<&str>)> {
    match effect {
        Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => {
            (target.place != Place::Nowhere).then_some((target.path.as_str(), target.given.as_deref()))
        }
        _ => None,
    }
}

/// Whether a connection goes to one of these hosts.
pub(crate) fn is_among(connection: &Connection, hosts: &[String]) -> bool {
    match &connection.peer {
        Peer::Loopback => hosts.iter().any(|host| matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1")),
        Peer::Host(name) | Peer::Service(name) => hosts.iter().any(|host| host_matches(host, name)),
        Peer::Unnamed => false,
    }
}

/// Exact names, or `*.example.com` for every name below it. Names are compared in lowercase, without a final dot; a name
/// with anything but letters, digits, `-`, `.`, `_` and `:` matches nothing.
fn host_matches(pattern: &str, name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let sound = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':'));
    if !sound {
        return false;
    }
    match pattern.strip_prefix("*.") {
        Some(parent) => name.strip_suffix(parent).is_some_and(|head| head.len() > 1 && head.ends_with('.')),
        None => name == pattern,
    }
}

/// The classes that a word of the configuration stands for: a class, or the beginning that several share.
pub(crate) fn classes(word: &str, at: &At) -> Result<Vec<Class>, ConfigError> {
    if let Some(group) = word.strip_suffix("_*").or_else(|| word.strip_suffix('*'))
        && !group.is_empty()
    {
        let found: Vec<Class> =
            Class::ALL.into_iter().filter(|class| class.key().starts_with(group)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Class::from_key(word).map(|class| vec![class]).ok_or_else(|| ConfigError {
        at: at.clone(),
        message: format!("unknown effect `{word}`"),
        help: Some(match nearest(word, Class::ALL.iter().map(|class| class.key())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", Class::ALL.map(Class::key).join(", ")),
        }),
    })
}

fn entries_of(node: &Node) -> Result<Vec<Entry>, ConfigError> {
    one_or_more(node)?.into_iter().map(|(text, at)| Entry::new(&text, at)).collect()
}

fn patterns_of(node: &Node) -> Result<Vec<Pattern>, ConfigError> {
    one_or_more(node)?
        .into_iter()
        .map(|(text, at)| {
            Pattern::new(&text).map_err(|message| ConfigError {
                at,
                message: format!("`{text}`: {message}"),
                help: None,
            })
        })
        .collect()
}

/// Hosts in a list of the configuration, lowercase.
pub(crate) fn hosts_of(node: &Node) -> Result<Vec<String>, ConfigError> {
    one_or_more(node)?
        .into_iter()
        .map(|(host, at)| {
            let name = host.to_ascii_lowercase();
            let body = name.strip_prefix("*.").unwrap_or(&name);
            let sound = !body.is_empty()
                && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':'));
            if sound {
                Ok(name)
            } else {
                Err(ConfigError {
                    at,
                    message: format!("`{host}` is not a host name"),
                    help: Some("write `example.com`, or `*.example.com` for every name below it".into()),
                })
            }
        })
        .collect()
}

fn truth(node: &Node) -> Result<bool, ConfigError> {
    match node.value {
        Value::Bool(value) => Ok(value),
        _ => Err(node.expected("`true` or `false`")),
    }
}

fn amount(node: &Node) -> Result<u64, ConfigError> {
    match &node.value {
        Value::Number(number) if *number >= 0.0 && number.fract() == 0.0 => {
            number.to_string().parse().map_err(|_| node.expected("a whole number"))
        }
        _ => Err(node.expected("a whole number")),
    }
}

pub(crate) fn level(node: &Node) -> Result<Level, ConfigError> {
    let word = text(node)?;
    [Level::Low, Level::Medium, Level::High, Level::Critical]
        .into_iter()
        .find(|level| level.name() == word)
        .ok_or_else(|| node.error(format!("`risk_level` is low, medium, high or critical, not `{word}`")))
}

fn examples_of(node: &Node) -> Result<Examples, ConfigError> {
    let Value::Map(entries) = &node.value else {
        return Err(node.expected("`match` and `not_match` lists"));
    };
    let mut examples = Examples::default();
    for (key, value) in entries {
        match text(key)?.as_str() {
            "match" => examples.matching = one_or_more(value)?,
            "not_match" => examples.not_matching = one_or_more(value)?,
            other => return Err(key.error(format!("`examples` has `match` and `not_match`, not `{other}`"))),
        }
    }
    Ok(examples)
}
