//! Bytes that a program wrote, as text: what is not text is shown as what it is, and what is left out is said.

use std::fmt::Write;

use crate::kept::Cut;

/// Bytes that are looked at to tell whether something is text.
const LOOKED_AT: usize = 8 * 1024;
/// Bytes that are shown of something that is not.
const SHOWN: usize = 64;

/// What a stream held, to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The text.
    pub text: String,
    /// How many bytes the stream had.
    pub bytes: u64,
    /// How many of them are not in the text.
    pub omitted: u64,
    /// It is not text: only its beginning is shown, as numbers.
    pub binary: bool,
}

/// What kind of thing the bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Stream,
    /// A terminal's output may hold anything, and is never a file.
    Terminal,
}

pub(crate) fn text(cut: &Cut, bytes: u64, from: From) -> Text {
    if from == From::Stream && is_binary(&cut.head) {
        let first: Vec<u8> = cut.head.iter().take(SHOWN).copied().collect();
        let mut text = format!("[binary, {bytes} bytes:");
        for byte in &first {
            let _infallible = write!(text, " {byte:02x}");
        }
        let omitted = bytes.saturating_sub(first.len() as u64);
        text.push_str(if omitted > 0 { " …]" } else { "]" });
        return Text { text, bytes, omitted, binary: true };
    }
    let mut text = String::with_capacity(cut.head.len().saturating_add(cut.tail.len()));
    append(&mut text, &cut.head);
    if cut.omitted > 0 {
        leave_out(&mut text, cut.omitted);
        append(&mut text, &cut.tail);
    }
    Text { text, bytes, omitted: cut.omitted, binary: false }
}

/// Says that something is not there.
pub(crate) fn leave_out(text: &mut String, bytes: u64) {
    let start = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let _infallible = writeln!(text, "{start}[… {bytes} bytes left out …]");
}

/// Appends bytes; those that are no text as `\xNN`.
pub(crate) fn append(text: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _infallible = write!(text, "\\x{byte:02x}");
        }
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    let looked_at = bytes.get(..LOOKED_AT.min(bytes.len())).unwrap_or_default();
    let wrong: usize = looked_at.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    looked_at.contains(&0) || wrong.saturating_mul(10) > looked_at.len().saturating_mul(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Text {
        text(&Cut { head: bytes.to_vec(), omitted: 0, tail: Vec::new() }, bytes.len() as u64, From::Stream)
    }

    #[test]
    fn what_is_not_text_is_shown_as_what_it_is() {
        for (bytes, expected) in [
            (&b""[..], ""),
            (b"plain\n", "plain\n"),
            ("ünï 中\n".as_bytes(), "ünï 中\n"),
            (b"latin: gr\xfc\xdfe and more", "latin: gr\\xfc\\xdfe and more"),
            (b"an end that is cut: \xe4\xb8", "an end that is cut: \\xe4\\xb8"),
            (b"\x7fELF\x00\x01", "[binary, 6 bytes: 7f 45 4c 46 00 01]"),
            (b"\xff\xfe\xfd", "[binary, 3 bytes: ff fe fd]"),
        ] {
            assert_eq!(whole(bytes).text, expected, "{bytes:?}");
        }
        let long = whole(&[0; 1000]);
        assert!(long.binary && long.omitted == 936 && long.text.ends_with("00 …]"), "{long:?}");
    }

    #[test]
    fn what_is_left_out_is_said_between_beginning_and_end() {
        let cut = Cut { head: b"one".to_vec(), omitted: 7, tail: b"two".to_vec() };
        let shown = text(&cut, 13, From::Stream);
        assert_eq!(shown.text, "one\n[… 7 bytes left out …]\ntwo");
        assert_eq!((shown.bytes, shown.omitted), (13, 7));
    }

    #[test]
    fn a_terminal_may_write_anything() {
        let cut = Cut { head: b"\0\0\x1b[1mx\xff".to_vec(), omitted: 0, tail: Vec::new() };
        assert_eq!(text(&cut, 8, From::Terminal).text, "\0\0\x1b[1mx\\xff");
    }
}
