//! Records in files, one for each session, for processes that live only for one call.
//!
//! The directory belongs to the user and lies outside everything that an agent can write. Files are replaced as a whole, under
//! a lock; readers take none. Whatever is not exactly as this writes it (a link, another owner, others' access, a wrong
//! authentication) is no grant, and is reported.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use call::DigestKey;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::record::Record;
use super::store::{Found, Store};

/// The largest file that is read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How many sessions' files there may be.
const MAX_FILES: usize = 4096;
/// From how many on old ones are cleared away.
const CROWD: usize = 512;
/// How long the lock is waited for.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Records below a directory.
pub(crate) struct Files {
    directory: PathBuf,
    digest_key: Arc<DigestKey>,
}

impl Files {
    pub(crate) const fn new(directory: PathBuf, digest_key: Arc<DigestKey>) -> Self {
        Files { directory, digest_key }
    }

    /// A name that tells nothing about the session and that no session can choose.
    fn name_of(&self, session: &str) -> String {
        let digest = self.digest_key.digest("approval-session", session);
        format!("{}.jsonl", digest.get(..32).unwrap_or(&digest))
    }

    /// The directory, if it is ours alone.
    fn directory(&self) -> Result<OwnedFd, String> {
        let shown = self.directory.display();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::open(&self.directory, flags, Mode::empty());
        let directory = match open() {
            Err(Errno::NOENT) => {
                rustix::fs::mkdir(&self.directory, Mode::RWXU)
                    .map_err(|error| format!("`{shown}` cannot be made: {error}"))?;
                open()
            }
            other => other,
        };
        let directory = directory.map_err(|error| format!("`{shown}` cannot be opened: {error}"))?;
        let stat = rustix::fs::fstat(&directory).map_err(|error| format!("`{shown}`: {error}"))?;
        if stat.st_uid != rustix::process::geteuid().as_raw() || stat.st_mode & 0o022 != 0 {
            return Err(format!("others can write `{shown}`, so nothing in it counts"));
        }
        Ok(directory)
    }

    fn read_file(&self, directory: &OwnedFd, name: &str, found: &mut Found) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return,
            Err(error) => return found.complaints.push(format!("{name} cannot be opened: {error}")),
        };
        let text = (|| {
            let stat = rustix::fs::fstat(&file).map_err(|error| error.to_string())?;
            let sound = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && stat.st_uid == rustix::process::geteuid().as_raw()
                && stat.st_mode & 0o077 == 0
                && stat.st_nlink == 1;
            if !sound {
                return Err("it is not a file of ours alone".to_owned());
            }
            let mut text = String::new();
            let mut file = std::fs::File::from(file).take(MAX_BYTES + 1);
            file.read_to_string(&mut text).map_err(|error| error.to_string())?;
            if text.len() as u64 > MAX_BYTES { Err("it is too large".to_owned()) } else { Ok(text) }
        })();
        match text {
            Err(why) => found.complaints.push(format!("{name} is not read: {why}")),
            Ok(text) => {
                for line in text.lines() {
                    match Record::read(line, &self.digest_key) {
                        // FAIL-CLOSED: a record that was put into another session's file is none.
                        Ok(record) if self.name_of(&record.session) == name => found.records.push(record),
                        Ok(_) => found.complaints.push(format!("{name} holds a record of another session")),
                        Err(why) => found.complaints.push(format!("{name} holds {why}")),
                    }
                }
            }
        }
    }

    fn names(directory: &OwnedFd) -> Result<Vec<String>, String> {
        let entries = rustix::fs::Dir::read_from(directory).map_err(|error| error.to_string())?;
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
            .filter(|name| {
                name.strip_suffix(".jsonl")
                    .is_some_and(|stem| stem.len() == 32 && stem.bytes().all(|b| b.is_ascii_hexdigit()))
            })
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The lock of the directory; it is let go when the descriptor is.
    fn lock(directory: &OwnedFd) -> Result<OwnedFd, String> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = rustix::fs::openat(directory, "lock", flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| format!("the lock cannot be opened: {error}"))?;
        for _ in 0..LOCK_TRIES {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(lock),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOCK_PAUSE),
                Err(error) => return Err(format!("it cannot be locked: {error}")),
            }
        }
        Err("somebody else holds the lock".into())
    }

    fn replace(&self, directory: &OwnedFd, name: &str, records: &[Record]) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("{name} cannot be written: {error}");
        if records.is_empty() {
            return match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(error) => Err(failed(&error)),
            };
        }
        let fresh = format!("{name}.new");
        let _left_over = rustix::fs::unlinkat(directory, fresh.as_str(), AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory, fresh.as_str(), flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| failed(&error))?;
        let mut text = String::new();
        for record in records {
            text.push_str(&record.line(&self.digest_key));
            text.push('\n');
        }
        // No sync: what a power loss could bring back belongs to a start of the machine that is over then.
        std::fs::File::from(file).write_all(text.as_bytes()).map_err(|error| failed(&error))?;
        rustix::fs::renameat(directory, fresh.as_str(), directory, name).map_err(|error| failed(&error))
    }
}

impl Store for Files {
    fn read(&self, session: &str) -> Found {
        let mut found = Found::default();
        match self.directory() {
            Ok(directory) => self.read_file(&directory, &self.name_of(session), &mut found),
            Err(why) => found.complaints.push(why),
        }
        found.records.retain(|record| record.session == session);
        found
    }

    fn read_all(&self) -> Found {
        let mut found = Found::default();
        let listed = self.directory().and_then(|directory| Ok((Self::names(&directory)?, directory)));
        match listed {
            Err(why) => found.complaints.push(why),
            Ok((names, directory)) => {
                for name in names.iter().take(MAX_FILES) {
                    self.read_file(&directory, name, &mut found);
                }
            }
        }
        found
    }

    fn is_crowded(&self) -> bool {
        self.directory().and_then(|directory| Self::names(&directory)).is_ok_and(|names| names.len() >= CROWD)
    }

    fn change(&self, session: &str, change: &mut dyn FnMut(&mut Vec<Record>)) -> Result<Vec<String>, String> {
        let directory = self.directory()?;
        let _lock = Self::lock(&directory)?;
        let name = self.name_of(session);
        let names = Self::names(&directory)?;
        if names.len() >= MAX_FILES && !names.contains(&name) {
            return Err(format!("grants of {MAX_FILES} sessions are kept already"));
        }
        let mut found = Found::default();
        self.read_file(&directory, &name, &mut found);
        found.records.retain(|record| record.session == session);
        let before = found.records.clone();
        change(&mut found.records);
        if found.records != before || !found.complaints.is_empty() {
            self.replace(&directory, &name, &found.records)?;
        }
        Ok(found.complaints)
    }
}
