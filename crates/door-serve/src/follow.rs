//! Following the journal: one thread looks for what is new, from all processes, and wakes those who wait for it. Whoever
//! streams reads from the disk at their own pace, so that nobody's slowness costs memory.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gate::journal::{Filter, Kind, Reader, Record};
use serde_json::Value;
use tokio::sync::watch;

use crate::presence::Presence;

/// How often the journal is looked at.
const PAUSE: Duration = Duration::from_millis(40);
/// So many of the last records are looked at to begin with.
const BEFORE: usize = 2_000;
/// So many questions of the past are remembered.
const MOST: usize = 4_096;

/// What is known of the last calls that somebody was asked about, by what their approval is bound to.
#[derive(Default)]
pub(crate) struct Recent {
    inner: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    calls: HashMap<String, Arc<Value>>,
    order: VecDeque<String>,
}

impl Recent {
    /// The record of the call that this key stands for.
    pub(crate) fn call(&self, key: &str) -> Option<Arc<Value>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).calls.get(key).cloned()
    }

    fn take(&self, record: &Record) {
        let Some(key) = record.text("approval_key").filter(|_| record.text("decision") == Some("ask")) else {
            return;
        };
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.calls.insert(key.to_owned(), Arc::new(record.json())).is_none() {
            inner.order.push_back(key.to_owned());
        }
        if inner.order.len() > MOST
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.calls.remove(&oldest);
        }
    }
}

/// The thread that follows; it ends with this value.
pub(crate) struct Follower {
    news: watch::Receiver<u64>,
    stop: Arc<AtomicBool>,
}

impl Follower {
    pub(crate) fn start(
        reader: Arc<Reader>,
        recent: Arc<Recent>,
        presence: Arc<Presence>,
    ) -> Result<Follower, String> {
        let mut position = reader.end().map_err(|error| format!("the journal cannot be read: {error}"))?;
        let (tell, news) = watch::channel(0_u64);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::Builder::new()
            .name("journal-news".into())
            .spawn(move || {
                let filter = Filter { own: false, ..Filter::default() };
                for record in reader.tail(BEFORE, &filter).unwrap_or_default() {
                    if record.kind == Kind::ToolCallRequested {
                        recent.take(&record);
                    }
                }
                while !stopped.load(Ordering::Acquire) {
                    // A journal that cannot be read just now is looked at again; whoever streams from it says so.
                    let records = reader.some_since(&mut position, 512).unwrap_or_default();
                    let mut about_questions = false;
                    for record in &records {
                        match record.kind {
                            Kind::ToolCallRequested => recent.take(record),
                            Kind::ApprovalRequested
                            | Kind::ApprovalDecided
                            | Kind::ToolCallFinished
                            | Kind::GrantAdded
                            | Kind::GrantRevoked => about_questions = true,
                            _ => {}
                        }
                    }
                    if let Some(last) = records.last() {
                        tell.send_replace(last.seq);
                    }
                    if about_questions {
                        presence.changed();
                    }
                    if records.len() < 512 {
                        std::thread::sleep(PAUSE);
                    }
                }
            })
            .map_err(|error| format!("no thread could be started: {error}"))?;
        Ok(Follower { news, stop })
    }

    /// Word of every new record.
    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.clone()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
    }
}
