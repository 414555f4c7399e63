//! `grep_files`: a regular expression in files, as ripgrep finds it, in the order of their names.
//!
//! Threads find files in any order; what is answered does not depend on it. Once enough is found, what comes later in the order
//! is not searched any more, and whatever came too early is dropped.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use call::GrepFiles;
use fence::rooted::{Directory, Opened, Refused};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::ignore_rules::Rules;
use crate::outcome::Outcome;
use crate::setting::{Deadline, Setting, timed};
use crate::text;
use crate::walk::{self, Visitor};

/// Matches that are given at most.
pub const MOST_MATCHES: u64 = 10_000;
/// A longer line is cut.
const LONGEST_LINE: usize = 500;
/// A line that is longer than that is not searched: the memory of one thread.
const HEAP: usize = 64 * 1024 * 1024;
/// How long a search goes on.
const LONGEST: Duration = Duration::from_secs(60);
/// Places that could not be searched, by name.
const MOST_UNREAD: usize = 20;

/// Runs `grep_files`.
#[must_use]
pub fn run(arguments: &GrepFiles, setting: &Setting<'_>) -> Outcome {
    timed(|| grep(arguments, setting))
}

fn grep(arguments: &GrepFiles, setting: &Setting<'_>) -> Result<Outcome, Failure> {
    let mut regex = RegexMatcherBuilder::new();
    let regex = regex.multi_line(true).line_terminator(Some(b'\n')).build(&arguments.pattern);
    let matcher = regex.map_err(|error| Failure::validation(&format!("`pattern`: {error}")))?;
    let named = arguments.path.as_deref().unwrap_or(".");
    let path = setting.path(named)?;
    let limit = usize::try_from(arguments.limit.min(MOST_MATCHES)).unwrap_or(usize::MAX);
    let search = |include: Override| Search {
        setting,
        matcher,
        include,
        // One more than is given, to know whether there are more.
        enough: limit.saturating_add(1),
        found: Mutex::new(Found::default()),
        is_enough: AtomicBool::new(false),
        searched: AtomicUsize::new(0),
        unread: Mutex::new(Vec::new()),
        deadline: Deadline::after(LONGEST),
    };
    let search = match setting.area.directory(&path) {
        Ok(top) => {
            let search = search(include(arguments.include.as_deref(), &top.path)?);
            let rules = rules_above(setting, &top.path);
            walk::walk(top, rules, &search);
            search
        }
        Err(Refused::Kind { .. }) => {
            let opened = setting.area.read(&path)?;
            let search = search(Override::empty());
            search.file(&mut search.own(), opened);
            search
        }
        Err(refused) => return Err(refused.into()),
    };
    setting.check_stop()?;
    Ok(search.answer(limit))
}

fn include(glob: Option<&str>, top: &Path) -> Result<Override, Failure> {
    let mut builder = OverrideBuilder::new(top);
    if let Some(glob) = glob {
        builder.add(glob).map_err(|error| Failure::validation(&format!("`include`: {error}")))?;
    }
    builder.build().map_err(|error| Failure::validation(&format!("`include`: {error}")))
}

/// The rules of the directories above the one that is searched, as far as they are open to the call.
fn rules_above(setting: &Setting<'_>, top: &Path) -> Option<Arc<Rules>> {
    const MOST_NAMES: usize = 100_000;
    let mut above: Vec<&Path> = top.ancestors().skip(1).collect();
    above.reverse();
    let mut rules = None;
    for path in above.into_iter().filter(|path| setting.area.right_of(path).is_some()) {
        let Ok(directory) = setting.area.directory(path) else { continue };
        let Ok((entries, _)) = directory.entries(MOST_NAMES) else { continue };
        rules = Rules::of(&directory, &entries, rules.as_ref());
    }
    rules
}

struct Search<'a> {
    setting: &'a Setting<'a>,
    matcher: RegexMatcher,
    include: Override,
    enough: usize,
    found: Mutex<Found>,
    /// There is a last file; looked at before the lock is taken.
    is_enough: AtomicBool,
    searched: AtomicUsize,
    unread: Mutex<Vec<String>>,
    deadline: Deadline,
}

/// Matches by file, in order.
#[derive(Default)]
struct Found {
    files: BTreeMap<PathBuf, Vec<(u64, String)>>,
    total: usize,
}

impl Search<'_> {
    /// Whether a path comes after everything that will be given.
    fn is_late(&self, path: &Path) -> bool {
        if !self.is_enough.load(Ordering::Acquire) {
            return false;
        }
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.files.last_key_value().is_some_and(|(last, _)| path > last.as_path())
    }

    fn file(&self, searcher: &mut Searcher, opened: Opened) {
        let mut lines = Lines { most: self.enough, found: Vec::new(), is_binary: false };
        let reader = Watched { file: opened.file, search: self };
        self.searched.fetch_add(1, Ordering::Relaxed);
        if searcher.search_reader(&self.matcher, reader, &mut lines).is_err() {
            self.note_unread(&opened.path);
        }
        if lines.is_binary || lines.found.is_empty() {
            return;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.total += lines.found.len();
        found.files.insert(opened.path, lines.found);
        while let Some(last) = found.files.last_entry() {
            let count = last.get().len();
            if found.total - count < self.enough {
                break;
            }
            found.files.pop_last();
            found.total -= count;
        }
        if found.total >= self.enough {
            self.is_enough.store(true, Ordering::Release);
        }
    }

    fn note_unread(&self, path: &Path) {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        if unread.len() < MOST_UNREAD {
            unread.push(self.setting.shown(path).display().to_string());
        }
    }

    fn answer(self, limit: usize) -> Outcome {
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut unread = self.unread.into_inner().unwrap_or_else(PoisonError::into_inner);
        unread.sort_unstable();
        let mut stdout = String::new();
        let mut matches: Vec<Value> = Vec::new();
        let lines = found.files.iter().flat_map(|(path, lines)| lines.iter().map(move |line| (path, line)));
        for (path, (number, line)) in lines.take(limit) {
            let shown = self.setting.shown(path).display().to_string();
            stdout.push_str(&format!("{}:{number}:{line}\n", call::visible(&shown)));
            matches.push(json!({"path": shown, "line": number, "text": line}));
        }
        let late = self.deadline.is_over();
        let truncated = found.total > limit || late;
        let data = json!({
            "matches": matches, "more": found.total > limit, "files_searched": self.searched.into_inner(), "unread": unread,
        });
        let mut outcome = Outcome::success(stdout, data).truncated(truncated);
        if late {
            outcome.stderr.push_str("the search was stopped after 60 s: there may be more\n");
        }
        if !unread.is_empty() {
            outcome.stderr.push_str(&format!("not searched: {}\n", call::visible(&unread.join(", "))));
        }
        outcome
    }
}

impl Visitor for Search<'_> {
    type Own = Searcher;

    fn own(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::byte(b'\n'))
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP))
            .build()
    }

    fn wants(&self, path: &Path) -> (bool, bool) {
        let said = self.include.matched(path, false);
        (!said.is_ignore(), said.is_whitelist())
    }

    fn enters(&self, path: &Path) -> bool {
        !self.is_late(path)
    }

    fn visit(&self, searcher: &mut Searcher, directory: &Directory<'_>, name: &OsString) {
        if self.is_enough.load(Ordering::Acquire) && self.is_late(&directory.path.join(name)) {
            return;
        }
        match directory.read(name) {
            Ok(opened) => self.file(searcher, opened),
            // It went, or became something else, since the directory was read; or is another name of something hidden.
            Err(Refused::Missing { .. } | Refused::Kind { .. } | Refused::Hidden { .. }) => {}
            Err(_) => self.note_unread(&directory.path.join(name)),
        }
    }

    fn unread(&self, path: &Path) {
        self.note_unread(path);
    }

    fn is_over(&self) -> bool {
        self.setting.is_stopped() || self.deadline.is_over()
    }
}

/// A file that is read until nobody wants it any more.
struct Watched<'a> {
    file: File,
    search: &'a Search<'a>,
}

impl Read for Watched<'_> {
    fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
        if self.search.is_over() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        self.file.read(space)
    }
}

/// The lines of a file that match.
struct Lines {
    most: usize,
    found: Vec<(u64, String)>,
    is_binary: bool,
}

impl Sink for Lines {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        let bytes = found.bytes();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let line = text::line(bytes, bytes.len() as u64, LONGEST_LINE);
        self.found.push((found.line_number().unwrap_or_default(), line));
        Ok(self.found.len() < self.most)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), std::io::Error> {
        self.is_binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}
