//! What a tree looks like, so that any change to it is seen: names, kinds, owners, modes, times, links, contents.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(crate) type Trace = BTreeMap<String, String>;

/// Everything beneath a directory except what is beneath the names left out.
pub(crate) fn of_tree(root: &Path, left_out: &[&str]) -> Trace {
    let mut trace = Trace::new();
    visit(root, "", left_out, &mut trace);
    trace
}

/// What differs between two traces, as paths.
pub(crate) fn changes(before: &Trace, after: &Trace) -> Vec<String> {
    let mut changed: Vec<String> = before
        .iter()
        .filter(|(path, look)| after.get(*path) != Some(look))
        .map(|(path, _)| path.clone())
        .collect();
    changed.extend(after.keys().filter(|path| !before.contains_key(*path)).cloned());
    changed
}

/// Notes one path and, where it is a directory, all beneath it.
pub(crate) fn visit(root: &Path, name: &str, left_out: &[&str], trace: &mut Trace) {
    let path = root.join(name);
    let Ok(about) = std::fs::symlink_metadata(&path) else {
        return;
    };
    let kind = about.file_type();
    let owner = format!("{:o} {}:{}", about.mode(), about.uid(), about.gid());
    let look = if kind.is_dir() {
        owner
    } else if kind.is_symlink() {
        format!("{owner} -> {}", std::fs::read_link(&path).unwrap_or_default().display())
    } else {
        let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
        let content = if kind.is_file() && about.len() < 1 << 16 {
            std::fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        format!("{owner} {} {} {times:?} {}", about.nlink(), about.len(), String::from_utf8_lossy(&content))
    };
    if !name.is_empty() {
        trace.insert(name.to_owned(), look);
    }
    if kind.is_dir() {
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            let own = entry.file_name().to_string_lossy().into_owned();
            let below = if name.is_empty() { own } else { format!("{name}/{own}") };
            if !left_out.contains(&below.as_str()) {
                visit(root, &below, left_out, trace);
            }
        }
    }
}
