//! `file_read`: a file as a whole; of a longer one, head and tail.

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
    let mut opened = setting.area.read(&setting.path(&arguments.path)?)?;
    let most = arguments.max_bytes.min(MOST);
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

/// A file that fits; `None` if it is binary. It is looked at piece by piece, while each is still in the processor's cache.
fn whole(opened: &mut Opened, size: u64, most: u64) -> Result<Option<Kept>, Failure> {
    let mut text = Gathered::new(usize::try_from(size).unwrap_or_default());
    let mut space = vec![0; PIECE];
    // Bytes at the front of the space that are the start of a character.
    let mut begun = 0;
    let mut left = most;
    loop {
        // One more than may be kept, to know whether there is more.
        let room = usize::try_from(left.saturating_add(1)).unwrap_or(usize::MAX).min(PIECE - begun);
        let Some(free) = space.get_mut(begun..begun + room) else { break };
        let count = match opened.file.read(free) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::io(&opened.path, &error)),
        };
        let more = count as u64 > left;
        let count = if more { usize::try_from(left).unwrap_or(count) } else { count };
        left -= count as u64;
        let Some(bytes) = space.get(..begun + count) else { break };
        let is_last = count == 0 || more;
        let used = if is_last && !more { bytes.len() } else { text::head(bytes).len() };
        let Some(()) = bytes.get(..used).and_then(|bytes| text.add(bytes)) else { return Ok(None) };
        if is_last {
            let left_out = if more { LeftOut::SoMuch } else { LeftOut::Nothing };
            return Ok(text.end(left_out));
        }
        begun = bytes.len() - used;
        space.copy_within(used..used + begun, 0);
    }
    Ok(text.end(LeftOut::SoMuch))
}

/// How much is read at once.
const PIECE: usize = 256 * 1024;

/// Text that comes in pieces, each of whole characters.
struct Gathered {
    text: String,
    /// Bytes that were no text, and all.
    wrong: usize,
    bytes: usize,
}

impl Gathered {
    fn new(size: usize) -> Gathered {
        Gathered { text: fence::rooted::room(size), wrong: 0, bytes: 0 }
    }

    /// Takes a piece; `None` if it is binary.
    fn add(&mut self, bytes: &[u8]) -> Option<()> {
        if memchr::memchr(0, bytes).is_some() {
            return None;
        }
        self.bytes += bytes.len();
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => self.text.push_str(text),
            Err(_) => {
                self.wrong += bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
                self.text.push_str(&String::from_utf8_lossy(bytes));
            }
        }
        Some(())
    }

    fn end(self, left_out: LeftOut) -> Option<Kept> {
        let is_binary = self.wrong > self.bytes / 10;
        (!is_binary).then_some(Kept { text: self.text, lossy: self.wrong > 0, left_out })
    }
}

/// Head and tail of a file that does not fit, with a line between them; `None` if it is binary.
fn ends(opened: &Opened, size: u64, most: u64) -> Result<Option<Kept>, Failure> {
    let back = most / 2;
    let part = |from: u64, length: u64| {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match opened.file.read_at(rest, from.saturating_add(done as u64)) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::io(&opened.path, &error)),
            }
        }
        bytes.truncate(done);
        Ok(bytes)
    };
    let (head, tail) = (part(0, most - back)?, part(size - back, back)?);
    // What was cut inside a character belongs to what is left out.
    let (head, tail) = (text::head(&head), text::tail(&tail));
    let left_out = size.saturating_sub(head.len() as u64).saturating_sub(tail.len() as u64);
    let mut text = Gathered::new(head.len() + tail.len() + 64);
    if text.add(head).is_none() {
        return Ok(None);
    }
    text.text.push_str(&format!("\n[… {left_out} bytes are left out …]\n"));
    if text.add(tail).is_none() {
        return Ok(None);
    }
    Ok(text.end(LeftOut::Bytes(left_out)))
}
