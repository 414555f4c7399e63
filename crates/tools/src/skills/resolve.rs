//! What an action of a skill stands for: a command, its variables, its time, and what the files that it uses hold.
//!
//! The content of every file in the folders that the command names is taken into account, since a script can read its
//! neighbours. Whoever runs the action resolves it again right before and compares ([`Resolved::is_same`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use call::{ErrorKind, Secret};
use fence::rooted::{Directory, Kind, Opened, Refused};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::front_matter::Word;
use super::{Mention, Skill, SkillSpaces, linked};
use crate::failure::Failure;

/// The most files of an action.
const MOST_FILES: usize = 512;
/// The most bytes of them together.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// The deepest folder.
const MAX_DEPTH: usize = 16;

/// What an action stands for.
pub struct Resolved {
    /// The skill.
    pub mention: Mention,
    /// The action.
    pub action_id: String,
    /// What it is for, in its author's words.
    pub description: Option<String>,
    /// The skill's folder.
    pub root: PathBuf,
    /// The command. Files of the skill are absolute paths; a program that is a plain word is found as a `shell_exec` finds it.
    pub argv: Vec<String>,
    /// Variables that the skill sets.
    pub env: BTreeMap<String, Secret>,
    /// All variables that the action gets, sorted: those that are not in `env` are passed on from outside.
    pub env_keys: Vec<String>,
    /// How long it may take.
    pub timeout_ms: u64,
    /// The files that the command can use, by path: each that it names, and each beside or below one of them.
    pub scripts: Vec<Script>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Script {
    /// Its absolute path, without links.
    pub path: PathBuf,
    /// The digest of what it holds, in hexadecimal digits.
    pub sha256: String,
}

impl SkillSpaces {
    /// Resolves an action of a skill.
    ///
    /// # Errors
    /// `validation`: the mention or the id is none. `not_found`: there is no such skill, action or file. `config_error`: the
    /// `SKILL.md` is wrong, with its line. `permission`: a link is in the way, or the skill's files are too many.
    pub fn resolve(&self, skill_mention: &str, action_id: &str) -> Result<Resolved, Failure> {
        let (mention, skill) = self.skill(skill_mention)?;
        let action = skill.matter.actions.get(action_id).ok_or_else(|| {
            let known: Vec<&str> = skill.matter.actions.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            let message = format!("`{mention}` has no action `{action_id}` (it has {known})");
            Failure::new(ErrorKind::NotFound, &message)
        })?;
        let mut found = Found::default();
        let mut argv = Vec::new();
        for word in &action.argv {
            argv.push(match word {
                Word::Plain(text) => text.clone(),
                Word::File(steps) => found.named(&skill, steps)?,
            });
        }
        let env = action.env.iter().map(|(name, value)| (name.clone(), Secret::new(value.clone()))).collect();
        let env_keys: BTreeSet<&String> = action.env.keys().chain(&action.passed_on).collect();
        Ok(Resolved {
            mention,
            action_id: action_id.to_owned(),
            description: action.description.clone(),
            root: skill.path().to_path_buf(),
            argv,
            env,
            env_keys: env_keys.into_iter().cloned().collect(),
            timeout_ms: action.timeout_ms,
            scripts: found.scripts(),
        })
    }
}

impl Resolved {
    /// One digest of all files: their paths and what they hold.
    #[must_use]
    pub fn scripts_sha256(&self) -> String {
        let files: Vec<Value> =
            self.scripts.iter().map(|script| json!([script.path.to_string_lossy(), script.sha256])).collect();
        call::sha256_hex(Value::Array(files).to_string().as_bytes())
    }

    /// Whether both would run the same: the same command with the same variables on files with the same content.
    #[must_use]
    pub fn is_same(&self, other: &Resolved) -> bool {
        let values = |resolved: &Resolved| {
            resolved
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                .collect::<Vec<_>>()
        };
        self.argv == other.argv
            && self.env_keys == other.env_keys
            && self.timeout_ms == other.timeout_ms
            && self.scripts == other.scripts
            && values(self) == values(other)
    }

    /// The arguments of the `shell_exec` that the action is: what is to be judged. `outside` gives the values of variables that
    /// are passed on; one that has none is left out.
    #[must_use]
    pub fn as_shell_exec(&self, outside: impl Fn(&str) -> Option<String>) -> Value {
        let value = |name: &String| match self.env.get(name) {
            Some(value) => Some(value.expose().to_owned()),
            None => outside(name),
        };
        let env: Map<String, Value> =
            self.env_keys.iter().filter_map(|name| Some((name.clone(), value(name)?.into()))).collect();
        json!({"argv": self.argv, "env": env, "timeout_ms": self.timeout_ms, "sandbox": "inherit"})
    }
}

impl fmt::Debug for Resolved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values of variables are not shown.
        out.debug_struct("Resolved")
            .field("mention", &self.mention)
            .field("action_id", &self.action_id)
            .field("argv", &self.argv)
            .field("env_keys", &self.env_keys)
            .field("timeout_ms", &self.timeout_ms)
            .field("scripts", &self.scripts)
            .finish_non_exhaustive()
    }
}

/// The files that were found so far.
#[derive(Default)]
struct Found {
    digests: BTreeMap<PathBuf, String>,
    folders: BTreeSet<PathBuf>,
    bytes: u64,
}

impl Found {
    /// A file that the command names, with all that is beside and below it.
    fn named(&mut self, skill: &Skill<'_>, steps: &[String]) -> Result<String, Failure> {
        let opened = skill.read(steps)?;
        let path = opened.path.to_str().map(str::to_owned).ok_or_else(|| {
            let message = format!("the path of `{}` is no UTF-8 text", steps.join("/"));
            Failure::validation(&message)
        })?;
        self.take(opened)?;
        if let (Some(folder), _) = skill.parent(steps)?
            && !self.folders.contains(&folder.path)
        {
            self.below(folder)?;
        }
        Ok(path)
    }

    fn below(&mut self, folder: Directory<'_>) -> Result<(), Failure> {
        let mut pending = vec![(folder, 0_usize)];
        while let Some((folder, depth)) = pending.pop() {
            if depth > MAX_DEPTH {
                return Err(too_much(&format!("`{}` is nested too deep", folder.path.display())));
            }
            let (entries, more) = folder.entries(MOST_FILES).map_err(Failure::from)?;
            if more {
                return Err(too_much(&format!(
                    "`{}` holds more than {MOST_FILES} files",
                    folder.path.display()
                )));
            }
            for entry in entries {
                let path = folder.path.join(&entry.name);
                match entry.kind {
                    Kind::Directory => {
                        pending.push((folder.down(&entry.name).map_err(linked)?, depth + 1));
                        if pending.len() + self.folders.len() > MOST_FILES {
                            return Err(too_much("the folders of the skill's actions are too many"));
                        }
                    }
                    Kind::File if self.digests.contains_key(&path) => {}
                    Kind::File => self.take(folder.read(&entry.name).map_err(linked)?)?,
                    // FAIL-CLOSED: what a link or a pipe holds when the action runs cannot be known.
                    found @ (Kind::Link | Kind::Pipe | Kind::Socket | Kind::Device | Kind::Unknown) => {
                        return Err(linked(Refused::Kind { path, found, wanted: Kind::File }));
                    }
                }
            }
            self.folders.insert(folder.path.clone());
        }
        Ok(())
    }

    fn take(&mut self, opened: Opened) -> Result<(), Failure> {
        let Opened { path, mut file, .. } = opened;
        if self.digests.len() >= MOST_FILES {
            return Err(too_much("the files of the skill's actions are too many"));
        }
        let mut digest = Sha256::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            let count = file.read(&mut piece).map_err(|error| Failure::io(&path, &error))?;
            if count == 0 {
                break;
            }
            self.bytes = self.bytes.saturating_add(count as u64);
            if self.bytes > MOST_BYTES {
                return Err(too_much(&format!("the skill's actions have more than {MOST_BYTES} bytes")));
            }
            digest.update(piece.get(..count).unwrap_or_default());
        }
        let hex = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        self.digests.insert(path, hex);
        Ok(())
    }

    fn scripts(self) -> Vec<Script> {
        self.digests.into_iter().map(|(path, sha256)| Script { path, sha256 }).collect()
    }
}

fn too_much(message: &str) -> Failure {
    Failure::new(ErrorKind::Permission, message)
}
