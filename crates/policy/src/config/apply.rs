//! One setting of one layer on its way into the configuration: what its value must look like, and whether its layer may say it.

use effects::Class;

use super::layer::{self, Origin, Setting, text, texts};
use super::nearest::nearest;
use super::node::{At, ConfigError, Node, Value};
use super::profile::{Stance, is_floor};
use super::servers;
use super::{Case, CommandMatcher, CommandRule, CommandRules, Config, PathRule, PathRules, PathSet, Set};
use super::{agent, approval, equipment};
use crate::command_list::{CommandList, Entry};
use crate::decision::Decision;
use crate::paths::{Base, PathPattern};
use crate::pattern::Pattern;
use crate::rule::{classes, hosts_of};

/// A workspace file says less than what holds.
pub(super) fn loosens(setting: &Setting, held: &str, at: &At) -> ConfigError {
    ConfigError {
        at: setting.at.clone(),
        message: format!(
            "`{}` here would loosen what holds, and a workspace file may only tighten",
            setting.key.path
        ),
        help: Some(format!("{at} says {held}; put this into your own configuration")),
    }
}

/// One setting of one layer on its way into the configuration.
pub(super) struct Apply<'a> {
    pub(super) config: &'a mut Config,
    pub(super) origin: Origin,
    pub(super) base: &'a Base,
}

impl Apply<'_> {
    pub(super) fn setting(&mut self, setting: &Setting) -> Result<(), ConfigError> {
        let tighten_only = self.origin.only_tightens();
        let config = &mut *self.config;
        let node = &setting.node;
        match setting.key.path {
            "config_version" => {
                let version = layer::whole(setting.key, node)?;
                if version != 1 {
                    return Err(
                        node.error(format!("config_version {version} is not known; this is version 1"))
                    );
                }
            }
            "safety.mode" => {
                let word = text(node)?;
                let Some(mode) = Decision::from_name(&word) else {
                    return Err(node.error(format!("unknown mode `{word}`")));
                };
                if tighten_only && mode < config.mode.value {
                    return Err(loosens(setting, config.mode.value.name(), &config.mode.at));
                }
                config.mode = Set { value: mode, at: setting.at.clone() };
            }
            "safety.allowlist" => {
                self.no_list_in_workspace(setting)?.commands(setting, |c| &mut c.allowlist)?
            }
            "safety.denylist" => self.commands(setting, |c| &mut c.denylist)?,
            "safety.denied_commands" => self.commands(setting, |c| &mut c.denied_commands)?,
            "safety.tool_allowlist" => {
                let tools = named(node)?;
                self.no_list_in_workspace(setting)?.config.tool_allowlist.extend(tools);
            }
            "safety.tool_denylist" => config.tool_denylist.extend(named(node)?),
            "safety.read_only" => flag(&mut config.read_only, setting, tighten_only)?,
            "safety.require_approval_for_writes" => {
                flag(&mut config.require_approval_for_writes, setting, tighten_only)?;
            }
            "safety.require_approval_for_execute" => {
                flag(&mut config.require_approval_for_execute, setting, tighten_only)?;
            }
            "safety.log_all_commands" => flag(&mut config.log_all_commands, setting, tighten_only)?,
            "safety.complex_shell" => {
                let asks = text(node)? == "ask";
                if tighten_only && !asks && config.complex_shell_asks.value {
                    return Err(loosens(setting, "ask", &config.complex_shell_asks.at));
                }
                config.complex_shell_asks = Set { value: asks, at: setting.at.clone() };
            }
            "safety.allowed_paths" => {
                let patterns = self.patterns(node)?;
                if !tighten_only {
                    // A stronger file replaces the boundary of a weaker one; the workspace's only narrows.
                    self.config.allowed_paths.retain(|set| set.origin.only_tightens());
                }
                // An empty list is a boundary with nothing inside it. Whoever types `--no-restrict-to-cwd` wants none at all.
                if !(patterns.is_empty() && self.origin == Origin::Flags) {
                    let set = PathSet { patterns, at: setting.at.clone(), origin: self.origin };
                    self.config.allowed_paths.push(set);
                }
            }
            "safety.denied_paths" => {
                let patterns = self.patterns(node)?;
                self.config.denied_paths.extend(patterns);
            }
            "safety.path_rules" => self.path_rules(node)?,
            "safety.command_rules" => self.command_rules(setting)?,
            "safety.effects" => self.effects(setting)?,
            "safety.approval_timeout_ms" => lower(&mut config.approval_timeout_ms, setting, tighten_only)?,
            "settings.approval_timeout_seconds" => {
                if let Value::Number(seconds) = node.value {
                    let value = format!("{:.0}", seconds * 1000.0).parse().unwrap_or(60_000);
                    lower_to(&mut config.approval_timeout_ms, value, setting, tighten_only)?;
                }
            }
            "run.human_timeout_ms" => lower(&mut config.human_timeout_ms, setting, tighten_only)?,
            "sandbox.limits.memory_mb"
            | "safety.sandbox.linux.max_memory_mb"
            | "safety.sandbox.windows.max_memory_mb" => {
                lower(&mut config.limits.memory_mb, setting, tighten_only)?;
            }
            "sandbox.limits.wall_ms" => lower(&mut config.limits.wall_ms, setting, tighten_only)?,
            "sandbox.limits.processes" | "safety.sandbox.windows.max_processes" => {
                lower(&mut config.limits.processes, setting, tighten_only)?;
            }
            "sandbox.limits.output_bytes" => lower(&mut config.limits.output_bytes, setting, tighten_only)?,
            "sandbox.limits.cpu_s" => {
                let unset = config.limits.cpu_s.value == 0;
                lower(&mut config.limits.cpu_s, setting, tighten_only && !unset)?;
            }
            "sandbox.limits.open_files" => lower(&mut config.limits.open_files, setting, tighten_only)?,
            "sandbox.limits.file_mb" => lower(&mut config.limits.file_mb, setting, tighten_only)?,
            "sandbox.limits.scratch_mb" => lower(&mut config.limits.scratch_mb, setting, tighten_only)?,
            "sandbox.read" => {
                let paths = self.plain_paths(node)?;
                self.no_list_in_workspace(setting)?.config.sandbox_read.extend(paths);
            }
            "sandbox.write" => {
                let paths = self.plain_paths(node)?;
                self.no_list_in_workspace(setting)?.config.sandbox_write.extend(paths);
            }
            "sandbox.env" => {
                let names = plain_texts(node)?;
                self.no_list_in_workspace(setting)?.config.sandbox_env.extend(names);
            }
            "sandbox.protect" => flag(&mut config.protect, setting, tighten_only)?,
            "sandbox.bwrap_path" if tighten_only => {
                return Err(ConfigError {
                    at: setting.at.clone(),
                    message: "`sandbox.bwrap_path` may not stand in a workspace file".into(),
                    help: Some(
                        "an agent could name a program of its own; put it into your configuration".into(),
                    ),
                });
            }
            "sandbox.bwrap_path" => config.bwrap_path = Some(text(node)?),
            "sandbox.unshare_net" if node.value == Value::Bool(false) => {
                if tighten_only && config.network_mode.value != "open" {
                    return Err(loosens(setting, &config.network_mode.value, &config.network_mode.at));
                }
                config.network_mode = Set { value: "open".into(), at: setting.at.clone() };
            }
            "sandbox.default_policy" => {
                let restricted = text(node)? == "restricted";
                if tighten_only && !restricted && config.restricted.value {
                    return Err(loosens(setting, "restricted", &config.restricted.at));
                }
                config.restricted = Set { value: restricted, at: setting.at.clone() };
            }
            "sandbox.mode" | "sandbox.os.mode" | "safety.sandbox.mode" => {
                let mode = text(node)?;
                let same = mode == config.sandbox_mode.value;
                let narrower = config.sandbox_mode.value == "auto"
                    && !matches!(mode.as_str(), "local" | "landlock" | "wsl");
                if tighten_only && !same && !narrower {
                    return Err(loosens(setting, &config.sandbox_mode.value, &config.sandbox_mode.at));
                }
                config.sandbox_mode = Set { value: mode, at: setting.at.clone() };
            }
            "sandbox.network.mode" => {
                let mode = if node.value == Value::Bool(false) { "off".into() } else { text(node)? };
                let rank = |word: &str| ["off", "allowlist", "open"].iter().position(|known| *known == word);
                if tighten_only && rank(&mode) > rank(&config.network_mode.value) {
                    return Err(loosens(setting, &config.network_mode.value, &config.network_mode.at));
                }
                config.network_mode = Set { value: mode, at: setting.at.clone() };
            }
            "sandbox.network.allow" => {
                let hosts = hosts_of(node)?;
                self.no_list_in_workspace(setting)?.config.network_allow.extend(hosts);
            }
            "engine.url" | "engine.timeout_ms" if tighten_only => {
                return Err(ConfigError {
                    at: setting.at.clone(),
                    message: format!("`{}` may not stand in a workspace file", setting.key.path),
                    help: Some(
                        "an agent could name an engine of its own; put it into your configuration".into(),
                    ),
                });
            }
            "engine.url" => {
                let url = text(node)?;
                if !(url.starts_with("http://") || url.starts_with("https://")) {
                    return Err(node.error(format!("`{url}` is not an http or https address")));
                }
                config.engine_url = Some(Set { value: url, at: setting.at.clone() });
            }
            "engine.timeout_ms" => lower(&mut config.engine_timeout_ms, setting, false)?,
            "cases" => self.cases(node)?,
            "mcp.servers" => servers::apply(config, setting, self.origin)?,
            "hooks.fence" => {
                let value = truth(node)?;
                if tighten_only && !value {
                    return Err(ConfigError {
                        at: setting.at.clone(),
                        message: "`hooks.fence` may not be switched off in a workspace file".into(),
                        help: Some("an agent could; put it into your own configuration".into()),
                    });
                }
                config.hooks_fence = Set { value, at: setting.at.clone() };
            }
            path if agent::owns(path) => agent::apply(config, setting, self.origin)?,
            path if path.starts_with("approval.") || path.starts_with("journal.") => {
                approval::apply(config, setting, self.origin, self.base)?;
            }
            path if path.starts_with("skills.") || path.starts_with("search.") => {
                equipment::apply(self, setting)?;
            }
            path if tighten_only && path.starts_with("safety.sandbox.") => {
                return Err(ConfigError {
                    at: setting.at.clone(),
                    message: format!("`{path}` may not stand in a workspace file"),
                    help: Some("it says what the fence lets through; put it into your configuration".into()),
                });
            }
            // Read by whoever loads the files, or of no meaning to the gate.
            _ => {}
        }
        Ok(())
    }

    /// FAIL-CLOSED: a list that allows may not stand in a workspace file, unless it is empty.
    fn no_list_in_workspace(&mut self, setting: &Setting) -> Result<&mut Self, ConfigError> {
        let empty = match &setting.node.value {
            Value::List(items) => items.is_empty(),
            _ => true,
        };
        if self.origin.only_tightens() && !empty {
            return Err(ConfigError {
                at: setting.at.clone(),
                message: format!("`{}` allows, and a workspace file may only tighten", setting.key.path),
                help: Some("put it into your own configuration".into()),
            });
        }
        Ok(self)
    }

    fn commands(
        &mut self,
        setting: &Setting,
        list: fn(&mut Config) -> &mut CommandList,
    ) -> Result<(), ConfigError> {
        for (text, at) in texts(&setting.node)? {
            list(self.config).push(Entry::new(&text, at)?);
        }
        Ok(())
    }

    fn patterns(&self, node: &Node) -> Result<Vec<PathPattern>, ConfigError> {
        texts(node)?.into_iter().map(|(text, at)| pattern(&text, at, self.base)).collect()
    }

    fn plain_paths(&self, node: &Node) -> Result<Vec<String>, ConfigError> {
        let plain = |(text, at): (String, At)| {
            crate::paths::plain(&text, self.base).map_err(|message| ConfigError { at, message, help: None })
        };
        texts(node)?.into_iter().map(plain).collect()
    }

    fn path_rules(&mut self, node: &Node) -> Result<(), ConfigError> {
        let mut rules = Vec::new();
        for item in items(node) {
            let (mut glob, mut read, mut write) = (None, true, true);
            for (key, value) in fields(item, "a mapping with `pattern`, `allow_read`, `allow_write`")? {
                match text(key)?.as_str() {
                    "pattern" => glob = Some(pattern(&text(value)?, value.at.clone(), self.base)?),
                    "allow_read" => read = truth(value)?,
                    "allow_write" => write = truth(value)?,
                    other => {
                        return Err(unknown_field(key, other, &["pattern", "allow_read", "allow_write"]));
                    }
                }
            }
            let pattern = glob.ok_or_else(|| item.error("a path rule has no `pattern`"))?;
            rules.push(PathRule { pattern, allow_read: read, allow_write: write });
        }
        self.config.path_rules.push(PathRules { origin: self.origin, rules });
        Ok(())
    }

    fn command_rules(&mut self, setting: &Setting) -> Result<(), ConfigError> {
        let mut rules = Vec::new();
        for item in items(&setting.node) {
            let (mut written, mut decision, mut is_regex) = (None, None, false);
            for (key, value) in fields(item, "a mapping with `pattern`, `decision`, `is_regex`")? {
                match text(key)?.as_str() {
                    "pattern" => written = Some((text(value)?, value.at.clone())),
                    "decision" => {
                        let word = text(value)?.to_lowercase();
                        decision = Some(Decision::from_name(&word).ok_or_else(|| {
                            value.error(format!("`decision` is allow, ask or deny, not `{word}`"))
                        })?);
                    }
                    "is_regex" => is_regex = truth(value)?,
                    other => return Err(unknown_field(key, other, &["pattern", "decision", "is_regex"])),
                }
            }
            let (text, at) = written.ok_or_else(|| item.error("a command rule has no `pattern`"))?;
            let decision = decision.ok_or_else(|| item.error("a command rule has no `decision`"))?;
            if self.origin.only_tightens() && decision == Decision::Allow {
                return Err(ConfigError {
                    at,
                    message: format!(
                        "`safety.command_rules` allows `{text}`, and a workspace file may only tighten"
                    ),
                    help: Some("put it into your own configuration".into()),
                });
            }
            let matcher = if is_regex {
                CommandMatcher::Regex(Pattern::new(&text).map_err(|message| ConfigError {
                    at: at.clone(),
                    message,
                    help: None,
                })?)
            } else {
                CommandMatcher::Meaning(Entry::new(&text, at.clone())?)
            };
            rules.push(CommandRule { text, at, matcher, decision });
        }
        self.config.command_rules.push(CommandRules { rules });
        Ok(())
    }

    fn effects(&mut self, setting: &Setting) -> Result<(), ConfigError> {
        let Value::Map(entries) = &setting.node.value else { return Ok(()) };
        for (key, value) in entries {
            let word = text(value)?;
            let Some(stance) = Stance::from_name(&word) else {
                return Err(value.error(format!("an effect is allow, fenced, ask or deny, not `{word}`")));
            };
            for class in classes(&text(key)?, &key.at)? {
                let index = class as usize;
                let Some(held) = self.config.stances.get_mut(index) else { continue };
                if is_floor(class) && stance != Stance::Deny {
                    return Err(ConfigError {
                        at: value.at.clone(),
                        message: format!("`{}` is always denied and cannot be loosened", class.key()),
                        help: None,
                    });
                }
                if class == Class::Unknown && stance == Stance::Allow {
                    return Err(ConfigError {
                        at: value.at.clone(),
                        message: "what is not known is never allowed".into(),
                        help: Some("`unknown` is fenced, ask or deny".into()),
                    });
                }
                // Where nothing was said, the mode decides, so that only asking and denying are surely no loosening.
                let tighter = stance > held.value && (held.value != Stance::Unset || stance >= Stance::Ask);
                if self.origin.only_tightens() && stance != held.value && !tighter {
                    return Err(loosens(setting, held.value.name(), &held.at));
                }
                *held = Set { value: stance, at: key.at.clone() };
            }
        }
        Ok(())
    }

    fn cases(&mut self, node: &Node) -> Result<(), ConfigError> {
        for item in items(node) {
            let (mut command, mut tool, mut args, mut expect) = (None, None, None, None);
            for (key, value) in fields(item, "a mapping with `command` and `expect`")? {
                match text(key)?.as_str() {
                    "command" => command = Some(text(value)?),
                    "tool" => tool = Some(text(value)?),
                    "args" => args = Some(json(value)),
                    "expect" => {
                        let word = text(value)?;
                        expect = Some(Decision::from_name(&word).ok_or_else(|| {
                            value.error(format!("`expect` is allow, ask or deny, not `{word}`"))
                        })?);
                    }
                    other => return Err(unknown_field(key, other, &["command", "tool", "args", "expect"])),
                }
            }
            if command.is_some() == tool.is_some() {
                return Err(item.error("a case has either `command` or `tool`"));
            }
            let expect = expect.ok_or_else(|| item.error("a case has no `expect`"))?;
            let tool = tool.map(|name| (name, args.unwrap_or_else(|| serde_json::json!({}))));
            self.config.cases.push(Case { command, tool, expect, at: item.at.clone() });
        }
        Ok(())
    }
}

pub(super) fn pattern(text: &str, at: At, base: &Base) -> Result<PathPattern, ConfigError> {
    PathPattern::new(text, at.clone(), base).map_err(|message| ConfigError {
        at,
        message: format!("`{text}`: {message}"),
        help: None,
    })
}

fn named(node: &Node) -> Result<Vec<Set<String>>, ConfigError> {
    Ok(texts(node)?.into_iter().map(|(value, at)| Set { value, at }).collect())
}

pub(super) fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => &[],
    }
}

pub(super) fn fields<'a>(node: &'a Node, what: &str) -> Result<&'a [(Node, Node)], ConfigError> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        _ => Err(node.expected(what)),
    }
}

pub(super) fn unknown_field(key: &Node, name: &str, known: &[&'static str]) -> ConfigError {
    ConfigError {
        at: key.at.clone(),
        message: format!("unknown key `{name}`"),
        help: Some(match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", known.join(", ")),
        }),
    }
}

pub(super) fn truth(node: &Node) -> Result<bool, ConfigError> {
    match node.value {
        Value::Bool(value) => Ok(value),
        _ => Err(node.expected("`true` or `false`")),
    }
}

/// A switch of which `true` is the tight side.
fn flag(held: &mut Set<bool>, setting: &Setting, tighten_only: bool) -> Result<(), ConfigError> {
    let value = truth(&setting.node)?;
    if tighten_only && held.value && !value {
        return Err(loosens(setting, "true", &held.at));
    }
    *held = Set { value, at: setting.at.clone() };
    Ok(())
}

/// A number of which less is tighter.
fn lower(held: &mut Set<u64>, setting: &Setting, tighten_only: bool) -> Result<(), ConfigError> {
    let value = layer::whole(setting.key, &setting.node)?;
    lower_to(held, value, setting, tighten_only)
}

pub(super) fn lower_to(
    held: &mut Set<u64>,
    value: u64,
    setting: &Setting,
    tighten_only: bool,
) -> Result<(), ConfigError> {
    if tighten_only && value > held.value {
        return Err(loosens(setting, &held.value.to_string(), &held.at));
    }
    *held = Set { value, at: setting.at.clone() };
    Ok(())
}

fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) if number.fract() == 0.0 => {
            // Whole numbers stay whole: `timeout_ms: 5` is an integer to whoever validates it.
            format!("{number:.0}").parse::<i64>().map_or_else(|_| (*number).into(), Into::into)
        }
        Value::Number(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| (text(key).unwrap_or_default(), json(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

fn plain_texts(node: &Node) -> Result<Vec<String>, ConfigError> {
    Ok(texts(node)?.into_iter().map(|(text, _)| text).collect())
}
