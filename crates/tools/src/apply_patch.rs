//! `apply_patch`: adds, changes, moves and deletes files, all that the patch names or none.
//!
//! First everything is worked out in memory, file by file, each change on top of those before it. Then all new contents are
//! written to temporary files, then all names change; if one cannot, the others change back.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use call::{ApplyPatch, Patch, PatchFile, PatchOperation, PatchText};
use fence::rooted::write::Parents;
use fence::rooted::{Change, Commit, Kind, Opened, Refused};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::hunk;
use crate::outcome::Outcome;
use crate::setting::{Setting, timed};

/// The largest file that is changed.
pub const LARGEST: u64 = 16 * 1024 * 1024;
/// The files of one patch together.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// Files of one patch: each keeps descriptors open until all are done.
pub const MOST_FILES: usize = 256;

/// Runs `apply_patch`.
#[must_use]
pub fn run(arguments: &ApplyPatch, setting: &Setting<'_>) -> Outcome {
    timed(|| apply(arguments, setting))
}

fn apply(arguments: &ApplyPatch, setting: &Setting<'_>) -> Result<Outcome, Failure> {
    let read = Patch::parse_with_texts(arguments.input.expose());
    let (patch, texts) = read.map_err(|invalid| Failure::validation(&invalid.to_string()))?;
    if patch.files.len() > MOST_FILES {
        return Err(Failure::validation(&format!(
            "the patch touches {} files, and at most {MOST_FILES} can be changed together",
            patch.files.len()
        )));
    }
    let mut desk = Desk { setting, sheets: Vec::new(), places: HashMap::new(), bytes: 0 };
    let mut said = Vec::new();
    for (file, text) in patch.files.iter().zip(&texts) {
        said.push(desk.file(file, text)?);
    }
    setting.check_stop()?;
    Commit::all(desk.changes()?)?;
    let stdout = said.iter().map(|(mark, path, _)| format!("{mark} {path}\n")).collect();
    let data: Vec<Value> = said.into_iter().map(|(_, _, data)| data).collect();
    Ok(Outcome::success(stdout, json!({ "files": data })))
}

/// What the patch makes of the files, before anything is written.
struct Desk<'a> {
    setting: &'a Setting<'a>,
    sheets: Vec<Sheet>,
    /// By its own path.
    places: HashMap<PathBuf, usize>,
    /// What has been read so far.
    bytes: usize,
}

struct Sheet {
    path: PathBuf,
    before: Before,
    /// What it will hold; `None` if it will not be there.
    after: Option<String>,
    /// A file that was moved here: its mode comes along.
    moved_from: Option<usize>,
    touched: bool,
}

enum Before {
    Missing,
    File(Opened),
    Link,
}

type Said = (char, String, Value);

impl Desk<'_> {
    fn file(&mut self, file: &PatchFile, text: &PatchText<'_>) -> Result<Said, Failure> {
        let path = self.setting.path(&file.path)?;
        let shown = self.setting.shown(&path).display().to_string();
        match &file.operation {
            PatchOperation::Add => {
                let content = text.added.iter().flat_map(|line| [*line, "\n"]).collect();
                self.create(&path, content, None)?;
                Ok(('A', shown, json!({"path": file.path, "change": "added"})))
            }
            PatchOperation::Delete => {
                let sheet = self.sheet_of_name(&path)?;
                self.take(sheet)?;
                Ok(('D', shown, json!({"path": file.path, "change": "deleted"})))
            }
            PatchOperation::Update => {
                self.update(&path, &file.path, text)?;
                Ok(('M', shown, json!({"path": file.path, "change": "updated"})))
            }
            PatchOperation::Move { to } => {
                let target = self.setting.path(to)?;
                if self.setting.area.spot_of_name(&path)?.kind()? == Some(Kind::Link) {
                    return Err(Failure::validation(&format!(
                        "`{}` is a link, and cannot be moved by a patch: name the file that it leads to",
                        file.path
                    )));
                }
                let sheet = self.update(&path, &file.path, text)?;
                if self.setting.area.real(&target)? != self.setting.area.real(&path)? {
                    let content = self.take(sheet)?;
                    self.create(&target, content, Some(sheet))?;
                }
                let shown = format!("{shown} -> {}", self.setting.shown(&target).display());
                Ok(('R', shown, json!({"path": file.path, "change": "moved", "to": to})))
            }
        }
    }

    fn update(&mut self, path: &Path, named: &str, text: &PatchText<'_>) -> Result<usize, Failure> {
        let index = self.sheet(path)?;
        let Some(sheet) = self.sheets.get_mut(index) else { return Err(lost()) };
        let Some(content) = &sheet.after else {
            return Err(Failure::from(Refused::Missing { path: path.to_path_buf() }));
        };
        let changed = hunk::apply(content, &text.hunks)
            .map_err(|why| Failure::validation(&format!("`{named}`: {why}nothing was changed")))?;
        sheet.after = Some(changed);
        sheet.touched = true;
        Ok(index)
    }

    fn create(&mut self, path: &Path, content: String, moved_from: Option<usize>) -> Result<(), Failure> {
        let index = self.sheet(path)?;
        let Some(sheet) = self.sheets.get_mut(index) else { return Err(lost()) };
        if sheet.after.is_some() || matches!(sheet.before, Before::Link) {
            return Err(Failure::from(Refused::Present { path: path.to_path_buf() }));
        }
        *sheet = Sheet {
            after: Some(content),
            moved_from,
            touched: true,
            path: std::mem::take(&mut sheet.path),
            before: std::mem::replace(&mut sheet.before, Before::Missing),
        };
        Ok(())
    }

    /// Takes a file away, and gives what was in it.
    fn take(&mut self, index: usize) -> Result<String, Failure> {
        let Some(sheet) = self.sheets.get_mut(index) else { return Err(lost()) };
        sheet.touched = true;
        match (sheet.after.take(), &sheet.before) {
            (Some(content), _) => Ok(content),
            (None, Before::Link) => Ok(String::new()),
            (None, _) => Err(Failure::from(Refused::Missing { path: sheet.path.clone() })),
        }
    }

    /// The sheet of the file that a path leads to, whether there is one or not.
    fn sheet(&mut self, path: &Path) -> Result<usize, Failure> {
        let real = self.setting.area.real(path)?;
        // Whoever may not change a file learns nothing else about it from a patch.
        self.setting.area.may_change(&real)?;
        if let Some(known) = self.places.get(&real) {
            return Ok(*known);
        }
        let (before, after) = match self.setting.area.read(&real) {
            Ok(mut opened) => {
                let content = content(&mut opened)?;
                self.bytes = self.bytes.saturating_add(content.len());
                if self.bytes > MOST_BYTES {
                    return Err(Failure::validation(
                        "the files of the patch are larger than 64 MiB together",
                    ));
                }
                (Before::File(opened), Some(content))
            }
            Err(Refused::Missing { .. }) => (Before::Missing, None),
            Err(refused) => return Err(refused.into()),
        };
        Ok(self.put(Sheet { path: real, before, after, moved_from: None, touched: false }))
    }

    /// The sheet of a name that is to go: a link goes itself.
    fn sheet_of_name(&mut self, path: &Path) -> Result<usize, Failure> {
        let spot = self.setting.area.spot_of_name(path)?;
        if let Some(known) = self.places.get(&spot.path) {
            return Ok(*known);
        }
        let (before, after) = match spot.kind()? {
            Some(Kind::Link) => (Before::Link, None),
            // What is in it does not matter: nothing but its name is needed.
            _ => match spot.read()? {
                Some(opened) => (Before::File(opened), Some(String::new())),
                None => return Err(Refused::Missing { path: path.to_path_buf() }.into()),
            },
        };
        Ok(self.put(Sheet { path: spot.path.clone(), before, after, moved_from: None, touched: false }))
    }

    fn put(&mut self, sheet: Sheet) -> usize {
        let index = self.sheets.len();
        self.places.insert(sheet.path.clone(), index);
        self.sheets.push(sheet);
        index
    }

    /// Writes what is new to temporary files. What is only taken away comes last, when all that is new is there.
    fn changes(&self) -> Result<Vec<Change>, Failure> {
        let area = self.setting.area;
        let (mut changes, mut removals) = (Vec::new(), Vec::new());
        for sheet in self.sheets.iter().filter(|sheet| sheet.touched) {
            match (&sheet.before, &sheet.after) {
                (Before::Missing, None) => {}
                (Before::Missing, Some(content)) => {
                    let model = sheet.moved_from.and_then(|from| self.sheets.get(from));
                    let model = model.and_then(|sheet| match &sheet.before {
                        Before::File(opened) => Some(opened),
                        Before::Missing | Before::Link => None,
                    });
                    let staged = area.spot(&sheet.path, Parents::Make)?.stage(content.as_bytes(), model)?;
                    changes.push(Change::Create(staged));
                }
                (Before::File(opened), Some(content)) => {
                    let staged = area.spot(&sheet.path, Parents::Need)?.stage(content.as_bytes(), None)?;
                    changes.push(Change::Replace(staged, opened.identity()));
                }
                (Before::File(opened), None) => {
                    removals.push(Change::Remove(area.spot_of_name(&sheet.path)?, Some(opened.identity())));
                }
                (Before::Link, _) => removals.push(Change::Remove(area.spot_of_name(&sheet.path)?, None)),
            }
        }
        changes.extend(removals);
        Ok(changes)
    }
}

/// INVARIANT: sheets are only ever added, so a sheet that was found is there.
fn lost() -> Failure {
    Failure::new(call::ErrorKind::Unknown, "a file of the patch was lost")
}

fn content(opened: &mut Opened) -> Result<String, Failure> {
    let path = opened.path.clone();
    let mut bytes = Vec::new();
    let read = (&mut opened.file).take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(&path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::validation(&format!("`{}` is larger than 16 MiB", path.display())));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::validation(&format!("`{}` is not UTF-8, and cannot be patched", path.display()))
    })
}
