//! Where a segment ends: cheaply from its last line, or, if that line is not as it should be or the machine was started anew
//! since, by reading the segment from its beginning.

use std::io;

use crate::event::Kind;
use crate::host::Boot;
use crate::line::{Hash, LONGEST_LINE, Line, Links};
use crate::segment::{Lines, header_of};
use crate::unavailable::Unavailable;
use crate::volume::{Medium, read_full};

/// The last good line of a segment, and what follows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) links: Links,
    pub(crate) hash: Hash,
    pub(crate) kind: Kind,
    /// It is the checkpoint that ends the segment.
    pub(crate) ends: bool,
    /// Where it ends.
    pub(crate) length: u64,
    /// How many bytes follow that are to be taken off.
    pub(crate) torn: u64,
}

/// Finds the end of a segment. `boot` is the boot of this machine, where that is known.
pub(crate) fn find(file: &dyn Medium, name: &str, boot: Option<Boot>) -> Result<Tail, Unavailable> {
    let failed = |error: io::Error| Unavailable::io(format_args!("reading `{name}`"), &error);
    if let Some(tail) = last_line(file).map_err(failed)?
        && boot.is_none_or(|boot| tail.links.boot == boot)
    {
        return Ok(tail);
    }
    let (tail, debris) = read_through(file, name, boot).map_err(failed)??;
    if tail.torn > 0 && !debris.is_explained() {
        return Err(Unavailable::damaged(format_args!(
            "`{name}` does not hang together after record {}",
            tail.links.seq
        )));
    }
    Ok(tail)
}

/// The last line, if it is a good one, continues the line before it, and nothing follows it.
fn last_line(file: &dyn Medium) -> io::Result<Option<Tail>> {
    let length = file.length()?;
    for window in [4096, 2 * (LONGEST_LINE as u64 + 1)] {
        let start = length.saturating_sub(window);
        let mut bytes = vec![0; usize::try_from(length - start).unwrap_or_default()];
        let count = read_full(file, &mut bytes, start)?;
        bytes.truncate(count);
        let Some(lines) = bytes.strip_suffix(b"\n") else { return Ok(None) };
        let (before, line) = match memchr::memrchr(b'\n', lines) {
            Some(at) => (lines.get(..at), lines.get(at + 1..).unwrap_or_default()),
            None if start == 0 => (None, lines),
            None => continue,
        };
        let Ok(read) = Line::read(line) else { return Ok(None) };
        // The line before need not be whole in the window: its hash stands at its end.
        let continues = before.is_none_or(|before| {
            before
                .strip_suffix(b"\"}")
                .is_some_and(|before| before.ends_with(read.links.prev.as_str().as_bytes()))
        });
        return Ok(continues.then(|| Tail::of(&read, line, length)));
    }
    Ok(None)
}

impl Tail {
    fn of(line: &Line<'_>, bytes: &[u8], length: u64) -> Tail {
        let ends = line.kind == Kind::Checkpoint && memchr::memmem::find(bytes, b",\"last\":true}").is_some();
        let mut links = line.links;
        if line.kind == Kind::Checkpoint {
            // Whoever goes on from here has it for the last one.
            links.sealed = links.seq;
        }
        Tail { links, hash: line.hash, kind: line.kind, ends, length, torn: 0 }
    }
}

/// What follows the last good line.
struct Debris {
    /// The machine was started anew since: sectors that were not synced may be missing anywhere.
    after_boot: bool,
    /// There is more than the beginning of one line.
    many: bool,
    /// Something in it says that what is missing was on disk.
    missed: bool,
}

impl Debris {
    /// A process that is killed leaves at most the beginning of a line. A machine that loses power may leave anything in place of
    /// what was not synced, and nothing else: a later record that says the missing one was on disk speaks of another reason.
    fn is_explained(&self) -> bool {
        if self.after_boot { !self.missed } else { !self.many }
    }
}

fn read_through(
    file: &dyn Medium,
    name: &str,
    boot: Option<Boot>,
) -> io::Result<Result<(Tail, Debris), Unavailable>> {
    let mut lines = Lines::new(file, 0)?;
    let mut good: Option<Tail> = None;
    let mut debris: Option<Debris> = None;
    let mut torn = 0;
    while let Some(at) = lines.next()? {
        let read = if at.whole { Line::read(at.bytes).ok() } else { None };
        let size = at.bytes.len() as u64 + u64::from(at.whole);
        if let Some(debris) = &mut debris {
            torn += size;
            debris.many = true;
            debris.missed |=
                read.is_some_and(|line| good.is_some_and(|good| line.links.kept > good.links.seq));
            continue;
        }
        let fits = |line: &Line<'_>| match &good {
            Some(good) => line.links.prev == good.hash && line.links.seq == good.links.seq + 1,
            None => header_of(at.bytes).is_some(),
        };
        match (read.filter(fits), &good) {
            (Some(line), _) => good = Some(Tail::of(&line, at.bytes, at.offset + size)),
            (None, None) => {
                return Ok(Err(Unavailable::damaged(format_args!(
                    "`{name}` does not begin as a segment does"
                ))));
            }
            (None, Some(good)) => {
                torn += size;
                debris = Some(Debris {
                    after_boot: boot.is_some_and(|boot| good.links.boot != boot),
                    many: at.whole,
                    missed: read.is_some_and(|line| line.links.kept > good.links.seq),
                });
            }
        }
    }
    let Some(mut tail) = good else {
        return Ok(Err(Unavailable::damaged(format_args!("`{name}` is empty"))));
    };
    tail.torn = torn;
    Ok(Ok((tail, debris.unwrap_or(Debris { after_boot: false, many: false, missed: false }))))
}
