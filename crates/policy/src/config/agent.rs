//! The section `agent`: the model that `run`, `chat` and `tui` talk to, and how far a run may go. The gate itself reads none of it.

use super::layer::{self, Origin, Setting, text};
use super::node::{At, ConfigError, Value};
use super::{Config, Set};

/// The section `agent`.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// Which protocol: `openai` or `anthropic`.
    pub provider: Option<Set<String>>,
    /// Where the model is served, if not by the provider itself.
    pub base_url: Option<Set<String>>,
    /// The model's name.
    pub model: Option<Set<String>>,
    /// The environment variable that holds the key.
    pub key_env: Option<Set<String>>,
    /// The most steps of a run: requests to the model.
    pub max_steps: Set<u64>,
    /// The longest time of a run.
    pub wall_ms: Set<u64>,
    /// The most that the model may write in a run, in tokens.
    pub output_tokens: Set<u64>,
    /// The most that a conversation may take, in tokens; beyond, it is shortened.
    pub context_tokens: Set<u64>,
    /// Agents that a run may have started at one time.
    pub max_agents: Set<u64>,
    /// How deep agents may start agents.
    pub max_depth: Set<u64>,
}

impl AgentSettings {
    pub(super) fn of_profile(at: &At) -> Self {
        let number = |value: u64| Set { value, at: at.clone() };
        AgentSettings {
            provider: None,
            base_url: None,
            model: None,
            key_env: None,
            max_steps: number(100),
            wall_ms: number(3_600_000),
            output_tokens: number(400_000),
            context_tokens: number(128_000),
            max_agents: number(4),
            max_depth: number(2),
        }
    }
}

/// Whether a key belongs here. Four stand at the top in configurations of agents that keep them there.
pub(super) fn owns(path: &str) -> bool {
    path.starts_with("agent.") || matches!(path, "provider.name" | "provider.model" | "max_steps" | "timeout")
}

/// Puts one setting of the section into the configuration.
pub(super) fn apply(config: &mut Config, setting: &Setting, origin: Origin) -> Result<(), ConfigError> {
    let (path, node) = (setting.key.path, &setting.node);
    let tighten_only = origin == Origin::Workspace;
    let names_where = matches!(path, "agent.provider" | "agent.base_url" | "agent.key_env" | "provider.name");
    if tighten_only && names_where {
        return Err(ConfigError {
            at: setting.at.clone(),
            message: format!("`{path}` may not stand in a workspace file"),
            help: Some(
                "it says who gets your key and your conversation; put it into your own configuration".into(),
            ),
        });
    }
    let agent = &mut config.agent;
    let word = || Ok::<_, ConfigError>(Some(Set { value: text(node)?, at: setting.at.clone() }));
    let held = match path {
        "agent.provider" | "provider.name" => {
            agent.provider = word()?;
            return Ok(());
        }
        "agent.base_url" => {
            let url = text(node)?;
            if !(url.starts_with("http://") || url.starts_with("https://")) {
                return Err(node.error(format!("`{url}` is not an http or https address")));
            }
            agent.base_url = Some(Set { value: url, at: setting.at.clone() });
            return Ok(());
        }
        "agent.model" | "provider.model" => {
            agent.model = word()?;
            return Ok(());
        }
        "agent.key_env" => {
            agent.key_env = word()?;
            return Ok(());
        }
        "timeout" => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "what is read is above 0, and a number too large stays the largest"
            )]
            let value = match node.value {
                Value::Number(seconds) => (seconds * 1000.0) as u64,
                _ => return Err(node.expected("a number of seconds above 0")),
            };
            return super::apply::lower_to(&mut agent.wall_ms, value.max(1), setting, tighten_only);
        }
        "agent.max_steps" | "max_steps" => &mut agent.max_steps,
        "agent.wall_ms" => &mut agent.wall_ms,
        "agent.output_tokens" => &mut agent.output_tokens,
        "agent.context_tokens" => &mut agent.context_tokens,
        "agent.max_agents" => &mut agent.max_agents,
        "agent.max_depth" => &mut agent.max_depth,
        _ => return Ok(()),
    };
    super::apply::lower_to(held, layer::whole(setting.key, node)?, setting, tighten_only)
}
