//! Is it all there, in order, as it was written?
//!
//! Every line's form, number and hash, its link to the line before, the signatures, and, where a head was kept elsewhere, that the
//! journal still reaches it. The report names the first record that is wrong.

use std::io;

use serde::Serialize;

use crate::checkpoint::Head;
use crate::event::Kind;
use crate::keys::PublicKey;
use crate::line::{Hash, Line, Malformed};
use crate::record::Record;
use crate::segment::{self, Header, Lines, file_name, header_of};
use crate::volume::{Access, Volume};
use crate::writer::SEALED_WITHIN;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many records are good, counted from the first.
    pub records: u64,
    /// How many segments were read.
    pub segments: u64,
    /// How many checkpoints are among the good records.
    pub checkpoints: u64,
    /// The last record that a good signature vouches for; 0 where there is none.
    pub sealed: u64,
    /// How many good records follow it.
    pub unsealed: u64,
    /// Bytes after the last good record that were still being written, or were left by a process that was killed.
    pub torn_bytes: u64,
    /// The first thing that is wrong.
    pub bad: Option<Bad>,
}

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bad {
    /// The file.
    pub segment: String,
    /// The line in it, from 1.
    pub line: u64,
    /// The number that the record there should have.
    pub seq: u64,
    /// What is wrong.
    pub why: String,
}

impl Report {
    /// Nothing is wrong.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.bad.is_none()
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Report { records, segments, checkpoints, sealed, unsealed, torn_bytes, bad } = self;
        match bad {
            Some(Bad { segment, line, seq, why }) => {
                writeln!(f, "BAD: {segment}, line {line}, record {seq}: {why}")?
            }
            None => writeln!(f, "good")?,
        }
        write!(
            f,
            "{records} records in {segments} segments, {checkpoints} checkpoints; signed for up to record {sealed}"
        )?;
        match unsealed {
            0 => {}
            1 => write!(f, "; the last record is unsealed")?,
            _ => write!(f, "; the last {unsealed} are unsealed")?,
        }
        if *torn_bytes > 0 {
            write!(f, "; {torn_bytes} bytes of a line that was not finished follow")?;
        }
        Ok(())
    }
}

/// A verification under way.
struct Walk<'a> {
    keys: &'a [PublicKey],
    ids: Vec<String>,
    head: Option<&'a Head>,
    each_signature: bool,
    report: Report,
    journal: Option<String>,
    hash: Hash,
    /// The last checkpoint and where it is.
    last: Option<(Head, String, u64)>,
    reached_head: bool,
    /// The lines after it, with where they are. A signature vouches for what stands before it; of these nobody knows yet that they
    /// are JSON.
    since: Vec<(Vec<u8>, u64, u64)>,
}

pub(crate) fn verify(volume: &dyn Volume, keys: &[PublicKey], head: Option<&Head>) -> io::Result<Report> {
    // A good signature vouches for all that precedes it, so the last one is enough. Only if it is not good must each be checked, to
    // name the first that is wrong.
    let quick = Walk::new(keys, head, false).through(volume)?;
    match quick {
        Some(report) => Ok(report),
        None => Ok(Walk::new(keys, head, true).through(volume)?.unwrap_or_else(|| unsettled(head))),
    }
}

/// FAIL-CLOSED: a journal that changes its mind while it is read is not good.
fn unsettled(head: Option<&Head>) -> Report {
    let bad = Bad {
        segment: String::new(),
        line: 0,
        seq: head.map_or(0, |head| head.seq),
        why: "the journal changes while it is read".into(),
    };
    Report { records: 0, segments: 0, checkpoints: 0, sealed: 0, unsealed: 0, torn_bytes: 0, bad: Some(bad) }
}

impl<'a> Walk<'a> {
    fn new(keys: &'a [PublicKey], head: Option<&'a Head>, each_signature: bool) -> Self {
        let report = Report {
            records: 0,
            segments: 0,
            checkpoints: 0,
            sealed: 0,
            unsealed: 0,
            torn_bytes: 0,
            bad: None,
        };
        let ids = keys.iter().map(PublicKey::id).collect();
        Walk {
            keys,
            ids,
            head,
            each_signature,
            report,
            journal: None,
            hash: Hash::NOTHING,
            last: None,
            reached_head: false,
            since: Vec::new(),
        }
    }

    /// The report; `None` if the last signature is wrong and the earlier ones were not looked at.
    fn through(mut self, volume: &dyn Volume) -> io::Result<Option<Report>> {
        if let Some(head) = self.head
            && !head.is_signed_by(self.keys)
        {
            self.bad("the head", 0, "the head that was given is not signed by the key".into());
            return Ok(Some(self.report));
        }
        let numbers = segment::numbers(volume)?;
        let last = numbers.last().copied();
        for (number, expected) in numbers.into_iter().zip(1..) {
            let name = file_name(number);
            if number != expected {
                self.bad(&name, 1, format!("segment {} is missing", file_name(expected)));
                break;
            }
            let file = volume.open(&name, Access::Read)?;
            self.report.segments += 1;
            let mut lines = Lines::new(file.as_ref(), 0)?;
            let mut count = 0;
            while let Some(at) = lines.next()? {
                count += 1;
                let result = if at.whole {
                    self.line(at.bytes, number, count)
                } else if Some(number) == last && count > 1 {
                    match at.bytes.split_last() {
                        Some((_, line)) if Line::read(line).is_ok() => {
                            Err("the line's end is another byte".to_owned())
                        }
                        // The beginning of a line: it was never acknowledged, and the next writer takes it off.
                        _ => {
                            self.report.torn_bytes += at.bytes.len() as u64;
                            continue;
                        }
                    }
                } else {
                    Err("the line has no end".to_owned())
                };
                if let Err(why) = result {
                    self.bad(&name, count, why);
                    break;
                }
            }
            if self.report.bad.is_none() && count == 0 {
                self.bad(&name, 1, "the segment is empty".into());
            }
            if self.report.bad.is_some() {
                break;
            }
        }
        Ok(self.finish())
    }

    fn line(&mut self, bytes: &[u8], segment: u64, count: u64) -> Result<(), String> {
        let line = Line::read(bytes).map_err(|why| why.message().to_owned())?;
        let expected = self.report.records + 1;
        if line.links.seq != expected {
            return Err(format!("it is record {}, not record {expected}", line.links.seq));
        }
        if line.links.prev != self.hash {
            return Err("it does not continue the record before it".into());
        }
        if self.each_signature {
            Line::check_json(bytes).map_err(|why: Malformed| why.message().to_owned())?;
        } else if line.kind != Kind::Checkpoint {
            self.since.push((bytes.to_vec(), segment, count));
        }
        if (line.kind == Kind::Segment) != (count == 1) {
            return Err("a segment begins with what it says of itself, and says it once".into());
        }
        if line.kind == Kind::Segment {
            self.header(bytes, segment)?;
        }
        let sealed = self.last.as_ref().map_or(0, |(head, ..)| head.seq);
        if line.links.sealed != sealed || line.links.kept >= expected {
            return Err(
                "it names another checkpoint than the last one, or a record that does not exist yet".into()
            );
        }
        if line.kind == Kind::Checkpoint {
            self.checkpoint(bytes, segment, count)?;
        } else if expected - sealed > SEALED_WITHIN {
            return Err(format!("a checkpoint is missing: the last one is record {sealed}"));
        }
        if self.head.is_some_and(|head| head.seq == expected) {
            self.reached_head =
                self.head.is_some_and(|head| self.last.as_ref().is_some_and(|(last, ..)| last == head));
            if !self.reached_head {
                return Err("it is not the checkpoint that was kept elsewhere".into());
            }
        }
        self.hash = line.hash;
        self.report.records = expected;
        Ok(())
    }

    fn header(&mut self, bytes: &[u8], segment: u64) -> Result<(), String> {
        let Some(Header { journal, segment: number, .. }) = header_of(bytes) else {
            return Err("the form of this journal is not known".into());
        };
        if number != segment {
            return Err(format!("this is segment {number}"));
        }
        match &self.journal {
            Some(known) if *known != journal => Err("it belongs to another journal".into()),
            _ => {
                self.journal = Some(journal);
                Ok(())
            }
        }
    }

    fn checkpoint(&mut self, bytes: &[u8], segment: u64, count: u64) -> Result<(), String> {
        let record = Record::read(bytes).map_err(ToOwned::to_owned)?;
        let head = Head::of(&record).ok_or("the checkpoint is not whole")?;
        if Some(&head.journal) != self.journal.as_ref() {
            return Err("the checkpoint belongs to another journal".into());
        }
        if head.records != self.report.records || head.head != self.hash.as_str() {
            return Err("the checkpoint signs for something else than what precedes it".into());
        }
        if !self.ids.contains(&head.key) {
            return Err(format!("the checkpoint is signed with another key ({})", head.key));
        }
        if self.each_signature && !head.is_signed_by(self.keys) {
            return Err(WRONG_SIGNATURE.into());
        }
        self.report.checkpoints += 1;
        self.since.clear();
        self.last = Some((head, file_name(segment), count));
        Ok(())
    }

    fn finish(mut self) -> Option<Report> {
        if let Some((head, segment, line)) = self.last.take() {
            if !head.is_signed_by(self.keys) {
                if !self.each_signature {
                    return None;
                }
                // Each signature before was good, so this cannot be: say so rather than pass it.
                self.bad(&segment, line, WRONG_SIGNATURE.into());
            } else {
                self.report.sealed = head.seq;
            }
        }
        let wrong = self.since.iter().position(|(line, ..)| Line::check_json(line).is_err());
        if let Some((_, segment, line)) = wrong.and_then(|at| self.since.get(at)) {
            let seq = self.report.sealed + 1 + wrong.unwrap_or_default() as u64;
            let why = Malformed::Json.message().to_owned();
            // It comes before whatever else was found.
            self.report.bad = Some(Bad { segment: file_name(*segment), line: *line, seq, why });
            self.report.records = seq - 1;
        }
        self.report.unsealed = self.report.records - self.report.sealed.min(self.report.records);
        if let (Some(head), None) = (self.head, &self.report.bad)
            && !self.reached_head
        {
            let why = format!("the tail was cut: record {} was there when the head was kept", head.seq);
            self.bad("the end", 0, why);
        }
        Some(self.report)
    }

    fn bad(&mut self, segment: &str, line: u64, why: String) {
        let seq = self.report.records + 1;
        self.report.bad.get_or_insert_with(|| Bad { segment: segment.to_owned(), line, seq, why });
    }
}

const WRONG_SIGNATURE: &str = "the signature of the checkpoint is wrong";
