//! The tools that use a skill: a directory of instructions, references and actions that its author describes.
//!
//! Where a skill lies and which command an action stands for is not known to this crate, so both tools are
//! [`Intent::Unknown`] here: they are asked about. What resolves skills registers a descriptor of its own.

use schemars::JsonSchema;
use serde::Deserialize;

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
        vec![Intent::Unknown { why: "which command the skill's action stands for is not resolved".into() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("skill_mention", &self.skill_mention);
        form.text("action_id", &self.action_id);
        form.value("sandbox", Sandbox::Inherit.name());
        form.seen_argv();
        form.risk();
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
        vec![Intent::Unknown { why: "where the skill lies is not resolved".into() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("skill_mention", &self.skill_mention);
        form.text("ref_path", &self.ref_path);
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
