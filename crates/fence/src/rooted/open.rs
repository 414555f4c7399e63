//! Opens files and directories for reading, and says what they are from their descriptors.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::rooted::area::{Area, BENEATH, Right};
use crate::rooted::directory::Directory;
use crate::rooted::refused::Refused;
use crate::rooted::resolve::{Last, failed, rest};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symlink.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Something that the kernel has no name for here.
    Unknown,
}

impl Kind {
    /// With its article.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Link => "a link",
            Kind::Pipe => "a named pipe",
            Kind::Socket => "a socket",
            Kind::Device => "a device",
            Kind::Unknown => "something else",
        }
    }

    pub(crate) fn of(kind: FileType) -> Kind {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
            FileType::Unknown => Kind::Unknown,
        }
    }
}

/// Which file it is, and in what state: two that are equal are the same file with the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
}

/// A regular file that is open for reading.
#[derive(Debug)]
pub struct Opened {
    /// Its descriptor.
    pub file: File,
    /// Its own path, without links, as it was when it was opened.
    pub path: PathBuf,
    stat: Stat,
}

impl Opened {
    pub(crate) fn new(file: File, path: PathBuf, stat: Stat) -> Opened {
        Opened { file, path, stat }
    }

    /// How large it says it is. What the kernel makes up as it is read says 0.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or_default()
    }

    /// Which file it is.
    #[must_use]
    pub fn identity(&self) -> Identity {
        identity(&self.stat)
    }

    pub(crate) fn stat(&self) -> &Stat {
        &self.stat
    }
}

pub(crate) fn identity(stat: &Stat) -> Identity {
    #[expect(clippy::useless_conversion, reason = "the width of these fields differs between machines")]
    Identity {
        device: stat.st_dev.into(),
        inode: stat.st_ino.into(),
        size: stat.st_size,
        modified: (stat.st_mtime.into(), i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
    }
}

/// How often an open is tried anew when something swaps names under it.
const ROUNDS: usize = 16;

impl Area {
    /// Opens a regular file for reading. Nothing else is opened, and nothing is waited for. The path is absolute, without
    /// `..`.
    ///
    /// # Errors
    /// [`Refused`], with the path.
    pub fn read(&self, path: &Path) -> Result<Opened, Refused> {
        // Opening a pipe or a device can have effects, so what is there is looked at before it is opened; the descriptor that
        // is read from is then looked at for itself.
        let (looked, _) = self.open(path, OFlags::PATH, Right::Read)?;
        regular(looked.as_fd(), path)?;
        let (descriptor, real) =
            self.open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Right::Read)?;
        let stat = regular(descriptor.as_fd(), path)?;
        self.unaliased(&stat, &real)?;
        Ok(Opened::new(File::from(descriptor), real, stat))
    }

    /// Opens a directory.
    ///
    /// # Errors
    /// [`Refused`], with the path.
    pub fn directory(&self, path: &Path) -> Result<Directory<'_>, Refused> {
        let (looked, _) = self.open(path, OFlags::PATH, Right::Read)?;
        let kind = kind(looked.as_fd(), path)?.0;
        if kind != Kind::Directory {
            return Err(Refused::Kind { path: path.to_path_buf(), found: kind, wanted: Kind::Directory });
        }
        let (descriptor, real) = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY, Right::Read)?;
        Ok(Directory::new(self, descriptor, real))
    }

    /// What a path leads to.
    ///
    /// # Errors
    /// [`Refused`], with the path.
    pub fn look(&self, path: &Path) -> Result<Kind, Refused> {
        let (looked, _) = self.open(path, OFlags::PATH, Right::Read)?;
        Ok(kind(looked.as_fd(), path)?.0)
    }

    /// Opens a path beneath its root, through links that stay beneath roots. The path that comes back has no links in it.
    pub(crate) fn open(
        &self,
        path: &Path,
        flags: OFlags,
        right: Right,
    ) -> Result<(OwnedFd, PathBuf), Refused> {
        let flags = flags | OFlags::CLOEXEC;
        let mut real = path.to_path_buf();
        for _ in 0..ROUNDS {
            let Some(root) = self.root_of(&real) else {
                return Err(Refused::Outside { path: path.to_path_buf() });
            };
            self.allow(root, &real, right)?;
            let rest = rest(root, &real);
            // An `O_PATH` open without `O_NOFOLLOW` fails on a link at the end as it does on one in between.
            match rustix::fs::openat2(root.descriptor(), rest, flags, Mode::empty(), BENEATH) {
                Ok(descriptor) => return Ok((descriptor, real)),
                Err(Errno::LOOP | Errno::AGAIN | Errno::XDEV) => {}
                Err(error) => return Err(failed(path, error)),
            }
            match self.resolve(path, Last::Follow) {
                Ok(resolved) => real = resolved,
                Err(Refused::Changing { .. }) => {}
                Err(refused) => return Err(refused),
            }
        }
        Err(Refused::Changing { path: path.to_path_buf() })
    }

    /// Refuses another name of a hidden file.
    pub(crate) fn unaliased(&self, stat: &Stat, path: &Path) -> Result<(), Refused> {
        if stat.st_nlink < 2 {
            return Ok(());
        }
        let hidden = self.hidden.get_or_init(|| self.hidden_inodes());
        match hidden.iter().find(|(device, inode, _)| (*device, *inode) == (stat.st_dev, stat.st_ino)) {
            None => Ok(()),
            Some((_, _, name)) => {
                let why = format!("it is another name of {}", name.display());
                Err(Refused::Hidden { path: path.to_path_buf(), why })
            }
        }
    }

    /// The hidden files that are there when the first file with several names is met.
    fn hidden_inodes(&self) -> Vec<(u64, u64, PathBuf)> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let look = |hidden: PathBuf| {
            // Beneath a root if it is there; a hidden file elsewhere is looked at too, since links go anywhere on a device.
            let found = match self.root_of(&hidden) {
                Some(root) => {
                    rustix::fs::openat2(root.descriptor(), rest(root, &hidden), flags, Mode::empty(), BENEATH)
                }
                None => rustix::fs::open(&hidden, flags, Mode::empty()),
            };
            let stat = found.and_then(rustix::fs::fstat).ok()?;
            Some((stat.st_dev, stat.st_ino, hidden))
        };
        self.guard.hidden_files().into_iter().filter_map(look).collect()
    }
}

pub(crate) fn kind(descriptor: BorrowedFd<'_>, path: &Path) -> Result<(Kind, Stat), Refused> {
    let stat = rustix::fs::fstat(descriptor).map_err(|error| failed(path, error))?;
    Ok((Kind::of(FileType::from_raw_mode(stat.st_mode)), stat))
}

/// A regular file, or a refusal that says what it is instead.
pub(crate) fn regular(descriptor: BorrowedFd<'_>, path: &Path) -> Result<Stat, Refused> {
    match kind(descriptor, path)? {
        (Kind::File, stat) => Ok(stat),
        (found, _) => Err(Refused::Kind { path: path.to_path_buf(), found, wanted: Kind::File }),
    }
}
