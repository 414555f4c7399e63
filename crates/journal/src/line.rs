//! One line of a segment: its chain fields, its body, its hash.
//!
//! ```text
//! {"seq":7,"prev":"<64 hex>","sealed":4,"kept":6,"boot":"<8 hex>","type":"…","timestamp":"…",…,"payload":{…},"hash":"<64 hex>"}
//! ```
//! `hash` is the SHA-256 of the exact bytes of the line before `,"hash":`, and `prev` is the `hash` of the line before, over the
//! border of segments too. `sealed` is the last checkpoint, `kept` the last record that was known to be on disk when this one was
//! written, `boot` the boot of the machine that wrote it. A line has exactly this form, or it is none of ours.

use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};

use crate::event::Kind;
use crate::host::Boot;

/// Longer lines are never written, and never read.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;
const TIMESTAMP: usize = 27;
/// `,"hash":"` + 64 + `"}`
const ENDING: usize = 9 + 64 + 2;

/// A SHA-256 in hex.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash([u8; 64]);

impl Hash {
    /// What the first record has before it.
    pub(crate) const NOTHING: Hash = Hash([b'0'; 64]);

    pub(crate) fn of(bytes: &[u8]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(Sha256::digest(bytes)) {
            for (digit, half) in pair.iter_mut().zip([byte >> 4, byte & 15]) {
                *digit = DIGITS.get(usize::from(half)).copied().unwrap_or(b'0');
            }
        }
        Hash(hex)
    }

    pub(crate) fn read(hex: &[u8]) -> Option<Self> {
        let hex: [u8; 64] = hex.try_into().ok()?;
        hex.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).then_some(Hash(hex))
    }

    pub(crate) fn as_str(&self) -> &str {
        // INVARIANT: both ways to make one give hex digits.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The chain fields of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) seq: u64,
    pub(crate) prev: Hash,
    pub(crate) sealed: u64,
    pub(crate) kept: u64,
    pub(crate) boot: Boot,
}

impl Links {
    /// Appends the line to `out`; gives its hash.
    pub(crate) fn write(&self, body: &str, out: &mut Vec<u8>) -> Hash {
        let start = out.len();
        out.extend_from_slice(b"{\"seq\":");
        decimal(self.seq, out);
        out.extend_from_slice(b",\"prev\":\"");
        out.extend_from_slice(&self.prev.0);
        out.extend_from_slice(b"\",\"sealed\":");
        decimal(self.sealed, out);
        out.extend_from_slice(b",\"kept\":");
        decimal(self.kept, out);
        out.extend_from_slice(b",\"boot\":\"");
        out.extend_from_slice(self.boot.as_bytes());
        out.extend_from_slice(b"\",");
        out.extend_from_slice(body.as_bytes());
        let hash = Hash::of(out.get(start..).unwrap_or_default());
        out.extend_from_slice(b",\"hash\":\"");
        out.extend_from_slice(&hash.0);
        out.extend_from_slice(b"\"}\n");
        hash
    }
}

/// Writes a number.
fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let start = out.len();
    loop {
        out.push(b'0' + u8::try_from(number % 10).unwrap_or(0));
        number /= 10;
        if number == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(start..) {
        digits.reverse();
    }
}

/// A line that has our form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) links: Links,
    pub(crate) kind: Kind,
    pub(crate) timestamp: &'a str,
    pub(crate) hash: Hash,
    hashed: &'a [u8],
}

/// Why a line is none of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    Form,
    Kind,
    Json,
    Hash,
}

impl Malformed {
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Malformed::Form => "the line is not in the journal's form",
            Malformed::Kind => "the type of the record is not known",
            Malformed::Json => "the line is not JSON",
            Malformed::Hash => "the hash is not that of the line",
        }
    }
}

impl<'a> Line<'a> {
    /// Reads a line without its line end: form, and hash. Whether its middle is JSON is left to [`Line::check_json`].
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, Malformed> {
        let line = Self::read_form(line)?;
        if Hash::of(line.hashed) == line.hash { Ok(line) } else { Err(Malformed::Hash) }
    }

    fn read_form(line: &'a [u8]) -> Result<Self, Malformed> {
        let border = line.len().checked_sub(ENDING).ok_or(Malformed::Form)?;
        let (hashed, ending) = line.split_at_checked(border).ok_or(Malformed::Form)?;
        let hash = ending.strip_prefix(b",\"hash\":\"").and_then(|rest| rest.strip_suffix(b"\"}"));
        let hash = hash.and_then(Hash::read).ok_or(Malformed::Form)?;
        let mut rest = Rest(hashed);
        let mut fields = || {
            let seq = rest.after(b"{\"seq\":")?.number()?;
            let prev = Hash::read(rest.after(b",\"prev\":\"")?.take(64)?)?;
            let sealed = rest.after(b"\",\"sealed\":")?.number()?;
            let kept = rest.after(b",\"kept\":")?.number()?;
            let boot = Boot::from_hex(rest.after(b",\"boot\":\"")?.take(8)?)?;
            let kind = rest.after(b"\",\"type\":\"")?.word()?;
            let timestamp = rest.after(b"\",\"timestamp\":\"")?.take(TIMESTAMP)?;
            rest.after(b"\"")?;
            let timestamp = std::str::from_utf8(timestamp).ok()?;
            Some((Links { seq, prev, sealed, kept, boot }, kind, timestamp))
        };
        let (links, kind, timestamp) = fields().ok_or(Malformed::Form)?;
        let kind = Kind::from_name(kind).ok_or(Malformed::Kind)?;
        Ok(Line { links, kind, timestamp, hash, hashed })
    }

    /// The whole is JSON. The form vouches for its beginning and end, so the middle is all that can be wrong.
    pub(crate) fn check_json(line: &[u8]) -> Result<(), Malformed> {
        serde_json::from_slice::<IgnoredAny>(line).map(drop).map_err(|_| Malformed::Json)
    }
}

/// What is left to read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn after(&mut self, expected: &[u8]) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(self)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// As JSON writes a whole number: no sign, no needless zero.
    fn number(&mut self) -> Option<u64> {
        let digits = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let digits = self.take(digits)?;
        if digits.is_empty() || (digits.len() > 1 && digits.first() == Some(&b'0')) {
            return None;
        }
        digits.iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
    }

    fn word(&mut self) -> Option<&'a str> {
        let letters = self.0.iter().take_while(|b| b.is_ascii_lowercase() || **b == b'_').count();
        std::str::from_utf8(self.take(letters)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let links = Links {
            seq: 7,
            prev: Hash::of(b"before"),
            sealed: 0,
            kept: 6,
            boot: Boot::from_hex(b"0123abcd").unwrap(),
        };
        let mut line = Vec::new();
        let body = r#""type":"run_started","timestamp":"2026-01-01T00:00:00.000000Z","payload":{"a":1}"#;
        links.write(body, &mut line);
        assert_eq!(line.pop(), Some(b'\n'));
        line
    }

    #[test]
    fn a_written_line_is_read_back() {
        let line = sample();
        let read = Line::read(&line).unwrap();
        assert_eq!((read.links.seq, read.links.sealed, read.links.kept), (7, 0, 6));
        assert_eq!((read.kind, read.timestamp), (Kind::RunStarted, "2026-01-01T00:00:00.000000Z"));
        assert!(Line::check_json(&line).is_ok());
    }

    #[test]
    fn any_other_byte_anywhere_is_found() {
        let line = sample();
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut other = line.clone();
                other[at] ^= 1 << bit;
                assert!(Line::read(&other).is_err(), "byte {at} bit {bit}");
            }
        }
        for end in 0..line.len() {
            assert!(Line::read(&line[..end]).is_err());
        }
    }

    #[test]
    fn another_spelling_of_the_same_is_none_of_ours() {
        let text = String::from_utf8(sample()).unwrap();
        for (from, to) in [
            ("\"seq\":7", "\"seq\":07"),
            ("\"seq\":7", "\"seq\": 7"),
            ("{\"seq", " {\"seq"),
            ("run_started", "Run"),
        ] {
            assert!(Line::read(text.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
        }
    }
}
