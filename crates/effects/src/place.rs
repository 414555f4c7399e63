//! Where a call happens: what paths are measured against.

use std::path::{Path, PathBuf};

/// The surroundings of a call.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The working directory, absolute.
    pub cwd: &'a Path,
    /// The user's home, absolute.
    pub home: Option<&'a Path>,
    /// The user's name.
    pub user: Option<&'a str>,
    /// The workspace's root, absolute. `None`: there is none, and nothing counts as inside.
    pub workspace: Option<&'a Path>,
    /// A look at the file system, for symlinks only.
    pub files: &'a dyn Files,
}

/// What the analysis asks of the file system: where a path really leads, and whether a directory is there. It is for
/// classification; what enforces is the fence.
pub trait Files {
    /// The path with the symlinks of its existing part followed, or `None` where nothing is to be followed.
    fn follow(&self, path: &Path) -> Option<PathBuf>;

    /// Whether a directory is there, or something else; `None` where nothing is, or nobody looked.
    fn is_directory(&self, _path: &Path) -> Option<bool> {
        None
    }
}

/// A file system without symlinks.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn follow(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
}
