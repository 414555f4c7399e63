//! `[[ … ]]`: a small grammar of its own.

use super::{Parser, Read};
use crate::syntax::{Kind, Part, Word};

const BINARY: [&str; 12] = ["=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot"];

impl<'a> Parser<'a> {
    /// Reads from `[[` to `]]`.
    pub(super) fn condition(&mut self) -> Read<Kind<'a>> {
        self.keyword("[[")?;
        let mut words = Vec::new();
        self.alternatives(&mut words)?;
        self.space()?;
        self.keyword("]]")?;
        Ok(Kind::Test(words))
    }

    fn space(&mut self) -> Read<()> {
        self.blanks();
        while self.peek() == b'\n' {
            if !self.pending.is_empty() {
                return self.refuse(self.at, "a newline in `[[` before a here-document's body");
            }
            self.at += 1;
            self.blanks();
        }
        Ok(())
    }

    fn alternatives(&mut self, words: &mut Vec<Word<'a>>) -> Read<()> {
        loop {
            self.term(words)?;
            self.space()?;
            if !self.starts(b"&&") && !self.starts(b"||") {
                return Ok(());
            }
            self.take(words, 2)?;
        }
    }

    /// Takes an operator as a word of its own.
    fn take(&mut self, words: &mut Vec<Word<'a>>, length: usize) -> Read<()> {
        let start = self.at;
        self.operator(length)?;
        words.push(Word {
            parts: vec![Part::Quoted(self.slice(start, start + length))],
            span: self.span(start),
            ..Word::default()
        });
        Ok(())
    }

    fn term(&mut self, words: &mut Vec<Word<'a>>) -> Read<()> {
        self.space()?;
        while self.bare() == "!" {
            self.take(words, 1)?;
            self.space()?;
        }
        if self.peek() == b'(' {
            return self.nested(|parser| {
                parser.take(words, 1)?;
                parser.alternatives(words)?;
                parser.space()?;
                if parser.peek() != b')' {
                    return Err(parser.unexpected());
                }
                parser.take(words, 1)
            });
        }
        let bare = self.bare();
        if bare == "]]" {
            return Err(self.unexpected());
        }
        let unary = bare.len() == 2
            && bare.starts_with('-')
            && bare.bytes().all(|b| b == b'-' || b.is_ascii_alphabetic());
        if unary && !"abcdefghknoprstuvwxzGLNORS".contains(bare.trim_start_matches('-')) {
            return self.refuse(self.at, "a test that is not modelled");
        }
        words.push(self.operand_word()?);
        self.space_in_line()?;
        if unary {
            if BINARY.contains(&self.bare()) || self.bare() == "-ef" || self.bare() == "]]" {
                return self.refuse(self.at, "a test that is not modelled");
            }
            words.push(self.operand_word()?);
            return Ok(());
        }
        match self.peek() {
            b'<' | b'>' if self.ahead(1) != b'(' => {
                self.take(words, 1)?;
                self.space_in_line()?;
                words.push(self.operand_word()?);
            }
            _ if BINARY.contains(&self.bare()) || self.bare() == "-ef" => {
                let operator = self.bare();
                self.take(words, operator.len())?;
                self.space_in_line()?;
                if operator == "=~" {
                    words.push(self.regex()?);
                } else {
                    words.push(self.operand_word()?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn space_in_line(&mut self) -> Read<()> {
        self.blanks();
        Ok(())
    }

    fn operand_word(&mut self) -> Read<Word<'a>> {
        if self.bare() == "]]" || self.peek() == b'#' {
            return Err(self.unexpected());
        }
        let word = self.word()?;
        if !matches!(self.peek(), b' ' | b'\t' | b'\n' | b')' | b'\\')
            && !self.starts(b"&&")
            && !self.starts(b"||")
        {
            return Err(self.unexpected());
        }
        Ok(word)
    }

    /// The right side of `=~`, where parentheses and bars belong to the word.
    fn regex(&mut self) -> Read<Word<'a>> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.peek() {
                b'(' => {
                    open += 1;
                    self.at += 1;
                    parts.push(Part::Quoted("("));
                }
                b')' if open > 0 => {
                    open -= 1;
                    self.at += 1;
                    parts.push(Part::Quoted(")"));
                }
                b'|' if open > 0 || self.ahead(1) != b'|' => {
                    self.at += 1;
                    parts.push(Part::Quoted("|"));
                }
                b' ' if open > 0 => {
                    self.at += 1;
                    parts.push(Part::Quoted(" "));
                }
                b' ' | b'\t' | b'\n' | b')' => break,
                b'#' | b'<' | b'>' | b';' | b'&' | 0 => return Err(self.unexpected()),
                _ => {
                    let word = self.value()?;
                    if word.parts.is_empty() {
                        return Err(self.unexpected());
                    }
                    parts.extend(word.parts);
                }
            }
        }
        if parts.is_empty() || open > 0 {
            return Err(self.unexpected());
        }
        Ok(Word { parts, span: self.span(start), ..Word::default() })
    }
}
