//! What a plan must know of the machine's files: which exist, and of what kind.

use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A symlink, and what it says.
    Link(PathBuf),
    /// Anything else.
    File,
}

/// The machine's files, as far as a plan looks at them.
pub trait Terrain {
    /// What stands at a path, without following a link there.
    fn look(&self, path: &Path) -> Option<Kind>;
    /// The text of a small file.
    fn text(&self, path: &Path) -> Option<String>;
    /// The path with every link in it followed, where it leads to something.
    fn follow(&self, path: &Path) -> Option<PathBuf>;
}

/// This machine's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ground;

impl Terrain for Ground {
    fn look(&self, path: &Path) -> Option<Kind> {
        let kind = path.symlink_metadata().ok()?.file_type();
        Some(if kind.is_dir() {
            Kind::Directory
        } else if kind.is_symlink() {
            Kind::Link(path.read_link().ok()?)
        } else {
            Kind::File
        })
    }

    #[expect(clippy::disallowed_methods, reason = "git's pointer files, to find a worktree's repository")]
    fn text(&self, path: &Path) -> Option<String> {
        let small = path.metadata().ok().is_some_and(|file| file.is_file() && file.len() < 8192);
        small.then(|| std::fs::read_to_string(path).ok()).flatten()
    }

    #[expect(clippy::disallowed_methods, reason = "mounts are made of real paths")]
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        std::fs::canonicalize(path).ok()
    }
}
