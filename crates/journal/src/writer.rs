//! The one place that writes segments: under the lock, at the end of the last one, a batch of lines at a time.

use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint;
use crate::event::{Kind, own_body};
use crate::host::{Boot, Host};
use crate::keys::{Keys, hex};
use crate::line::{Hash, Links};
use crate::payload::{Own, Payload};
use crate::segment::{self, FORMAT, file_name};
use crate::tail::{self, Tail};
use crate::time::Timestamp;
use crate::unavailable::{Unavailable, Why};
use crate::volume::{Access, Medium, Volume, write_full};

/// At most this many records are without a checkpoint after them.
pub(crate) const SEALED_WITHIN: u64 = 64;
/// A record that comes this long after the last checkpoint gets one.
const SEALED_EVERY: i64 = 1_000_000;
/// A new segment is made under this name, so that none is ever seen without its first line.
const NEXT: &str = "next.tmp";

/// When a record counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sync {
    /// When it is on disk, each append on its own.
    Always,
    /// When it is on disk; appends that come together share the wait.
    #[default]
    Group,
    /// When the operating system has it: a power loss may take it.
    Os,
}

/// How the journal is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// When a record counts as written.
    pub sync: Sync,
    /// A segment that is this long is followed by a new one.
    pub rotate_bytes: u64,
    /// How long another process may hold the lock before an append gives up.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { sync: Sync::Group, rotate_bytes: 64 * 1024 * 1024, patience: Duration::from_secs(10) }
    }
}

pub(crate) struct Writer {
    pub(crate) volume: Box<dyn Volume>,
    pub(crate) host: Arc<dyn Host>,
    keys: Keys,
    settings: Settings,
    boot: Option<Boot>,
    chain: Option<Chain>,
    poisoned: Option<String>,
    last_seal: Timestamp,
    /// How long the last batch was: the next is likely to need as much.
    usual: usize,
}

/// The last segment, as we left it or found it.
struct Chain {
    journal: String,
    segment: u64,
    file: Box<dyn Medium>,
    tail: Tail,
    /// What was taken off its end, and is not said yet.
    torn: u64,
    /// No segment follows, but this one was ended: a new one must be made.
    ended: bool,
    /// The first record after which a call may be open, as its header says.
    open_since: u64,
}

/// What a batch ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// A checkpoint if one is due.
    Due,
    /// A checkpoint, if there is anything to sign for.
    Now,
}

/// Lines that are written together.
struct Batch<'a> {
    writer: &'a Writer,
    journal: &'a str,
    bytes: Vec<u8>,
    tail: Tail,
    boot: Boot,
    now: Timestamp,
}

impl Writer {
    pub(crate) fn new(volume: Box<dyn Volume>, host: Arc<dyn Host>, keys: Keys, settings: Settings) -> Self {
        let (boot, last_seal) = (host.boot(), host.now());
        Writer { volume, host, keys, settings, boot, chain: None, poisoned: None, last_seal, usual: 2048 }
    }

    /// Does something with the lock held and the end of the journal known.
    pub(crate) fn locked<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Unavailable>,
    ) -> Result<T, Unavailable> {
        if let Some(why) = &self.poisoned {
            return Err(Unavailable::new(Why::Poisoned, why.clone()));
        }
        self.volume.lock(self.settings.patience).map_err(|error| Unavailable::io("the lock", &error))?;
        let result = self.find_end().and_then(|()| work(self));
        self.volume.unlock();
        result
    }

    /// Appends lines with these bodies, in one write; gives their numbers. They may still be coming in while the first of them are
    /// chained; `seal` is asked when all have come. `oldest` gives the first record after which a call may be under way; it is asked
    /// when a new segment begins.
    pub(crate) fn append(
        &mut self,
        bodies: impl FnOnce(&mut dyn FnMut(&str)),
        seal: impl FnOnce() -> Seal,
        sync: bool,
        oldest: &dyn Fn() -> Option<u64>,
    ) -> Result<Vec<u64>, Unavailable> {
        self.make_room(oldest)?;
        let now = self.host.now();
        let since = now.micros() - self.last_seal.micros();
        let mut due = !(0..SEALED_EVERY).contains(&since);
        let boot = self.boot();
        let mut numbers = Vec::new();
        let batch = self.batch(now, boot, |batch| {
            bodies(&mut |body| {
                batch.checkpoint_if_needed();
                numbers.push(batch.add(body));
            });
            due |= seal() == Seal::Now;
            if due && batch.tail.links.seq > batch.tail.links.sealed {
                batch.checkpoint(false);
            }
        })?;
        self.write(batch, sync && self.settings.sync != Sync::Os)?;
        if due {
            self.last_seal = now;
        }
        Ok(numbers)
    }

    /// Waits until a record is on disk, unless somebody has waited for it already: whoever wrote after it says so, and whoever
    /// begins a segment has waited for all of the one before.
    pub(crate) fn keep(&mut self, record: u64) -> Result<(), Unavailable> {
        let Some(chain) = self.chain.as_mut() else { return self.chain().map(drop) };
        if chain.tail.links.kept >= record {
            return Ok(());
        }
        if let Err(error) = chain.file.sync() {
            // FAIL-CLOSED: as in `write`; but others may have written since, so nothing is taken off.
            let name = file_name(chain.segment);
            return Err(self.poison(&format!("syncing `{name}`: {error}")));
        }
        chain.tail.links.kept = chain.tail.links.seq;
        Ok(())
    }

    /// Appends what the first process after a boot has to say. Only the last line carries the new boot, so that a torn attempt is made
    /// again; and for the same reason no new segment begins here.
    pub(crate) fn append_after_boot(&mut self, bodies: &[String]) -> Result<(), Unavailable> {
        let old = self.chain()?.tail.links.boot;
        let new = self.boot();
        let now = self.host.now();
        let batch = self.batch(now, old, |batch| {
            for body in bodies {
                batch.checkpoint_if_needed();
                batch.add(body);
            }
            batch.boot = new;
            batch.checkpoint(false);
        })?;
        self.write(batch, true)
    }

    /// The machine was started anew since the last record was written.
    pub(crate) fn is_after_boot(&self) -> bool {
        self.boot.is_some_and(|boot| self.chain.as_ref().is_some_and(|chain| chain.tail.links.boot != boot))
    }

    /// How many bytes were taken off the end and are not said yet.
    pub(crate) fn torn(&self) -> u64 {
        self.chain.as_ref().map_or(0, |chain| chain.torn)
    }

    /// The first record after which a call may be open, as the last segment says.
    pub(crate) fn open_since(&self) -> u64 {
        self.chain.as_ref().map_or(0, |chain| chain.open_since)
    }

    /// The last record, as far as this process knows.
    pub(crate) fn last(&self) -> u64 {
        self.chain.as_ref().map_or(0, |chain| chain.tail.links.seq)
    }

    /// There are records of which this process knows that no checkpoint follows them.
    pub(crate) fn is_unsealed(&self) -> bool {
        self.poisoned.is_none()
            && self.chain.as_ref().is_some_and(|chain| chain.tail.links.seq > chain.tail.links.sealed)
    }

    /// A checkpoint has been due for a while.
    pub(crate) fn is_seal_due(&self) -> bool {
        let since = self.host.now().micros() - self.last_seal.micros();
        self.is_unsealed() && !(0..SEALED_EVERY).contains(&since)
    }

    fn boot(&self) -> Boot {
        self.boot.unwrap_or(Boot::UNKNOWN)
    }

    fn chain(&self) -> Result<&Chain, Unavailable> {
        self.chain.as_ref().ok_or_else(|| Unavailable::new(Why::Io, "the end of the journal is not known"))
    }

    fn batch(
        &self,
        now: Timestamp,
        boot: Boot,
        fill: impl FnOnce(&mut Batch<'_>),
    ) -> Result<(Vec<u8>, Tail), Unavailable> {
        let chain = self.chain()?;
        let mut batch = Batch {
            writer: self,
            journal: &chain.journal,
            bytes: Vec::with_capacity(self.usual),
            tail: chain.tail,
            boot,
            now,
        };
        if chain.torn > 0 {
            let payload = Payload::new().with("bytes", chain.torn).with("after", chain.tail.links.seq);
            batch.checkpoint_if_needed();
            batch.add(&own_body(Kind::JournalRepaired, now, "", &payload));
        }
        fill(&mut batch);
        Ok((batch.bytes, batch.tail))
    }

    /// Writes a batch, and waits for the disk if told to.
    fn write(&mut self, (bytes, mut tail): (Vec<u8>, Tail), sync: bool) -> Result<(), Unavailable> {
        let Some(mut chain) = self.chain.take() else { return self.chain().map(drop) };
        let name = file_name(chain.segment);
        let before = chain.tail.length;
        if let Err(error) = write_full(chain.file.as_ref(), &bytes, before) {
            // What did get there is taken off; if that fails too, the next append finds it and does so.
            let _ = chain.file.truncate(before);
            return Err(Unavailable::io(format_args!("writing `{name}`"), &error));
        }
        if sync {
            if let Err(error) = chain.file.sync() {
                // FAIL-CLOSED: after a failed sync nobody knows what is on disk, and asking again would be answered wrongly.
                let _ = chain.file.truncate(before);
                return Err(self.poison(&format!("syncing `{name}`: {error}")));
            }
            tail.links.kept = tail.links.seq;
        }
        chain.tail = Tail { length: before + bytes.len() as u64, ..tail };
        self.usual = bytes.len();
        chain.torn = 0;
        self.chain = Some(chain);
        Ok(())
    }

    fn poison(&mut self, what: &str) -> Unavailable {
        let message = format!(
            "{what}; what is on disk is not known any more, so this process writes nothing more: start it anew"
        );
        self.poisoned = Some(message.clone());
        self.chain = None;
        Unavailable::new(Why::Poisoned, message)
    }

    /// Sees that the last segment has room.
    fn make_room(&mut self, oldest: &dyn Fn() -> Option<u64>) -> Result<(), Unavailable> {
        if self
            .chain
            .as_ref()
            .is_some_and(|chain| !chain.ended && chain.tail.length >= self.settings.rotate_bytes)
        {
            self.end_segment()?;
        }
        if self.chain.as_ref().is_some_and(|chain| chain.ended) {
            self.begin_segment(oldest())
        } else {
            Ok(())
        }
    }

    /// Finds the end of the journal, unless it is where this process left it; begins a journal where there is none.
    fn find_end(&mut self) -> Result<(), Unavailable> {
        if let Some(mut chain) = self.chain.take() {
            let name = file_name(chain.segment);
            let length = chain
                .file
                .length()
                .map_err(|error| Unavailable::io(format_args!("looking at `{name}`"), &error))?;
            if length == chain.tail.length && !chain.ended {
                self.chain = Some(chain);
                return Ok(());
            }
            // Somebody else wrote. Only where the segment was ended is there another one.
            if !chain.ended && length > chain.tail.length {
                let found = tail::find(chain.file.as_ref(), &name, self.boot)?;
                if !found.ends {
                    chain.tail = found;
                    self.chain = Some(chain);
                    return self.take_off_torn_tail();
                }
            }
        }
        let listed = segment::numbers(self.volume.as_ref());
        let Some(number) = listed.map_err(|error| Unavailable::io("listing the segments", &error))?.pop()
        else {
            return self.begin_segment(None);
        };
        let name = file_name(number);
        let failed = |error: std::io::Error| Unavailable::io(format_args!("opening `{name}`"), &error);
        let file = self.volume.open(&name, Access::Write).map_err(failed)?;
        let header =
            segment::header(file.as_ref()).map_err(failed)?.filter(|header| header.segment == number);
        let header = header
            .ok_or_else(|| Unavailable::damaged(format_args!("`{name}` does not begin as a segment does")))?;
        let tail = tail::find(file.as_ref(), &name, self.boot)?;
        if tail.kind == Kind::Segment {
            // Whoever made it may have been killed before its name was on disk.
            self.volume.sync().map_err(|error| self.poison(&format!("syncing the directory: {error}")))?;
        }
        self.chain = Some(Chain {
            journal: header.journal,
            segment: number,
            file,
            tail,
            torn: 0,
            ended: tail.ends,
            open_since: header.open_since,
        });
        self.take_off_torn_tail()
    }

    fn take_off_torn_tail(&mut self) -> Result<(), Unavailable> {
        let Some(chain) = self.chain.as_mut().filter(|chain| chain.tail.torn > 0) else { return Ok(()) };
        let name = file_name(chain.segment);
        let cut = chain.file.truncate(chain.tail.length);
        cut.map_err(|error| Unavailable::io(format_args!("repairing `{name}`"), &error))?;
        chain.torn += chain.tail.torn;
        chain.tail.torn = 0;
        Ok(())
    }

    /// Ends the last segment with a checkpoint that says so: whoever knew its length sees that it changed.
    fn end_segment(&mut self) -> Result<(), Unavailable> {
        let batch = self.batch(self.host.now(), self.boot(), |batch| batch.checkpoint(true))?;
        self.write(batch, false)?;
        if let Some(chain) = &mut self.chain {
            chain.ended = true;
        }
        Ok(())
    }

    /// Makes the next segment: whole under another name first, so that it appears with its first line or not at all.
    fn begin_segment(&mut self, oldest: Option<u64>) -> Result<(), Unavailable> {
        let failed = |error: std::io::Error| Unavailable::io("making a new segment", &error);
        let now = self.host.now();
        let (journal, number, before) = match self.chain.take() {
            Some(mut chain) => {
                // Whoever ended it may have been killed before it was on disk, and nobody looks at it again after this.
                chain
                    .file
                    .sync()
                    .map_err(|error| self.poison(&format!("syncing the last segment: {error}")))?;
                chain.tail.links.kept = chain.tail.links.seq;
                (chain.journal, chain.segment + 1, Some(chain.tail))
            }
            None => (hex(self.host.random().map_err(failed)?.get(..16).unwrap_or_default()), 1, None),
        };
        let links = Links {
            seq: before.map_or(0, |tail| tail.links.seq) + 1,
            prev: before.map_or(Hash::NOTHING, |tail| tail.hash),
            sealed: before.map_or(0, |tail| tail.links.sealed),
            kept: before.map_or(0, |tail| tail.links.kept),
            boot: self.boot(),
        };
        let open_since = oldest.unwrap_or(links.seq);
        let payload = Payload::new()
            .with("format", FORMAT)
            .with("journal", Own(journal.clone()))
            .with("segment", number)
            .with("open_since", open_since);
        let mut bytes = Vec::new();
        let hash = links.write(&own_body(Kind::Segment, now, "", &payload), &mut bytes);
        // Somebody may have been killed here before.
        let _ = self.volume.remove(NEXT);
        let file = self.volume.open(NEXT, Access::New).map_err(failed)?;
        write_full(file.as_ref(), &bytes, 0).map_err(failed)?;
        file.sync().map_err(|error| self.poison(&format!("syncing a new segment: {error}")))?;
        self.volume.rename(NEXT, &file_name(number)).map_err(failed)?;
        self.volume.sync().map_err(|error| self.poison(&format!("syncing the directory: {error}")))?;
        let tail =
            Tail { links, hash, kind: Kind::Segment, ends: false, length: bytes.len() as u64, torn: 0 };
        self.chain = Some(Chain { journal, segment: number, file, tail, torn: 0, ended: false, open_since });
        Ok(())
    }
}

impl Batch<'_> {
    /// Adds a line; gives its number.
    fn add(&mut self, body: &str) -> u64 {
        let links =
            Links { seq: self.tail.links.seq + 1, prev: self.tail.hash, boot: self.boot, ..self.tail.links };
        self.tail.hash = links.write(body, &mut self.bytes);
        self.tail.links = links;
        links.seq
    }

    fn checkpoint(&mut self, last: bool) {
        let keys = &self.writer.keys;
        let seq = self.tail.links.seq + 1;
        let body = checkpoint::body(keys, self.journal, seq, &self.tail.hash, self.now, last);
        self.add(&body);
        self.tail.links.sealed = seq;
    }

    fn checkpoint_if_needed(&mut self) {
        if self.tail.links.seq - self.tail.links.sealed >= SEALED_WITHIN {
            self.checkpoint(false);
        }
    }
}
