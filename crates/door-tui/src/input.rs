//! The line where one writes to the agent: several lines if wanted, with a history.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use crate::wrap;

/// The longest text.
const LONGEST: usize = 64 * 1024;
/// How many texts are remembered.
const REMEMBERED: usize = 200;

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The text may have changed.
    Used,
    /// It is to be sent.
    Send,
    /// It means nothing here.
    Unused,
}

/// A text being written.
#[derive(Debug, Default)]
pub(crate) struct Input {
    text: String,
    /// In bytes, between two characters.
    cursor: usize,
    history: Vec<String>,
    /// Which of the history is looked at, and what was being written before.
    looking: Option<(usize, String)>,
}

impl Input {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.set(String::new());
        self.looking = None;
    }

    /// What was written, which is remembered.
    pub(crate) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.looking = None;
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.history.push(text.clone());
            if self.history.len() > REMEMBERED {
                self.history.remove(0);
            }
        }
        text
    }

    /// Puts text in at the cursor. Line ends of any kind are line ends; other control characters are left out.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        let text: String =
            text.chars().filter(|character| *character == '\n' || !character.is_control()).collect();
        if self.text.len() + text.len() <= LONGEST {
            self.text.insert_str(self.cursor, &text);
            self.cursor += text.len();
        }
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Typed {
        let (control, alt) =
            (key.modifiers.contains(KeyModifiers::CONTROL), key.modifiers.contains(KeyModifiers::ALT));
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Enter if alt || shift => self.insert("\n"),
            KeyCode::Enter => return Typed::Send,
            KeyCode::Char('j') if control => self.insert("\n"),
            KeyCode::Char('a') if control => self.cursor = self.line_start(),
            KeyCode::Char('e') if control => self.cursor = self.line_end(),
            KeyCode::Char('u') if control => self.cut(self.line_start(), self.cursor),
            KeyCode::Char('k') if control => self.cut(self.cursor, self.line_end()),
            KeyCode::Char('w') if control => self.cut(self.word_start(), self.cursor),
            KeyCode::Char(character) if !control && !alt => self.insert(character.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.cut(self.before(), self.cursor),
            KeyCode::Delete => self.cut(self.cursor, self.after()),
            KeyCode::Left if control || alt => self.cursor = self.word_start(),
            KeyCode::Left => self.cursor = self.before(),
            KeyCode::Right => self.cursor = self.after(),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            KeyCode::Up if self.line_start() > 0 => {
                self.cursor = self.line_start().saturating_sub(1);
            }
            KeyCode::Down if self.line_end() < self.text.len() => self.cursor = self.line_end() + 1,
            KeyCode::Up => self.older(),
            KeyCode::Down => self.newer(),
            _ => return Typed::Unused,
        }
        Typed::Used
    }

    /// The rows of this width, at most so many around the cursor, and where the cursor is in them.
    pub(crate) fn rows(&self, width: usize, most: usize) -> (Vec<String>, (usize, usize)) {
        let room = width.max(2);
        let mut rows = vec![String::new()];
        let (mut used, mut at) = (0, (0, 0));
        for (offset, piece) in self.text.grapheme_indices(true) {
            if offset == self.cursor {
                at = (rows.len() - 1, used);
            }
            if piece == "\n" {
                rows.push(String::new());
                used = 0;
                continue;
            }
            // What deceives is spelt out here too: a paste is somebody else's text.
            let spelt;
            let shown = if piece.is_ascii() {
                piece
            } else {
                spelt = gate::call::visible(piece);
                &spelt
            };
            for part in wrap::rows(shown, room, wrap::Break::Columns) {
                let wide = wrap::columns(part);
                if used + wide > room {
                    rows.push(String::new());
                    used = 0;
                }
                if let Some(row) = rows.last_mut() {
                    row.push_str(part);
                }
                used += wide;
            }
        }
        if self.cursor >= self.text.len() {
            at = (rows.len() - 1, used);
        }
        if at.1 >= room {
            at.0 += 1;
            at.1 = 0;
            if at.0 >= rows.len() {
                rows.push(String::new());
            }
        }
        let first = (at.0 + 1).saturating_sub(most.max(1));
        let rows: Vec<String> = rows.into_iter().skip(first).take(most).collect();
        (rows, (at.0 - first, at.1))
    }

    fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    fn older(&mut self) {
        let at = match &self.looking {
            Some((at, _)) => at.checked_sub(1),
            None => self.history.len().checked_sub(1),
        };
        let Some((at, text)) = at.and_then(|at| Some((at, self.history.get(at)?.clone()))) else { return };
        let draft = match self.looking.take() {
            Some((_, draft)) => draft,
            None => std::mem::take(&mut self.text),
        };
        self.looking = Some((at, draft));
        self.set(text);
    }

    fn newer(&mut self) {
        let Some((at, draft)) = self.looking.take() else { return };
        match self.history.get(at + 1).cloned() {
            Some(text) => {
                self.looking = Some((at + 1, draft));
                self.set(text);
            }
            None => self.set(draft),
        }
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from < to && self.text.is_char_boundary(from) && self.text.is_char_boundary(to) {
            self.text.replace_range(from..to, "");
            self.cursor = from;
        }
    }

    fn head(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn tail(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    fn line_start(&self) -> usize {
        self.head().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.tail().find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn before(&self) -> usize {
        self.head().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.tail().graphemes(true).next().map_or(self.cursor, |piece| self.cursor + piece.len())
    }

    fn word_start(&self) -> usize {
        let head = self.head().trim_end();
        head.rfind(char::is_whitespace).map_or(0, |at| {
            at + head.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(input: &mut Input, code: KeyCode) {
        input.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    #[test]
    fn text_is_written_and_mended() {
        let mut input = Input::default();
        input.insert("größe\r\n文件 x\u{1b}");
        assert_eq!(input.text(), "größe\n文件 x");
        for _ in 0..3 {
            press(&mut input, KeyCode::Backspace);
        }
        press(&mut input, KeyCode::Up);
        press(&mut input, KeyCode::Char('!'));
        assert_eq!(input.text(), "größe!\n文");
        press(&mut input, KeyCode::Home);
        input.key(KeyEvent::new(KeyCode::Char('k'), KeyModifiers::CONTROL));
        assert_eq!(input.text(), "\n文");
        assert_eq!(input.rows(10, 5), (vec![String::new(), "文".into()], (0, 0)));
    }

    #[test]
    fn what_was_sent_comes_back_and_so_does_the_draft() {
        let mut input = Input::default();
        for text in ["one", "two"] {
            input.insert(text);
            assert_eq!(input.take(), text);
        }
        input.insert("draft");
        let seen: Vec<String> = [KeyCode::Up, KeyCode::Up, KeyCode::Up, KeyCode::Down, KeyCode::Down]
            .into_iter()
            .map(|code| {
                press(&mut input, code);
                input.text().to_owned()
            })
            .collect();
        assert_eq!(seen, ["two", "one", "one", "two", "draft"]);
    }

    #[test]
    fn the_cursor_stays_in_sight() {
        let mut input = Input::default();
        input.insert("0123456789");
        assert_eq!(input.rows(5, 1), (vec![String::new()], (0, 0)));
        assert_eq!(input.rows(4, 2), (vec!["4567".into(), "89".into()], (1, 2)));
    }
}
