//! The roots that are open to a call: directories (or single files) by their descriptors, with what may be done there.

use std::ffi::OsString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::plan::{Access, Plan};
use crate::rooted::guard::{Guard, Planned, Sight};
use crate::rooted::refused::Refused;

/// What may be done beneath a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// A root: its own path, and a descriptor that stays with it whatever happens to the path.
#[derive(Debug)]
pub(crate) struct Root {
    /// The directory or file that is open to the call, by its own path, without links.
    pub(crate) path: PathBuf,
    /// The directory that the descriptor is for: the root itself, or what holds it if it is a file.
    pub(crate) base: PathBuf,
    pub(crate) right: Right,
    descriptor: OwnedFd,
}

impl Root {
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.descriptor.as_fd()
    }
}

/// What is open to a call.
pub struct Area {
    /// The deepest first, so that the first one above a path is the nearest.
    roots: Vec<Root>,
    pub(crate) guard: Box<dyn Guard>,
    /// Device and number of the hidden files, looked up once.
    pub(crate) hidden: OnceLock<Vec<(u64, u64, PathBuf)>>,
}

impl Area {
    /// Opens the roots. Each must be a path without links and exist; one that the guard hides is left out.
    ///
    /// # Errors
    /// A root is not there, or is not its own path.
    pub fn new(
        roots: impl IntoIterator<Item = (PathBuf, Right)>,
        guard: Box<dyn Guard>,
    ) -> Result<Area, Refused> {
        let mut area = Area { roots: Vec::new(), guard, hidden: OnceLock::new() };
        for (path, right) in roots {
            // FAIL-CLOSED: what is hidden hides the roots in it as well.
            if path.ancestors().any(|above| matches!(area.guard.sight(above), Sight::Hidden(_))) {
                continue;
            }
            area.roots.push(open_root(path, right)?);
        }
        area.roots.sort_by_key(|root| std::cmp::Reverse(root.path.components().count()));
        Ok(area)
    }

    /// What a fenced program under this plan could reach, but for places that are private to it.
    ///
    /// # Errors
    /// A place cannot be opened.
    pub fn of_plan(plan: &Plan) -> Result<Area, Refused> {
        let guard = Box::new(Planned::new(plan));
        let mut area = Area { roots: Vec::new(), guard, hidden: OnceLock::new() };
        let rights = plan.places.iter().filter_map(|(path, access)| match access {
            Access::Read => Some((path, Right::Read)),
            Access::Write => Some((path, Right::Write)),
            // What is protected lies below something that may be written; the guard knows it.
            Access::Protected | Access::Scratch | Access::Hidden | Access::Link(_) => None,
        });
        for (path, right) in rights {
            if path.ancestors().any(|above| plan.places.get(above) == Some(&Access::Hidden)) {
                continue;
            }
            match open_root(path.clone(), right) {
                Ok(root) => area.roots.push(root),
                // Places that went away, and places that this user may not open, are not open to the call.
                Err(Refused::Missing { .. }) => {}
                Err(Refused::Failed { error, .. })
                    if error.kind() == std::io::ErrorKind::PermissionDenied => {}
                // A link that took a place's name since the plan was drawn is no root.
                Err(Refused::LedOut { .. }) => {}
                Err(refused) => return Err(refused),
            }
        }
        area.roots.sort_by_key(|root| std::cmp::Reverse(root.path.components().count()));
        Ok(area)
    }

    /// The nearest root above a path.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Root> {
        self.roots.iter().find(|root| path.starts_with(&root.path))
    }

    /// Whether a root is below this path.
    pub(crate) fn is_above_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.path != path && root.path.starts_with(path))
    }

    /// Whether anything may be changed at a path, as far as its name says: for messages and for early refusals.
    #[must_use]
    pub fn right_of(&self, path: &Path) -> Option<Right> {
        self.root_of(path).map(|root| root.right)
    }

    /// Whether what is at a path without links may be changed.
    ///
    /// # Errors
    /// It may not.
    pub fn may_change(&self, path: &Path) -> Result<(), Refused> {
        match self.root_of(path) {
            Some(root) => self.allow(root, path, Right::Write),
            None => Err(Refused::Outside { path: path.to_path_buf() }),
        }
    }

    /// Refuses what the guard says about a path and about the directories between it and its root.
    pub(crate) fn allow(&self, root: &Root, path: &Path, right: Right) -> Result<(), Refused> {
        if right > root.right {
            return Err(Refused::ReadOnly { path: path.to_path_buf() });
        }
        for above in path.ancestors().take_while(|above| above.starts_with(&root.path)) {
            // A place that was opened to the call by name is not protected from it; what is below may be.
            let is_root = above == root.path;
            match self.guard.sight(above) {
                Sight::Hidden(why) => return Err(Refused::Hidden { path: path.to_path_buf(), why }),
                Sight::Protected(why) if right == Right::Write && !is_root => {
                    return Err(Refused::Protected { path: path.to_path_buf(), why });
                }
                Sight::Protected(_) | Sight::Clear => {}
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Area {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Area").field("roots", &self.roots).finish_non_exhaustive()
    }
}

/// How every descriptor of ours is opened beneath another.
pub(crate) const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);

fn open_root(path: PathBuf, right: Right) -> Result<Root, Refused> {
    let whole = |path: &Path, flags: OFlags| {
        let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
        rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    };
    if !path.is_absolute() {
        return Err(Refused::Outside { path });
    }
    let (base, opened) = match whole(&path, OFlags::DIRECTORY) {
        Err(Errno::NOTDIR) => {
            let base = path.parent().unwrap_or(&path).to_path_buf();
            let opened = whole(&base, OFlags::DIRECTORY);
            (base, opened)
        }
        opened => (path.clone(), opened),
    };
    match opened {
        Ok(descriptor) => Ok(Root { path, base, right, descriptor }),
        Err(Errno::NOENT) => Err(Refused::Missing { path }),
        Err(Errno::NOSYS) => Err(Refused::NoOpenat2),
        Err(Errno::LOOP) => {
            let target = path.read_link().unwrap_or_else(|_| OsString::from("…").into());
            Err(Refused::LedOut { link: path, target })
        }
        Err(error) => Err(Refused::Failed { path, what: "opened", error: error.into() }),
    }
}
