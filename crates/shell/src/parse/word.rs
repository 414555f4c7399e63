//! Words: literals, quotes, and the expansions in them.

use super::{Parser, Read};
use crate::syntax::{List, Part, Substitution, Word};

/// What ends a run of plain characters in an unquoted word.
const ENDS_LITERAL: [bool; 256] = {
    let mut table = [false; 256];
    let ends = b"\0 \t\n;&|<>()'\"\\`$";
    let mut index = 0;
    while index < ends.len() {
        #[expect(clippy::indexing_slicing, reason = "computed at compile time over constant bounds")]
        {
            table[ends[index] as usize] = true;
        }
        index += 1;
    }
    table
};

fn ends_literal(byte: u8) -> bool {
    ENDS_LITERAL.get(usize::from(byte)).copied().unwrap_or(true)
}

impl<'a> Parser<'a> {
    /// Reads a word, which must not be empty.
    pub(super) fn word(&mut self) -> Read<Word<'a>> {
        // Where a word starts, `#` starts a comment.
        if self.peek() == b'#' {
            return Err(self.unexpected());
        }
        let word = self.value()?;
        if word.parts.is_empty() {
            return Err(self.unexpected());
        }
        Ok(word)
    }

    /// Reads a word, perhaps an empty one: what stands after `NAME=`.
    pub(super) fn value(&mut self) -> Read<Word<'a>> {
        let start = self.at;
        let mut word = Word::default();
        loop {
            let from = self.at;
            self.node(1)?;
            match self.peek() {
                b'\'' => word.parts.push(self.single()?),
                b'"' => word.parts.push(self.double()?),
                b'`' => word.parts.push(self.backticks()?),
                b'$' => word.parts.push(self.dollar(false)?),
                b'\\' => match self.ahead(1) {
                    b'\n' => {
                        // The next line continues this word, unless it starts with a blank.
                        if !matches!(self.ahead(2), b' ' | b'\t' | b'\n') {
                            return self.refuse(from, "a word continued on the next line");
                        }
                        break;
                    }
                    0 => return self.refuse(from, "a backslash at the end"),
                    _ => {
                        self.at += 1;
                        self.character();
                        self.visible(from)?;
                        word.parts.push(Part::Quoted(self.slice(from + 1, self.at)));
                    }
                },
                b'<' | b'>' if self.ahead(1) == b'(' => word.parts.push(self.process()?),
                byte if ends_literal(byte) => break,
                _ => {
                    while let Some(&byte) = self.bytes.get(self.at) {
                        match byte {
                            b'{' => word.braces = true,
                            b'*' | b'?' | b'[' | b'~' => self.shape.expansions = true,
                            _ if ends_literal(byte) => break,
                            _ => {}
                        }
                        self.at += 1;
                    }
                    self.visible(from)?;
                    word.parts.push(Part::Literal(self.slice(from, self.at)));
                }
            }
        }
        self.shape.expansions |= word.braces && word.parts.len() + (self.at - start) > 2;
        word.span = self.span(start);
        Ok(word)
    }

    /// Moves past one character.
    pub(super) fn character(&mut self) {
        self.at += 1;
        while self.bytes.get(self.at).is_some_and(|byte| byte & 0xc0 == 0x80) {
            self.at += 1;
        }
    }

    fn single(&mut self) -> Read<Part<'a>> {
        let start = self.at;
        self.at += 1;
        let from = self.at;
        while self.peek() != b'\'' {
            if self.at >= self.bytes.len() {
                return self.refuse(start, "a quote without its end");
            }
            self.at += 1;
        }
        let inner = self.slice(from, self.at);
        self.at += 1;
        self.quoted_newline(start)?;
        Ok(Part::Quoted(inner))
    }

    /// Between a here-document's operator and its body, a newline in quotes would be read differently.
    fn quoted_newline(&self, start: usize) -> Read<()> {
        if !self.pending.is_empty() && self.slice(start, self.at).contains('\n') {
            return self.refuse(start, "a quoted newline before a here-document's body");
        }
        Ok(())
    }

    pub(super) fn double(&mut self) -> Read<Part<'a>> {
        self.nested(|parser| {
            let start = parser.at;
            parser.at += 1;
            let mut parts = Vec::new();
            loop {
                let from = parser.at;
                parser.node(1)?;
                match parser.peek() {
                    b'"' => {
                        parser.at += 1;
                        parser.quoted_newline(start)?;
                        return Ok(Part::Double(parts));
                    }
                    b'$' => parts.push(parser.dollar(true)?),
                    b'`' => parts.push(parser.backticks()?),
                    b'\\' => match parser.ahead(1) {
                        b'\n' => parser.at += 2,
                        b'$' | b'`' | b'"' | b'\\' => {
                            parser.at += 2;
                            parts.push(Part::Quoted(parser.slice(from + 1, from + 2)));
                        }
                        _ => {
                            parser.at += 1;
                            parts.push(Part::Quoted("\\"));
                        }
                    },
                    0 => return parser.refuse(start, "a quote without its end"),
                    _ => {
                        while !matches!(parser.peek(), b'"' | b'$' | b'`' | b'\\' | 0) {
                            parser.at += 1;
                        }
                        parts.push(Part::Quoted(parser.slice(from, parser.at)));
                    }
                }
            }
        })
    }

    /// Reads what starts with `$`. Inside double quotes, `$'` and `$"` mean nothing.
    pub(super) fn dollar(&mut self, quoted: bool) -> Read<Part<'a>> {
        let start = self.at;
        match self.ahead(1) {
            b'(' => {
                self.shape.expansions = true;
                if self.ahead(2) == b'(' {
                    self.at += 3;
                    let arithmetic = self.nested(|parser| parser.arithmetic(start))?;
                    return Ok(Part::Arithmetic(Box::new(arithmetic)));
                }
                self.at += 2;
                let body = self.substituted()?;
                Ok(Part::Command(Box::new(Substitution { body, span: self.span(start) })))
            }
            b'{' => {
                self.shape.expansions = true;
                self.at += 2;
                self.nested(|parser| parser.parameter(start, quoted))
            }
            b'\'' if !quoted => {
                self.bash_only(start, "`$'…'`")?;
                self.at += 2;
                self.ansi(start)
            }
            b'"' if !quoted => {
                self.bash_only(start, "`$\"…\"`")?;
                self.at += 1;
                self.double()
            }
            b'[' => self.refuse(start, "`$[` is old arithmetic"),
            b'\\' if self.ahead(2) == b'\n' => self.refuse(start, "an expansion continued on the next line"),
            b'?' | b'$' | b'!' | b'#' | b'@' | b'*' | b'-' | b'0'..=b'9' => {
                self.shape.expansions = true;
                self.at += 2;
                Ok(Part::Variable(self.slice(start + 1, start + 2)))
            }
            byte if byte == b'_' || byte.is_ascii_alphabetic() => {
                self.shape.expansions = true;
                self.at += 1;
                let name = self.identifier();
                self.at += name.len();
                if self.peek() == b'\\'
                    && self.ahead(1) == b'\n'
                    && !matches!(self.ahead(2), b' ' | b'\t' | b'\n')
                {
                    return self.refuse(start, "an expansion continued on the next line");
                }
                Ok(Part::Variable(name))
            }
            _ => {
                self.at += 1;
                Ok(if quoted { Part::Quoted("$") } else { Part::Literal("$") })
            }
        }
    }

    fn ansi(&mut self, start: usize) -> Read<Part<'a>> {
        let from = self.at;
        loop {
            match self.peek() {
                b'\'' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
            if self.at >= self.bytes.len() {
                self.at = self.bytes.len();
                return self.refuse(start, "a quote without its end");
            }
        }
        let inner = self.slice(from, self.at);
        self.at += 1;
        self.quoted_newline(start)?;
        if crate::fold::ansi(inner).is_none() {
            return self.refuse(start, "an escape in `$'…'` that is not text");
        }
        Ok(Part::Ansi(inner))
    }

    /// The commands up to the closing parenthesis, which is read too.
    fn substituted(&mut self) -> Read<List<'a>> {
        self.shape.subshells = true;
        let start = self.at;
        let outer = std::mem::take(&mut self.pending);
        let body = self.list()?;
        if self.peek() != b')' {
            return Err(self.unexpected());
        }
        self.no_pending()?;
        self.at += 1;
        if !outer.is_empty() && self.slice(start, self.at).contains('\n') {
            return self.refuse(start, "a newline in a substitution before a here-document's body");
        }
        self.pending = outer;
        Ok(body)
    }

    pub(super) fn backticks(&mut self) -> Read<Part<'a>> {
        self.shape.subshells = true;
        self.shape.expansions = true;
        let start = self.at;
        self.at += 1;
        let mut end = self.at;
        loop {
            match self.bytes.get(end) {
                Some(b'`') => break,
                Some(b'\\') => {
                    if matches!(self.bytes.get(end + 1), Some(b'$' | b'`' | b'\\' | b'"' | b'\n')) {
                        return self.refuse(start, "an escape inside backticks");
                    }
                    end += 1;
                }
                Some(_) => end += 1,
                None => return self.refuse(start, "a backtick without its partner"),
            }
        }
        let outer = std::mem::take(&mut self.pending);
        if !outer.is_empty() && self.slice(start, end).contains('\n') {
            return self.refuse(start, "a newline in a substitution before a here-document's body");
        }
        let body = self.within(end, |parser| {
            let body = parser.list()?;
            parser.no_pending()?;
            Ok(body)
        })?;
        self.pending = outer;
        self.at = end + 1;
        Ok(Part::Command(Box::new(Substitution { body, span: self.span(start) })))
    }

    fn process(&mut self) -> Read<Part<'a>> {
        let start = self.at;
        self.bash_only(start, "process substitution")?;
        self.shape.expansions = true;
        let reads = self.peek() == b'<';
        self.at += 2;
        let body = self.substituted()?;
        if body.entries.is_empty() {
            return self.refuse(start, "an empty process substitution");
        }
        Ok(Part::Process(Box::new(Substitution { body, span: self.span(start) }), reads))
    }
}
