//! Skills: folders with a `SKILL.md` in the spaces that the configuration names.
//!
//! A mention leads to a folder of that name beneath its space, and to nothing else: every step is opened by name from the
//! descriptor of the step before, and no link is followed on the way, wherever it leads. `front_matter.rs` says what is read
//! from a `SKILL.md`; [`resolve`] what an action stands for.

mod front_matter;
mod mention;
pub mod resolve;
mod yaml;

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use call::ErrorKind;
use fence::rooted::{Area, Directory, Guard, Kind, Listed, Opened, Refused, Right};

use crate::failure::Failure;
use front_matter::FrontMatter;
pub(crate) use front_matter::steps;
pub use mention::{Mention, is_namespace};
pub use resolve::{Resolved, Script};

/// The largest `SKILL.md`.
const MAX_BYTES: u64 = 1024 * 1024;
/// The most folders of a space that are looked at to list skills.
const MOST_LISTED: usize = 1024;

/// The spaces that skills are looked for in.
pub struct SkillSpaces {
    spaces: Vec<Space>,
}

struct Space {
    namespace: String,
    path: PathBuf,
    area: Area,
}

/// What is known of a skill without its instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What names it.
    pub mention: Mention,
    /// What it is for.
    pub description: String,
    /// Its actions, with what they are for.
    pub actions: Vec<(String, Option<String>)>,
}

impl SkillSpaces {
    /// Opens the spaces: each namespace once, each path absolute and without links.
    ///
    /// # Errors
    /// `config_error`: a namespace is none or stands twice, or its folder cannot be opened.
    pub fn new(spaces: Vec<(String, PathBuf)>) -> Result<SkillSpaces, Failure> {
        SkillSpaces::guarded(spaces, || Box::new(Listed::default()))
    }

    /// As [`SkillSpaces::new`], with what is hidden also from those who use skills.
    ///
    /// # Errors
    /// As [`SkillSpaces::new`].
    pub fn guarded(
        spaces: Vec<(String, PathBuf)>,
        guard: impl Fn() -> Box<dyn Guard>,
    ) -> Result<SkillSpaces, Failure> {
        let wrong = |message: String| Failure::new(ErrorKind::ConfigError, &message);
        let mut opened: Vec<Space> = Vec::new();
        for (namespace, path) in spaces {
            if !mention::is_namespace(&namespace) {
                return Err(wrong(format!("`{namespace}` is no namespace: expected words joined by `:`")));
            }
            if opened.iter().any(|space| space.namespace == namespace) {
                return Err(wrong(format!("the namespace `{namespace}` has two folders")));
            }
            let area = Area::new([(path.clone(), Right::Read)], guard());
            let area = area.map_err(|refused| wrong(format!("the skills of `{namespace}`: {refused}")))?;
            opened.push(Space { namespace, path, area });
        }
        Ok(SkillSpaces { spaces: opened })
    }

    /// The skills that can be used, and what is wrong with the other folders that have a `SKILL.md`. Sorted by mention.
    #[must_use]
    pub fn list(&self) -> (Vec<Summary>, Vec<Failure>) {
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for space in &self.spaces {
            let listed = space.area.directory(&space.path).and_then(|folder| folder.entries(MOST_LISTED));
            let entries = match listed {
                Ok((entries, _)) => entries,
                Err(refused) => {
                    bad.push(refused.into());
                    continue;
                }
            };
            let folders = entries.iter().filter(|entry| entry.kind == Kind::Directory);
            for mention in folders.filter_map(|entry| Mention::new(&space.namespace, entry.name.to_str()?)) {
                match self.open(&mention) {
                    Ok(skill) => good.push(skill.summary(mention)),
                    Err(SkillError::NoSkill) => {}
                    Err(SkillError::Failed(failure)) => bad.push(failure),
                }
            }
        }
        good.sort_by(|one, other| one.mention.cmp(&other.mention));
        (good, bad)
    }

    /// Where a file that a `skill_ref_read` names lies, whether or not it is there.
    ///
    /// # Errors
    /// There is no such skill, or its `SKILL.md` is wrong.
    pub fn reference(&self, skill_mention: &str, ref_path: &str) -> Result<PathBuf, Failure> {
        let (_, skill) = self.skill(skill_mention)?;
        Ok(skill.path().join(ref_path))
    }

    /// Opens the skill that a mention names, and reads what it says about itself.
    pub(crate) fn skill(&self, mention: &str) -> Result<(Mention, Skill<'_>), Failure> {
        let mention = Mention::parse(mention).ok_or_else(|| {
            Failure::validation("expected `$[namespace].name`, made of letters, digits, `_` and `-`")
        })?;
        match self.open(&mention) {
            Ok(skill) => Ok((mention, skill)),
            Err(SkillError::NoSkill) => {
                Err(Failure::new(ErrorKind::NotFound, &format!("there is no skill `{mention}`")))
            }
            Err(SkillError::Failed(failure)) => Err(failure),
        }
    }

    fn open(&self, mention: &Mention) -> Result<Skill<'_>, SkillError> {
        let space = self.spaces.iter().find(|space| space.namespace == mention.namespace());
        let space = space.ok_or(SkillError::NoSkill)?;
        let folder = space.area.directory(&space.path)?.down(OsStr::new(mention.name()));
        let folder = folder.map_err(absent)?;
        let path = folder.path.join("SKILL.md");
        let opened = folder.read(OsStr::new("SKILL.md")).map_err(absent)?;
        let matter = front_matter::read(&text(opened, &path)?).map_err(|wrong| at(&path, &wrong))?;
        if matter.name != mention.name() {
            let message = format!("`name` is `{}`, and the folder is `{}`", matter.name, mention.name());
            let wrong = Failure::new(ErrorKind::ConfigError, &format!("{}: {message}", path.display()));
            return Err(wrong.into());
        }
        Ok(Skill { folder, matter })
    }
}

impl fmt::Debug for SkillSpaces {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.spaces.iter().map(|space| (&space.namespace, &space.path))).finish()
    }
}

/// Why a skill is not to be had.
enum SkillError {
    NoSkill,
    Failed(Failure),
}

impl From<Failure> for SkillError {
    fn from(failure: Failure) -> SkillError {
        SkillError::Failed(failure)
    }
}

impl From<Refused> for SkillError {
    fn from(refused: Refused) -> SkillError {
        SkillError::Failed(refused.into())
    }
}

fn absent(refused: Refused) -> SkillError {
    match refused {
        Refused::Missing { .. } => SkillError::NoSkill,
        refused => linked(refused).into(),
    }
}

/// A link is refused as something that leads elsewhere, and not as a file of the wrong kind.
pub(crate) fn linked(refused: Refused) -> Failure {
    match &refused {
        Refused::Kind { path, found: Kind::Link, .. } => {
            let message = format!("`{}` is a link, which is not followed in skills", path.display());
            Failure::new(ErrorKind::Permission, &message)
        }
        _ => refused.into(),
    }
}

/// A skill that is open.
pub(crate) struct Skill<'a> {
    folder: Directory<'a>,
    matter: FrontMatter,
}

impl<'a> Skill<'a> {
    pub(crate) fn path(&self) -> &Path {
        &self.folder.path
    }

    /// Opens a file of the skill, step by step. No link is followed.
    pub(crate) fn read(&self, steps: &[String]) -> Result<Opened, Failure> {
        let (folder, name) = self.parent(steps)?;
        let folder = folder.as_ref().unwrap_or(&self.folder);
        folder.read(OsStr::new(name)).map_err(linked)
    }

    /// Opens a folder of the skill. `None`: it is the skill's own.
    fn parent<'s>(&self, steps: &'s [String]) -> Result<(Option<Directory<'a>>, &'s str), Failure> {
        let (name, above) = steps.split_last().ok_or_else(|| Failure::validation("expected a path"))?;
        let mut here: Option<Directory<'a>> = None;
        for step in above {
            here = Some(here.as_ref().unwrap_or(&self.folder).down(OsStr::new(step)).map_err(linked)?);
        }
        Ok((here, name))
    }

    fn summary(&self, mention: Mention) -> Summary {
        let actions = self.matter.actions.iter().map(|(id, action)| (id.clone(), action.description.clone()));
        Summary { mention, description: self.matter.description.clone(), actions: actions.collect() }
    }
}

/// A `SKILL.md` as text.
fn text(opened: Opened, path: &Path) -> Result<String, Failure> {
    let wrong =
        |message: &str| Failure::new(ErrorKind::ConfigError, &format!("{}: {message}", path.display()));
    let mut bytes = Vec::new();
    let read = opened.file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(path, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(wrong(&format!("it has more than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| wrong("it is no UTF-8 text"))
}

fn at(path: &Path, wrong: &yaml::Wrong) -> Failure {
    Failure::new(ErrorKind::ConfigError, &format!("{}:{}: {}", path.display(), wrong.line, wrong.message))
}
