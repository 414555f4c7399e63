//! Points in time as the journal writes them: RFC 3339, UTC, microseconds, always 27 characters, so that texts compare as times.

/// Microseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// The last moment with a year of four digits: 9999-12-31T23:59:59.999999Z.
const LAST: i64 = 253_402_300_799_999_999;
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

impl Timestamp {
    /// A moment; before 1970 and after 9999 it is the nearest one that can be written.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        let micros = if micros < 0 { 0 } else { micros };
        Timestamp(if micros > LAST { LAST } else { micros })
    }

    /// Microseconds since 1970.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Reads what [`Display`](std::fmt::Display) writes. Shorter forms are taken too: a date, or a time without a fraction.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once('T') {
            Some((date, time)) => (date, time.strip_suffix('Z')?),
            None => (text, "00:00:00"),
        };
        let mut date = date.split('-');
        let (year, month, day) =
            (number(date.next()?, 4)?, number(date.next()?, 2)?, number(date.next()?, 2)?);
        let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let mut clock = clock.split(':');
        let (hour, minute, second) =
            (number(clock.next()?, 2)?, number(clock.next()?, 2)?, number(clock.next()?, 2)?);
        let digits = u32::try_from(fraction.len()).ok().filter(|digits| (1..=6).contains(digits))?;
        let fraction = number(fraction, fraction.len())? * 10_i64.pow(6 - digits);
        let real = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && hour < 24
            && minute < 60
            && second < 60;
        if date.next().is_some() || clock.next().is_some() || !real {
            return None;
        }
        let days = days_before(year, month, day);
        // A day that the month does not have comes back as another one.
        (civil(days) == (year, month, day))
            .then(|| Timestamp(days * DAY + ((hour * 60 + minute) * 60 + second) * SECOND + fraction))
    }

    /// A date, or how long before `now`: `30m`, `12h`, `7d`.
    #[must_use]
    pub fn parse_or_ago(text: &str, now: Timestamp) -> Option<Self> {
        let ago = || {
            let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let number: i64 = digits.parse().ok().filter(|number| *number >= 0)?;
            let seconds = match text.strip_prefix(digits)? {
                "s" => 1,
                "m" => 60,
                "h" => 3_600,
                "d" => 86_400,
                _ => return None,
            };
            let micros = number.saturating_mul(seconds).saturating_mul(SECOND);
            Some(Timestamp::from_micros(now.0.saturating_sub(micros)))
        };
        Timestamp::parse(text).or_else(ago)
    }

    /// The date: `2026-01-31`.
    #[must_use]
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        format!("{year:04}-{month:02}-{day:02}")
    }
}

impl Timestamp {
    /// As it is written. Every record has one, so its digits are put in their places without the ways of formatting.
    pub(crate) fn written(self) -> Written {
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        let within = self.0.rem_euclid(DAY);
        let (seconds, micros) = (within / SECOND, within % SECOND);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        let parts = [
            (0, 4, year),
            (5, 2, month),
            (8, 2, day),
            (11, 2, hour),
            (14, 2, minute),
            (17, 2, second),
            (20, 6, micros),
        ];
        for (from, digits, mut rest) in parts {
            for place in text.iter_mut().skip(from).take(digits).rev() {
                *place += u8::try_from(rest % 10).unwrap_or(0);
                rest /= 10;
            }
        }
        Written(text)
    }
}

/// The text of a point in time.
pub(crate) struct Written([u8; 27]);

impl Written {
    pub(crate) fn as_str(&self) -> &str {
        // INVARIANT: digits and the signs between them.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.written().as_str())
    }
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Days since 1970-01-01 of a date in the Gregorian calendar, counted in years that begin in March, so that the leap day is
/// the last one.
const fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

/// The date of a day since 1970-01-01.
const fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_and_read() {
        let table = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_709_251_200_000_001, "2024-03-01T00:00:00.000001Z"),
            (1_794_787_200_123_456, "2026-11-16T00:00:00.123456Z"),
            (LAST, "9999-12-31T23:59:59.999999Z"),
        ];
        for (micros, text) in table {
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
            assert_eq!(Timestamp::parse(text), Some(Timestamp(micros)));
        }
        assert_eq!(
            Timestamp::parse("2026-11-16").map(|t| t.to_string()).unwrap(),
            "2026-11-16T00:00:00.000000Z"
        );
        assert_eq!(Timestamp::parse("2026-11-16T01:02:03Z").unwrap().micros() % DAY, 3_723 * SECOND);
        for wrong in [
            "",
            "2026",
            "2026-02-29",
            "2026-13-01",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "26-01-01",
        ] {
            assert_eq!(Timestamp::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Timestamp::from_micros(-5).micros(), 0);
        assert_eq!(Timestamp::from_micros(i64::MAX).micros(), LAST);
    }

    #[test]
    fn every_day_of_eight_thousand_years_comes_back() {
        for day in 0..LAST / DAY {
            let (year, month, of_month) = civil(day);
            assert_eq!(days_before(year, month, of_month), day);
        }
    }
}
