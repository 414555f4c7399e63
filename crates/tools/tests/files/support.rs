//! A workspace to try tools in, with an outside beside it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fence::rooted::{Area, Listed, Right};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::{Outcome, Setting};

/// A directory that goes away, with `work` (the root) and `outside` in it.
pub(crate) struct Scratch {
    pub(crate) base: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) outside: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // In memory where possible: the tests bring everything to the disk, many times over.
        let shared = Path::new("/dev/shm");
        let above = if shared.is_dir() { shared.to_path_buf() } else { std::env::temp_dir() };
        let above = above.canonicalize().unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let base = above.join(format!("bailiwick-tools-{}-{count}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        let (work, outside) = (base.join("work"), base.join("outside"));
        std::fs::create_dir_all(&work).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        Scratch { base, work, outside }
    }

    /// Writes a file below the root, with its directories.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) -> PathBuf {
        let path = self.work.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &path).unwrap();
        path
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.work.join(name)).unwrap_or_else(|error| format!("<{error}>"))
    }

    pub(crate) fn area(&self) -> Area {
        self.area_with(&[], &[])
    }

    pub(crate) fn area_with(&self, hidden: &[&str], protected: &[&str]) -> Area {
        let below = |names: &[&str]| names.iter().map(|name| self.work.join(name)).collect();
        let guard = Listed { hidden: below(hidden), protected: below(protected) };
        Area::new([(self.work.clone(), Right::Write)], Box::new(guard)).unwrap()
    }

    pub(crate) fn setting<'a>(&'a self, area: &'a Area) -> Setting<'a> {
        Setting { area, cwd: &self.work, home: None, stop: None }
    }

    /// Runs a tool in the workspace.
    pub(crate) fn run<T: DeserializeOwned>(
        &self,
        tool: fn(&T, &Setting<'_>) -> Outcome,
        arguments: Value,
    ) -> Outcome {
        let area = self.area();
        tool(&read(arguments), &self.setting(&area))
    }

    /// Names in the workspace that nobody asked for.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut pending = vec![self.base.clone()];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(directory).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    pending.push(entry.path());
                }
                if entry.file_name().to_string_lossy().starts_with(".bailiwick-") {
                    found.push(entry.path());
                }
            }
        }
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.base);
    }
}

/// A tool's arguments.
pub(crate) fn read<T: DeserializeOwned>(arguments: Value) -> T {
    serde_json::from_value(arguments).unwrap()
}

/// The answer of a tool that did what was asked.
pub(crate) fn good(outcome: Outcome) -> Outcome {
    assert!(outcome.ok, "{}", outcome.stderr);
    outcome
}
