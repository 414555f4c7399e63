//! Merging layers, weakest first. A stronger layer sets a value anew and adds to lists; a key that the managed file
//! marks final cannot be set again; a workspace file, which an agent can write, may only tighten.

use std::sync::Arc;

use effects::Class;

use super::agent::AgentSettings;
use super::apply::{Apply, loosens};
use super::approval::{ApprovalSettings, JournalSettings};
use super::layer::{Layer, Origin, Setting, text, texts};
use super::nearest::nearest;
use super::node::{At, ConfigError, Value};
use super::profile::Profile;
use super::servers;
use super::{Config, Equipment, Limits, Set};
use crate::command_list::CommandList;
use crate::decision::Decision;
use crate::paths::Base;
use crate::rule::Rule;
use crate::rule_list::RuleList;

impl Config {
    /// Merges layers. They may come in any order; each origin may bring several files, whose rules are concatenated.
    ///
    /// # Errors
    /// A value that makes no sense, a final key that is set again, or a workspace file that loosens something.
    pub fn merge(mut layers: Vec<Layer>, base: &Base) -> Result<Config, ConfigError> {
        layers.sort_by_key(|layer| layer.origin);
        let mut config = Config::of_profile(&starting_profile(&layers)?);
        let finals = finals(&layers)?;
        let mut rules: Vec<(Origin, Vec<Rule>, Option<Rule>)> = Vec::new();
        for layer in layers {
            let origin = layer.origin;
            for setting in layer.settings {
                let path = setting.key.path;
                let is_final = |key: &str| covers(key, path) || covers(same_as(key), same_as(path));
                // Hosts of one server are hosts that may be connected to.
                let hosts = path == "mcp.servers" && servers::connect(&setting);
                let is_final =
                    |key: &str| is_final(key) || hosts && HOSTS.iter().any(|path| covers(key, path));
                if let Some((key, at)) = finals.iter().find(|(key, _)| is_final(key))
                    && origin > Origin::Managed
                {
                    return Err(ConfigError {
                        at: setting.at,
                        message: format!("`{}` is final and may not be set here", setting.key.path),
                        help: Some(format!("{at} marks `{key}` final")),
                    });
                }
                if matches!(setting.key.path, "rules" | "settings.default_action") {
                    if rules.last().is_none_or(|(known, _, _)| *known != origin) {
                        rules.push((origin, Vec::new(), None));
                    }
                    if let Some((_, list, default)) = rules.last_mut() {
                        read_rules(&setting, origin, list, default)?;
                    }
                } else {
                    Apply { config: &mut config, origin, base }.setting(&setting)?;
                }
                config.written.push((origin, setting));
            }
        }
        // The strongest origin comes first: it has the first word, below every denial.
        for (origin, mut list, default) in rules.into_iter().rev() {
            list.extend(default);
            config.rules.push(RuleList::new(origin, list));
        }
        Ok(config)
    }

    fn of_profile(profile: &Set<Profile>) -> Config {
        let at = &At { file: Arc::from(built_in_name(profile.value)), line: 0, column: 0 };
        let number = |value: u64| Set { value, at: at.clone() };
        let flag = |value: bool| Set { value, at: at.clone() };
        let limits = match profile.value {
            Profile::Prod => (512, 30_000, 128),
            Profile::Balanced => (2048, 120_000, 256),
            Profile::Plain | Profile::Dev => (4096, 600_000, 512),
        };
        Config {
            profile: profile.clone(),
            mode: Set { value: Decision::Ask, at: at.clone() },
            allowlist: CommandList::default(),
            denylist: CommandList::default(),
            denied_commands: CommandList::default(),
            tool_allowlist: Vec::new(),
            tool_denylist: Vec::new(),
            read_only: flag(false),
            allowed_paths: Vec::new(),
            denied_paths: Vec::new(),
            own: Vec::new(),
            path_rules: Vec::new(),
            command_rules: Vec::new(),
            require_approval_for_writes: flag(false),
            require_approval_for_execute: flag(false),
            complex_shell_asks: flag(!profile.value.judges_parts()),
            stances: Class::ALL.map(|class| Set { value: profile.value.stance(class), at: at.clone() }),
            rules: Vec::new(),
            restricted: flag(profile.value.fenced()),
            sandbox_mode: Set { value: "auto".into(), at: at.clone() },
            network_mode: Set { value: "off".into(), at: at.clone() },
            network_allow: Vec::new(),
            sandbox_read: Vec::new(),
            sandbox_write: Vec::new(),
            sandbox_env: Vec::new(),
            protect: flag(true),
            bwrap_path: None,
            limits: Limits {
                memory_mb: number(limits.0),
                wall_ms: number(limits.1),
                processes: number(limits.2),
                output_bytes: number(1024 * 1024),
                cpu_s: number(0),
                open_files: number(if profile.value == Profile::Prod { 1024 } else { 8192 }),
                file_mb: number(if profile.value == Profile::Prod { 512 } else { 8192 }),
                scratch_mb: number(if profile.value == Profile::Prod { 256 } else { 2048 }),
            },
            approval_timeout_ms: number(60_000),
            human_timeout_ms: number(60_000),
            log_all_commands: flag(false),
            engine_url: None,
            engine_timeout_ms: number(500),
            approval: ApprovalSettings::of_profile(at),
            journal: JournalSettings::of_profile(at),
            hooks_fence: flag(true),
            equipment: Equipment::default(),
            servers: Vec::new(),
            agent: AgentSettings::of_profile(at),
            cases: Vec::new(),
            written: Vec::new(),
        }
    }
}

const fn built_in_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Plain => "built-in",
        Profile::Dev => "built-in profile dev",
        Profile::Balanced => "built-in profile balanced",
        Profile::Prod => "built-in profile prod",
    }
}

/// The profile that everything starts from: the strongest layer's word. With no file at all it is `dev`; with files of
/// which none names a profile it is none of them. A workspace file has no say but to tighten.
fn starting_profile(layers: &[Layer]) -> Result<Set<Profile>, ConfigError> {
    let someone_else =
        layers.iter().any(|layer| matches!(layer.origin, Origin::Managed | Origin::User | Origin::Given));
    let start = if someone_else { Profile::Plain } else { Profile::Dev };
    let mut profile = Set { value: start, at: At::file(built_in_name(start)) };
    for layer in layers {
        for setting in layer.settings.iter().filter(|setting| setting.key.path == "profile") {
            let word = text(&setting.node)?;
            let Some(value) = Profile::from_name(&word) else {
                return Err(setting.node.error(format!("unknown profile `{word}`")));
            };
            // `Plain` leaves more to the lists than any named profile, so going from it to `dev` may loosen.
            let looser = value < profile.value || profile.value == Profile::Plain;
            if layer.origin.only_tightens() && looser {
                return Err(loosens(setting, profile.value.name(), &profile.at));
            }
            profile = Set { value, at: setting.at.clone() };
        }
    }
    Ok(profile)
}

/// Keys that the managed file marks final.
fn finals(layers: &[Layer]) -> Result<Vec<(String, At)>, ConfigError> {
    let mut all = Vec::new();
    for layer in layers {
        for setting in layer.settings.iter().filter(|setting| setting.key.path == "final") {
            if layer.origin != Origin::Managed {
                return Err(ConfigError {
                    at: setting.at.clone(),
                    message: "`final` may stand only in the managed file".into(),
                    help: None,
                });
            }
            for (key, at) in texts(&setting.node)? {
                if !super::keys::is_section(&key) && super::keys::find(&key).is_none() {
                    let near = nearest(&key, super::keys::KEYS.iter().map(|known| known.path));
                    return Err(ConfigError {
                        at,
                        message: format!("`final` names the unknown key `{key}`"),
                        help: near.map(|near| format!("did you mean `{near}`?")),
                    });
                }
                all.push((key, at));
            }
        }
    }
    Ok(all)
}

/// The key that another one is only a different name for.
fn same_as(path: &str) -> &str {
    match path {
        "sandbox.os.mode" | "safety.sandbox.mode" => "sandbox.mode",
        "settings.approval_timeout_seconds" => "safety.approval_timeout_ms",
        "safety.sandbox.linux.max_memory_mb" | "safety.sandbox.windows.max_memory_mb" => {
            "sandbox.limits.memory_mb"
        }
        "safety.sandbox.windows.max_processes" => "sandbox.limits.processes",
        "settings.default_action" => "rules",
        "provider.name" => "agent.provider",
        "provider.model" => "agent.model",
        "max_steps" => "agent.max_steps",
        "timeout" => "agent.wall_ms",
        other => other,
    }
}

/// The keys that say which hosts may be connected to.
const HOSTS: [&str; 2] = ["sandbox.network.allow", "sandbox.network.mode"];

/// Whether a final key (or section) covers this one.
fn covers(key: &str, path: &str) -> bool {
    path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn read_rules(
    setting: &Setting,
    origin: Origin,
    list: &mut Vec<Rule>,
    default: &mut Option<Rule>,
) -> Result<(), ConfigError> {
    if setting.key.path == "settings.default_action" {
        let word = text(&setting.node)?;
        let Some(action) = Decision::from_name(&word) else {
            return Err(setting.node.error(format!("unknown action `{word}`")));
        };
        if origin.only_tightens() && action == Decision::Allow {
            return Err(ConfigError {
                at: setting.at.clone(),
                message: "`settings.default_action` allows, and a workspace file may only tighten".into(),
                help: Some("put it into your own configuration".into()),
            });
        }
        // Several files of one origin: the strictest default holds.
        if default.as_ref().is_none_or(|known| action > known.action) {
            *default = Some(Rule::default_action(action, setting.at.clone()));
        }
        return Ok(());
    }
    let Value::List(items) = &setting.node.value else { return Ok(()) };
    for item in items {
        let rule = Rule::read(item, list.len() + 1)?;
        if origin.only_tightens() && rule.action == Decision::Allow {
            return Err(ConfigError {
                at: rule.at,
                message: format!("rule `{}` allows, and a workspace file may only tighten", rule.name),
                help: Some("put it into your own configuration".into()),
            });
        }
        list.push(rule);
    }
    Ok(())
}
