//! What the tools of an agent may use beyond files and programs: the sections `skills` and `search`.
//!
//! An agent can write the workspace's file, so none of these keys may stand there: it could name a provider of its own, and read
//! what others search for, or have its own variables passed on by a skill that it wrote.

use super::apply::Apply;
use super::layer::{self, Origin, Setting, text};
use super::node::{ConfigError, Value};
use super::{Config, Set};

/// The sections `skills` and `search`.
#[derive(Debug, Default)]
pub struct Equipment {
    /// Folders of skills, each with its namespace.
    pub spaces: Vec<(String, Set<String>)>,
    /// The address of the search provider, a template.
    pub search_url: Option<Set<String>>,
    /// The variable that its key is in.
    pub search_key_variable: Option<Set<String>>,
    /// The header that the key is sent as.
    pub search_key_header: Option<Set<String>>,
    /// How long its answer may take, in milliseconds.
    pub search_timeout_ms: Option<Set<u64>>,
}

impl Config {
    /// What the tools of an agent may use.
    #[must_use]
    pub fn equipment(&self) -> &Equipment {
        &self.equipment
    }
}

/// Applies one setting of these sections.
pub(super) fn apply(to: &mut Apply<'_>, setting: &Setting) -> Result<(), ConfigError> {
    if to.origin == Origin::Workspace {
        return Err(ConfigError {
            at: setting.at.clone(),
            message: format!("`{}` may not stand in a workspace file", setting.key.path),
            help: Some("an agent could name what it likes there; put it into your own configuration".into()),
        });
    }
    let (node, at) = (&setting.node, setting.at.clone());
    let equipment = &mut to.config.equipment;
    match setting.key.path {
        "skills.spaces" => {
            let Value::Map(entries) = &node.value else { return Ok(()) };
            for (name, path) in entries {
                let (namespace, written) = (text(name)?, text(path)?);
                let plain = crate::paths::plain(&written, to.base).map_err(|why| path.error(why))?;
                equipment.spaces.retain(|(known, _)| *known != namespace);
                equipment.spaces.push((namespace, Set { value: plain, at: name.at.clone() }));
            }
        }
        "search.url" => equipment.search_url = Some(Set { value: text(node)?, at }),
        "search.key_variable" => equipment.search_key_variable = Some(Set { value: text(node)?, at }),
        "search.key_header" => equipment.search_key_header = Some(Set { value: text(node)?, at }),
        "search.timeout_ms" => {
            let value = layer::whole(setting.key, node)?;
            equipment.search_timeout_ms = Some(Set { value, at });
        }
        _ => {}
    }
    Ok(())
}
