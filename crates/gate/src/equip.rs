//! What the configuration adds to a call before it is judged: the command that a skill's action stands for, the file that a
//! reference is, the host that a search connects to. From then on an action is a command like any other.

use std::path::{Path, PathBuf};

use call::{Arguments, Call, Completion, Env, ErrorKind, Invalid, Secret, SkillCommand, SkillExec};
use fence::Terrain;
use policy::{At, Config, ConfigError};
use tools::{Failure, SearchProvider, SkillSpaces};

use crate::stopped::{By, Stopped};
use crate::{Gate, Judgement};

impl Gate {
    /// Skills in these spaces, in place of the configuration's.
    #[must_use]
    pub fn with_skills(mut self, spaces: SkillSpaces) -> Gate {
        self.skills = std::sync::OnceLock::from(Ok(spaces));
        self
    }

    /// Searches by this provider, in place of the configuration's.
    #[must_use]
    pub fn with_search(mut self, provider: SearchProvider) -> Gate {
        self.search = std::sync::OnceLock::from(Ok(Some(provider)));
        self
    }

    /// Adds to a call what the configuration says of it. What cannot be found out stays unknown.
    pub(crate) fn complete(&self, call: &mut Call) -> Result<(), Invalid> {
        let with = match call.arguments() {
            Arguments::SkillExec(skill) => {
                self.skill_command(skill).ok().map(|command| Completion::Action(Box::new(command)))
            }
            Arguments::SkillRefRead(skill) => self
                .skills()
                .ok()
                .and_then(|spaces| spaces.reference(&skill.skill_mention, &skill.ref_path).ok())
                .and_then(|path| path.into_os_string().into_string().ok())
                .map(Completion::Reference),
            Arguments::WebSearch(_) => {
                let provider = self.search_provider().ok().flatten();
                provider.map(|provider| Completion::Provider(provider.host().to_owned()))
            }
            _ => None,
        };
        match with {
            Some(with) => call.complete(with),
            None => Ok(()),
        }
    }

    /// What an action stands for now.
    fn skill_command(&self, skill: &SkillExec) -> Result<SkillCommand, Failure> {
        let resolved = self.skills()?.resolve(&skill.skill_mention, &skill.action_id)?;
        let root = resolved.root.clone();
        let text = root.to_str().map(str::to_owned);
        let root_text = text.ok_or_else(|| {
            Failure::new(ErrorKind::ConfigError, "the path of the skill's folder is no UTF-8 text")
        })?;
        let passed_on: Vec<String> = if self.can_be_written(&root) {
            // What an agent can write must not choose which of the user's variables it gets.
            Vec::new()
        } else {
            resolved.env_keys.iter().filter(|name| !resolved.env.contains_key(*name)).cloned().collect()
        };
        Ok(SkillCommand {
            root: root_text,
            script_sha256: resolved.scripts_sha256(),
            argv: resolved.argv,
            env: Env::new(resolved.env),
            passed_on,
            timeout_ms: resolved.timeout_ms,
        })
    }

    /// Whether whatever runs behind the fence can write below a folder.
    fn can_be_written(&self, folder: &Path) -> bool {
        let real = |path: &Path| fence::Ground.follow(path).unwrap_or_else(|| path.to_path_buf());
        let folder = real(folder);
        let written = self.config.sandbox_write().iter().map(PathBuf::from);
        written
            .chain(self.workspace.clone())
            .map(|place| real(&place))
            .any(|place| folder.starts_with(&place) || place.starts_with(&folder))
    }

    /// Why a call of a skill cannot be run, where it was judged without knowing what it stands for.
    pub(crate) fn unresolved(&self, judgement: &Judgement) -> Option<Stopped> {
        let failure = match judgement.call.arguments() {
            Arguments::SkillExec(skill) if skill.command().is_none() => match self.skill_command(skill) {
                Err(failure) => failure,
                Ok(_) => Failure::new(ErrorKind::Permission, "the skill changed while it was looked at"),
            },
            _ => return None,
        };
        Some(Stopped::new(failure.kind(), By::Gate, failure.message()))
    }

    /// Whether a skill's action is still what was judged: its command, its variables and the files that it uses.
    pub(crate) fn is_unchanged(&self, judgement: &Judgement) -> bool {
        match judgement.call.arguments() {
            Arguments::SkillExec(skill) => skill
                .command()
                .is_some_and(|judged| self.skill_command(skill).is_ok_and(|now| now.is_same(judged))),
            _ => true,
        }
    }

    /// The spaces that skills are looked for in.
    pub(crate) fn skills(&self) -> Result<&SkillSpaces, Failure> {
        let opened = self.skills.get_or_init(|| {
            let spaces = &self.config.equipment().spaces;
            if spaces.is_empty() {
                let message = "no skills are configured (`skills.spaces`)";
                return Err(Failure::new(ErrorKind::NotFound, message));
            }
            let real = |path: &str| {
                let path = PathBuf::from(path);
                fence::Ground.follow(&path).unwrap_or(path)
            };
            let named: Vec<(String, PathBuf)> =
                spaces.iter().map(|(name, path)| (name.clone(), real(&path.value))).collect();
            let folders: Vec<PathBuf> = named.iter().map(|(_, path)| path.clone()).collect();
            SkillSpaces::guarded(named, || Box::new(self.guard_of(&folders)))
        });
        opened.as_ref().map_err(Clone::clone)
    }

    /// Who is asked when an agent searches the web.
    pub(crate) fn search_provider(&self) -> Result<Option<&SearchProvider>, Failure> {
        let provider = self.search.get_or_init(|| provider_of(&self.config));
        provider.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// The provider's key, in the environment of whoever asks.
    pub(crate) fn search_key(
        &self,
        judgement: &Judgement,
        environment: &[(std::ffi::OsString, std::ffi::OsString)],
    ) -> Option<Secret> {
        if judgement.call.tool() != "web_search" {
            return None;
        }
        let variable = self.search_provider().ok().flatten()?.key_variable()?;
        let (_, value) = environment.iter().find(|(name, _)| name == variable)?;
        value.to_str().map(|value| Secret::new(value.to_owned()))
    }
}

fn provider_of(config: &Config) -> Result<Option<SearchProvider>, Failure> {
    let equipment = config.equipment();
    let Some(url) = &equipment.search_url else { return Ok(None) };
    let mut provider = SearchProvider::new(&url.value)?;
    if let Some(variable) = &equipment.search_key_variable {
        let header = equipment.search_key_header.as_ref().map_or("authorization", |set| set.value.as_str());
        provider = provider.with_key(&variable.value, header)?;
    }
    if let Some(timeout) = &equipment.search_timeout_ms {
        provider = provider.with_timeout(std::time::Duration::from_millis(timeout.value));
    }
    Ok(Some(provider))
}

/// Whether the configuration's own words for all this make sense. Folders are looked at when they are needed.
pub(crate) fn check(config: &Config) -> Result<(), ConfigError> {
    let equipment = config.equipment();
    let wrong = |at: &At, message: String| ConfigError { at: at.clone(), message, help: None };
    for (namespace, path) in &equipment.spaces {
        if !tools::skills::is_namespace(namespace) {
            let message = format!("`{namespace}` is no namespace: expected words joined by `:`");
            return Err(wrong(&path.at, message));
        }
    }
    if let Err(failure) = provider_of(config) {
        let at =
            equipment.search_url.as_ref().map_or_else(|| At::file("the configuration"), |url| url.at.clone());
        return Err(wrong(&at, failure.message().to_owned()));
    }
    match (&equipment.search_url, &equipment.search_key_variable) {
        (None, Some(key)) => Err(wrong(&key.at, "`search.key_variable` without `search.url`".into())),
        _ => Ok(()),
    }
}
