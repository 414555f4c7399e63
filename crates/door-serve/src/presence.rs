//! Whether anybody is there who can answer. While somebody is, questions are held for them, and a lock in the directory of
//! state tells other processes of the same user so.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gate::approval::{Asked, Provider, Reply, Wait};
use tokio::sync::watch;

/// Who is there, and word of every change to the questions.
pub struct Presence {
    lock: Option<PathBuf>,
    here: Mutex<Here>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Here {
    count: usize,
    held: Option<File>,
}

impl Presence {
    /// Where the lock is, in the directory of state: `flock`ed exclusively while somebody can answer.
    #[must_use]
    pub fn lock_in(state: &Path) -> PathBuf {
        state.join("console.lock")
    }

    /// Nobody yet. `lock` is where others see that somebody is.
    #[must_use]
    pub fn new(lock: Option<PathBuf>) -> Arc<Presence> {
        let (changes, _) = watch::channel(0);
        Arc::new(Presence { lock, here: Mutex::default(), changes })
    }

    /// Holds questions for whoever is here.
    #[must_use]
    pub fn provider(self: &Arc<Self>) -> Console {
        Console(Arc::clone(self))
    }

    /// Somebody comes, and is here until the value goes.
    pub(crate) fn enter(self: &Arc<Self>) -> Present {
        let mut here = self.here();
        here.count += 1;
        if here.held.is_none() {
            here.held = self.lock.as_deref().and_then(locked);
        }
        drop(here);
        Present(Arc::clone(self))
    }

    /// How many are here.
    pub(crate) fn count(&self) -> usize {
        self.here().count
    }

    /// Something about the questions changed.
    pub(crate) fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Word of every change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn here(&self) -> MutexGuard<'_, Here> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nobody else's process is in the way, or theirs says the same already.
fn locked(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Somebody who is here.
pub(crate) struct Present(Arc<Presence>);

impl Drop for Present {
    fn drop(&mut self) {
        let mut here = self.0.here();
        here.count = here.count.saturating_sub(1);
        if here.count == 0 {
            here.held = None;
        }
    }
}

/// Asks whoever is here; with nobody there it cannot say.
pub struct Console(Arc<Presence>);

impl Provider for Console {
    fn name(&self) -> &'static str {
        "console"
    }

    fn ask(&self, _asked: &Arc<Asked>, _wait: &Wait<'_>) -> Reply {
        self.0.changed();
        if self.0.count() > 0 { Reply::Held } else { Reply::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_see_by_the_lock_whether_somebody_is_there() {
        let path = std::env::temp_dir().join(format!("bailiwick-presence-{}", std::process::id()));
        let presence = Presence::new(Some(path.clone()));
        let free = || locked(&path).is_some();
        assert!(free());
        let one = presence.enter();
        let two = presence.enter();
        assert!(!free());
        drop(one);
        assert!(!free(), "somebody is still there");
        drop(two);
        assert!(free());
        let _gone = std::fs::remove_file(path);
    }
}
