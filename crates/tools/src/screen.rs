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
pub(crate) struct Emulator(vt100::Parser);

impl Emulator {
    pub(crate) fn new(size: Size) -> Emulator {
        let (rows, columns) = numbers(size);
        Emulator(vt100::Parser::new(rows, columns, 0))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    pub(crate) fn resize(&mut self, size: Size) {
        let (rows, columns) = numbers(size);
        self.0.screen_mut().set_size(rows, columns);
    }

    pub(crate) fn size(&self) -> Size {
        let (rows, columns) = self.0.screen().size();
        Size { rows: rows.get(), columns: columns.get() }
    }

    pub(crate) fn screen(&self) -> Screen {
        let screen = self.0.screen();
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
