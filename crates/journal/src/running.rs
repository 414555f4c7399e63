//! Calls that are under way: one locked file for each process that has some, so that whoever comes later can tell the calls of a
//! dead process from those of a living one, without reading the journal.
//!
//! The files are hints, not records: nothing in them is synced, and the journal itself is asked before a call is closed.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::keys::hex;
use crate::volume::{Access, Medium, Volume, read_full, write_full};

/// A file that has grown to this is written anew.
const LONGEST_FILE: u64 = 256 * 1024;

/// Which call: session and call.
pub(crate) type CallKey = (Option<String>, String);

/// The calls of this process.
pub(crate) struct Running {
    volume: Box<dyn Volume>,
    own: Option<Own>,
    open: BTreeMap<CallKey, String>,
}

struct Own {
    name: String,
    file: Box<dyn Medium>,
    length: u64,
}

/// One line of a file.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// It begins, or ends.
    begins: bool,
    /// The journal's last record before.
    after: u64,
    session: Option<String>,
    call: String,
}

/// What a dead process left.
pub(crate) struct Left {
    pub(crate) calls: Vec<CallKey>,
    /// They all began after this record.
    pub(crate) after: u64,
    name: String,
    /// Held, so that nobody else sees to it.
    _file: Box<dyn Medium>,
}

impl Running {
    pub(crate) fn new(volume: Box<dyn Volume>) -> Self {
        Running { volume, own: None, open: BTreeMap::new() }
    }

    /// Notes that a call is about to begin; `after` is the journal's last record.
    pub(crate) fn begin(&mut self, host: &dyn Host, key: CallKey, after: u64) -> io::Result<()> {
        if self.own.is_none() {
            self.own = Some(claim(self.volume.as_ref(), host)?);
        }
        let line = line(true, &key, after)?;
        self.add(&line)?;
        self.open.insert(key, line);
        Ok(())
    }

    /// Notes that a call ended. What cannot be noted is found out from the journal.
    pub(crate) fn end(&mut self, key: &CallKey) {
        if self.open.remove(key).is_none() {
            return;
        }
        let noted = if self.open.is_empty() {
            self.rewrite()
        } else {
            line(false, key, 0).and_then(|line| self.add(&line))
        };
        drop(noted);
    }

    fn add(&mut self, line: &str) -> io::Result<()> {
        let Some(own) = &mut self.own else { return Ok(()) };
        if own.length + line.len() as u64 > LONGEST_FILE {
            self.rewrite()?;
        }
        let Some(own) = &mut self.own else { return Ok(()) };
        write_full(own.file.as_ref(), line.as_bytes(), own.length)?;
        own.length += line.len() as u64;
        Ok(())
    }

    fn rewrite(&mut self) -> io::Result<()> {
        let Some(own) = &mut self.own else { return Ok(()) };
        let lines: String = self.open.values().map(String::as_str).collect();
        write_full(own.file.as_ref(), lines.as_bytes(), 0)?;
        own.file.truncate(lines.len() as u64)?;
        own.length = lines.len() as u64;
        Ok(())
    }

    /// What dead processes left.
    pub(crate) fn left(&self) -> io::Result<Vec<Left>> {
        let mut all = Vec::new();
        for name in self.volume.list()? {
            if self.own.as_ref().is_some_and(|own| own.name == name) {
                continue;
            }
            let file = match self.volume.open(&name, Access::Write) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            if !file.try_lock()? || !file.is_linked()? {
                continue;
            }
            all.push(read(name, file)?);
        }
        Ok(all)
    }

    /// Forgets what a dead process left, once its calls are closed.
    pub(crate) fn forget(&self, left: &Left) {
        // What stays is seen to again, to no effect.
        let _ = self.volume.remove(&left.name);
    }

    /// The first record after which a call of any living process may have begun.
    pub(crate) fn oldest(&self) -> io::Result<Option<u64>> {
        let mut oldest = None;
        for name in self.volume.list()? {
            if let Ok(file) = self.volume.open(&name, Access::Read) {
                let left = read(name, file)?;
                if !left.calls.is_empty() {
                    oldest = Some(oldest.map_or(left.after, |least: u64| least.min(left.after)));
                }
            }
        }
        Ok(oldest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A call that is still open stays noted: whoever opens the journal next closes it.
        if let Some(own) = &self.own
            && self.open.is_empty()
        {
            let _ = self.volume.remove(&own.name);
        }
    }
}

fn line(begins: bool, key: &CallKey, after: u64) -> io::Result<String> {
    let entry = Entry { begins, after, session: key.0.clone(), call: key.1.clone() };
    let mut line = serde_json::to_string(&entry).map_err(io::Error::other)?;
    line.push('\n');
    Ok(line)
}

/// A file of our own, locked. Somebody who looks at it before it is locked takes it for a dead one's and removes it.
fn claim(volume: &dyn Volume, host: &dyn Host) -> io::Result<Own> {
    for _ in 0..16 {
        let name = hex(host.random()?.get(..12).unwrap_or_default());
        let file = volume.open(&name, Access::New)?;
        if file.try_lock()? && file.is_linked()? {
            return Ok(Own { name, file, length: 0 });
        }
    }
    Err(io::Error::other("no file for the calls under way could be kept"))
}

fn read(name: String, file: Box<dyn Medium>) -> io::Result<Left> {
    let length = file.length()?.min(2 * LONGEST_FILE);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    let count = read_full(file.as_ref(), &mut bytes, 0)?;
    bytes.truncate(count);
    let mut calls: BTreeMap<CallKey, u64> = BTreeMap::new();
    for line in bytes.split(|b| *b == b'\n') {
        let Ok(entry) = serde_json::from_slice::<Entry>(line) else { continue };
        let key = (entry.session, entry.call);
        if entry.begins {
            calls.insert(key, entry.after);
        } else {
            calls.remove(&key);
        }
    }
    let after = calls.values().copied().min().unwrap_or_default();
    Ok(Left { calls: calls.into_keys().collect(), after, name, _file: file })
}
