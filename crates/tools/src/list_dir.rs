//! `list_dir`: what is in a directory, in order, links not followed, hidden names left out.

use std::path::{Path, PathBuf};

use call::ListDir;
use fence::rooted::{Directory, Entry, Kind};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::setting::{Setting, timed};

/// Names of one directory that are looked at.
const MOST_NAMES: usize = 200_000;
/// Entries that are passed over and given in all.
const MOST_ENTRIES: u64 = 1_000_000;
/// Entries that are given at once.
const MOST_GIVEN: u64 = 10_000;
/// Directories within each other.
const DEEPEST: u64 = 128;

/// Runs `list_dir`.
#[must_use]
pub fn run(arguments: &ListDir, setting: &Setting<'_>) -> Outcome {
    timed(|| list(arguments, setting))
}

/// A directory on the way down, with the names in it that are still to come, the next one last.
struct Level<'a> {
    directory: Directory<'a>,
    path: PathBuf,
    rest: Vec<Entry>,
}

fn list(arguments: &ListDir, setting: &Setting<'_>) -> Result<Outcome, Failure> {
    let top = setting.area.directory(&setting.path(&arguments.dir_path)?)?;
    let real = top.path.clone();
    let limit = arguments.limit.min(MOST_GIVEN);
    let mut unread = Vec::new();
    let mut cut = false;
    let mut entries: Vec<Value> = Vec::new();
    let mut stdout = String::new();
    let mut passed = 0_u64;
    let mut more = false;
    let mut levels = vec![level(top, PathBuf::new(), &mut cut)?];
    while let Some(last) = levels.last_mut() {
        let Some(entry) = last.rest.pop() else {
            levels.pop();
            continue;
        };
        setting.check_stop()?;
        passed += 1;
        let path = last.path.join(&entry.name);
        if passed > MOST_ENTRIES || entries.len() as u64 >= limit {
            more = true;
            break;
        }
        if passed >= arguments.offset {
            stdout.push_str(&line(&path, entry.kind));
            entries.push(json!({"rel_path": path.display().to_string(), "type": word(entry.kind)}));
        }
        let depth = levels.len() as u64;
        if entry.kind == Kind::Directory && depth < arguments.depth && depth < DEEPEST {
            let Some(last) = levels.last() else { break };
            // One that cannot be entered is shown as it is, and said to be so.
            match last
                .directory
                .down(&entry.name)
                .map_err(Failure::from)
                .and_then(|directory| level(directory, path.clone(), &mut cut))
            {
                Ok(level) => levels.push(level),
                Err(_) => unread.push(path.display().to_string()),
            }
        }
    }
    if entries.is_empty() && passed > 0 && !more {
        return Err(Failure::validation(&format!(
            "`{}` has {passed} entries; there is no entry {}",
            arguments.dir_path, arguments.offset
        )));
    }
    let truncated = more || cut;
    if truncated {
        let next = arguments.offset.saturating_add(entries.len() as u64);
        stdout.push_str(&format!("[… more from offset {next} on …]\n"));
    }
    unread.truncate(100);
    let data =
        json!({"path": real.display().to_string(), "entries": entries, "more": truncated, "unread": unread});
    Ok(Outcome::success(stdout, data).truncated(truncated))
}

fn level<'a>(directory: Directory<'a>, path: PathBuf, cut: &mut bool) -> Result<Level<'a>, Failure> {
    let (mut rest, more) = directory.entries(MOST_NAMES)?;
    *cut |= more;
    rest.sort_unstable_by(|one, other| other.name.cmp(&one.name));
    Ok(Level { directory, path, rest })
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "dir",
        Kind::Link => "symlink",
        Kind::Pipe | Kind::Socket | Kind::Device | Kind::Unknown => "other",
    }
}

/// A name with a mark of what it is, as `ls -F` has it.
fn line(path: &Path, kind: Kind) -> String {
    let mark = match kind {
        Kind::File | Kind::Device | Kind::Unknown => "",
        Kind::Directory => "/",
        Kind::Link => "@",
        Kind::Pipe => "|",
        Kind::Socket => "=",
    };
    format!("{}{mark}\n", call::visible(&path.display().to_string()))
}
