//! Walks down from a directory with several threads. Every step goes by descriptors; links are not followed.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use fence::rooted::{Directory, Kind};

use crate::ignore_rules::{Rules, Said};

/// Names of one directory that are looked at.
const MOST_NAMES: usize = 1_000_000;
/// Directories within each other.
const DEEPEST: usize = 128;
/// Files that are handed out together.
const BATCH: usize = 64;
/// More threads than that only wait for each other.
const MOST_THREADS: usize = 8;

/// Whoever wants to know of the files.
pub(crate) trait Visitor: Sync {
    /// What one thread keeps for itself.
    type Own;
    fn own(&self) -> Self::Own;
    /// Whether a file is wanted, by its path, and whether that is said of it by name.
    fn wants(&self, path: &Path) -> (bool, bool);
    /// Whether anything below a directory can still be wanted.
    fn enters(&self, path: &Path) -> bool;
    fn visit(&self, own: &mut Self::Own, directory: &Directory<'_>, name: &OsString);
    fn unread(&self, path: &Path);
    fn is_over(&self) -> bool;
}

enum Job<'a> {
    /// A directory in one that is open.
    Down(Arc<Directory<'a>>, OsString, Option<Arc<Rules>>, usize),
    /// Files in one.
    Files(Arc<Directory<'a>>, Vec<OsString>),
}

struct Queue<'a> {
    jobs: Vec<Job<'a>>,
    /// Threads that are at work, and may bring more.
    busy: usize,
}

/// Visits every file below a directory that no rule passes over.
pub(crate) fn walk<V: Visitor>(top: Directory<'_>, rules: Option<Arc<Rules>>, visitor: &V) {
    let queue = Mutex::new(Queue { jobs: Vec::new(), busy: 1 });
    let bell = Condvar::new();
    let jobs = entered(&Arc::new(top), rules.as_ref(), 0, visitor);
    {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.jobs.extend(jobs);
        queue.busy = 0;
    }
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = visitor.own();
                while let Some(job) = next(&queue, &bell, visitor) {
                    let new = done(job, &mut own, visitor);
                    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                    queue.busy -= 1;
                    queue.jobs.extend(new);
                    bell.notify_all();
                }
                bell.notify_all();
            });
        }
    });
}

/// The next thing to do; the newest, so that few directories are open at once.
fn next<'a, V: Visitor>(queue: &Mutex<Queue<'a>>, bell: &Condvar, visitor: &V) -> Option<Job<'a>> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if visitor.is_over() {
            queue.jobs.clear();
            return None;
        }
        if let Some(job) = queue.jobs.pop() {
            queue.busy += 1;
            return Some(job);
        }
        if queue.busy == 0 {
            return None;
        }
        queue = bell.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

fn done<'a, V: Visitor>(job: Job<'a>, own: &mut V::Own, visitor: &V) -> Vec<Job<'a>> {
    match job {
        Job::Files(directory, names) => {
            for name in names {
                if visitor.is_over() {
                    break;
                }
                visitor.visit(own, &directory, &name);
            }
            Vec::new()
        }
        Job::Down(above, name, rules, depth) => {
            let path = above.path.join(&name);
            if !visitor.enters(&path) {
                return Vec::new();
            }
            match above.down(&name) {
                Ok(directory) => entered(&Arc::new(directory), rules.as_ref(), depth, visitor),
                Err(_) => {
                    visitor.unread(&path);
                    Vec::new()
                }
            }
        }
    }
}

/// What there is to do in a directory.
fn entered<'a, V: Visitor>(
    directory: &Arc<Directory<'a>>,
    above: Option<&Arc<Rules>>,
    depth: usize,
    visitor: &V,
) -> Vec<Job<'a>> {
    let Ok((mut entries, more)) = directory.entries(MOST_NAMES) else {
        visitor.unread(&directory.path);
        return Vec::new();
    };
    if more {
        visitor.unread(&directory.path);
    }
    let rules = Rules::of(directory, &entries, above);
    // The last job is taken first: in reverse, files and directories come up in the order of their names.
    entries.sort_unstable_by(|one, other| other.name.cmp(&one.name));
    let (mut jobs, mut files) = (Vec::new(), Vec::new());
    let mut path = directory.path.clone();
    for entry in entries {
        let is_directory = entry.kind == Kind::Directory;
        if !is_directory && entry.kind != Kind::File {
            continue;
        }
        path.push(&entry.name);
        let (wanted, by_name) = if is_directory { (true, false) } else { visitor.wants(&path) };
        let said = match &rules {
            Some(rules) if wanted => rules.say(&path, is_directory),
            _ => Said::Nothing,
        };
        path.pop();
        let is_dotted = entry.name.as_encoded_bytes().starts_with(b".");
        let shown = match said {
            Said::Ignored => false,
            Said::Wanted => true,
            Said::Nothing => by_name || !is_dotted,
        };
        if !wanted || !shown {
            continue;
        }
        if !is_directory {
            files.push(entry.name);
        } else if depth < DEEPEST {
            jobs.push(Job::Down(Arc::clone(directory), entry.name, rules.clone(), depth + 1));
        } else {
            visitor.unread(&directory.path.join(&entry.name));
        }
    }
    for batch in files.chunks(BATCH) {
        let names = batch.iter().rev().cloned().collect();
        jobs.push(Job::Files(Arc::clone(directory), names));
    }
    jobs
}
