//! Redirections.

use super::document::delimiter;
use super::{Parser, Pending, Read};
use crate::syntax::{Operator, Redirect, Target};

impl<'a> Parser<'a> {
    /// Reads a redirection whose operator is under the cursor.
    pub(super) fn redirect(
        &mut self,
        descriptor: Option<u32>,
        variable: Option<&'a str>,
    ) -> Read<Redirect<'a>> {
        let start = self.at;
        let (operator, length) = match (self.peek(), self.ahead(1), self.ahead(2)) {
            (b'<', b'<', b'<') => (Operator::String, 3),
            (b'<', b'<', _) => (Operator::Document, 2),
            (b'<', b'&', _) => (Operator::DuplicateIn, 2),
            (b'<', b'>', _) => (Operator::ReadWrite, 2),
            (b'<', _, _) => (Operator::Read, 1),
            (b'>', b'>', _) => (Operator::Append, 2),
            (b'>', b'&', _) => (Operator::DuplicateOut, 2),
            (b'>', b'|', _) => (Operator::Clobber, 2),
            (b'>', _, _) => (Operator::Write, 1),
            (b'&', b'>', b'>') => (Operator::BothAppend, 3),
            (b'&', b'>', _) => (Operator::Both, 2),
            _ => return Err(self.unexpected()),
        };
        self.operator(length)?;
        if operator == Operator::String {
            self.bash_only(start, "`<<<`")?;
        }
        let target = if operator == Operator::Document {
            let tabs = self.peek() == b'-';
            self.at += usize::from(tabs);
            self.blanks();
            let from = self.at;
            let word = self.word()?;
            let Some((delimiter, quoted)) = delimiter(&word) else {
                return self.refuse(from, "a here-document with an end that is not constant");
            };
            let number = self.documents.len();
            self.documents.push(crate::syntax::Document::default());
            self.pending.push(Pending { number, delimiter, quoted, tabs, span: self.span(start) });
            Target::Document(number)
        } else {
            self.blanks();
            let from = self.at;
            let word = self.word()?;
            let text = self.slice(from, self.at);
            let prefixes = text.bytes().all(|byte| byte.is_ascii_digit())
                || text.starts_with('{') && text.ends_with('}');
            if prefixes && matches!(self.peek(), b'<' | b'>') {
                return self.refuse(from, "a redirection's target that belongs to the next one");
            }
            if !matches!(operator, Operator::DuplicateIn | Operator::DuplicateOut) {
                self.shape.redirects = true;
            }
            Target::Word(word)
        };
        if operator == Operator::Document {
            self.shape.redirects = true;
        }
        Ok(Redirect { operator, descriptor, variable, target, span: self.span(start) })
    }

    /// Reads the redirections after a compound command.
    pub(super) fn trailing_redirects(&mut self) -> Read<Vec<Redirect<'a>>> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            let mut digits = 0;
            while self.ahead(digits).is_ascii_digit() && digits < 4 {
                digits += 1;
            }
            let start = self.at;
            match self.ahead(digits) {
                b'&' if digits == 0 && self.ahead(1) == b'>' => self.bash_only(start, "`&>`")?,
                b'<' | b'>' if self.ahead(digits + 1) != b'(' => {}
                _ => return Ok(redirects),
            }
            let descriptor = match digits {
                0 => None,
                _ => self.slice(start, start + digits).parse::<u32>().ok().filter(|&number| number < 256),
            };
            if digits > 0 && (descriptor.is_none() || (digits > 1 && !self.bash())) {
                return self.refuse(start, "a descriptor with a number that shells read differently");
            }
            self.at += digits;
            redirects.push(self.redirect(descriptor, None)?);
        }
    }
}
