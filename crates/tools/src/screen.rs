//! What a terminal shows after all that a program wrote to it.

use std::num::NonZeroU16;

use crate::job::Size;

/// A terminal's screen, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// Its lines, without the blanks at their ends.
    pub text: String,
    /// Its size.
    pub size: Size,
    /// Where the cursor is: line and column, from 0.
    pub cursor: (u16, u16),
    /// A program has the whole screen to itself, as an editor does.
    pub full: bool,
}

/// Follows what is written.
pub(crate) struct Emulator {
    parser: vt100::Parser,
    /// A part of the screen may scroll by itself.
    parted: bool,
    sequence: Sequence,
}

/// How far a sequence has come that could part the screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sequence {
    None,
    Escape,
    Bracket,
    Parameters,
}

impl Emulator {
    pub(crate) fn new(size: Size) -> Emulator {
        let (rows, columns) = numbers(size);
        let parser = vt100::Parser::new(rows, columns, 0);
        Emulator { parser, parted: false, sequence: Sequence::None }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let passed = if self.parted { None } else { passed_by(bytes, usize::from(self.size().rows)) };
        match passed {
            Some((first, last)) => {
                self.follow(first);
                self.parser.process(first);
                // It may have been the end of a sequence that parts the screen.
                let rest = if self.parted { bytes.get(first.len()..).unwrap_or_default() } else { last };
                self.parser.process(rest);
            }
            None => {
                self.follow(bytes);
                self.parser.process(bytes);
            }
        }
    }

    /// Notes whether the screen is parted: `ESC [ … r`, until `ESC [ r` or `ESC c`.
    fn follow(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        loop {
            if self.sequence == Sequence::None {
                let Some(start) = rest.iter().position(|byte| *byte == 0x1b) else { return };
                rest = rest.get(start..).unwrap_or_default();
            }
            let Some((byte, after)) = rest.split_first() else { return };
            rest = after;
            self.sequence = match (self.sequence, byte) {
                (_, 0x1b) => Sequence::Escape,
                (Sequence::Escape, b'[') => Sequence::Bracket,
                (Sequence::Bracket | Sequence::Parameters, 0x20..=0x3f) => Sequence::Parameters,
                // Controls inside a sequence do not end it.
                (Sequence::Bracket | Sequence::Parameters, 0..0x20) => self.sequence,
                (Sequence::Escape, b'c') | (Sequence::Bracket, b'r') => {
                    self.parted = false;
                    Sequence::None
                }
                (Sequence::Parameters, b'r') => {
                    self.parted = true;
                    Sequence::None
                }
                _ => Sequence::None,
            };
        }
    }

    pub(crate) fn resize(&mut self, size: Size) {
        let (rows, columns) = numbers(size);
        self.parser.screen_mut().set_size(rows, columns);
    }

    pub(crate) fn size(&self) -> Size {
        let (rows, columns) = self.parser.screen().size();
        Size { rows: rows.get(), columns: columns.get() }
    }

    pub(crate) fn screen(&self) -> Screen {
        let screen = self.parser.screen();
        let size = self.size();
        let lines: Vec<String> =
            screen.rows(0, size.columns).map(|line| line.trim_end().to_owned()).collect();
        Screen {
            text: lines.join("\n").trim_end().to_owned(),
            size,
            cursor: screen.cursor_position(),
            full: screen.alternate_screen(),
        }
    }
}

/// Of many lines of mere text, only so many at the end are left on a screen: the first line, which ends whatever was begun
/// before, and those.
fn passed_by(bytes: &[u8], rows: usize) -> Option<(&[u8], &[u8])> {
    let plain = |byte: &u8| !byte.is_ascii_control() || matches!(byte, b'\r' | b'\n' | b'\t');
    let start = bytes.iter().position(|byte| *byte == b'\n')?.saturating_add(1);
    let mut ends = bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    // The first of them may be written over something, the others come to an empty line at the bottom.
    let end = ends.nth(rows.saturating_mul(2).saturating_add(2))?.saturating_add(1);
    let (first, last) = (bytes.get(..start)?, bytes.get(end..)?);
    // Every line begins at the left, so that what came before does not move it.
    let returned = |text: &[u8]| {
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        let pairs = text.windows(2).filter(|pair| *pair == b"\r\n").count();
        lines == pairs
    };
    (end > start && bytes.iter().all(plain) && returned(bytes)).then_some((first, last))
}

fn numbers(size: Size) -> (NonZeroU16, NonZeroU16) {
    let size = size.bounded();
    let number = |number: u16| NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN);
    (number(size.rows), number(size.columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_screen_is_what_is_left_of_all_that_was_written() {
        let small = Size { rows: 3, columns: 10 };
        for (written, text, cursor, full) in [
            (&b""[..], "", (0, 0), false),
            (b"one\r\ntwo", "one\ntwo", (1, 3), false),
            (b"1\r\n2\r\n3\r\n4", "2\n3\n4", (2, 1), false),
            (b"wrong\x1b[2J\x1b[Hright", "right", (0, 5), false),
            (b"\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x", (0, 5), false),
            (b"\x1b[?1049h\x1b[2;3Hedit", "\n  edit", (1, 6), true),
            ("中é\r\n".as_bytes(), "中é", (1, 0), false),
        ] {
            let mut emulator = Emulator::new(small);
            // In pieces, as they may come.
            written.chunks(2).for_each(|piece| emulator.write(piece));
            let screen = emulator.screen();
            assert_eq!(
                (screen.text.as_str(), screen.cursor, screen.full),
                (text, cursor, full),
                "{written:?}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn lines_that_scroll_away_can_be_passed_by(
            before in prop_oneof![
                "[a-z\r\n]{0,20}",
                "\x1b\\[[0-9;]{0,3}",
                "\x1b\\[[1-3];[4-6]r(\x1b\\[[1-5];1H)?",
                "\x1b\\][0-9];ti",
                "(much text\r\n){0,7}\x1b\\[H",
                "\x1b\\[\\?1049h\x1b\\[3;3H",
            ],
            lines in proptest::collection::vec("[a-z中é ]{0,30}\t?", 0..40),
            (rows, columns) in (1u16..7, 2u16..12),
        ) {
            let size = Size { rows, columns };
            let flood: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
            let mut quick = Emulator::new(size);
            let mut thorough = Emulator::new(size);
            for text in [before.as_str(), &flood, "end"] {
                quick.write(text.as_bytes());
                thorough.parser.process(text.as_bytes());
            }
            prop_assert_eq!(quick.screen(), thorough.screen());
        }

        /// In a release a panic here would end everybody's sessions: what programs write is not trusted.
        #[test]
        fn nothing_that_is_written_breaks_it(
            pieces in proptest::collection::vec(
                prop_oneof![
                    proptest::collection::vec(any::<u8>(), 0..20),
                    "\x1b\\[[?>]?[0-9]{0,6}(;[0-9]{0,6}){0,3}[@-~]".prop_map(String::into_bytes),
                    "[a中é\u{301}\u{200d}👨\n\r\t\x08\x0b]{0,30}".prop_map(String::into_bytes),
                    "\x1b[\\]P78MDEHc=>(]".prop_map(String::into_bytes),
                ],
                0..40,
            ),
            sizes in proptest::collection::vec((0u16..30, 0u16..30), 1..4),
        ) {
            let mut emulator = Emulator::new(Size { rows: sizes[0].0, columns: sizes[0].1 });
            for (number, piece) in pieces.iter().enumerate() {
                emulator.write(piece);
                if number % 9 == 8 {
                    let (rows, columns) = sizes[number / 9 % sizes.len()];
                    emulator.resize(Size { rows, columns });
                }
            }
            let screen = emulator.screen();
            prop_assert!(screen.text.lines().count() <= usize::from(screen.size.rows));
        }
    }
}
