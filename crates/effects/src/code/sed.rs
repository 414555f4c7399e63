//! sed scripts, as GNU sed takes them.

use super::cursor::Cursor;
use super::{Finding, Reading};

/// Reads a script. Several `-e` are joined by line ends.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let mut script = Script { cursor: Cursor::new(text), reading, open: 0 };
    while !script.cursor.done() {
        if script.command().is_none() {
            script.reading.incomplete();
            return;
        }
    }
    if script.open != 0 {
        script.reading.incomplete();
    }
}

struct Script<'a> {
    cursor: Cursor,
    reading: &'a mut Reading,
    open: usize,
}

impl Script<'_> {
    /// One command with its addresses, or what stands between two. `None` if it is not understood.
    fn command(&mut self) -> Option<()> {
        self.cursor.take_while(|c| c.is_ascii_whitespace() || c == ';');
        if self.cursor.done() {
            return Some(());
        }
        if self.address()? && self.blank().eat(',') {
            self.blank();
            if self.cursor.eat('+') || self.cursor.eat('~') {
                self.number()?;
            } else if !self.address()? {
                return None;
            }
        }
        self.blank();
        while self.cursor.eat('!') {
            self.blank();
        }
        match self.cursor.bump()? {
            '{' => {
                self.open += 1;
                return Some(());
            }
            '}' => self.open = self.open.checked_sub(1)?,
            '#' => {
                self.line();
                return Some(());
            }
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            'l' | 'L' | 'q' | 'Q' => {
                self.blank();
                self.cursor.take_while(|c| c.is_ascii_digit());
            }
            'a' | 'i' | 'c' => {
                self.text();
                return Some(());
            }
            ':' | 'b' | 't' | 'T' => {
                self.blank();
                self.cursor.take_while(|c| !c.is_whitespace() && c != ';' && c != '}');
            }
            'r' | 'R' => {
                let file = self.file()?;
                self.reading.found(Finding::Read(file));
                return Some(());
            }
            'w' | 'W' => {
                let file = self.file()?;
                self.reading.found(Finding::Write(file));
                return Some(());
            }
            'e' => {
                let command = self.line().trim().to_owned();
                if command.is_empty() {
                    self.reading.runs_unknown();
                } else {
                    self.reading.found(Finding::RunShell(command));
                }
                return Some(());
            }
            's' => {
                self.parts()?;
                if self.flags()? {
                    return Some(());
                }
            }
            'y' => self.parts()?,
            _ => return None,
        }
        self.end()
    }

    fn blank(&mut self) -> &mut Cursor {
        self.cursor.take_while(|c| c == ' ' || c == '\t');
        &mut self.cursor
    }

    fn number(&mut self) -> Option<()> {
        let digits = self.cursor.take_while(|c| c.is_ascii_digit());
        (!digits.is_empty()).then_some(())
    }

    /// Is there an address here?
    fn address(&mut self) -> Option<bool> {
        match self.cursor.peek()? {
            c if c.is_ascii_digit() => {
                self.number()?;
                if self.blank().eat('~') {
                    self.number()?;
                }
            }
            '$' => self.cursor.skip(1),
            '/' => {
                self.cursor.skip(1);
                self.pattern('/')?;
                self.cursor.take_while(|c| c == 'I' || c == 'M');
            }
            '\\' => {
                self.cursor.skip(1);
                let mark = self.cursor.bump().filter(|c| *c != '\n' && *c != '\\')?;
                self.pattern(mark)?;
                self.cursor.take_while(|c| c == 'I' || c == 'M');
            }
            _ => return Some(false),
        }
        self.blank();
        Some(true)
    }

    /// Up to `mark`. In a bracket expression it stands for itself; a sed that does not think so finds that
    /// expression unfinished and runs nothing.
    fn pattern(&mut self, mark: char) -> Option<()> {
        loop {
            match self.cursor.bump()? {
                '\\' => {
                    self.cursor.bump()?;
                }
                '\n' => return None,
                c if c == mark => return Some(()),
                // Such a mark could be part of the expression.
                '[' if "]:.=^".contains(mark) => return None,
                '[' => self.cursor.bracket_expression()?,
                _ => {}
            }
        }
    }

    /// `/one/two/` of `s` and `y`.
    fn parts(&mut self) -> Option<()> {
        let mark = self.cursor.bump().filter(|c| *c != '\n' && *c != '\\')?;
        self.pattern(mark)?;
        loop {
            match self.cursor.bump()? {
                '\\' => {
                    self.cursor.bump()?;
                }
                '\n' => return None,
                c if c == mark => return Some(()),
                _ => {}
            }
        }
    }

    /// The flags of `s`. True if they took the rest of the line.
    fn flags(&mut self) -> Option<bool> {
        loop {
            match self.cursor.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => self.cursor.skip(1),
                Some('e') => {
                    self.cursor.skip(1);
                    self.reading.runs_unknown();
                }
                Some('w') => {
                    self.cursor.skip(1);
                    let file = self.file()?;
                    self.reading.found(Finding::Write(file));
                    return Some(true);
                }
                _ => return Some(false),
            }
        }
    }

    fn line(&mut self) -> String {
        self.cursor.take_while(|c| c != '\n')
    }

    /// A file's name is the rest of the line, whatever is in it.
    fn file(&mut self) -> Option<String> {
        self.blank();
        let name = self.line();
        (!name.is_empty()).then_some(name)
    }

    /// The text of `a`, `i` and `c`: lines, as long as they end with a backslash.
    fn text(&mut self) {
        self.blank();
        while let Some(c) = self.cursor.bump() {
            match c {
                '\\' => {
                    self.cursor.bump();
                }
                '\n' => return,
                _ => {}
            }
        }
    }

    fn end(&mut self) -> Option<()> {
        self.blank();
        match self.cursor.peek() {
            None | Some(';' | '\n' | '}' | '#') => Some(()),
            Some(_) => None,
        }
    }
}
