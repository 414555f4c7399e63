//! The disk, as far as the journal uses it: one directory with plain files. A trait, so that the proof can bring a disk that
//! drops, tears and reorders what was not synced.

use std::io;
use std::time::Duration;

/// One directory.
pub trait Volume: Send + Sync {
    /// Takes the lock that only one process has at a time.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`]: somebody else has held it all the while.
    fn lock(&self, patience: Duration) -> io::Result<()>;

    /// Gives it back.
    fn unlock(&self);

    /// The names in it, in no particular order.
    ///
    /// # Errors
    /// As the disk has them.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Opens a file, which must be ours alone.
    ///
    /// # Errors
    /// As the disk has them; [`io::ErrorKind::InvalidData`]: it is a symbolic link, not a plain file, or open to others.
    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn Medium>>;

    /// Gives a file another name, in place of whatever had it.
    ///
    /// # Errors
    /// As the disk has them.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file a second name, which must be free.
    ///
    /// # Errors
    /// As the disk has them; [`io::ErrorKind::AlreadyExists`]: it is not free.
    fn link(&self, from: &str, to: &str) -> io::Result<()>;

    /// Takes a name away.
    ///
    /// # Errors
    /// As the disk has them.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Waits until the names are on the disk.
    ///
    /// # Errors
    /// As the disk has them.
    fn sync(&self) -> io::Result<()>;
}

/// One open file.
pub trait Medium: Send + Sync {
    /// How long it is.
    ///
    /// # Errors
    /// As the disk has them.
    fn length(&self) -> io::Result<u64>;

    /// Reads at `offset`; fewer bytes than wanted may come.
    ///
    /// # Errors
    /// As the disk has them.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at `offset`; fewer bytes than given may be written.
    ///
    /// # Errors
    /// As the disk has them.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Cuts it.
    ///
    /// # Errors
    /// As the disk has them.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Waits until the bytes are on the disk.
    ///
    /// # Errors
    /// As the disk has them.
    fn sync(&self) -> io::Result<()>;

    /// Takes the lock on this file, if nobody has it.
    ///
    /// # Errors
    /// As the disk has them.
    fn try_lock(&self) -> io::Result<bool>;

    /// It still has a name.
    ///
    /// # Errors
    /// As the disk has them.
    fn is_linked(&self) -> io::Result<bool>;
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is there, and is read.
    Read,
    /// It is there, and is read and written.
    Write,
    /// It is not there yet.
    New,
}

/// An operation that is interrupted more often than this has failed.
const MOST_INTERRUPTED: u32 = 100;

/// Reads until `bytes` is full or the file ends; how many came.
pub(crate) fn read_full(file: &dyn Medium, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let (mut done, mut interrupted) = (0, 0);
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupted < MOST_INTERRUPTED => {
                interrupted += 1
            }
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes all of `bytes`.
pub(crate) fn write_full(file: &dyn Medium, bytes: &[u8], offset: u64) -> io::Result<()> {
    let (mut done, mut interrupted) = (0, 0);
    while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
        match file.write_at(rest, offset + done as u64) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupted < MOST_INTERRUPTED => {
                interrupted += 1
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
