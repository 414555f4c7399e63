//! Text that grows: what a model says, what a program writes.
//!
//! Lines are made visible when they end. Rows are counted when they are first needed for a width and never again; only those on
//! the screen are laid out.

use gate::call::visible;

use crate::wrap::{self, Break};

/// A longer line goes on as another: what is laid out at once is bounded.
const LONGEST_LINE: usize = 4096;
/// The most lines that are kept; then the oldest go.
const MOST_LINES: usize = 20_000;
/// How many go at once.
const SHED: usize = 2_000;

/// A text of lines.
#[derive(Debug)]
pub(crate) struct Body {
    how: Break,
    lines: Vec<String>,
    /// What came after the last line end, as it came.
    open: String,
    shed: usize,
    room: usize,
    /// How many rows there are up to and with each line, for `room`.
    ends: Vec<usize>,
}

impl Body {
    pub(crate) fn new(how: Break) -> Body {
        Body { how, lines: Vec::new(), open: String::new(), shed: 0, room: 0, ends: Vec::new() }
    }

    /// With a text that is whole.
    pub(crate) fn of(how: Break, text: &str) -> Body {
        let mut body = Body::new(how);
        body.push(text);
        body
    }

    /// More text.
    pub(crate) fn push(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            let (piece, ended) = match part.strip_suffix('\n') {
                Some(piece) => (piece, true),
                None => (part, false),
            };
            for character in piece.chars() {
                if self.open.len() >= LONGEST_LINE {
                    self.end_line();
                }
                self.open.push(character);
            }
            if ended {
                self.end_line();
            }
        }
        if self.lines.len() > MOST_LINES {
            let gone = self.lines.len() - MOST_LINES + SHED;
            self.lines.drain(..gone);
            self.shed += gone;
            self.ends.clear();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.open.is_empty()
    }

    /// How many lines came, kept or not.
    pub(crate) fn line_count(&self) -> usize {
        self.shed + self.lines.len() + usize::from(!self.open.is_empty())
    }

    /// How many of them are no longer kept.
    pub(crate) const fn shed(&self) -> usize {
        self.shed
    }

    /// How many rows of this width it takes.
    pub(crate) fn rows(&mut self, room: usize) -> usize {
        self.count(room);
        let open = if self.open.is_empty() { 0 } else { wrap::count(&shown(&self.open), room, self.how) };
        self.ends.last().copied().unwrap_or(0) + open
    }

    /// Rows of the width that was counted last.
    pub(crate) fn slice(&self, first: usize, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut line = self.ends.partition_point(|end| *end <= first);
        let before = line.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or(0);
        let mut skip = first.saturating_sub(before);
        while found.len() < most {
            let open;
            let text = match self.lines.get(line) {
                Some(text) => text.as_str(),
                None if line == self.lines.len() && !self.open.is_empty() => {
                    open = shown(&self.open);
                    open.as_str()
                }
                None => break,
            };
            let rows = wrap::rows(text, self.room, self.how);
            let wanted = most - found.len();
            found.extend(rows.into_iter().skip(skip).take(wanted).map(str::to_owned));
            skip = 0;
            line += 1;
        }
        found
    }

    fn end_line(&mut self) {
        let line = shown(&self.open);
        self.open.clear();
        self.lines.push(line);
    }

    fn count(&mut self, room: usize) {
        if self.room != room {
            self.room = room;
            self.ends.clear();
        }
        let mut last = self.ends.last().copied().unwrap_or(0);
        for line in self.lines.iter().skip(self.ends.len()) {
            last += wrap::count(line, room, self.how);
            self.ends.push(last);
        }
    }
}

/// A line as it may be shown: nothing in it acts on the terminal.
fn shown(line: &str) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains('\t') { visible(&line.replace('\t', "    ")) } else { visible(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_comes_in_pieces_is_the_text() {
        let mut body = Body::new(Break::Columns);
        for piece in ["a\tb\r", "\nlong li", "ne\u{1b}[1m", "\n\nlast"] {
            body.push(piece);
        }
        assert_eq!(body.rows(100), 4);
        assert_eq!(body.slice(0, 9), ["a    b", "long line<U+001B>[1m", "", "last"]);
        assert_eq!(body.rows(5), 2 + 4 + 1 + 1);
        assert_eq!(body.slice(4, 3), ["U+001", "B>[1m", ""]);
    }

    #[test]
    fn what_never_ends_is_bounded() {
        let mut body = Body::new(Break::Columns);
        for _ in 0..300 {
            body.push(&"x".repeat(1000));
        }
        assert!(body.open.len() <= LONGEST_LINE);
        body.push(&"y\n".repeat(30_000));
        assert!(body.lines.len() <= MOST_LINES);
        assert!(body.shed() > 0);
        assert_eq!(body.line_count(), 300_000 / LONGEST_LINE + 30_000);
    }
}
