//! Writes, moves and deletes. A file is never written in place: its new content goes to a temporary file in the same
//! directory, reaches the disk, and takes the name in one step. What is at the name at that moment, a link included, is
//! replaced and not followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use crate::rooted::area::{Area, BENEATH, Right, Root};
use crate::rooted::open::{Identity, Kind, Opened, identity, kind, regular};
use crate::rooted::refused::Refused;
use crate::rooted::resolve::{Last, failed, rest};

/// What becomes of directories that are missing on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parents {
    /// They are made.
    Make,
    /// The file cannot be written.
    Need,
}

/// A name in a directory that is open, where something may be written.
#[derive(Debug)]
pub struct Spot {
    directory: OwnedFd,
    name: OsString,
    /// Its own path, without links, as it was when the directory was opened.
    pub path: PathBuf,
    /// Directories that were made on the way, to be taken away again if nothing comes of it.
    made: Vec<(OwnedFd, OsString)>,
}

const ROUNDS: usize = 16;

impl Area {
    /// The place of a file that is to be written. A link there that stays beneath a root is followed: what it leads to is
    /// written.
    ///
    /// # Errors
    /// [`Refused`], with the path.
    pub fn spot(&self, path: &Path, parents: Parents) -> Result<Spot, Refused> {
        self.find_spot(path, parents, Last::Follow)
    }

    /// The place of a name that is to be taken away. A link there is meant itself.
    ///
    /// # Errors
    /// [`Refused`], with the path.
    pub fn spot_of_name(&self, path: &Path) -> Result<Spot, Refused> {
        self.find_spot(path, Parents::Need, Last::Keep)
    }

    fn find_spot(&self, path: &Path, parents: Parents, last: Last) -> Result<Spot, Refused> {
        let mut real = path.to_path_buf();
        for _ in 0..ROUNDS {
            let Some(root) = self.root_of(&real) else {
                return Err(Refused::Outside { path: path.to_path_buf() });
            };
            self.allow(root, &real, Right::Write)?;
            let (Some(above), Some(name)) = (real.parent(), real.file_name()) else {
                return Err(not_a_file(path, Kind::Directory));
            };
            if real == root.base {
                return Err(not_a_file(path, Kind::Directory));
            }
            let mut made = Vec::new();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = match rustix::fs::openat2(
                root.descriptor(),
                rest(root, above),
                flags,
                Mode::empty(),
                BENEATH,
            ) {
                Err(Errno::NOENT) if parents == Parents::Make => make(root, above, &mut made),
                opened => opened,
            };
            match opened {
                Ok(directory) => {
                    let spot = Spot { directory, name: name.to_os_string(), path: real.clone(), made };
                    if last == Last::Keep || spot.kind()? != Some(Kind::Link) {
                        return Ok(spot);
                    }
                }
                Err(Errno::LOOP | Errno::AGAIN | Errno::XDEV) => unmake(made),
                Err(Errno::NOTDIR) => {
                    unmake(made);
                    return Err(Refused::Kind {
                        path: above.to_path_buf(),
                        found: Kind::File,
                        wanted: Kind::Directory,
                    });
                }
                Err(error) => {
                    unmake(made);
                    return Err(failed(path, error));
                }
            }
            match self.resolve(path, last) {
                Ok(resolved) => real = resolved,
                Err(Refused::Changing { .. }) => {}
                Err(refused) => return Err(refused),
            }
        }
        Err(Refused::Changing { path: path.to_path_buf() })
    }
}

fn not_a_file(path: &Path, found: Kind) -> Refused {
    Refused::Kind { path: path.to_path_buf(), found, wanted: Kind::File }
}

/// Makes the directories of a path, each in the descriptor of the one above.
fn make(root: &Root, path: &Path, made: &mut Vec<(OwnedFd, OsString)>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = rustix::fs::openat2(root.descriptor(), ".", flags, Mode::empty(), BENEATH)?;
    for name in rest(root, path).iter() {
        let is_new = match rustix::fs::mkdirat(&here, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error),
        };
        let next = rustix::fs::openat2(&here, name, flags, Mode::empty(), BENEATH)?;
        if is_new {
            rustix::fs::fsync(&here)?;
            made.push((here, name.to_os_string()));
        }
        here = next;
    }
    Ok(here)
}

/// Takes away directories that were made for nothing. One in which something has been put since stays.
fn unmake(made: Vec<(OwnedFd, OsString)>) {
    for (directory, name) in made.into_iter().rev() {
        if rustix::fs::unlinkat(&directory, &name, AtFlags::REMOVEDIR).is_err() {
            return;
        }
    }
}

impl Spot {
    /// What is there now, not followed.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn kind(&self) -> Result<Option<Kind>, Refused> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat2(&self.directory, &self.name, flags, Mode::empty(), BENEATH) {
            Ok(found) => kind(found.as_fd(), &self.path).map(|(kind, _)| Some(kind)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed(&self.path, error)),
        }
    }

    /// Opens the regular file that is there, if any, for reading.
    ///
    /// # Errors
    /// It is something else, or cannot be opened.
    pub fn read(&self) -> Result<Option<Opened>, Refused> {
        match self.kind()? {
            None => return Ok(None),
            Some(Kind::File) => {}
            Some(found) => return Err(not_a_file(&self.path, found)),
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat2(&self.directory, &self.name, flags, Mode::empty(), BENEATH) {
            Ok(descriptor) => {
                let stat = regular(descriptor.as_fd(), &self.path)?;
                Ok(Some(Opened::new(File::from(descriptor), self.path.clone(), stat)))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed(&self.path, error)),
        }
    }

    /// The regular file that is there, if any, which this user may write: a name can be replaced by whoever may write the
    /// directory, but a file that is not to be written is not to be replaced either.
    fn writable(&self) -> Result<Option<Stat>, Refused> {
        match self.kind()? {
            None => return Ok(None),
            Some(Kind::File) => {}
            Some(found) => return Err(not_a_file(&self.path, found)),
        }
        let open = |flags| {
            let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::openat2(&self.directory, &self.name, flags, Mode::empty(), BENEATH)
        };
        // A program that is running cannot be written, but it can be replaced.
        let opened = match open(OFlags::WRONLY) {
            Err(Errno::TXTBSY) => open(OFlags::PATH),
            opened => opened,
        };
        match opened {
            Ok(descriptor) => regular(descriptor.as_fd(), &self.path).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => {
                Err(Refused::Failed { path: self.path.clone(), what: "written", error: error.into() })
            }
        }
    }

    /// Puts content in a temporary file beside the name, on the disk, with the mode and the owner of what is there; `like`
    /// is a file whose mode is taken where nothing is there.
    ///
    /// # Errors
    /// [`Refused`]; nothing is left then.
    pub fn stage(self, content: &[u8], like: Option<&Opened>) -> Result<Staged, Refused> {
        let present = self.writable()?;
        let model = present.or_else(|| like.map(|opened| *opened.stat()));
        let mode = if model.is_some() { 0o600 } else { 0o666 };
        let (temporary, descriptor) = self.temporary(Mode::from_raw_mode(mode))?;
        let staged = Staged { spot: self, temporary, at_name: false };
        let path = &staged.spot.path;
        let wrong =
            |error: Errno| Refused::Failed { path: path.clone(), what: "written", error: error.into() };
        let mut file = File::from(descriptor);
        file.write_all(content).map_err(|error| Refused::Failed {
            path: path.clone(),
            what: "written",
            error,
        })?;
        if let Some(model) = model {
            let own = rustix::fs::fstat(&file).map_err(wrong)?;
            if present.is_some() && (own.st_uid, own.st_gid) != (model.st_uid, model.st_gid) {
                let (user, group) = (Uid::from_raw(model.st_uid), Gid::from_raw(model.st_gid));
                if rustix::fs::fchown(&file, Some(user), Some(group)).is_err() {
                    return Err(Refused::Owner { path: path.clone() });
                }
            }
            // Set-id bits go, as they do when a file is written in place.
            rustix::fs::fchmod(&file, Mode::from_raw_mode(model.st_mode & 0o777)).map_err(wrong)?;
        }
        rustix::fs::fsync(&file).map_err(wrong)?;
        Ok(staged)
    }

    fn temporary(&self, mode: Mode) -> Result<(OsString, OwnedFd), Refused> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ROUNDS {
            let name = temporary_name();
            match rustix::fs::openat2(&self.directory, &name, flags, mode, BENEATH) {
                Ok(descriptor) => return Ok((name, descriptor)),
                Err(Errno::EXIST) => {}
                Err(error) => {
                    return Err(Refused::Failed {
                        path: self.path.clone(),
                        what: "written",
                        error: error.into(),
                    });
                }
            }
        }
        Err(Refused::Changing { path: self.path.clone() })
    }
}

impl Drop for Spot {
    /// If nothing was written after all, the directories that were made for it go. Those in which something is stay.
    fn drop(&mut self) {
        unmake(std::mem::take(&mut self.made));
    }
}

/// A name that nobody else has. It needs not be a secret: it is only ever made, never opened.
fn temporary_name() -> OsString {
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!(".bailiwick-{random:016x}.tmp").into()
}

/// Content that is on the disk and waits for its name. Dropped, it goes away.
#[derive(Debug)]
pub struct Staged {
    spot: Spot,
    temporary: OsString,
    at_name: bool,
}

impl Staged {
    /// The path that it will have.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.spot.path
    }

    /// Takes the name, whatever is there.
    ///
    /// # Errors
    /// It could not; the file is as it was.
    pub fn replace(mut self) -> Result<(), Refused> {
        let Spot { directory, name, path, .. } = &self.spot;
        rustix::fs::renameat(directory, &self.temporary, directory, name).map_err(|error| match error {
            Errno::ISDIR => not_a_file(path, Kind::Directory),
            error => Refused::Failed { path: path.clone(), what: "written", error: error.into() },
        })?;
        self.at_name = true;
        sync(&self.spot)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.at_name {
            // It is gone already, or nobody can take it away.
            let _ = rustix::fs::unlinkat(&self.spot.directory, &self.temporary, AtFlags::empty());
        }
    }
}

/// The names of a directory reach the disk.
fn sync(spot: &Spot) -> Result<(), Refused> {
    rustix::fs::fsync(&spot.directory).map_err(|error| Refused::Failed {
        path: spot.path.clone(),
        what: "brought to the disk",
        error: error.into(),
    })
}

/// One of several changes that happen together.
#[derive(Debug)]
pub enum Change {
    /// A file where nothing is.
    Create(Staged),
    /// Another content for the file that was read.
    Replace(Staged, Identity),
    /// The file that was read goes; or the link that stands at the name.
    Remove(Spot, Option<Identity>),
}

/// Changes that happen all, or not at all.
#[derive(Debug, Default)]
pub struct Commit {
    done: Vec<Done>,
}

/// A change that has happened and can be taken back.
#[derive(Debug)]
enum Done {
    Created(Staged),
    /// The old file has the temporary name.
    Swapped(Staged),
    /// The old file has this name.
    Covered(Staged, OsString),
    Removed(Spot, OsString),
}

impl Commit {
    /// Makes the changes, in order. A file that is no longer the one that was read is not touched.
    ///
    /// # Errors
    /// One of them could not be made; those before it have been taken back.
    pub fn all(changes: Vec<Change>) -> Result<(), Refused> {
        let mut commit = Commit::default();
        for change in changes {
            if let Err(refused) = commit.one(change) {
                commit.take_back();
                return Err(refused);
            }
        }
        commit.finish()
    }

    fn one(&mut self, change: Change) -> Result<(), Refused> {
        match change {
            Change::Create(staged) => {
                create(&staged)?;
                self.done.push(Done::Created(staged));
            }
            Change::Replace(staged, expected) => {
                let Spot { directory, name, .. } = &staged.spot;
                match rustix::fs::renameat_with(
                    directory,
                    &staged.temporary,
                    directory,
                    name,
                    RenameFlags::EXCHANGE,
                ) {
                    Ok(()) => {
                        let found = found(&staged.spot, &staged.temporary);
                        let path = staged.spot.path.clone();
                        self.done.push(Done::Swapped(staged));
                        if found != Some(expected) {
                            return Err(Refused::Changing { path });
                        }
                    }
                    Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.cover(staged, expected)?,
                    Err(error) => return Err(failed(&staged.spot.path, error)),
                }
            }
            Change::Remove(spot, expected) => {
                let aside = temporary_name();
                let moved = rustix::fs::renameat(&spot.directory, &spot.name, &spot.directory, &aside);
                moved.map_err(|error| failed(&spot.path, error))?;
                let found = found(&spot, &aside);
                let path = spot.path.clone();
                self.done.push(Done::Removed(spot, aside));
                if expected.is_some() && found != expected {
                    return Err(Refused::Changing { path });
                }
            }
        }
        Ok(())
    }

    /// A replacement where the file system cannot swap two names: the old file gets a second name first.
    fn cover(&mut self, mut staged: Staged, expected: Identity) -> Result<(), Refused> {
        let aside = temporary_name();
        let Spot { directory, name, path, .. } = &staged.spot;
        let wrong = |error: Errno| failed(path, error);
        rustix::fs::linkat(directory, name, directory, &aside, AtFlags::empty()).map_err(wrong)?;
        let unchanged = found(&staged.spot, &aside) == Some(expected);
        let renamed = match unchanged {
            true => rustix::fs::renameat(directory, &staged.temporary, directory, name).map_err(wrong),
            false => Err(Refused::Changing { path: path.clone() }),
        };
        if let Err(refused) = renamed {
            // The second name of the old file is of no use any more.
            let _ = rustix::fs::unlinkat(directory, &aside, AtFlags::empty());
            return Err(refused);
        }
        staged.at_name = true;
        self.done.push(Done::Covered(staged, aside));
        Ok(())
    }

    /// The last change first. What cannot be taken back stays: there is nobody left to tell, and the error that led here is
    /// the one that matters.
    fn take_back(self) {
        for done in self.done.into_iter().rev() {
            let _ = match &done {
                Done::Created(staged) => {
                    let Spot { directory, name, .. } = &staged.spot;
                    rustix::fs::renameat(directory, name, directory, &staged.temporary)
                }
                Done::Swapped(staged) => {
                    let Spot { directory, name, .. } = &staged.spot;
                    rustix::fs::renameat_with(
                        directory,
                        &staged.temporary,
                        directory,
                        name,
                        RenameFlags::EXCHANGE,
                    )
                }
                Done::Covered(staged, aside) => {
                    let Spot { directory, name, .. } = &staged.spot;
                    rustix::fs::renameat(directory, aside, directory, name)
                }
                Done::Removed(spot, aside) => {
                    rustix::fs::renameat(&spot.directory, aside, &spot.directory, &spot.name)
                }
            };
            // Dropping what was staged takes its temporary name away.
            drop(done);
        }
    }

    /// Old files lose their last names, and the directories reach the disk.
    fn finish(self) -> Result<(), Refused> {
        let mut first = Ok(());
        for done in self.done {
            let synced = match done {
                // The temporary name is taken away with what was staged.
                Done::Created(staged) | Done::Swapped(staged) => sync(&staged.spot),
                Done::Covered(staged, aside) => {
                    let _ = rustix::fs::unlinkat(&staged.spot.directory, &aside, AtFlags::empty());
                    sync(&staged.spot)
                }
                Done::Removed(spot, aside) => {
                    let _ = rustix::fs::unlinkat(&spot.directory, &aside, AtFlags::empty());
                    sync(&spot)
                }
            };
            first = first.and(synced);
        }
        first
    }
}

/// Gives a staged file its name if nothing has it.
fn create(staged: &Staged) -> Result<(), Refused> {
    let Spot { directory, name, path, .. } = &staged.spot;
    let renamed =
        rustix::fs::renameat_with(directory, &staged.temporary, directory, name, RenameFlags::NOREPLACE);
    match renamed {
        // A second name fails like that too where something has it; the temporary one is then taken away.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(directory, &staged.temporary, directory, name, AtFlags::empty())
        }
        renamed => renamed,
    }
    .map_err(|error| failed(path, error))
}

/// Which file has a name in a spot's directory.
fn found(spot: &Spot, name: &OsStr) -> Option<Identity> {
    let stat = rustix::fs::statat(&spot.directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(identity(&stat))
}
