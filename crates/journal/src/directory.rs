//! The real disk: files relative to one open directory, ours alone, no symbolic link followed.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FlockOperation, Mode, OFlags};

use crate::unavailable::Unavailable;
use crate::volume::{Access, Medium, Volume};

/// A directory of ours.
pub struct Directory {
    path: PathBuf,
    handle: File,
}

impl Directory {
    /// Opens a directory; makes it (0700), and its parents, where it is not there.
    ///
    /// # Errors
    /// It cannot be made or opened, belongs to somebody else, or others may look into it.
    pub fn open(path: &Path) -> io::Result<Directory> {
        match Self::open_existing(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(path)?;
                Self::open_existing(path)
            }
            other => other,
        }
    }

    /// Opens a directory that is there.
    ///
    /// # Errors
    /// As [`Directory::open`], and that it is not there.
    pub fn open_existing(path: &Path) -> io::Result<Directory> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
                return Err(Unavailable::unsafe_place(path, "is a symbolic link or no directory"));
            }
            other => File::from(other?),
        };
        let found = handle.metadata()?;
        ours(path, found.uid(), found.mode())?;
        Ok(Directory { path: path.to_owned(), handle })
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

fn make(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if matches!(rustix::fs::stat(parent), Err(rustix::io::Errno::NOENT)) {
        make(parent)?;
    }
    match rustix::fs::mkdirat(CWD, path, Mode::RWXU) {
        Ok(()) => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            File::from(rustix::fs::openat(CWD, parent, flags, Mode::empty())?).sync_all()
        }
        // Somebody else was faster.
        Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// FAIL-CLOSED: whatever somebody else could read or change is not used.
fn ours(path: &Path, owner: u32, mode: u32) -> io::Result<()> {
    if owner != rustix::process::geteuid().as_raw() {
        return Err(Unavailable::unsafe_place(path, format_args!("belongs to user {owner}")));
    }
    if mode & 0o077 != 0 {
        let mode = mode & 0o7777;
        return Err(Unavailable::unsafe_place(
            path,
            format_args!("is open to others (mode {mode:04o}); make it go-rwx"),
        ));
    }
    Ok(())
}

impl Volume for Directory {
    fn lock(&self, patience: Duration) -> io::Result<()> {
        let take = || rustix::fs::flock(&self.handle, FlockOperation::NonBlockingLockExclusive);
        #[expect(
            clippy::disallowed_methods,
            reason = "how long a lock was waited for is the disk's own business"
        )]
        let now = Instant::now;
        let start = now();
        let mut pause = Duration::from_micros(20);
        loop {
            match take() {
                Ok(()) => return Ok(()),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if now().duration_since(start) >= patience {
                return Err(io::Error::new(
                    io::ErrorKind::WouldBlock,
                    format!("`{}` is locked", self.path.display()),
                ));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }

    fn unlock(&self) {
        // It cannot fail on a descriptor that is open; and the lock ends with it.
        let _ = rustix::fs::flock(&self.handle, FlockOperation::Unlock);
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            if let Ok(name) = entry?.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn Medium>> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::RDWR,
            Access::New => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        // Without NONBLOCK a pipe in place of a file would hold us up.
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let handle: OwnedFd = match rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR) {
            Err(rustix::io::Errno::LOOP) => {
                return Err(Unavailable::unsafe_place(&self.path_of(name), "is a symbolic link"));
            }
            other => other?,
        };
        let file = File::from(handle);
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(Unavailable::unsafe_place(&self.path_of(name), "is no plain file"));
        }
        ours(&self.path_of(name), found.uid(), found.mode())?;
        Ok(Box::new(Plain(file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.handle, from, &self.handle, to, AtFlags::empty())?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    fn sync(&self) -> io::Result<()> {
        self.handle.sync_all()
    }
}

struct Plain(File);

impl Medium for Plain {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn try_lock(&self) -> io::Result<bool> {
        match rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn is_linked(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.nlink() > 0)
    }
}
