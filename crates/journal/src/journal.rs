//! The journal as whoever writes it sees it: opened cheaply, appended to from many threads, sealed at the end.
//!
//! Appends that come together are written together: the first of them takes the lock, and until it has it, others join its batch;
//! one write and one sync serve them all.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use call::Shown;

use crate::calls;
use crate::directory::Directory;
use crate::event::{Event, Kind};
use crate::host::{Host, ThisHost};
use crate::keys::Keys;
use crate::running::{CallKey, Running};
use crate::unavailable::{Unavailable, Why};
use crate::volume::Volume;
use crate::writer::{Seal, Settings, Sync, Writer};

/// The number of a record. The first is 1, and none is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

/// What was found and done when the journal was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opened {
    /// There was none.
    pub created: bool,
    /// How many bytes of a torn tail were taken off.
    pub repaired_bytes: u64,
    /// How many calls of dead processes were closed as interrupted.
    pub interrupted: usize,
}

/// Where the journal is.
pub struct Place {
    /// The directory of the segments.
    pub segments: Box<dyn Volume>,
    /// The directory for notes on calls that are under way.
    pub running: Box<dyn Volume>,
    /// Clock, boot, randomness.
    pub host: Arc<dyn Host>,
}

impl Place {
    /// A directory on this machine; made where it is not there.
    ///
    /// # Errors
    /// It cannot be used, or is open to others.
    pub fn directory(path: &Path) -> Result<Place, Unavailable> {
        let open = |path: &Path| {
            Directory::open(path)
                .map_err(|error| Unavailable::io(format_args!("`{}`", path.display()), &error))
        };
        Ok(Place {
            segments: Box::new(open(path)?),
            running: Box::new(open(&path.join("running"))?),
            host: Arc::new(ThisHost),
        })
    }
}

/// A journal that can be written.
pub struct Journal {
    joining: Mutex<Option<Arc<Batch>>>,
    writer: Mutex<Writer>,
    running: Mutex<Running>,
    host: Arc<dyn Host>,
    sync: Sync,
    /// A record that is written already; perhaps not the last.
    written: AtomicU64,
    /// How many callers are on their way into a batch, or wait for one.
    waiting: AtomicUsize,
}

/// So many turns of others are waited for, at most.
const PATIENCE: usize = 100;

/// Appends that are written together.
#[derive(Default)]
struct Batch {
    state: Mutex<State>,
    /// What became of them. Whoever waits for it does so without a lock: many are woken at once, and do not queue again.
    result: OnceLock<Result<Vec<u64>, Unavailable>>,
}

#[derive(Default)]
struct State {
    /// Those that nobody has begun to write.
    bodies: Bodies,
    /// How many came in all, and from how many callers.
    joined: usize,
    callers: usize,
    seal: bool,
}

/// The texts of some records, one after the other: they are handed on in one piece, and each caller frees what it made.
#[derive(Default)]
struct Bodies {
    text: String,
    ends: Vec<usize>,
}

impl Bodies {
    fn add(&mut self, body: &str) {
        self.text.push_str(body);
        self.ends.push(self.text.len());
    }

    fn drain(&mut self, add: &mut dyn FnMut(&str)) {
        let mut from = 0;
        for end in self.ends.drain(..) {
            add(self.text.get(from..end).unwrap_or_default());
            from = end;
        }
        self.text.clear();
    }
}

impl Journal {
    /// Opens the journal in a directory, and makes it where there is none.
    ///
    /// # Errors
    /// It cannot be written, or what is there does not hang together.
    pub fn open(directory: &Path, keys: Keys, settings: Settings) -> Result<(Journal, Opened), Unavailable> {
        Self::open_at(Place::directory(directory)?, keys, settings)
    }

    /// The same on any disk.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn open_at(place: Place, keys: Keys, settings: Settings) -> Result<(Journal, Opened), Unavailable> {
        let Place { segments, running, host } = place;
        let mut writer = Writer::new(segments, Arc::clone(&host), keys, settings);
        let running = Running::new(running);
        let opened = recover(&mut writer, &running)?;
        let written = AtomicU64::new(writer.last());
        let journal = Journal {
            joining: Mutex::default(),
            writer: Mutex::new(writer),
            running: Mutex::new(running),
            host,
            sync: settings.sync,
            waiting: AtomicUsize::new(0),
            written,
        };
        Ok((journal, opened))
    }

    /// Appends a record. When this returns, it is as durable as [`Settings::sync`] says.
    ///
    /// # Errors
    /// It is not written; the call that it is about must not run.
    pub fn append(&self, event: &Event) -> Result<Sequence, Unavailable> {
        let first = self.append_all(std::slice::from_ref(event))?;
        first.first().copied().ok_or_else(|| Unavailable::new(Why::Io, "nothing was written"))
    }

    /// Appends records, one after the other, in one write: all or, if this fails, none that counts.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_all(&self, events: &[Event]) -> Result<Vec<Sequence>, Unavailable> {
        self.append_with(events, Seal::Due)
    }

    /// Appends records with a checkpoint after them: what a process that is about to end does.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_sealed(&self, events: &[Event]) -> Result<Vec<Sequence>, Unavailable> {
        self.append_with(events, Seal::Now)
    }

    /// Appends records that nothing waits for, without waiting until they are on disk: an end, a denial, a question that is open.
    /// They are in order with all others, and on disk with the next that is waited for.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_soon(&self, events: &[Event]) -> Result<Vec<Sequence>, Unavailable> {
        self.append_unkept(events, Seal::Due)
    }

    /// The same, with a checkpoint after them: what a process that is about to end does.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_last(&self, events: &[Event]) -> Result<Vec<Sequence>, Unavailable> {
        self.append_unkept(events, Seal::Now)
    }

    fn append_unkept(&self, events: &[Event], seal: Seal) -> Result<Vec<Sequence>, Unavailable> {
        if self.sync == Sync::Always {
            return self.append_with(events, seal);
        }
        self.note_starts(events)?;
        let now = self.host.now();
        let bodies: Vec<String> = events.iter().map(|event| event.body(now)).collect();
        let numbers = {
            let mut writer = held(&self.writer);
            writer.locked(|writer| writer.append(each(&bodies), || seal, false, &|| self.oldest()))?
        };
        self.note_ends(events);
        Ok(numbers.into_iter().map(Sequence).collect())
    }

    /// Waits until a record that was appended by [`Journal::append_soon`] is as durable as [`Settings::sync`] says, with everything
    /// before it. Many who wait share the disk's time: whoever comes first waits for all that was written by then.
    ///
    /// # Errors
    /// Nobody knows whether it is on disk; the call that it is about must not run.
    pub fn keep(&self, record: Sequence) -> Result<(), Unavailable> {
        if self.sync == Sync::Os {
            return Ok(());
        }
        let mut writer = held(&self.writer);
        writer.locked(|writer| writer.keep(record.0))
    }

    /// Signs for what was written, if anything is not signed for yet.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn seal(&self) -> Result<(), Unavailable> {
        let mut writer = held(&self.writer);
        // Nothing waits for a checkpoint, so none is worth a sync: without it, the tail is unsealed and says so.
        writer.locked(|writer| writer.append(each(&[]), || Seal::Now, false, &|| self.oldest())).map(drop)
    }

    /// Sees to checkpoints while the journal lies idle, until the guard goes: for processes that live long.
    ///
    /// # Errors
    /// There can be no more threads.
    pub fn keep_sealed(self: &Arc<Self>) -> io::Result<Sealer> {
        let journal = Arc::downgrade(self);
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || seal_now_and_then(&journal, &stopped))?;
        Ok(Sealer { stop, thread: Some(thread) })
    }

    fn append_with(&self, events: &[Event], seal: Seal) -> Result<Vec<Sequence>, Unavailable> {
        let _waits = Waits::at(&self.waiting);
        self.note_starts(events)?;
        let now = self.host.now();
        let bodies: Vec<String> = events.iter().map(|event| event.body(now)).collect();
        let numbers = if self.sync == Sync::Group {
            self.append_together(&bodies, seal)?
        } else {
            let mut writer = held(&self.writer);
            writer.locked(|writer| writer.append(each(&bodies), || seal, true, &|| self.oldest()))?
        };
        if let Some(last) = numbers.last() {
            self.written.fetch_max(*last, Ordering::Relaxed);
        }
        self.note_ends(events);
        Ok(numbers.into_iter().map(Sequence).collect())
    }

    fn note_ends(&self, events: &[Event]) {
        for event in events.iter().filter(|event| event.kind == Kind::ToolCallFinished) {
            if let Some(key) = key(event) {
                held(&self.running).end(&key);
            }
        }
    }

    /// A call that is about to start is noted first, so that somebody closes it should this process die.
    fn note_starts(&self, events: &[Event]) -> Result<(), Unavailable> {
        for event in events.iter().filter(|event| event.kind == Kind::ToolCallStarted) {
            if let Some(key) = key(event) {
                let after = self.written.load(Ordering::Relaxed);
                let noted = held(&self.running).begin(self.host.as_ref(), key, after);
                noted.map_err(|error| Unavailable::io("noting that a call starts", &error))?;
            }
        }
        Ok(())
    }

    fn append_together(&self, bodies: &[String], seal: Seal) -> Result<Vec<u64>, Unavailable> {
        let count = bodies.len();
        let (batch, from, first) = {
            let mut joining = held(&self.joining);
            let first = joining.is_none();
            let batch = Arc::clone(joining.get_or_insert_default());
            let mut state = held(&batch.state);
            let from = state.joined;
            state.joined += count;
            bodies.iter().for_each(|body| state.bodies.add(body));
            state.seal |= seal == Seal::Now;
            state.callers += 1;
            drop(state);
            (batch, from, first)
        };
        if first {
            self.lead(&batch);
        }
        let numbers = batch.result.wait().as_ref().map_err(Clone::clone)?;
        numbers
            .get(from..from + count)
            .map(<[u64]>::to_vec)
            .ok_or_else(|| Unavailable::new(Why::Io, "nothing was written"))
    }

    /// Writes a batch for all who joined it.
    fn lead(&self, batch: &Batch) {
        let _answer = Answer(batch);
        let mut writer = held(&self.writer);
        let joined = Joined { journal: self, batch, open: true };
        let seal = || if held(&batch.state).seal { Seal::Now } else { Seal::Due };
        let result =
            writer.locked(|writer| writer.append(|add| joined.each(add), seal, true, &|| self.oldest()));
        drop(writer);
        let _first = batch.result.set(result);
    }

    fn oldest(&self) -> Option<u64> {
        held(&self.running).oldest().ok().flatten()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if held(&self.writer).is_unsealed() {
            // What is not sealed is said by whoever verifies.
            let _ = self.seal();
        }
    }
}

/// What comes into a batch while its leader writes it down. Those who were answered a moment ago are likely to come again, and one
/// sync for all of them is worth a moment; nobody who is alone waits.
struct Joined<'a> {
    journal: &'a Journal,
    batch: &'a Batch,
    open: bool,
}

impl Joined<'_> {
    fn each(mut self, add: &mut dyn FnMut(&str)) {
        let mut patience = PATIENCE;
        let mut ready = Bodies::default();
        loop {
            let was_open = self.open;
            let callers = {
                let mut state = held(&self.batch.state);
                std::mem::swap(&mut state.bodies, &mut ready);
                state.callers
            };
            if !ready.ends.is_empty() {
                ready.drain(add);
            } else if !was_open {
                return;
            } else if patience == 0 || callers >= self.journal.waiting.load(Ordering::Relaxed) {
                // Somebody may have joined just before.
                self.close();
            } else {
                patience -= 1;
                std::thread::yield_now();
            }
        }
    }

    /// From here on nobody joins.
    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            held(&self.journal.joining).take();
        }
    }
}

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Counts a caller for as long as it waits.
struct Waits<'a>(&'a AtomicUsize);

impl<'a> Waits<'a> {
    fn at(count: &'a AtomicUsize) -> Waits<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Waits(count)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers everybody who waits for a batch, whatever became of its leader.
struct Answer<'a>(&'a Batch);

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        let lost = || Err(Unavailable::new(Why::Io, "whoever wrote for others did not come to an end"));
        self.0.result.get_or_init(lost);
    }
}

/// Seals an idle journal; see [`Journal::keep_sealed`].
pub struct Sealer {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Sealer {
    fn drop(&mut self) {
        *held(&self.stop.0) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn seal_now_and_then(journal: &Weak<Journal>, stop: &(Mutex<bool>, Condvar)) {
    let mut stopped = held(&stop.0);
    while !*stopped {
        stopped = stop
            .1
            .wait_timeout(stopped, Duration::from_millis(250))
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        let Some(journal) = journal.upgrade() else { return };
        let due = held(&journal.writer).is_seal_due();
        if due {
            // What cannot be sealed now is tried again, and is unsealed until then.
            let _ = journal.seal();
        }
    }
}

/// Texts that are all there.
fn each(bodies: &[String]) -> impl FnOnce(&mut dyn FnMut(&str)) {
    move |add| bodies.iter().for_each(|body| add(body))
}

fn key(event: &Event) -> Option<CallKey> {
    let text = |shown: &Shown| shown.cut().as_str().to_owned();
    Some((event.session_id.as_ref().map(text), text(event.call_id.as_ref()?)))
}

/// Repairs a torn tail, and closes the calls of the dead.
fn recover(writer: &mut Writer, running: &Running) -> Result<Opened, Unavailable> {
    let failed = |error: io::Error| Unavailable::io("looking for calls of dead processes", &error);
    let oldest = || running.oldest().ok().flatten();
    let mut opened = writer.locked(|writer| {
        let mut opened =
            Opened { created: writer.last() == 1, repaired_bytes: writer.torn(), interrupted: 0 };
        if writer.is_after_boot() {
            let after = writer.open_since().saturating_sub(1);
            let open = calls::open_after(writer.volume.as_ref(), after).map_err(failed)?;
            let now = writer.host.now();
            let bodies: Vec<String> =
                open.iter().map(|(key, started)| started.interrupted(key, now)).collect();
            opened.interrupted = bodies.len();
            writer.append_after_boot(&bodies)?;
        } else if opened.repaired_bytes > 0 {
            writer.append(each(&[]), || Seal::Due, true, &oldest)?;
        }
        Ok(opened)
    })?;
    for left in running.left().map_err(failed)? {
        if !left.calls.is_empty() {
            opened.interrupted += writer.locked(|writer| {
                let open = calls::open_after(writer.volume.as_ref(), left.after).map_err(failed)?;
                let now = writer.host.now();
                let ended = left.calls.iter().filter_map(|key| Some(open.get(key)?.interrupted(key, now)));
                let bodies: Vec<String> = ended.collect();
                if !bodies.is_empty() {
                    writer.append(each(&bodies), || Seal::Due, true, &oldest)?;
                }
                Ok(bodies.len())
            })?;
        }
        running.forget(&left);
    }
    Ok(opened)
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
