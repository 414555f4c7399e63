//! Keys that were typed before a question could be read do not answer it.
//!
//! Nor do those of somebody who is still typing something else, or of a key that is held down: the time begins anew with each.

use std::time::Duration;

/// How long nothing must be typed before a key counts.
pub(crate) const TOO_SOON: Duration = Duration::from_millis(400);

/// Since when a question can be read.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    quiet_since: Option<Duration>,
}

impl Guard {
    /// It is on the screen now.
    pub(crate) fn was_drawn(&mut self, now: Duration) {
        self.quiet_since.get_or_insert(now);
    }

    /// It must be read anew.
    pub(crate) const fn restart(&mut self) {
        self.quiet_since = None;
    }

    /// Whether a key that is typed now counts.
    pub(crate) fn counts(&mut self, now: Duration) -> bool {
        match self.quiet_since {
            Some(since) if now.saturating_sub(since) >= TOO_SOON => true,
            Some(_) => {
                self.quiet_since = Some(now);
                false
            }
            None => false,
        }
    }

    /// Whether keys count, to be shown.
    pub(crate) fn is_open(&self, now: Duration) -> bool {
        self.quiet_since.is_some_and(|since| now.saturating_sub(since) >= TOO_SOON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_typed_after_a_pause_counts() {
        let at = Duration::from_millis;
        let mut guard = Guard::default();
        assert!(!guard.counts(at(9_000)), "it was never on the screen");
        guard.was_drawn(at(10_000));
        guard.was_drawn(at(10_300));
        assert!(!guard.counts(at(10_399)));
        assert!(!guard.counts(at(10_700)), "somebody is still typing");
        assert!(guard.counts(at(11_100)));
        guard.restart();
        assert!(!guard.counts(at(11_200)));
    }
}
