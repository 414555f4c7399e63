//! Reading the journal: forward, backward, the last few, what is new, one call. Memory is bounded by a chunk and what is asked for.

use std::io;
use std::path::Path;

use crate::checkpoint::Head;
use crate::directory::Directory;
use crate::event::Kind;
use crate::keys::PublicKey;
use crate::line::LONGEST_LINE;
use crate::payload::quote;
use crate::record::Record;
use crate::segment::{self, Lines, file_name};
use crate::time::Timestamp;
use crate::verify::{Report, verify};
use crate::volume::{Access, Medium, Volume, read_full};

/// A journal that is read.
pub struct Reader {
    volume: Box<dyn Volume>,
}

/// Why a journal cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The disk says no.
    Io(io::Error),
    /// A line is none of the journal's.
    Line {
        /// The file.
        segment: String,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        why: &'static str,
    },
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unreadable::Io(error) => write!(f, "the journal cannot be read: {error}"),
            Unreadable::Line { segment, offset, why } => {
                write!(f, "`{segment}`, byte {offset}: {why}; `bailiwick journal verify` tells more")
            }
        }
    }
}

impl std::error::Error for Unreadable {}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Unreadable::Io(error)
    }
}

/// Which records are wanted. All conditions must hold.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Not older than this.
    pub since: Option<Timestamp>,
    /// Of this session.
    pub session: Option<String>,
    /// Of this call.
    pub call: Option<String>,
    /// Also what the journal writes on its own account and nobody asks for: checkpoints and beginnings of segments.
    pub own: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { since: None, session: None, call: None, own: true }
    }
}

impl Filter {
    /// The record is wanted.
    #[must_use]
    pub fn takes(&self, record: &Record) -> bool {
        let same = |wanted: &Option<String>, is: &Option<String>| wanted.is_none() || wanted == is;
        (self.own || !matches!(record.kind, Kind::Checkpoint | Kind::Segment))
            && self.since.is_none_or(|since| record.time() >= since)
            && same(&self.session, &record.session_id)
            && same(&self.call, &record.call_id)
    }

    /// What the line of every wanted record holds.
    fn needle(&self) -> Option<String> {
        let quoted = |text: &String| {
            let mut out = String::new();
            quote(text, &mut out);
            out
        };
        self.call.as_ref().or(self.session.as_ref()).map(quoted)
    }
}

/// How far somebody has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    segment: u64,
    offset: u64,
}

impl Reader {
    /// The journal in a directory.
    ///
    /// # Errors
    /// There is none, or it may not be read.
    pub fn open(directory: &Path) -> io::Result<Reader> {
        Ok(Reader { volume: Box::new(Directory::open_existing(directory)?) })
    }

    /// The same on any disk.
    #[must_use]
    pub fn on(volume: Box<dyn Volume>) -> Reader {
        Reader { volume }
    }

    /// Hands over each wanted record, oldest first, until `each` says to stop.
    ///
    /// # Errors
    /// The disk says no, or a line is damaged; a line that is still being written is left out.
    pub fn forward(&self, filter: &Filter, mut each: impl FnMut(Record) -> Going) -> Result<(), Unreadable> {
        let needle = filter.needle();
        let finder = needle.as_ref().map(|needle| memchr::memmem::Finder::new(needle.as_bytes()));
        for number in self.segments_since(filter.since)? {
            let file = self.volume.open(&file_name(number), Access::Read)?;
            let mut lines = Lines::new(file.as_ref(), 0)?;
            while let Some(at) = lines.next()? {
                if !at.whole {
                    break;
                }
                if finder.as_ref().is_some_and(|finder| finder.find(at.bytes).is_none()) {
                    continue;
                }
                let record = read(at.bytes, number, at.offset)?;
                if filter.takes(&record) && each(record) == Going::Stop {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Hands over each wanted record, newest first, until `each` says to stop.
    ///
    /// # Errors
    /// As [`Reader::forward`].
    pub fn backward(&self, filter: &Filter, mut each: impl FnMut(Record) -> Going) -> Result<(), Unreadable> {
        for number in self.segments_since(filter.since)?.into_iter().rev() {
            let file = self.volume.open(&file_name(number), Access::Read)?;
            let mut lines = Backward::new(file.as_ref())?;
            while let Some((bytes, offset)) = lines.next()? {
                let record = read(&bytes, number, offset)?;
                if filter.takes(&record) && each(record) == Going::Stop {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The last wanted records, oldest first.
    ///
    /// # Errors
    /// As [`Reader::forward`].
    pub fn tail(&self, count: usize, filter: &Filter) -> Result<Vec<Record>, Unreadable> {
        let mut records = Vec::new();
        if count > 0 {
            self.backward(filter, |record| {
                records.push(record);
                if records.len() < count { Going::On } else { Going::Stop }
            })?;
        }
        records.reverse();
        Ok(records)
    }

    /// All records about a call, oldest first.
    ///
    /// # Errors
    /// As [`Reader::forward`].
    pub fn call(&self, id: &str) -> Result<Vec<Record>, Unreadable> {
        let mut records = Vec::new();
        let filter = Filter { call: Some(id.to_owned()), ..Filter::default() };
        self.forward(&filter, |record| {
            records.push(record);
            Going::On
        })?;
        Ok(records)
    }

    /// The end of the journal as it is now.
    ///
    /// # Errors
    /// The disk says no.
    pub fn end(&self) -> io::Result<Position> {
        let Some(segment) = segment::numbers(self.volume.as_ref())?.pop() else {
            return Ok(Position { segment: 0, offset: 0 });
        };
        let file = self.volume.open(&file_name(segment), Access::Read)?;
        let offset = Backward::new(file.as_ref())?.end;
        Ok(Position { segment, offset })
    }

    /// What was written since; moves on. At most a few thousand records come at a time.
    ///
    /// # Errors
    /// As [`Reader::forward`].
    pub fn new_since(&self, position: &mut Position) -> Result<Vec<Record>, Unreadable> {
        self.some_since(position, 4096)
    }

    /// The same with a bound of the caller's on how many records come at a time.
    ///
    /// # Errors
    /// As [`Reader::forward`].
    pub fn some_since(&self, position: &mut Position, most: usize) -> Result<Vec<Record>, Unreadable> {
        let mut records = Vec::new();
        for number in segment::numbers(self.volume.as_ref())? {
            if number < position.segment || records.len() >= most {
                continue;
            }
            if number > position.segment {
                *position = Position { segment: number, offset: 0 };
            }
            let file = self.volume.open(&file_name(number), Access::Read)?;
            let mut lines = Lines::new(file.as_ref(), position.offset)?;
            while let Some(at) = lines.next()? {
                if !at.whole || records.len() >= most {
                    break;
                }
                records.push(read(at.bytes, number, at.offset)?);
                position.offset = at.offset + at.bytes.len() as u64 + 1;
            }
        }
        Ok(records)
    }

    /// Where the records after this one begin.
    ///
    /// # Errors
    /// As [`Reader::forward`].
    pub fn after(&self, seq: u64) -> Result<Position, Unreadable> {
        for number in segment::numbers(self.volume.as_ref())?.into_iter().rev() {
            let file = self.volume.open(&file_name(number), Access::Read)?;
            let mut lines = Backward::new(file.as_ref())?;
            while let Some((bytes, offset)) = lines.next()? {
                if read(&bytes, number, offset)?.seq <= seq {
                    return Ok(Position { segment: number, offset: offset + bytes.len() as u64 + 1 });
                }
            }
        }
        Ok(Position { segment: 0, offset: 0 })
    }

    /// The last checkpoint, to be kept elsewhere.
    ///
    /// # Errors
    /// As [`Reader::forward`].
    pub fn head(&self) -> Result<Option<Head>, Unreadable> {
        let mut head = None;
        self.backward(&Filter::default(), |record| {
            head = Head::of(&record);
            if head.is_some() { Going::Stop } else { Going::On }
        })?;
        Ok(head)
    }

    /// Checks everything. `keys` are those that may have signed; `head` is a checkpoint that was kept elsewhere.
    ///
    /// # Errors
    /// The disk says no. Whatever is wrong with the journal is in the report.
    pub fn verify(&self, keys: &[PublicKey], head: Option<&Head>) -> io::Result<Report> {
        verify(self.volume.as_ref(), keys, head)
    }

    /// The segments that may hold a record of then or later.
    fn segments_since(&self, since: Option<Timestamp>) -> Result<Vec<u64>, Unreadable> {
        let numbers = segment::numbers(self.volume.as_ref())?;
        let Some(since) = since else { return Ok(numbers) };
        let mut wanted = Vec::new();
        for number in numbers.into_iter().rev() {
            wanted.push(number);
            let file = self.volume.open(&file_name(number), Access::Read)?;
            let began =
                segment::header(file.as_ref())?.and_then(|header| Timestamp::parse(&header.timestamp));
            // A clock may have been set back a little; a day is more than that.
            if began.is_some_and(|began| began.micros() < since.micros() - 86_400_000_000) {
                break;
            }
        }
        wanted.reverse();
        Ok(wanted)
    }
}

/// Whether more is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Going {
    /// Go on.
    On,
    /// Enough.
    Stop,
}

fn read(bytes: &[u8], segment: u64, offset: u64) -> Result<Record, Unreadable> {
    Record::read(bytes).map_err(|why| Unreadable::Line { segment: file_name(segment), offset, why })
}

impl Head {
    /// The checkpoint that a record is, if it is one.
    #[must_use]
    pub fn of(record: &Record) -> Option<Head> {
        let text = |name: &str| record.text(name).map(ToOwned::to_owned);
        (record.kind == Kind::Checkpoint).then_some(())?;
        Some(Head {
            journal: text("journal")?,
            seq: record.seq,
            records: record.payload.get("records")?.as_u64()?,
            head: text("head")?,
            timestamp: record.timestamp.clone(),
            key: text("key")?,
            signature: text("signature")?,
        })
    }
}

/// Reads a segment from its end. What follows the last line end is still being written, and is left out.
struct Backward<'a> {
    file: &'a dyn Medium,
    /// Bytes of the file that end at `end`, the last of which is a line end.
    buffer: Vec<u8>,
    end: u64,
}

impl<'a> Backward<'a> {
    fn new(file: &'a dyn Medium) -> io::Result<Self> {
        let mut lines = Backward { file, buffer: Vec::new(), end: file.length()? };
        while lines.buffer.last() != Some(&b'\n') {
            match memchr::memrchr(b'\n', &lines.buffer) {
                Some(at) => {
                    lines.end -= (lines.buffer.len() - at - 1) as u64;
                    lines.buffer.truncate(at + 1);
                }
                None if !lines.more()? => {
                    lines.end = 0;
                    lines.buffer.clear();
                    break;
                }
                None => {}
            }
        }
        Ok(lines)
    }

    /// Puts what precedes the buffer in front of it.
    fn more(&mut self) -> io::Result<bool> {
        let start = self.end - self.buffer.len() as u64;
        let wanted = start.min(64 * 1024);
        let mut bytes = vec![0; usize::try_from(wanted).unwrap_or_default()];
        let count = read_full(self.file, &mut bytes, start - wanted)?;
        if count < bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.append(&mut self.buffer);
        self.buffer = bytes;
        Ok(wanted > 0)
    }

    /// The line before, without its end, and where it begins.
    fn next(&mut self) -> io::Result<Option<(Vec<u8>, u64)>> {
        loop {
            let lines = self.buffer.strip_suffix(b"\n").unwrap_or_default();
            let start = match memchr::memrchr(b'\n', lines) {
                Some(at) => at + 1,
                // A longer line than we write is handed over as it is, and refused.
                None if lines.len() <= 2 * LONGEST_LINE && self.more()? => continue,
                None => 0,
            };
            if self.buffer.is_empty() {
                return Ok(None);
            }
            let mut line = self.buffer.split_off(start);
            self.end -= line.len() as u64;
            line.pop();
            return Ok(Some((line, self.end)));
        }
    }
}
