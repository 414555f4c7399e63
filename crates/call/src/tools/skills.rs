//! The tools that use a skill: a directory of instructions, references and actions that its author describes.
//!
//! Where a skill lies and which command an action stands for is in the configuration and in the skill: whoever knows completes
//! the call ([`crate::Call::complete`]), and from then on an action is the `shell_exec` of its command. A call that nobody
//! completed is [`Intent::Unknown`], and is asked about.

use schemars::JsonSchema;
use serde::Deserialize;

use super::exec::{Env, Exec, SandboxPermissions, What};
use super::{Kind, Sandbox};
use crate::bounds::{MAX_ID, check_path};
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::Intent;
use crate::invalid::{Invalid, described_text};

/// Arguments of `skill_exec`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillExec {
    /// `$[namespace].name`
    #[schemars(length(min = 1))]
    pub skill_mention: String,
    /// Which of its actions.
    #[schemars(length(min = 1))]
    pub action_id: String,
    /// What it stands for; nobody who asks can say it.
    #[serde(skip)]
    pub(crate) command: Option<Box<SkillCommand>>,
}

/// What an action of a skill stands for.
pub struct SkillCommand {
    /// The skill's folder.
    pub root: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables that the skill sets.
    pub env: Env,
    /// Variables that are passed on from whoever asks.
    pub passed_on: Vec<String>,
    /// How long it may take.
    pub timeout_ms: u64,
    /// One digest of all files that the command can use.
    pub script_sha256: String,
}

impl SkillCommand {
    /// Whether both would run the same on the same files.
    #[must_use]
    pub fn is_same(&self, other: &SkillCommand) -> bool {
        let values = |command: &SkillCommand| -> Vec<(String, String)> {
            let owned = |(name, value): (&str, &crate::Secret)| (name.to_owned(), value.expose().to_owned());
            command.env.iter().map(owned).collect()
        };
        self.root == other.root
            && self.argv == other.argv
            && self.passed_on == other.passed_on
            && self.timeout_ms == other.timeout_ms
            && self.script_sha256 == other.script_sha256
            && values(self) == values(other)
    }

    pub(crate) fn check(&self) -> Result<(), Invalid> {
        self.view().check("argv", "cwd")
    }

    fn view(&self) -> Exec<'_> {
        Exec {
            what: What::Words(&self.argv),
            workdir: None,
            env: &self.env,
            passed_on: &self.passed_on,
            timeout_ms: Some(self.timeout_ms),
            tty: false,
            sandbox: Sandbox::Inherit,
            permissions: SandboxPermissions::Restricted,
            justification: None,
        }
    }
}

impl SkillExec {
    /// What it stands for, where that is known.
    #[must_use]
    pub fn command(&self) -> Option<&SkillCommand> {
        self.command.as_deref()
    }
}

impl Kind for SkillExec {
    const NAME: &'static str = "skill_exec";
    const CATEGORY: Category = Category::Exec;
    const ABOUT: &'static str = "Runs an action of a skill.";

    fn check(&self) -> Result<(), Invalid> {
        check_mention(&self.skill_mention)?;
        if is_name(&self.action_id) {
            Ok(())
        } else {
            let expected = "a name of letters, digits, `_`, `-` and `.`";
            Err(Invalid::new(expected, described_text(&self.action_id)).in_key("action_id"))
        }
    }

    fn intents(&self) -> Vec<Intent> {
        match &self.command {
            Some(command) => command.view().intents(),
            None => {
                let why = "which command the skill's action stands for is not resolved";
                vec![Intent::Unknown { why: why.into() }]
            }
        }
    }

    fn exec(&self) -> Option<Exec<'_>> {
        self.command.as_ref().map(|command| command.view())
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("skill_mention", &self.skill_mention);
        form.text("action_id", &self.action_id);
        match &self.command {
            Some(command) => {
                form.exec("argv", &command.view());
                form.value("script_sha256", command.script_sha256.as_str());
            }
            None => {
                form.value("sandbox", Sandbox::Inherit.name());
                form.risk();
            }
        }
    }
}

/// Arguments of `skill_ref_read`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillRefRead {
    /// `$[namespace].name`
    #[schemars(length(min = 1))]
    pub skill_mention: String,
    /// A file under `references/` or `assets/`.
    #[schemars(length(min = 1))]
    pub ref_path: String,
    /// How much of it.
    #[schemars(range(min = 1))]
    pub max_bytes: Option<u64>,
    /// The file; nobody who asks can say it.
    #[serde(skip)]
    pub(crate) path: Option<String>,
}

impl Kind for SkillRefRead {
    const NAME: &'static str = "skill_ref_read";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Reads a reference of a skill.";

    fn check(&self) -> Result<(), Invalid> {
        check_mention(&self.skill_mention)?;
        check_path(&self.ref_path).map_err(|error| error.in_key("ref_path"))?;
        let mut steps = self.ref_path.split('/');
        let rooted = matches!(steps.next(), Some("references" | "assets"));
        if rooted && self.ref_path.contains('/') && steps.all(|step| !matches!(step, "" | "." | "..")) {
            Ok(())
        } else {
            let expected = "a path under `references/` or `assets/` without `.` and `..`";
            Err(Invalid::new(expected, described_text(&self.ref_path)).in_key("ref_path"))
        }
    }

    fn intents(&self) -> Vec<Intent> {
        vec![match &self.path {
            Some(path) => Intent::Read { path: path.clone() },
            None => Intent::Unknown { why: "where the skill lies is not resolved".into() },
        }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("skill_mention", &self.skill_mention);
        form.text("ref_path", &self.ref_path);
        if let Some(path) = &self.path {
            form.path("path", path);
        }
        if let Some(max_bytes) = self.max_bytes {
            form.shown("max_bytes", max_bytes);
        }
    }
}

fn check_mention(mention: &str) -> Result<(), Invalid> {
    let parts = mention.strip_prefix("$[").and_then(|rest| rest.split_once("]."));
    match parts {
        Some((namespace, name)) if namespace.split(':').all(is_name) && is_name(name) => Ok(()),
        _ => Err(Invalid::new("`$[namespace].name`", described_text(mention)).in_key("skill_mention")),
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_ID).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        && !name.starts_with('.')
}
