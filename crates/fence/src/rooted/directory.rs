//! A directory that is open, to be listed and to be walked down from: every step goes by its descriptor, not by a path.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, RawDir, SeekFrom};
use rustix::io::Errno;

use crate::rooted::area::{Area, BENEATH};
use crate::rooted::guard::Sight;
use crate::rooted::open::{Kind, Opened, kind, regular};
use crate::rooted::refused::Refused;
use crate::rooted::resolve::failed;

/// A directory that is open.
#[derive(Debug)]
pub struct Directory<'a> {
    area: &'a Area,
    descriptor: OwnedFd,
    /// Its own path, without links, as it was when it was opened.
    pub path: PathBuf,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: OsString,
    /// What it is, not followed.
    pub kind: Kind,
}

impl<'a> Directory<'a> {
    pub(crate) fn new(area: &'a Area, descriptor: OwnedFd, path: PathBuf) -> Directory<'a> {
        Directory { area, descriptor, path }
    }

    /// The names in it, but for hidden ones, at most so many, in no order; and whether there are more.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn entries(&self, most: usize) -> Result<(Vec<Entry>, bool), Refused> {
        // From the start, also for those who ask twice.
        rustix::fs::seek(&self.descriptor, SeekFrom::Start(0)).map_err(|error| failed(&self.path, error))?;
        let mut space = [MaybeUninit::<u8>::uninit(); 32 * 1024];
        let mut raw = RawDir::new(self.descriptor.as_fd(), &mut space);
        let mut entries = Vec::new();
        while let Some(entry) = raw.next() {
            let entry = entry.map_err(|error| failed(&self.path, error))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." || !self.shows(name) {
                continue;
            }
            if entries.len() >= most {
                return Ok((entries, true));
            }
            let kind = match Kind::of(entry.file_type()) {
                Kind::Unknown => self.look(name).unwrap_or(Kind::Unknown),
                kind => kind,
            };
            entries.push(Entry { name: name.to_os_string(), kind });
        }
        Ok((entries, false))
    }

    /// Whether a name in it is not hidden.
    fn shows(&self, name: &OsStr) -> bool {
        !matches!(self.area.guard.sight(&self.path.join(name)), Sight::Hidden(_))
    }

    /// What a name in it is, not followed.
    fn look(&self, name: &OsStr) -> Option<Kind> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = rustix::fs::openat2(&self.descriptor, name, flags, Mode::empty(), BENEATH).ok()?;
        Some(kind(found.as_fd(), &self.path).ok()?.0)
    }

    /// Opens a directory in it. A link is not followed.
    ///
    /// # Errors
    /// [`Refused`], with the path.
    pub fn down(&self, name: &OsStr) -> Result<Directory<'a>, Refused> {
        let path = self.below(name)?;
        let descriptor = self.open(name, &path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Directory { area: self.area, descriptor, path })
    }

    /// Opens a regular file in it for reading. A link is not followed.
    ///
    /// # Errors
    /// [`Refused`], with the path.
    pub fn read(&self, name: &OsStr) -> Result<Opened, Refused> {
        let path = self.below(name)?;
        let descriptor = self.open(name, &path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = regular(descriptor.as_fd(), &path)?;
        self.area.unaliased(&stat, &path)?;
        Ok(Opened::new(File::from(descriptor), path, stat))
    }

    fn below(&self, name: &OsStr) -> Result<PathBuf, Refused> {
        let path = self.path.join(name);
        match self.area.guard.sight(&path) {
            Sight::Hidden(why) => Err(Refused::Hidden { path, why }),
            Sight::Protected(_) | Sight::Clear => Ok(path),
        }
    }

    fn open(&self, name: &OsStr, path: &Path, flags: OFlags) -> Result<OwnedFd, Refused> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat2(&self.descriptor, name, flags, Mode::empty(), BENEATH).map_err(
            |error| match error {
                Errno::LOOP => {
                    Refused::Kind { path: path.to_path_buf(), found: Kind::Link, wanted: Kind::File }
                }
                error => failed(path, error),
            },
        )
    }
}
