//! The tools that read and write files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, SandboxPermissions};
use crate::bounds::check_path;
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::Intent;
use crate::invalid::Invalid;
use crate::patch::{Patch, PatchOperation};
use crate::secret::Secret;

const fn yes() -> bool {
    true
}

const fn a_quarter_mebibyte() -> u64 {
    262_144
}

/// Arguments of `file_read`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRead {
    /// The file.
    #[schemars(length(min = 1))]
    pub path: String,
    /// How much of it; of a longer file, head and tail are kept.
    #[serde(default = "a_quarter_mebibyte")]
    #[schemars(range(min = 1))]
    pub max_bytes: u64,
}

impl Kind for FileRead {
    const NAME: &'static str = "file_read";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Reads a file.";

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.path).map_err(|error| error.in_key("path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read { path: self.path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("path", &self.path);
        form.shown("max_bytes", self.max_bytes);
    }
}

/// Arguments of `file_write`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileWrite {
    /// The file.
    #[schemars(length(min = 1))]
    pub path: String,
    /// All that it will hold.
    pub content: Secret,
    /// Whether missing directories are made.
    #[serde(default = "yes")]
    pub create_dirs: bool,
    /// What is asked of the fence.
    #[serde(default)]
    pub sandbox_permissions: SandboxPermissions,
    /// Why, for whoever approves.
    pub justification: Option<String>,
}

impl Kind for FileWrite {
    const NAME: &'static str = "file_write";
    const CATEGORY: Category = Category::Write;
    const ABOUT: &'static str = "Writes a file as a whole, or not at all.";
    const RAW_KEYS: &'static [&'static str] = &["content"];

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.path).map_err(|error| error.in_key("path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Write { path: self.path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("path", &self.path);
        form.value("create_dirs", self.create_dirs);
        form.content(&self.content);
        form.value("sandbox_permissions", self.sandbox_permissions.name());
        form.justification(self.justification.as_deref());
    }

    fn permissions(&self) -> SandboxPermissions {
        self.sandbox_permissions
    }

    fn justification(&self) -> Option<&str> {
        self.justification.as_deref()
    }
}

const fn one() -> u64 {
    1
}

const fn two() -> u64 {
    2
}

const fn four() -> u64 {
    4
}

const fn twenty_five() -> u64 {
    25
}

const fn a_hundred() -> u64 {
    100
}

const fn two_thousand() -> u64 {
    2000
}

/// Arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file.
    #[schemars(length(min = 1))]
    pub file_path: String,
    /// The first line.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub offset: u64,
    /// How many lines.
    #[serde(default = "two_thousand")]
    #[schemars(range(min = 1))]
    pub limit: u64,
    /// Which lines.
    #[serde(default)]
    pub mode: ReadMode,
    /// How `indentation` chooses.
    pub indentation: Option<Indentation>,
}

/// Which lines of a file `read_file` answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// A range.
    #[default]
    Slice,
    /// The block around a line.
    Indentation,
}

/// How a block of lines is chosen.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Indentation {
    /// The line that the block is around.
    #[schemars(range(min = 1))]
    pub anchor_line: Option<u64>,
    /// How many enclosing blocks.
    #[serde(default = "four")]
    pub max_levels: u64,
    /// Whether blocks beside it come too.
    #[serde(default)]
    pub include_siblings: bool,
    /// Whether the lines above come too.
    #[serde(default)]
    pub include_header: bool,
    /// At most so many lines.
    #[schemars(range(min = 1))]
    pub max_lines: Option<u64>,
}

impl Kind for ReadFile {
    const NAME: &'static str = "read_file";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Reads lines of a file, numbered.";

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.file_path).map_err(|error| error.in_key("file_path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read { path: self.file_path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("file_path", &self.file_path);
        form.shown("offset", self.offset);
        form.shown("limit", self.limit);
    }
}

/// Arguments of `list_dir`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDir {
    /// The directory.
    #[schemars(length(min = 1))]
    pub dir_path: String,
    /// How deep.
    #[serde(default = "two")]
    #[schemars(range(min = 1))]
    pub depth: u64,
    /// The first entry.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub offset: u64,
    /// How many entries.
    #[serde(default = "twenty_five")]
    #[schemars(range(min = 1))]
    pub limit: u64,
}

impl Kind for ListDir {
    const NAME: &'static str = "list_dir";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Lists a directory.";

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.dir_path).map_err(|error| error.in_key("dir_path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read { path: self.dir_path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("dir_path", &self.dir_path);
        form.shown("depth", self.depth);
        form.shown("offset", self.offset);
        form.shown("limit", self.limit);
    }
}

/// Arguments of `grep_files`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepFiles {
    /// A regular expression.
    #[schemars(length(min = 1))]
    pub pattern: String,
    /// Where to search; the working directory if absent.
    #[schemars(length(min = 1))]
    pub path: Option<String>,
    /// Only files that match this glob.
    pub include: Option<String>,
    /// How many matches.
    #[serde(default = "a_hundred")]
    #[schemars(range(min = 1))]
    pub limit: u64,
}

impl Kind for GrepFiles {
    const NAME: &'static str = "grep_files";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Searches files for a regular expression.";

    fn check(&self) -> Result<(), Invalid> {
        self.path.as_deref().map_or(Ok(()), check_path).map_err(|error| error.in_key("path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read { path: self.path.clone().unwrap_or_else(|| ".".into()) }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("pattern", &self.pattern);
        form.path("path", self.path.as_deref().unwrap_or("."));
        if let Some(include) = &self.include {
            form.text("include", include);
        }
        form.shown("limit", self.limit);
    }
}

/// Arguments of `apply_patch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatch {
    /// `*** Begin Patch`, the changes of each file, `*** End Patch`.
    #[schemars(length(min = 1))]
    pub input: Secret,
    #[serde(skip)]
    #[schemars(skip)]
    files: std::sync::OnceLock<Patch>,
}

impl ApplyPatch {
    /// The files that the patch touches.
    #[must_use]
    pub fn patch(&self) -> &Patch {
        self.files.get_or_init(|| Patch::parse(self.input.expose()).unwrap_or_default())
    }
}

impl Kind for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const CATEGORY: Category = Category::Write;
    const ABOUT: &'static str = "Adds, changes, moves and deletes files by a patch.";
    const RAW_KEYS: &'static [&'static str] = &["input"];

    fn check(&self) -> Result<(), Invalid> {
        let patch = Patch::parse(self.input.expose()).map_err(|error| error.in_key("input"))?;
        // INVARIANT: set here once, before anybody can ask for it.
        let _ = self.files.set(patch);
        Ok(())
    }

    fn intents(&self) -> Vec<Intent> {
        let mut intents = Vec::new();
        for file in &self.patch().files {
            let path = file.path.clone();
            match &file.operation {
                PatchOperation::Add | PatchOperation::Update => intents.push(Intent::Write { path }),
                PatchOperation::Delete => intents.push(Intent::Delete { path }),
                PatchOperation::Move { to } => {
                    intents.push(Intent::Delete { path });
                    intents.push(Intent::Write { path: to.clone() });
                }
            }
        }
        intents
    }

    fn fill(&self, form: &mut Form<'_>) {
        let mut paths = Vec::new();
        for file in &self.patch().files {
            paths.push(file.path.clone());
            if let PatchOperation::Move { to } = &file.operation {
                paths.push(to.clone());
            }
        }
        form.paths("file_paths", &paths);
        form.content(&self.input);
    }
}

/// Arguments of `view_image`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewImage {
    /// The image, at most 5 MiB.
    #[schemars(length(min = 1))]
    pub path: String,
}

impl Kind for ViewImage {
    const NAME: &'static str = "view_image";
    const CATEGORY: Category = Category::Read;
    const ABOUT: &'static str = "Reads an image.";

    fn check(&self) -> Result<(), Invalid> {
        check_path(&self.path).map_err(|error| error.in_key("path"))
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read { path: self.path.clone() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.path("path", &self.path);
    }
}
