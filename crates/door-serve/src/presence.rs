//! Whether anybody is there who can answer. While somebody is, questions are held for them, and a lock in the directory of
//! state tells other processes of the same user so. When the last one has been gone for a while, nobody is left to answer what
//! was held.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use gate::approval::{AskId, Asked, ConsoleLock, Provider, Reply, Wait};
use tokio::sync::watch;

/// So long a page may take to be loaded again, and a network to come back.
const GRACE: Duration = Duration::from_secs(10);
/// Whoever asks again and again for what is new is away for a moment between two requests.
const BETWEEN: Duration = Duration::from_secs(1);
/// From so many on, what was settled is taken from the list of what is held.
const MANY: usize = 64;

/// Who is there, and word of every change to the questions.
pub struct Presence {
    lock: Option<PathBuf>,
    grace: Duration,
    here: Mutex<Here>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Here {
    count: usize,
    held: Option<ConsoleLock>,
    /// Since when nobody is here any more.
    left: Option<Instant>,
    /// Questions that are held for whoever is here. Those that were settled are not there any more.
    questions: Vec<Weak<Asked>>,
    /// How many may be listed before the list is looked through again.
    room: usize,
}

impl Presence {
    /// Nobody yet. `lock` is where others see that somebody is.
    #[must_use]
    pub fn new(lock: Option<PathBuf>) -> Arc<Presence> {
        Presence::patient(lock, GRACE)
    }

    /// The same where whoever leaves has this long to come back.
    #[must_use]
    pub fn patient(lock: Option<PathBuf>, grace: Duration) -> Arc<Presence> {
        let (changes, _) = watch::channel(0);
        Arc::new(Presence { lock, grace, here: Mutex::default(), changes })
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
        here.left = None;
        if here.held.is_none() {
            here.held = self.lock.as_deref().and_then(|path| ConsoleLock::hold(path).ok());
        }
        drop(here);
        Present(Arc::clone(self))
    }

    /// How many are here.
    pub(crate) fn count(&self) -> usize {
        self.here().count
    }

    /// Holds a question for whoever is here; `false` where nobody is.
    fn hold(&self, asked: &Arc<Asked>) -> bool {
        let mut here = self.here();
        if !self.is_there(&here) {
            return false;
        }
        if here.questions.len() >= here.room.max(MANY) {
            here.questions.retain(|question| question.strong_count() > 0);
            here.room = here.questions.len().saturating_mul(2);
        }
        here.questions.push(Arc::downgrade(asked));
        true
    }

    /// The questions that nobody is left to answer.
    pub(crate) fn forsaken(&self) -> Vec<AskId> {
        let mut here = self.here();
        if here.left.is_none_or(|left| left.elapsed() < self.grace) {
            return Vec::new();
        }
        let held = std::mem::take(&mut here.questions);
        held.iter().filter_map(Weak::upgrade).map(|asked| asked.id).collect()
    }

    /// Whether somebody can be asked now.
    pub(crate) fn is_somebody_here(&self) -> bool {
        self.is_there(&self.here())
    }

    fn is_there(&self, here: &Here) -> bool {
        here.count > 0 || here.left.is_some_and(|left| left.elapsed() < BETWEEN.min(self.grace))
    }

    /// Whether the last who was here has been gone for so long that nobody waits for them.
    pub(crate) fn is_deserted(&self) -> bool {
        self.here().left.is_some_and(|left| left.elapsed() >= self.grace)
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

/// Somebody who is here.
pub(crate) struct Present(Arc<Presence>);

impl Drop for Present {
    fn drop(&mut self) {
        let mut here = self.0.here();
        here.count = here.count.saturating_sub(1);
        if here.count == 0 {
            here.held = None;
            here.left = Some(now());
        }
    }
}

/// Asks whoever is here; with nobody there it cannot say.
pub struct Console(Arc<Presence>);

impl Provider for Console {
    fn name(&self) -> &'static str {
        "console"
    }

    fn ask(&self, asked: &Arc<Asked>, _wait: &Wait<'_>) -> Reply {
        // Held before anybody hears of it: whoever is woken by the news may be gone with it in the next moment.
        let held = self.0.hold(asked);
        self.0.changed();
        if held { Reply::Held } else { Reply::Pass }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long nobody has been here")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_here_a_moment_ago_still_is_and_then_nobody() {
        let presence = Presence::patient(None, Duration::from_millis(200));
        assert!(!presence.is_somebody_here(), "nobody has come yet");
        let one = presence.enter();
        assert!(presence.is_somebody_here() && !presence.is_deserted());
        drop(one);
        assert!(presence.is_somebody_here(), "between two requests");
        std::thread::sleep(Duration::from_millis(250));
        assert!(!presence.is_somebody_here() && presence.is_deserted());
    }

    #[test]
    fn others_see_by_the_lock_whether_somebody_is_there() {
        let path = std::env::temp_dir().join(format!("bailiwick-presence-{}", std::process::id()));
        let presence = Presence::new(Some(path.clone()));
        let free = || !ConsoleLock::is_held(&path);
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
