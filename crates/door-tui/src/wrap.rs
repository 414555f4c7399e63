//! Lines into rows of a width, as the cells of a terminal count it.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    /// At spaces where that is possible: prose.
    Words,
    /// Wherever a row is full: output and commands, of which every column matters.
    Columns,
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(width).sum() }
}

/// The rows of one line. There is always one, and together they hold every character but spaces at a break between words.
pub(crate) fn rows(line: &str, room: usize, how: Break) -> Vec<&str> {
    let room = room.max(2);
    if line.is_ascii() && line.len() <= room {
        return vec![line];
    }
    match how {
        Break::Columns => by_columns(line, room),
        Break::Words => by_words(line, room),
    }
}

/// How many rows a line takes.
pub(crate) fn count(line: &str, room: usize, how: Break) -> usize {
    let room = room.max(2);
    match how {
        _ if line.is_ascii() && line.len() <= room => 1,
        Break::Columns if line.is_ascii() => line.len().div_ceil(room),
        Break::Columns => counted(line, room).unwrap_or_else(|| by_columns(line, room).len()),
        Break::Words => rows(line, room, how).len(),
    }
}

/// As much of a text as fits.
pub(crate) fn fitting(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, piece) in text.grapheme_indices(true) {
        used += width(piece);
        if used > room {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// A text in one row: where it is too long, its middle is left out, never its end.
pub(crate) fn squeezed(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    if room < 5 {
        return fitting(text, room).to_owned();
    }
    let half = (room - 1) / 2;
    let head = fitting(text, half);
    let mut tail = "";
    let mut used = 0;
    for (at, piece) in text.grapheme_indices(true).rev() {
        used += width(piece);
        if used > half {
            break;
        }
        tail = text.get(at..).unwrap_or_default();
    }
    format!("{head}…{tail}")
}

/// What one cell group takes. What is wider than two cells is drawn as such by no terminal.
fn width(piece: &str) -> usize {
    piece.width().min(2)
}

/// How wide a character is that stands for itself whatever is beside it, so that nobody needs to look for what belongs together.
const fn alone(character: char) -> Option<usize> {
    match character {
        ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{2500}'..='\u{259f}' => Some(1),
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' => Some(2),
        _ => None,
    }
}

/// How many rows a line of such characters takes.
fn counted(line: &str, room: usize) -> Option<usize> {
    let (mut rows, mut used) = (1, 0);
    for character in line.chars() {
        let wide = alone(character)?;
        if used + wide > room {
            rows += 1;
            used = 0;
        }
        used += wide;
    }
    Some(rows)
}

fn by_columns(line: &str, room: usize) -> Vec<&str> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, piece) in line.grapheme_indices(true) {
        let wide = width(piece);
        if used + wide > room {
            rows.push(line.get(start..at).unwrap_or_default());
            (start, used) = (at, 0);
        }
        used += wide;
    }
    rows.push(line.get(start..).unwrap_or_default());
    rows
}

fn by_words(line: &str, room: usize) -> Vec<&str> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    let mut at = 0;
    for word in line.split_inclusive(' ') {
        let bare = columns(word.trim_end_matches(' '));
        if used > 0 && used + bare > room {
            rows.push(line.get(start..at).unwrap_or_default().trim_end_matches(' '));
            (start, used) = (at, 0);
        }
        if bare > room {
            // A word that fits in no row is broken where the row is full; its last part shares a row with what follows.
            let parts = by_columns(word, room);
            let last = parts.last().map_or(0, |part| part.len());
            rows.extend(parts.iter().take(parts.len().saturating_sub(1)));
            start = at + word.len() - last;
            used = columns(parts.last().copied().unwrap_or_default());
        } else {
            used += columns(word);
        }
        at += word.len();
    }
    rows.push(line.get(start..).unwrap_or_default());
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_break_at_words_or_at_columns() {
        let table: &[(&str, usize, Break, &[&str])] = &[
            ("one two three", 8, Break::Words, &["one two", "three"]),
            ("one two three", 8, Break::Columns, &["one two ", "three"]),
            ("abcdefghijkl mn", 5, Break::Words, &["abcde", "fghij", "kl mn"]),
            ("文件文件", 5, Break::Columns, &["文件", "文件"]),
            ("", 5, Break::Words, &[""]),
            ("e\u{301}te\u{301}", 3, Break::Columns, &["e\u{301}te\u{301}"]),
        ];
        for (line, room, how, expected) in table {
            assert_eq!(rows(line, *room, *how), *expected, "{line}");
        }
    }

    #[test]
    fn a_squeezed_text_keeps_its_end() {
        assert_eq!(squeezed("cargo test --workspace", 11), "cargo…space");
        assert_eq!(squeezed("short", 11), "short");
    }

    #[test]
    fn characters_that_stand_alone_are_as_wide_as_cells_count_them() {
        for character in ('\u{20}'..='\u{ffff}').filter(|character| alone(*character).is_some()) {
            let text = format!("e{character}e");
            assert_eq!(text.graphemes(true).count(), 3, "{:x}", u32::from(character));
            assert_eq!(alone(character), Some(character.to_string().width()), "{:x}", u32::from(character));
        }
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_character_is_lost(line in "[a-z 文é😀\u{301}]{0,60}", room in 2_usize..20) {
            for how in [Break::Words, Break::Columns] {
                let rows = rows(&line, room, how);
                prop_assert_eq!(rows.len(), count(&line, room, how));
                for row in &rows {
                    prop_assert!(columns(row.trim_end_matches(' ')) <= room, "{:?}", rows);
                }
                let kept = |text: &str| text.replace(' ', "");
                prop_assert_eq!(kept(&rows.concat()), kept(&line));
            }
            if let Some(rows) = counted(&line, room) {
                prop_assert_eq!(rows, by_columns(&line, room).len());
            }
            prop_assert!(columns(&squeezed(&line, room)) <= room);
        }
    }
}
