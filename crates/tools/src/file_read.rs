//! `file_read`: a file as a whole; of a longer one, head and tail.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

use call::FileRead;
use fence::rooted::Opened;
use serde_json::json;

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::setting::{Setting, timed};
use crate::text;

/// The most that is read into memory, whatever is asked for.
pub const MOST: u64 = 256 * 1024 * 1024;

/// Runs `file_read`.
#[must_use]
pub fn run(arguments: &FileRead, setting: &Setting<'_>) -> Outcome {
    timed(|| read(arguments, setting))
}

fn read(arguments: &FileRead, setting: &Setting<'_>) -> Result<Outcome, Failure> {
    answer(setting.area.read(&setting.path(&arguments.path)?)?, arguments.max_bytes)
}

/// What an open file holds, as far as it is asked for.
pub(crate) fn answer(mut opened: Opened, max_bytes: u64) -> Result<Outcome, Failure> {
    let most = max_bytes.min(MOST);
    let size = opened.size();
    let kept = if size > most { ends(&opened, size, most)? } else { whole(&mut opened, size, most)? };
    let path = opened.path.display().to_string();
    let Some(kept) = kept else {
        let data = json!({"path": path, "bytes": size, "binary": true});
        return Ok(Outcome::success(format!("[binary, {size} bytes, not shown]\n"), data).truncated(true));
    };
    let left_out = match kept.left_out {
        LeftOut::Nothing => json!(0),
        LeftOut::Bytes(count) => json!(count),
        LeftOut::SoMuch => json!(null),
    };
    let data =
        json!({"path": path, "bytes": size, "left_out": left_out, "binary": false, "lossy": kept.lossy});
    Ok(Outcome::success(kept.text, data).truncated(kept.left_out != LeftOut::Nothing))
}

/// What is answered of a file that is text.
struct Kept {
    text: String,
    /// Bytes that are no text were replaced.
    lossy: bool,
    left_out: LeftOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    Bytes(u64),
    /// A file that grows, or that is made as it is read, does not say how much.
    SoMuch,
}

/// A larger file is read by two threads, half by half.
const LARGE: u64 = 4 * 1024 * 1024;
/// How much is read at once.
const PIECE: usize = 512 * 1024;

/// A file that fits; `None` if it is binary.
fn whole(opened: &mut Opened, size: u64, most: u64) -> Result<Option<Kept>, Failure> {
    if size >= LARGE {
        // As much as there was when it was opened.
        let mut bytes = fence::rooted::room(usize::try_from(size).unwrap_or_default());
        let is_text = halves(&opened.file, &mut bytes).map_err(|error| Failure::io(&opened.path, &error))?;
        return Ok(is_text.then(|| kept(bytes, LeftOut::Nothing)).flatten());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default().saturating_add(1));
    // One more than may be kept, to know whether there is more.
    let read = (&mut opened.file).take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(&opened.path, &error))?;
    let left_out = if bytes.len() as u64 > most { LeftOut::SoMuch } else { LeftOut::Nothing };
    if left_out == LeftOut::SoMuch {
        bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        bytes.truncate(text::head(&bytes).len());
    }
    Ok(if has_nul(&bytes) { None } else { kept(bytes, left_out) })
}

/// Fills memory from a file with two threads; says whether there is no NUL in it. A file that became shorter leaves less.
fn halves(file: &File, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    let middle = bytes.len() / 2;
    let Some((front, back)) = bytes.split_at_mut_checked(middle) else { return Ok(false) };
    let (front, back) = std::thread::scope(|scope| {
        let other = scope.spawn(|| filled(file, back, middle as u64));
        let front = filled(file, front, 0);
        (front, other.join().unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into())))
    });
    let ((front, front_is_text), (back, back_is_text)) = (front?, back?);
    bytes.truncate(if front < middle { front } else { middle + back });
    Ok(front_is_text && back_is_text)
}

/// Reads from a place in a file; how much there was, and whether there is no NUL in it, told while it is still in the
/// processor's cache.
fn filled(file: &File, space: &mut [u8], from: u64) -> std::io::Result<(usize, bool)> {
    let mut done = 0;
    while let Some(rest) = space.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let size = rest.len().min(PIECE);
        let piece = rest.get_mut(..size).unwrap_or_default();
        match file.read_at(piece, from.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(count) if has_nul(piece.get(..count).unwrap_or_default()) => return Ok((done + count, false)),
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((done, true))
}

fn has_nul(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

/// Text, if so much of it is UTF-8 that there is something to read; some bytes may be replaced.
fn kept(bytes: Vec<u8>, left_out: LeftOut) -> Option<Kept> {
    match fence::rooted::text_of(bytes) {
        Ok(text) => Some(Kept { text, lossy: false, left_out }),
        Err(bytes) => {
            let wrong: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
            let text = || String::from_utf8_lossy(&bytes).into_owned();
            (wrong <= bytes.len() / 10).then(|| Kept { text: text(), lossy: true, left_out })
        }
    }
}

/// Head and tail of a file that does not fit, with a line between them; `None` if it is binary.
fn ends(opened: &Opened, size: u64, most: u64) -> Result<Option<Kept>, Failure> {
    let back = most / 2;
    let part = |from: u64, length: u64| {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let read = filled(&opened.file, &mut bytes, from);
        let (count, is_text) = read.map_err(|error| Failure::io(&opened.path, &error))?;
        bytes.truncate(count);
        Ok::<_, Failure>(is_text.then_some(bytes))
    };
    let (Some(mut head), Some(tail)) = (part(0, most - back)?, part(size - back, back)?) else {
        return Ok(None);
    };
    // What was cut inside a character belongs to what is left out.
    head.truncate(text::head(&head).len());
    let tail = text::tail(&tail);
    let left_out = size.saturating_sub(head.len() as u64).saturating_sub(tail.len() as u64);
    head.extend_from_slice(format!("\n[… {left_out} bytes are left out …]\n").as_bytes());
    head.extend_from_slice(tail);
    Ok(kept(head, LeftOut::Bytes(left_out)))
}
