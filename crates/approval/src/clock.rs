//! Clocks as a value. Questions live by the monotonic clock; grants by the time since the machine was started, together with
//! the name of that start, so that neither a changed date nor a restart makes them last longer. The date is only shown.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What time it is, in three senses.
pub trait Clock: Send + Sync {
    /// Monotonic: never goes back, knows nothing of dates.
    fn now(&self) -> Duration;

    /// The time since the machine was started, sleep included. `None` where that cannot be told: then no grant holds.
    fn moment(&self) -> Option<Moment>;

    /// Milliseconds since 1970, to be shown and never to be decided by.
    fn date_ms(&self) -> u64;
}

/// A moment of one start of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Which start.
    pub boot: Arc<str>,
    /// How long ago that was.
    pub at: Duration,
}

/// This machine's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

/// Which start of the machine this is: asked once, and only where somebody needs to know.
#[expect(clippy::disallowed_methods, reason = "the owner of the clock: the kernel's name of this start")]
fn this_boot() -> Option<Arc<str>> {
    static BOOT: OnceLock<Option<Arc<str>>> = OnceLock::new();
    let read = || {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(boot.trim()).filter(|text| text.len() == 36).map(Arc::from)
    };
    BOOT.get_or_init(read).clone()
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        read(rustix::time::ClockId::Monotonic)
    }

    fn moment(&self) -> Option<Moment> {
        let boot = this_boot()?;
        Some(Moment { boot, at: read(rustix::time::ClockId::Boottime) })
    }

    fn date_ms(&self) -> u64 {
        u64::try_from(read(rustix::time::ClockId::Realtime).as_millis()).unwrap_or(u64::MAX)
    }
}

fn read(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    // A date before 1970 is the only time that does not fit.
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A date as RFC 3339 writes it, in UTC, with milliseconds.
#[must_use]
pub fn rfc3339(date_ms: u64) -> String {
    let (seconds, millis) = (date_ms / 1000, date_ms % 1000);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years from March on, in eras of 400 years: the leap day is then the last of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let mut text = String::with_capacity(24);
    let _ = write!(
        text,
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millis:03}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_they_are() {
        for (date, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_709_251_200_001, "2024-03-01T00:00:00.001Z"),
            (4_102_444_799_000, "2099-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(date), expected);
        }
    }

    #[test]
    fn the_system_clocks_go_forward() {
        let clock = SystemClock;
        assert!(clock.now() <= clock.now());
        let (one, two) = (clock.moment().expect("linux"), clock.moment().expect("linux"));
        assert_eq!(one.boot, two.boot);
        assert!(one.at <= two.at);
        assert!(clock.date_ms() > 1_600_000_000_000);
    }
}
