//! The plan: what a program can touch, as a value. It is drawn by [`crate::draw`] without touching anything, shown by
//! `exec --plan`, bound to approvals, and enforced by a backend, which can do so wholly or not at all.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::network::Network;

/// What may be done with a place and everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read and execute.
    Read,
    /// Read, write and execute.
    Write,
    /// Not the machine's: an empty place of the fence's own, writable, gone afterwards.
    Scratch,
    /// Read and execute, below something that may be written: it stays as it is, and so do its name and the names above it.
    Protected,
    /// Not there. Nothing below it is, whatever else is said.
    Hidden,
    /// A symlink that the machine has there.
    Link(PathBuf),
}

impl Access {
    /// A word for it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Scratch => "scratch",
            Access::Protected => "protected",
            Access::Hidden => "hidden",
            Access::Link(_) => "link",
        }
    }
}

/// What a program may do with one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// Nothing: it is not there.
    None,
    /// Read it.
    Read,
    /// Read and write it.
    Write,
}

/// What a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Memory of all its processes, in MiB.
    pub memory_mb: u64,
    /// Time from start to end; none where a person is at the other end of it.
    pub wall_ms: Option<u64>,
    /// Time on a processor, for one process.
    pub cpu_s: Option<u64>,
    /// Processes and threads at once.
    pub processes: u64,
    /// Open descriptors of one process.
    pub open_files: u64,
    /// The largest file, in MiB.
    pub file_mb: u64,
    /// Everything in scratch places together, in MiB.
    pub scratch_mb: u64,
    /// Output that is kept, where it is kept.
    pub output_bytes: u64,
}

/// What a program can touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Places, from the outside in. The nearest one above a path holds for it; what none is above is not there.
    pub places: BTreeMap<PathBuf, Access>,
    /// Names below writable places that must not come into being.
    pub forbidden: Vec<PathBuf>,
    /// Repositories that may come into being, without anything in them that runs.
    pub fresh: Vec<PathBuf>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// All of its environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Connections.
    pub network: Network,
    /// Limits.
    pub limits: Limits,
    /// Whether something that was written to a scratch place may be executed.
    pub execute_scratch: bool,
}

impl Plan {
    /// What the program may do with this absolute path, by its words; symlinks are for whoever asks to follow.
    #[must_use]
    pub fn reach(&self, path: &Path) -> Reach {
        let mut nearest = None;
        for above in path.ancestors() {
            match self.places.get(above) {
                Some(Access::Hidden) => return Reach::None,
                Some(access) if nearest.is_none() => nearest = Some(access),
                _ => {}
            }
        }
        match nearest {
            None | Some(Access::Hidden) => Reach::None,
            Some(Access::Read | Access::Protected | Access::Link(_)) => Reach::Read,
            Some(Access::Write | Access::Scratch) => Reach::Write,
        }
    }

    /// The nearest place above a path, itself left out.
    #[must_use]
    pub fn above(&self, path: &Path) -> Option<(&Path, &Access)> {
        path.ancestors()
            .skip(1)
            .find_map(|above| self.places.get_key_value(above))
            .map(|(path, access)| (path.as_path(), access))
    }
}
