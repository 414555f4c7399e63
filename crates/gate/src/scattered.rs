//! Denied paths that a pattern means (`**/.env`). A fence hides places, so what is meant is looked for before it is built: in the
//! workspace, in what the configuration shows besides, and in the directory that a pattern begins with. Toolchains and the
//! system's own directories are too large to be looked through for every command.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fence::{Access, Impossible, Plan, Wishes};
use policy::PathPattern;

use crate::Gate;

/// So many entries of directories are looked at.
const LOOKED_AT: usize = 200_000;
/// So many places are hidden.
const HIDDEN: usize = 1_000;

impl Gate {
    /// Draws a plan in which nothing can be seen that is denied.
    pub(crate) fn draw(&self, mut wishes: Wishes) -> Result<Plan, Impossible> {
        let mut patterns = Vec::new();
        for pattern in self.config.denied() {
            match pattern.place() {
                Some(place) => wishes.hide.push(place.into()),
                None => patterns.push(pattern),
            }
        }
        if patterns.is_empty() {
            return fence::draw(&wishes, &fence::Survey::default());
        }
        let shown = fence::draw(&wishes, &fence::Survey::default())?.places;
        let meant = |path: &Path| patterns.iter().any(|pattern| pattern.means(&path.to_string_lossy()));
        let plain = shown.iter().filter(|(path, access)| **access == Access::Read && meant(path));
        wishes.hide.extend(plain.map(|(path, _)| path.clone()));
        let seen: Vec<&Path> =
            wishes.workspace.iter().chain(&wishes.read).chain(&wishes.write).map(PathBuf::as_path).collect();
        let found = look(&starts(&patterns, &seen, wishes.home.as_deref()), &patterns)?;
        wishes.hide.extend(found);
        fence::draw(&wishes, &fence::Survey::default())
    }
}

/// Where to look, in nothing twice.
fn starts(patterns: &[&PathPattern], seen: &[&Path], home: Option<&Path>) -> Vec<PathBuf> {
    let mut starts: Vec<&Path> = Vec::new();
    for start in patterns.iter().map(|pattern| Path::new(pattern.start())) {
        starts.extend(seen.iter().filter(|seen| seen.starts_with(start)));
        if start.parent().is_some() && !home.is_some_and(|home| home.starts_with(start)) {
            starts.push(start);
        }
    }
    starts.sort_unstable();
    starts.dedup_by(|later, kept| later.starts_with(kept));
    starts.into_iter().map(Path::to_path_buf).collect()
}

/// Looks through directories. Links are not followed: what they lead to has a path of its own, by which it is found.
fn look(starts: &[PathBuf], patterns: &[&PathPattern]) -> Result<Vec<PathBuf>, Impossible> {
    let mut found = Vec::new();
    let mut looked_at = 0;
    let mut open = starts.to_vec();
    while let Some(directory) = open.pop() {
        let entries = match directory.read_dir() {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            // FAIL-CLOSED: whoever knows a name in it might still open that.
            Err(_) => {
                found.push(directory);
                continue;
            }
        };
        for entry in entries {
            let Ok(entry) = entry else {
                found.push(directory);
                break;
            };
            let path = entry.path();
            looked_at += 1;
            let text = path.to_string_lossy();
            if let Some(pattern) = patterns.iter().find(|pattern| pattern.means(&text)) {
                if found.len() == HIDDEN {
                    return Err(too_much(pattern, "means more files than a fence can hide"));
                }
                found.push(path);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if entry.file_type().is_err() {
                found.push(path);
            }
        }
        if looked_at > LOOKED_AT
            && let Some(pattern) = patterns.first()
        {
            return Err(too_much(pattern, "would have to be looked for in too many files"));
        }
    }
    Ok(found)
}

fn too_much(pattern: &PathPattern, why: &str) -> Impossible {
    Impossible {
        why: format!("`{}` in `denied_paths` {why}", pattern.text()),
        help: "deny whole directories or single files, or let the pattern begin with a directory".into(),
    }
}
