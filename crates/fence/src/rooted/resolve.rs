//! Follows links by hand, one name after another, so that each lands beneath a root or is refused by name.
//!
//! The answer is a path without links as it was a moment ago. It is a hint and never a permission: whoever uses it opens it
//! with [`super::area::BENEATH`], which fails if a link has come into the way since.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::rooted::area::{Area, BENEATH, Right, Root};
use crate::rooted::open::Kind;
use crate::rooted::refused::Refused;

/// As many as Linux follows.
const MOST_LINKS: usize = 40;
/// Names in all links together.
const MOST_NAMES: usize = 4096;

/// What becomes of a link that is the last name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// It is followed.
    Follow,
    /// It is what is meant.
    Keep,
}

impl Area {
    /// Where a path leads, as of now: for telling whether two paths mean one file, and for what is shown. Not a permission.
    ///
    /// # Errors
    /// It leads out of the roots, or to something hidden.
    pub fn real(&self, path: &Path) -> Result<PathBuf, Refused> {
        self.resolve(path, Last::Follow)
    }

    /// The path with its links followed. What is missing at its end stays as it is written.
    pub(crate) fn resolve(&self, path: &Path, last: Last) -> Result<PathBuf, Refused> {
        let mut pending = Vec::new();
        push_names(&mut pending, path);
        let mut real = PathBuf::from("/");
        let mut via: Option<(PathBuf, PathBuf)> = None;
        let mut links = 0;
        while let Some(name) = pending.pop() {
            if name == ".." {
                real.pop();
                continue;
            }
            real.push(&name);
            let Some(root) = self.root_of(&real) else {
                if !pending.is_empty() && self.is_above_root(&real) {
                    continue;
                }
                return Err(match via {
                    Some((link, target)) => Refused::LedOut { link, target },
                    None => Refused::Outside { path: path.to_path_buf() },
                });
            };
            self.allow(root, &real, Right::Read)?;
            if real == root.base {
                continue;
            }
            let found = match look(root, &real) {
                Ok(found) => found,
                Err(Errno::NOENT) => return self.unmade(real, pending, path),
                Err(Errno::LOOP | Errno::AGAIN) => {
                    return Err(Refused::Changing { path: path.to_path_buf() });
                }
                Err(Errno::NOTDIR) => {
                    real.pop();
                    return Err(Refused::Kind { path: real, found: Kind::File, wanted: Kind::Directory });
                }
                Err(error) => return Err(failed(&real, error)),
            };
            let Some(link) = found else { continue };
            if pending.is_empty() && last == Last::Keep {
                continue;
            }
            links += 1;
            if links > MOST_LINKS || pending.len() > MOST_NAMES {
                return Err(Refused::TooManyLinks { path: path.to_path_buf() });
            }
            let target = read_link(&link, &real)?;
            via = Some((real.clone(), target.clone()));
            real.pop();
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            push_names(&mut pending, &target);
        }
        Ok(real)
    }

    /// A path of which the last names are not there. A `..` among them, which only a link can have said, leads nowhere.
    fn unmade(&self, mut real: PathBuf, pending: Vec<OsString>, path: &Path) -> Result<PathBuf, Refused> {
        for name in pending.into_iter().rev() {
            if name == ".." {
                return Err(Refused::Missing { path: path.to_path_buf() });
            }
            real.push(name);
        }
        match self.root_of(&real) {
            Some(root) => self.allow(root, &real, Right::Read).map(|()| real),
            None => Err(Refused::Outside { path: path.to_path_buf() }),
        }
    }
}

/// The names of a path, the first on top. A leading slash is for the caller.
fn push_names(pending: &mut Vec<OsString>, path: &Path) {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let names: Vec<OsString> = names.collect();
    pending.extend(names.into_iter().rev());
}

/// The link that a path is, if it is one.
fn look(root: &Root, real: &Path) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::openat2(root.descriptor(), rest(root, real), flags, Mode::empty(), BENEATH)?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode);
    Ok((kind == FileType::Symlink).then_some(found))
}

/// The part of a path that is below the directory of its root's descriptor.
pub(crate) fn rest<'a>(root: &Root, real: &'a Path) -> &'a Path {
    match real.strip_prefix(&root.base) {
        Ok(rest) if !rest.as_os_str().is_empty() => rest,
        // INVARIANT: `real` starts with the base; were it otherwise, the root itself is no wider than what was asked.
        _ => Path::new("."),
    }
}

fn read_link(link: &OwnedFd, path: &Path) -> Result<PathBuf, Refused> {
    // FAIL-CLOSED: a link in `/proc` may lead past every root whatever it says, so none there is followed.
    let system = rustix::fs::fstatfs(link).map_err(|error| failed(path, error))?;
    if system.f_type == rustix::fs::PROC_SUPER_MAGIC {
        return Err(Refused::Magic { link: path.to_path_buf() });
    }
    let target = rustix::fs::readlinkat(link.as_fd(), OsStr::new(""), Vec::new());
    let target = target.map_err(|error| failed(path, error))?;
    let target = OsString::from_vec(target.into_bytes());
    if target.as_bytes().is_empty() {
        return Err(Refused::Missing { path: path.to_path_buf() });
    }
    Ok(target.into())
}

/// An error of the system, in our words where we have some.
pub(crate) fn failed(path: &Path, error: Errno) -> Refused {
    let path = path.to_path_buf();
    match error {
        Errno::NOENT | Errno::NOTDIR => Refused::Missing { path },
        Errno::NOSYS => Refused::NoOpenat2,
        Errno::EXIST => Refused::Present { path },
        error => Refused::Failed { path, what: "opened", error: error.into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_openat2_is_refused_by_name() {
        let refused = failed(Path::new("/x"), Errno::NOSYS);
        assert!(matches!(refused, Refused::NoOpenat2));
        assert!(refused.to_string().contains("the kernel has no `openat2`"));
    }
}
