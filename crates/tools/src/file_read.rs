//! `file_read`: a file as a whole; of a longer one, head and tail.

use std::io::Read;
use std::os::unix::fs::FileExt;

use call::FileRead;
use fence::rooted::Opened;
use serde_json::json;

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::setting::{Setting, timed};
use crate::text::{self, Content};

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
    let parts = if size > most { ends(&opened, size, most)? } else { whole(&mut opened, size, most)? };
    let is_cut = parts.left_out != LeftOut::Nothing;
    let left_out = match parts.left_out {
        LeftOut::Nothing => json!(0),
        LeftOut::Bytes(count) => json!(count),
        LeftOut::SoMuch => json!(null),
    };
    let path = opened.path.display().to_string();
    let (head, tail) = if parts.left_out == LeftOut::Nothing {
        (parts.head, Vec::new())
    } else {
        // What was cut off inside a character belongs to what was left out.
        (text::head(&parts.head).to_vec(), text::tail(&parts.tail).to_vec())
    };
    let left_out = match parts.left_out {
        LeftOut::Bytes(_) => json!(size.saturating_sub(head.len() as u64).saturating_sub(tail.len() as u64)),
        _ => left_out,
    };
    let binary = || {
        let data = json!({"path": path, "bytes": size, "binary": true});
        Ok(Outcome::success(format!("[binary, {size} bytes, not shown]\n"), data).truncated(true))
    };
    let mut lossy = false;
    let Some(mut stdout) = owned(head, &mut lossy) else { return binary() };
    if is_cut {
        let Some(tail) = owned(tail, &mut lossy) else { return binary() };
        let said = left_out.as_u64().map_or("the rest is".to_owned(), |count| format!("{count} bytes are"));
        stdout.push_str(&format!("\n[… {said} left out …]\n"));
        stdout.push_str(&tail);
    }
    let data = json!({"path": path, "bytes": size, "left_out": left_out, "binary": false, "lossy": lossy});
    Ok(Outcome::success(stdout, data).truncated(is_cut))
}

struct Parts {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: LeftOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    Bytes(u64),
    /// A file that grows, or that is made as it is read, does not say how much.
    SoMuch,
}

/// A file that fits.
fn whole(opened: &mut Opened, size: u64, most: u64) -> Result<Parts, Failure> {
    let mut head = Vec::with_capacity(usize::try_from(size).unwrap_or_default().saturating_add(1));
    let path = opened.path.clone();
    let wrong = |error: std::io::Error| Failure::io(&path, &error);
    (&mut opened.file).take(most.saturating_add(1)).read_to_end(&mut head).map_err(wrong)?;
    let left_out = if head.len() as u64 > most { LeftOut::SoMuch } else { LeftOut::Nothing };
    head.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(Parts { head, tail: Vec::new(), left_out })
}

/// Head and tail of a file that does not fit.
fn ends(opened: &Opened, size: u64, most: u64) -> Result<Parts, Failure> {
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
    Ok(Parts { head, tail, left_out: LeftOut::Bytes(size - most) })
}

/// The bytes as text without copying them where they are text; `None` if they are binary.
fn owned(bytes: Vec<u8>, lossy: &mut bool) -> Option<String> {
    let replaced = match text::content(&bytes) {
        Content::Binary => return None,
        Content::Text(std::borrow::Cow::Borrowed(_)) => None,
        Content::Text(std::borrow::Cow::Owned(text)) => Some(text),
    };
    match replaced {
        Some(text) => {
            *lossy = true;
            Some(text)
        }
        None => String::from_utf8(bytes).ok(),
    }
}
