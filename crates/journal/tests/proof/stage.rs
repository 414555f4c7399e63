//! A simulated machine with a journal on it, and real directories.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use call::Shown;
use journal::simulated::Machine;
use journal::{
    Event, Filter, Going, Journal, Keys, Kind, Opened, Payload, Place, PublicKey, Reader, Record, Settings,
    Sync, Unavailable,
};

pub(crate) fn settings(sync: Sync, rotate_bytes: u64) -> Settings {
    Settings { sync, rotate_bytes, ..Settings::default() }
}

pub(crate) fn place(machine: &Machine) -> Place {
    Place { segments: machine.volume("segments"), running: machine.volume("running"), host: machine.host() }
}

pub(crate) fn open(machine: &Machine, settings: Settings) -> Result<(Journal, Opened), Unavailable> {
    let keys = keys(machine)?;
    Journal::open_at(place(machine), keys, settings)
}

pub(crate) fn keys(machine: &Machine) -> Result<Keys, Unavailable> {
    Keys::open_in(machine.volume("keys").as_ref(), machine)
}

pub(crate) fn reader(machine: &Machine) -> Reader {
    Reader::on(machine.volume("segments"))
}

/// An event that can be recognised.
pub(crate) fn event(kind: Kind, call: &str) -> Event {
    Event::new(kind, Payload::new().with("tool", "shell_exec").with("outcome", "finished"))
        .about(Some(Shown::of(call)))
        .in_session(Some(Shown::word("s")))
}

pub(crate) fn records(reader: &Reader) -> Vec<Record> {
    let mut all = Vec::new();
    let read = reader.forward(&Filter::default(), |record| {
        all.push(record);
        Going::On
    });
    read.expect("it can be read");
    all
}

/// `seq call type` of a record.
pub(crate) fn mark(record: &Record) -> (u64, String, &'static str) {
    (record.seq, record.call_id.clone().unwrap_or_default(), record.kind.name())
}

pub(crate) fn verified(reader: &Reader, key: &PublicKey) -> Result<(), String> {
    let report = reader.verify(std::slice::from_ref(key), None).map_err(|error| error.to_string())?;
    if report.is_good() { Ok(()) } else { Err(report.to_string()) }
}

/// A directory that goes with the value.
pub(crate) struct Temporary(pub(crate) PathBuf);

impl Temporary {
    pub(crate) fn new() -> Temporary {
        Self::below(&std::env::temp_dir())
    }

    /// In memory, where there is such a place: for tests that are about processes, not disks.
    pub(crate) fn quick() -> Temporary {
        let shared = Path::new("/dev/shm");
        if shared.is_dir() { Self::below(shared) } else { Self::new() }
    }

    fn below(parent: &Path) -> Temporary {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("bailiwick-journal-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Temporary(path)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.at("journal")
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.at("keys")
    }

    pub(crate) fn open(&self, settings: Settings) -> Result<(Journal, Opened), Unavailable> {
        Journal::open(&self.journal(), Keys::open(&self.keys())?, settings)
    }

    pub(crate) fn public(&self) -> PublicKey {
        Keys::open(&self.keys()).expect("keys").public()
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.journal()).expect("a journal")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A sequence of numbers that looks random.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
