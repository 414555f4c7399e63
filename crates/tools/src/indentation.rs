//! The block of lines around a line, by indentation alone, so that it serves every language.
//!
//! From the anchor upwards, each line that is indented less than all between it and the anchor opens a block around it. The
//! block that is `max_levels` up is the answer, from the line that opens it to the line that closes it.

use std::ops::Range;

use call::Indentation;

/// Columns of a tab.
const TAB: usize = 4;
/// What a line starts with that only closes a block.
const CLOSERS: [&[u8]; 8] = [b"}", b")", b"]", b"end", b"fi", b"done", b"esac", b"</"];
/// What a line above a block starts with that belongs to it: comments, attributes, decorators.
const HEADERS: [&[u8]; 10] = [b"#", b"//", b"/*", b"*", b"--", b"@", b"\"\"\"", b"'''", b";", b"%"];

/// The lines of the block around a line. The index is one of the lines'.
pub(crate) fn block(lines: &[&[u8]], anchor: usize, how: &Indentation) -> Range<usize> {
    let indent = |at: usize| lines.get(at).and_then(|line| indentation(line));
    // An empty line belongs to what is above it.
    let own = (0..=anchor).rev().find_map(indent).unwrap_or(0);
    let mut floor = own;
    let mut levels = 0;
    for at in (0..anchor).rev() {
        if floor == 0 || (how.max_levels > 0 && levels >= how.max_levels) {
            break;
        }
        if let Some(found) = indent(at).filter(|found| *found < floor) {
            floor = found;
            levels += 1;
        }
    }
    let starts = |at: usize, words: &[&[u8]]| {
        let line = lines.get(at).map(|line| line.trim_ascii_start()).unwrap_or_default();
        words.iter().any(|word| line.starts_with(word))
    };
    // Upwards to the line that opens the block. An anchor that is itself at the floor opens its own.
    let mut start = anchor;
    let mut is_open = indent(anchor) == Some(floor) && !starts(anchor, &CLOSERS);
    for at in (0..anchor).rev() {
        match indent(at) {
            None => continue,
            Some(found) if found < floor => break,
            Some(found) if found == floor && !how.include_siblings => {
                if is_open {
                    break;
                }
                is_open = !starts(at, &CLOSERS);
                start = at;
            }
            Some(_) => start = at,
        }
    }
    // Downwards to the line that closes it.
    let mut end = anchor;
    for at in anchor + 1..lines.len() {
        match indent(at) {
            None => continue,
            Some(found) if found < floor => break,
            Some(found) if found == floor && !how.include_siblings => {
                if starts(at, &CLOSERS) {
                    end = at;
                }
                break;
            }
            Some(_) => end = at,
        }
    }
    if how.include_header {
        while let Some(above) = start.checked_sub(1) {
            if indent(above) != Some(floor) || !starts(above, &HEADERS) {
                break;
            }
            start = above;
        }
    }
    start..end + 1
}

/// The part of a block that is nearest to a line, of at most so many lines.
pub(crate) fn around(block: &Range<usize>, anchor: usize, most: usize) -> Range<usize> {
    if block.len() <= most {
        return block.clone();
    }
    let before = (most / 2).min(anchor - block.start);
    let start = (anchor - before).min(block.end - most);
    start..start + most
}

/// How far a line is indented; `None` if it is empty.
fn indentation(line: &[u8]) -> Option<usize> {
    let mut columns = 0;
    for byte in line {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += TAB,
            b'\r' | b'\n' => {}
            _ => return Some(columns),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
use std;

/// A type.
#[derive(Debug)]
struct One {
    field: u8,
}

impl One {
    /// Does.
    fn first(&self) {
        if self.field > 0 {
            let x = 1;

            call(x);
        }
    }

    fn second(&self) {
        other();
    }
}

fn last() {}
";

    fn chosen(anchor: usize, max_levels: u64, siblings: bool, header: bool) -> (usize, usize) {
        let lines: Vec<&[u8]> = CODE.lines().map(str::as_bytes).collect();
        let how = Indentation {
            anchor_line: None,
            max_levels,
            include_siblings: siblings,
            include_header: header,
            max_lines: None,
        };
        let range = block(&lines, anchor - 1, &how);
        (range.start + 1, range.end)
    }

    #[test]
    fn a_block_reaches_from_the_line_that_opens_it_to_the_line_that_closes_it() {
        for (anchor, levels, siblings, header, expected) in [
            (13, 1, false, false, (12, 16)),
            (13, 2, false, false, (11, 17)),
            (13, 2, false, true, (10, 17)),
            (13, 3, false, false, (9, 22)),
            (13, 4, false, false, (9, 22)),
            (13, 0, false, false, (9, 22)),
            (13, 1, true, false, (12, 16)),
            (13, 2, true, false, (10, 21)),
            (14, 1, false, false, (12, 16)),
            (6, 1, false, true, (3, 7)),
            (5, 1, false, false, (5, 7)),
            (7, 1, false, false, (5, 7)),
            (24, 4, false, false, (24, 24)),
            (1, 4, false, false, (1, 1)),
            (2, 1, false, false, (1, 2)),
        ] {
            let got = chosen(anchor, levels, siblings, header);
            assert_eq!(
                got, expected,
                "anchor {anchor}, {levels} levels, siblings {siblings}, header {header}"
            );
        }
    }

    #[test]
    fn of_a_long_block_the_lines_nearest_to_the_anchor_are_kept() {
        for (block, anchor, most, expected) in [
            (0..10, 5, 20, 0..10),
            (0..10, 5, 4, 3..7),
            (0..10, 0, 4, 0..4),
            (0..10, 9, 4, 6..10),
            (3..10, 3, 1, 3..4),
        ] {
            assert_eq!(around(&block, anchor, most), expected);
        }
    }
}
