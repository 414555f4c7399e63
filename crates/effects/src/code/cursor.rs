//! A place in a text that moves only forward.

/// Reads a text character by character.
pub(crate) struct Cursor {
    text: Vec<char>,
    at: usize,
}

impl Cursor {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.chars().collect(), at: 0 }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    /// The character `distance` places on.
    pub(crate) fn ahead(&self, distance: usize) -> Option<char> {
        self.text.get(self.at.saturating_add(distance)).copied()
    }

    /// The character before this one.
    pub(crate) fn behind(&self) -> Option<char> {
        self.at.checked_sub(1).and_then(|at| self.text.get(at)).copied()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek();
        if next.is_some() {
            self.at += 1;
        }
        next
    }

    pub(crate) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.text.len());
    }

    pub(crate) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    /// Does the text go on with exactly this?
    pub(crate) fn at(&self, wanted: &str) -> bool {
        wanted.chars().enumerate().all(|(distance, c)| self.ahead(distance) == Some(c))
    }

    /// The first of these that the text goes on with.
    pub(crate) fn one_of(&self, wanted: &[&'static str]) -> Option<&'static str> {
        let first = self.peek().and_then(|c| u8::try_from(c).ok())?;
        wanted.iter().copied().find(|one| one.as_bytes().first() == Some(&first) && self.at(one))
    }

    pub(crate) fn eat_str(&mut self, wanted: &str) -> bool {
        let found = self.at(wanted);
        if found {
            self.skip(wanted.chars().count());
        }
        found
    }

    pub(crate) fn done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Everything up to the first character that does not fit.
    pub(crate) fn take_while(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek().filter(|c| fits(*c)) {
            taken.push(c);
            self.at += 1;
        }
        taken
    }

    /// An identifier of letters, digits and `_`, which is empty if none starts here.
    pub(crate) fn word(&mut self) -> String {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return String::new();
        }
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Skips a bracket expression of a regular expression, after its `[`. Nothing if it does not end on its line, or
    /// if a backslash leaves doubt where it does.
    pub(crate) fn bracket_expression(&mut self) -> Option<()> {
        self.eat('^');
        self.eat(']');
        loop {
            match self.bump()? {
                '\n' => return None,
                ']' => return Some(()),
                '\\' if self.peek() == Some(']') => return None,
                '[' if matches!(self.peek(), Some(':' | '.' | '=')) => {
                    let kind = self.bump()?;
                    loop {
                        let c = self.bump()?;
                        if c == '\n' {
                            return None;
                        }
                        if c == kind && self.eat(']') {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Skips to just after `end`. False if it never comes.
    pub(crate) fn skip_past(&mut self, end: &str) -> bool {
        while !self.done() {
            if self.eat_str(end) {
                return true;
            }
            self.at += 1;
        }
        false
    }
}
