//! A machine in memory whose disk behaves as badly as a real one may: what was not synced is dropped, torn and reordered by the
//! sector when the power goes, and any operation can fail. For proofs; nothing that ships uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::host::{Boot, Host};
use crate::time::Timestamp;
use crate::volume::{Access, Medium, Volume};

const SECTOR: usize = 512;

/// A simulated machine. Clones are the same machine; [`Machine::copy`] makes another one in the same state.
#[derive(Clone, Default)]
pub struct Machine(Arc<Mutex<State>>);

#[derive(Clone, Default)]
struct State {
    files: Vec<Content>,
    /// Directory and name to file: as it looks, and as it is on disk.
    names: BTreeMap<(String, String), usize>,
    kept_names: BTreeMap<(String, String), usize>,
    /// Changes of names that were not synced.
    pending: Vec<Change>,
    locks: BTreeMap<Lock, u64>,
    operations: u64,
    trouble: Option<Trouble>,
    trouble_done: bool,
    off: bool,
    /// Which life of the process it is: handles of an earlier one are dead.
    life: u64,
    boot: u32,
    clock: i64,
    random: u64,
    ignored: Option<&'static str>,
    snapshots: Option<Vec<State>>,
}

#[derive(Clone, Default)]
struct Content {
    seen: Vec<u8>,
    kept: Vec<u8>,
    dirty: BTreeSet<usize>,
}

/// Changes of names that come together: all or none.
#[derive(Clone)]
struct Change {
    directory: String,
    names: Vec<(String, Option<usize>)>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Lock {
    Directory(String),
    File(usize),
}

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
pub struct Trouble {
    /// At which operation that changes something, counted from 0.
    pub at: u64,
    /// What.
    pub what: What,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy)]
pub enum What {
    /// The process is gone, after the operation. Nothing works until [`Machine::start`].
    Stop,
    /// The process is gone, before the operation.
    StopBefore,
    /// The operation fails with this error of the operating system, and does nothing.
    Error(i32),
    /// It and every later one of its kind fails until [`Machine::heal`].
    Errors(i32),
    /// A write does only half of what it should, without an error.
    Short,
    /// A write does half, then fails with this error.
    Half(i32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Write,
    Sync,
    Name,
}

impl Machine {
    /// A machine with an empty disk. Its clock, its randomness and what happens to its disk follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Machine {
        let state = State {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            clock: 1_790_000_000_000_000,
            ..State::default()
        };
        Machine(Arc::new(Mutex::new(state)))
    }

    /// Another machine in the same state, whose further fate follows from `seed`.
    #[must_use]
    pub fn copy(&self, seed: u64) -> Machine {
        let mut state = self.state().clone();
        state.random ^= seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state.random |= 1;
        Machine(Arc::new(Mutex::new(state)))
    }

    /// One of its directories.
    #[must_use]
    pub fn volume(&self, directory: &str) -> Box<dyn Volume> {
        let life = self.state().life;
        Box::new(SimVolume { machine: self.clone(), directory: directory.to_owned(), life })
    }

    /// The machine as the journal's host.
    #[must_use]
    pub fn host(&self) -> Arc<dyn Host> {
        Arc::new(self.clone())
    }

    /// Something will go wrong.
    pub fn expect(&self, trouble: Option<Trouble>) {
        let mut state = self.state();
        state.trouble = trouble;
        state.trouble_done = false;
        state.operations = 0;
    }

    /// Nothing goes wrong any more.
    pub fn heal(&self) {
        self.state().trouble = None;
    }

    /// The trouble has happened.
    #[must_use]
    pub fn was_troubled(&self) -> bool {
        self.state().trouble_done
    }

    /// How many operations changed something since [`Machine::expect`].
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Syncs of places whose `directory/name` begins so do nothing: for showing that each is needed. (A directory's own is
    /// `directory/`.)
    pub fn ignore_sync(&self, place: Option<&'static str>) {
        self.state().ignored = place;
    }

    /// From now on keeps a copy of the machine from before every operation.
    pub fn keep_snapshots(&self) {
        self.state().snapshots = Some(Vec::new());
    }

    /// How many copies were kept.
    #[must_use]
    pub fn snapshots(&self) -> usize {
        self.state().snapshots.as_ref().map_or(0, Vec::len)
    }

    /// The machine as it was before an operation.
    #[must_use]
    pub fn snapshot(&self, number: usize, seed: u64) -> Option<Machine> {
        let state = self.state().snapshots.as_ref()?.get(number)?.clone();
        Some(Machine(Arc::new(Mutex::new(state))).copy(seed))
    }

    /// The process is gone; another can start. The operating system goes on.
    pub fn start(&self) {
        let mut state = self.state();
        state.off = false;
        state.life += 1;
        state.locks.clear();
    }

    /// The power goes, and comes back.
    pub fn lose_power(&self) {
        let mut state = self.state();
        let state = &mut *state;
        for at in 0..state.files.len() {
            let mut random = state.next_random();
            if let Some(file) = state.files.get_mut(at) {
                file.lose_power(&mut random);
            }
        }
        for change in std::mem::take(&mut state.pending) {
            if state.next_random() & 1 == 0 {
                keep(&mut state.kept_names, &change);
            }
        }
        state.names = state.kept_names.clone();
        state.boot += 1;
        state.off = false;
        state.life += 1;
        state.locks.clear();
    }

    /// The bytes of a file, as they look.
    #[must_use]
    pub fn bytes(&self, directory: &str, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let file = *state.names.get(&(directory.to_owned(), name.to_owned()))?;
        state.files.get(file).map(|file| file.seen.clone())
    }

    /// Puts other bytes in place of those of a file, durably: what somebody who can write the disk does.
    pub fn overwrite(&self, directory: &str, name: &str, bytes: &[u8]) {
        let mut state = self.state();
        let key = (directory.to_owned(), name.to_owned());
        let file = Content { seen: bytes.to_vec(), kept: bytes.to_vec(), dirty: BTreeSet::new() };
        let known = state.names.get(&key).copied();
        if let Some(place) = known.and_then(|number| state.files.get_mut(number)) {
            *place = file;
            return;
        }
        state.files.push(file);
        let number = state.files.len() - 1;
        state.names.insert(key.clone(), number);
        state.kept_names.insert(key, number);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that changes the disk, unless trouble is due.
    fn change<T>(
        &self,
        life: u64,
        kind: Kind,
        work: impl FnOnce(&mut State, Half) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        state.alive(life)?;
        if let Some(mut snapshots) = state.snapshots.take() {
            snapshots.push(state.clone());
            state.snapshots = Some(snapshots);
        }
        let number = state.operations;
        state.operations += 1;
        let gone = || io::Error::other("the process is gone");
        match state.trouble {
            Some(Trouble { at, what })
                if number == at || (number > at && matches!(what, What::Errors(_))) =>
            {
                match what {
                    What::Errors(code) if number == at || kind == Kind::Write => {
                        state.trouble_done = true;
                        Err(io::Error::from_raw_os_error(code))
                    }
                    What::Errors(_) => work(&mut state, Half::No),
                    What::Error(code) => {
                        state.trouble_done = true;
                        Err(io::Error::from_raw_os_error(code))
                    }
                    What::Stop => {
                        // A sync that was not waited for has done nothing yet.
                        if kind != Kind::Sync {
                            let _ = work(&mut state, Half::No);
                        }
                        state.trouble_done = true;
                        state.off = true;
                        Err(gone())
                    }
                    What::StopBefore => {
                        state.trouble_done = true;
                        state.off = true;
                        Err(gone())
                    }
                    What::Short | What::Half(_) if kind != Kind::Write => work(&mut state, Half::No),
                    What::Short => {
                        state.trouble_done = true;
                        work(&mut state, Half::Yes)
                    }
                    What::Half(code) => {
                        state.trouble_done = true;
                        let _ = work(&mut state, Half::Yes);
                        Err(io::Error::from_raw_os_error(code))
                    }
                }
            }
            _ => work(&mut state, Half::No),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    No,
    Yes,
}

impl State {
    fn alive(&self, life: u64) -> io::Result<()> {
        if self.off || self.life != life { Err(io::Error::other("the process is gone")) } else { Ok(()) }
    }

    fn next_random(&mut self) -> u64 {
        step(&mut self.random)
    }

    fn file(&mut self, file: usize) -> io::Result<&mut Content> {
        self.files.get_mut(file).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn rename_all(&mut self, change: Change) {
        keep(&mut self.names, &change);
        self.pending.push(change);
    }

    fn is_ignored(&self, place: &str) -> bool {
        self.ignored.is_some_and(|ignored| {
            place.starts_with(ignored) && (place == ignored || !ignored.ends_with('/'))
        })
    }
}

fn keep(names: &mut BTreeMap<(String, String), usize>, change: &Change) {
    for (name, file) in &change.names {
        let key = (change.directory.clone(), name.clone());
        match file {
            Some(file) => names.insert(key, *file),
            None => names.remove(&key),
        };
    }
}

fn step(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
}

impl Content {
    /// Of each sector that was not synced, the old or the new bytes stay, or some of both.
    fn lose_power(&mut self, random: &mut u64) {
        let longest = self.seen.len().max(self.kept.len());
        let length = match step(random) % 3 {
            0 => self.kept.len(),
            1 => self.seen.len(),
            _ => {
                self.kept.len()
                    + usize::try_from(step(random)).unwrap_or(0)
                        % (longest - self.kept.len().min(longest) + 1)
            }
        };
        let mut bytes = self.kept.clone();
        bytes.resize(longest, 0);
        let mut new = self.seen.clone();
        new.resize(longest, 0);
        for sector in &self.dirty {
            let start = (sector * SECTOR).min(longest);
            let end = (start + SECTOR).min(longest);
            let border = match step(random) % 4 {
                0 => start,
                1 | 2 => end,
                _ => start + usize::try_from(step(random)).unwrap_or(0) % (end - start + 1),
            };
            if let (Some(old), Some(new)) = (bytes.get_mut(start..border), new.get(start..border)) {
                old.copy_from_slice(new);
            }
        }
        bytes.truncate(length.min(longest));
        self.kept.clone_from(&bytes);
        self.seen = bytes;
        self.dirty.clear();
    }

    fn touch(&mut self, from: usize, to: usize) {
        self.dirty.extend(from / SECTOR..=to.saturating_sub(1).max(from) / SECTOR);
    }
}

impl Host for Machine {
    fn now(&self) -> Timestamp {
        let mut state = self.state();
        state.clock += 100;
        Timestamp::from_micros(state.clock)
    }

    fn boot(&self) -> Option<Boot> {
        Boot::from_hex(format!("{:08x}", self.state().boot + 1).as_bytes())
    }

    fn random(&self) -> io::Result<[u8; 32]> {
        let mut state = self.state();
        let mut bytes = [0; 32];
        for part in bytes.chunks_mut(4) {
            let number = state.next_random().to_le_bytes();
            for (byte, random) in part.iter_mut().zip(number) {
                *byte = random;
            }
        }
        Ok(bytes)
    }
}

struct SimVolume {
    machine: Machine,
    directory: String,
    life: u64,
}

impl SimVolume {
    fn key(&self, name: &str) -> (String, String) {
        (self.directory.clone(), name.to_owned())
    }

    fn found(&self, state: &State, name: &str) -> io::Result<usize> {
        state.names.get(&self.key(name)).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn set(&self, names: Vec<(String, Option<usize>)>) -> Change {
        Change { directory: self.directory.clone(), names }
    }
}

impl Volume for SimVolume {
    fn lock(&self, _: Duration) -> io::Result<()> {
        let mut state = self.machine.state();
        state.alive(self.life)?;
        match state.locks.insert(Lock::Directory(self.directory.clone()), self.life) {
            None => Ok(()),
            Some(_) => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn unlock(&self) {
        let mut state = self.machine.state();
        if state.alive(self.life).is_ok() {
            state.locks.remove(&Lock::Directory(self.directory.clone()));
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.machine.state();
        state.alive(self.life)?;
        Ok(state
            .names
            .keys()
            .filter(|(directory, _)| *directory == self.directory)
            .map(|(_, name)| name.clone())
            .collect())
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn Medium>> {
        let file = if access == Access::New {
            self.machine.change(self.life, Kind::Name, |state, _| {
                if state.names.contains_key(&self.key(name)) {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                state.files.push(Content::default());
                let file = state.files.len() - 1;
                state.rename_all(self.set(vec![(name.to_owned(), Some(file))]));
                Ok(file)
            })?
        } else {
            let state = self.machine.state();
            state.alive(self.life)?;
            self.found(&state, name)?
        };
        Ok(Box::new(SimFile { machine: self.machine.clone(), file, life: self.life }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.machine.change(self.life, Kind::Name, |state, _| {
            let file = self.found(state, from)?;
            state.rename_all(self.set(vec![(to.to_owned(), Some(file)), (from.to_owned(), None)]));
            Ok(())
        })
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.machine.change(self.life, Kind::Name, |state, _| {
            let file = self.found(state, from)?;
            if state.names.contains_key(&self.key(to)) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            state.rename_all(self.set(vec![(to.to_owned(), Some(file))]));
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.machine.change(self.life, Kind::Name, |state, _| {
            self.found(state, name)?;
            state.rename_all(self.set(vec![(name.to_owned(), None)]));
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.machine.change(self.life, Kind::Sync, |state, _| {
            if state.is_ignored(&format!("{}/", self.directory)) {
                return Ok(());
            }
            let (ours, others) = std::mem::take(&mut state.pending)
                .into_iter()
                .partition(|change| change.directory == self.directory);
            state.pending = others;
            let ours: Vec<Change> = ours;
            for change in &ours {
                keep(&mut state.kept_names, change);
            }
            Ok(())
        })
    }
}

struct SimFile {
    machine: Machine,
    file: usize,
    life: u64,
}

impl Medium for SimFile {
    fn length(&self) -> io::Result<u64> {
        let mut state = self.machine.state();
        state.alive(self.life)?;
        Ok(state.file(self.file)?.seen.len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.machine.state();
        state.alive(self.life)?;
        let seen = &state.file(self.file)?.seen;
        let rest = usize::try_from(offset).ok().and_then(|offset| seen.get(offset..)).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        for (to, from) in bytes.iter_mut().zip(rest) {
            *to = *from;
        }
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.machine.change(self.life, Kind::Write, |state, half| {
            let count = if half == Half::Yes { bytes.len().div_ceil(2) } else { bytes.len() };
            let bytes = bytes.get(..count).unwrap_or_default();
            let start = usize::try_from(offset).map_err(io::Error::other)?;
            let file = state.file(self.file)?;
            let end = start + bytes.len();
            if file.seen.len() < end {
                file.seen.resize(end, 0);
            }
            if let Some(space) = file.seen.get_mut(start..end) {
                space.copy_from_slice(bytes);
            }
            file.touch(start, end);
            Ok(count)
        })
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.machine.change(self.life, Kind::Name, |state, _| {
            let length = usize::try_from(length).map_err(io::Error::other)?;
            let file = state.file(self.file)?;
            let before = file.seen.len();
            file.seen.resize(length, 0);
            file.touch(length.min(before), length.max(before));
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.machine.change(self.life, Kind::Sync, |state, _| {
            let place = state.names.iter().find(|(_, file)| **file == self.file).map(|(name, _)| name);
            if place.is_some_and(|(directory, name)| state.is_ignored(&format!("{directory}/{name}"))) {
                return Ok(());
            }
            let file = state.file(self.file)?;
            file.kept.clone_from(&file.seen);
            file.dirty.clear();
            Ok(())
        })
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.machine.state();
        state.alive(self.life)?;
        let life = self.life;
        Ok(*state.locks.entry(Lock::File(self.file)).or_insert(life) == life)
    }

    fn is_linked(&self) -> io::Result<bool> {
        let state = self.machine.state();
        Ok(state.names.values().any(|file| *file == self.file))
    }
}
