//! `read_file`: numbered lines, a range of them or the block around one.

use std::io::Read;

use call::{ReadFile, ReadMode};
use fence::rooted::Opened;
use serde_json::json;

use crate::failure::Failure;
use crate::indentation;
use crate::outcome::Outcome;
use crate::setting::{Setting, timed};
use crate::text;

/// A longer line is cut.
pub const LONGEST_LINE: usize = 2000;
/// Output that is given at most.
const MOST_OUTPUT: usize = 1024 * 1024;
/// How far into a file lines are looked for.
const FARTHEST: u64 = 2 * 1024 * 1024 * 1024;
/// The largest file in which a block is looked for.
const LARGEST_FOR_BLOCKS: u64 = 16 * 1024 * 1024;
/// As far as a file is looked at to tell whether it is binary.
const TELLING: usize = 8192;

/// Runs `read_file`.
#[must_use]
pub fn run(arguments: &ReadFile, setting: &Setting<'_>) -> Outcome {
    timed(|| {
        let mut opened = setting.area.read(&setting.path(&arguments.file_path)?)?;
        match arguments.mode {
            ReadMode::Slice => slice(arguments, &mut opened, setting),
            ReadMode::Indentation => block(arguments, &mut opened),
        }
    })
}

/// Lines that were chosen, as far as they are kept.
struct Chosen {
    lines: Vec<(u64, String)>,
    /// There are lines behind the last one.
    more: bool,
}

fn answer(opened: &Opened, chosen: Chosen) -> Outcome {
    let mut stdout = String::new();
    let mut given = 0_u64;
    let mut last = None;
    for (number, line) in &chosen.lines {
        if stdout.len() + line.len() > MOST_OUTPUT {
            break;
        }
        stdout.push_str(&format!("L{number}: {line}\n"));
        given += 1;
        last = Some(*number);
    }
    let more = chosen.more || given < chosen.lines.len() as u64;
    let first = chosen.lines.first().map(|line| line.0);
    let data = json!({
        "path": opened.path.display().to_string(), "first_line": first, "last_line": last, "lines": given, "more": more,
    });
    Outcome::success(stdout, data).truncated(more)
}

fn binary(opened: &Opened) -> Outcome {
    let size = opened.size();
    let data = json!({"path": opened.path.display().to_string(), "bytes": size, "binary": true});
    Outcome::success(format!("[binary, {size} bytes, not shown]\n"), data).truncated(true)
}

fn slice(arguments: &ReadFile, opened: &mut Opened, setting: &Setting<'_>) -> Result<Outcome, Failure> {
    let mut lines = Lines::new(arguments.offset, arguments.limit);
    let mut space = vec![0; 256 * 1024];
    let mut read = 0_u64;
    loop {
        setting.check_stop()?;
        let count = match opened.file.read(&mut space) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::io(&opened.path, &error)),
        };
        let Some(bytes) = space.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        if read == 0 && memchr::memchr(0, bytes.get(..TELLING).unwrap_or(bytes)).is_some() {
            return Ok(binary(opened));
        }
        read = read.saturating_add(count as u64);
        lines.take(bytes);
        if lines.is_full() {
            break;
        }
        if read > FARTHEST {
            return Err(Failure::validation(&format!(
                "`{}` has no line {} within its first 2 GiB",
                opened.path.display(),
                arguments.offset
            )));
        }
    }
    let (chosen, seen) = lines.end();
    if chosen.lines.is_empty() && arguments.offset > 1 {
        return Err(Failure::validation(&format!(
            "`{}` has {seen} lines; there is no line {}",
            opened.path.display(),
            arguments.offset
        )));
    }
    Ok(answer(opened, chosen))
}

/// Picks lines out of bytes that come in pieces.
struct Lines {
    first: u64,
    behind: u64,
    /// The line that the next byte belongs to.
    number: u64,
    /// Its front, as far as it is kept, and its length so far.
    front: Vec<u8>,
    length: u64,
    kept: usize,
    ends_in_return: bool,
    chosen: Chosen,
}

impl Lines {
    fn new(first: u64, limit: u64) -> Lines {
        Lines {
            first,
            behind: first.saturating_add(limit),
            number: 1,
            front: Vec::new(),
            length: 0,
            kept: 0,
            ends_in_return: false,
            chosen: Chosen { lines: Vec::new(), more: false },
        }
    }

    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_full() {
            if self.number >= self.behind || self.kept > MOST_OUTPUT {
                self.chosen.more = true;
                return;
            }
            let (line, rest, ended) =
                match memchr::memchr(b'\n', bytes).and_then(|at| bytes.split_at_checked(at)) {
                    Some((line, rest)) => (line, rest.get(1..).unwrap_or_default(), true),
                    None => (bytes, &[][..], false),
                };
            if self.number >= self.first {
                let room = (LONGEST_LINE + 1).saturating_sub(self.front.len());
                self.front.extend(line.iter().take(room));
                self.ends_in_return = line.last().map_or(self.ends_in_return, |last| *last == b'\r');
            }
            self.length = self.length.saturating_add(line.len() as u64);
            if ended {
                self.finish();
            }
            bytes = rest;
        }
    }

    fn is_full(&self) -> bool {
        self.chosen.more
    }

    fn finish(&mut self) {
        if self.number >= self.first {
            if self.ends_in_return {
                self.length = self.length.saturating_sub(1);
                self.front.truncate(usize::try_from(self.length).unwrap_or(usize::MAX));
            }
            let line = text::line(&self.front, self.length, LONGEST_LINE);
            self.kept += line.len();
            self.chosen.lines.push((self.number, line));
        }
        self.number += 1;
        self.front.clear();
        self.length = 0;
        self.ends_in_return = false;
    }

    /// What was chosen, and how many lines there were.
    fn end(mut self) -> (Chosen, u64) {
        if self.length > 0 && !self.chosen.more {
            self.finish();
        }
        (self.chosen, self.number - 1)
    }
}

fn block(arguments: &ReadFile, opened: &mut Opened) -> Result<Outcome, Failure> {
    let mut bytes = Vec::new();
    let path = opened.path.clone();
    let read = (&mut opened.file).take(LARGEST_FOR_BLOCKS + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(&path, &error))?;
    if bytes.len() as u64 > LARGEST_FOR_BLOCKS {
        return Err(Failure::validation(&format!(
            "`{}` is larger than 16 MiB, too large for `indentation`: use `slice`",
            path.display()
        )));
    }
    if memchr::memchr(0, bytes.get(..TELLING).unwrap_or(&bytes)).is_some() {
        return Ok(binary(opened));
    }
    let without_end = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let lines: Vec<&[u8]> = match bytes.is_empty() {
        true => Vec::new(),
        false => without_end.split(|byte| *byte == b'\n').collect(),
    };
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let how = arguments.indentation.clone().unwrap_or(call::Indentation {
        anchor_line: None,
        max_levels: 4,
        include_siblings: false,
        include_header: false,
        max_lines: None,
    });
    let anchor = how.anchor_line.unwrap_or(arguments.offset);
    let Some(index) = usize::try_from(anchor - 1).ok().filter(|index| *index < lines.len()) else {
        return Err(Failure::validation(&format!(
            "`{}` has {} lines; there is no line {anchor}",
            path.display(),
            lines.len()
        )));
    };
    let most = how.max_lines.unwrap_or(arguments.limit).min(arguments.limit);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let range = indentation::block(&lines, index, &how);
    let kept = indentation::around(&range, index, most);
    let more = kept != range;
    let numbered = (kept.start..).zip(lines.get(kept).unwrap_or_default());
    let numbered =
        numbered.map(|(at, line)| (at as u64 + 1, text::line(line, line.len() as u64, LONGEST_LINE)));
    Ok(answer(opened, Chosen { lines: numbered.collect(), more }))
}
