//! Segments: the files that a journal is made of, `00000001.jsonl` and on, and what each says of itself in its first line.

use std::io;

use crate::event::Kind;
use crate::line::{LONGEST_LINE, Line};
use crate::volume::{Medium, Volume, read_full};

/// The form of journals that this code writes.
pub(crate) const FORMAT: u64 = 1;

pub(crate) fn file_name(number: u64) -> String {
    format!("{number:08}.jsonl")
}

/// The numbers of the segments that are there, in order.
pub(crate) fn numbers(volume: &dyn Volume) -> io::Result<Vec<u64>> {
    let mut numbers: Vec<u64> = volume.list()?.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".jsonl")?;
    let number = digits.parse().ok()?;
    (file_name(number) == name && number > 0).then_some(number)
}

/// What a segment says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) journal: String,
    pub(crate) segment: u64,
    pub(crate) seq: u64,
    pub(crate) timestamp: String,
    /// No call that was under way when it began had started before this record.
    pub(crate) open_since: u64,
    /// How long the line is, with its end.
    pub(crate) length: u64,
}

/// Reads the first line of a segment.
pub(crate) fn header(file: &dyn Medium) -> io::Result<Option<Header>> {
    let mut bytes = vec![0; 1024];
    let count = read_full(file, &mut bytes, 0)?;
    bytes.truncate(count);
    let Some(end) = memchr::memchr(b'\n', &bytes) else { return Ok(None) };
    Ok(bytes.get(..end).and_then(header_of))
}

/// A header, if the line is one.
pub(crate) fn header_of(bytes: &[u8]) -> Option<Header> {
    let line = Line::read(bytes).ok().filter(|line| line.kind == Kind::Segment)?;
    let record: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let payload = record.get("payload")?;
    let number = |name: &str| payload.get(name)?.as_u64();
    let journal = payload.get("journal")?.as_str()?;
    (number("format")? == FORMAT).then_some(())?;
    Some(Header {
        journal: journal.to_owned(),
        segment: number("segment")?,
        seq: line.links.seq,
        timestamp: line.timestamp.to_owned(),
        open_since: number("open_since")?,
        length: bytes.len() as u64 + 1,
    })
}

/// Reads a segment line by line, with a buffer of fixed size.
pub(crate) struct Lines<'a> {
    file: &'a dyn Medium,
    buffer: Vec<u8>,
    /// The part of the buffer that was not handed out yet.
    rest: std::ops::Range<usize>,
    /// Where in the file the buffer ends.
    offset: u64,
    /// Where in the file reading stops.
    end: u64,
}

/// One line, and where it is.
pub(crate) struct At<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: u64,
    /// It has its line end; a longer one than we write does not count as one.
    pub(crate) whole: bool,
}

const CHUNK: usize = 4 * LONGEST_LINE;

impl<'a> Lines<'a> {
    pub(crate) fn new(file: &'a dyn Medium, from: u64) -> io::Result<Self> {
        let end = file.length()?;
        let size = usize::try_from(end.saturating_sub(from)).unwrap_or(CHUNK).clamp(1, CHUNK);
        Ok(Lines { file, buffer: vec![0; size], rest: 0..0, offset: from.min(end), end })
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<At<'_>>> {
        let mut found = self.line_end(0);
        if found.is_none() && self.rest.len() <= LONGEST_LINE {
            let seen = self.rest.len();
            self.fill()?;
            found = self.line_end(seen);
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (length, whole) = match found {
            Some(length) if length <= LONGEST_LINE => (length, true),
            _ => (self.rest.len().min(LONGEST_LINE), false),
        };
        let start = self.rest.start;
        let offset = self.offset - self.rest.len() as u64;
        self.rest.start += length + usize::from(whole);
        Ok(Some(At { bytes: self.buffer.get(start..start + length).unwrap_or_default(), offset, whole }))
    }

    fn line_end(&self, seen: usize) -> Option<usize> {
        let unseen = self.buffer.get(self.rest.start + seen..self.rest.end)?;
        memchr::memchr(b'\n', unseen).map(|at| at + seen)
    }

    /// Moves what is left to the front and reads on.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        let room = self.buffer.len() - self.rest.len();
        let wanted = usize::try_from(self.end - self.offset).unwrap_or(room).min(room);
        let filled = self.rest.end;
        let space = self.buffer.get_mut(filled..filled + wanted).unwrap_or_default();
        let count = read_full(self.file, space, self.offset)?;
        if count < wanted {
            // It became shorter meanwhile.
            self.end = self.offset + count as u64;
        }
        self.offset += count as u64;
        self.rest.end += count;
        Ok(())
    }
}
