//! One quiet line at a terminal while a call runs: which tool, how long, how much came out. It is gone when the call has ended,
//! and there is none where standard error is no terminal.

use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gate::call::visible;

use crate::terminal;

/// How often the line is written anew; what takes less shows none.
const PAUSE: Duration = Duration::from_millis(500);

/// The line of one call.
pub(crate) struct Progress {
    seen: Arc<Seen>,
    writer: Option<JoinHandle<()>>,
}

/// What is known of the call.
#[derive(Default)]
pub(crate) struct Seen {
    running: AtomicBool,
    bytes: AtomicU64,
    over: Mutex<bool>,
    ends: Condvar,
}

impl Seen {
    /// It was let through and runs: before that the terminal may be in use for a question.
    pub(crate) fn starts(&self) {
        self.running.store(true, Ordering::Release);
    }

    /// So much more came out.
    pub(crate) fn comes(&self, bytes: usize) {
        self.bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Progress {
    /// The line of a call of this tool. `None` where nobody would see it.
    pub(crate) fn of(tool: &str) -> Option<Progress> {
        if !std::io::stderr().is_terminal() || terminal::is_dumb() {
            return None;
        }
        let seen = Arc::new(Seen::default());
        let (theirs, tool) = (Arc::clone(&seen), visible(tool));
        let builder = std::thread::Builder::new().name("progress".into()).stack_size(64 * 1024);
        let writer = builder.spawn(move || write(&theirs, &tool)).ok();
        Some(Progress { seen, writer })
    }

    /// Through which it learns what happens.
    pub(crate) fn seen(&self) -> Arc<Seen> {
        Arc::clone(&self.seen)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *self.seen.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.seen.ends.notify_all();
        if let Some(writer) = self.writer.take() {
            let _gone = writer.join();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a call takes is shown")]
fn write(seen: &Seen, tool: &str) {
    let mut started = None;
    let mut over = seen.over.lock().unwrap_or_else(PoisonError::into_inner);
    let mut shown = false;
    while !*over {
        (over, _) = seen.ends.wait_timeout(over, PAUSE).unwrap_or_else(PoisonError::into_inner);
        if *over || !seen.running.load(Ordering::Acquire) {
            continue;
        }
        let start = *started.get_or_insert_with(Instant::now);
        let seconds = start.elapsed().as_secs();
        let bytes = size(seen.bytes.load(Ordering::Relaxed));
        // A terminal that went away shows nothing.
        let _gone = write!(std::io::stderr(), "\r\u{1b}[2K{tool}  {seconds} s  {bytes}");
        shown = true;
    }
    if shown {
        let _gone = write!(std::io::stderr(), "\r\u{1b}[2K");
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
