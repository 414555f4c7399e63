//! From text to syntax tree: a closed grammar, read by hand, that refuses what it does not model.
//!
//! One cursor walks the text once. Where bash has two readings of a text, or would need to go back, the text is
//! refused rather than guessed at. Nesting is counted, so recursion is bounded by [`MAX_DEPTH`].

mod arithmetic;
mod compound;
mod condition;
mod document;
mod list;
mod parameter;
mod redirect;
mod screen;
mod simple;
mod word;

use crate::syntax::{Document, Script};
use crate::{Dialect, MAX_COMMANDS, MAX_DEPTH, Refusal, Shape, Span};

pub(crate) type Read<T> = Result<T, Refusal>;

/// Reads a text into its syntax tree, and says which constructs it uses.
pub(crate) fn script(text: &str, dialect: Dialect) -> Read<(Script<'_>, Shape)> {
    screen::check(text)?;
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: 0,
        depth: 0,
        dialect,
        ascii: text.is_ascii(),
        pending: Vec::new(),
        documents: Vec::new(),
        functions: 0,
        nodes: 0,
        commands: 0,
        shape: Shape::default(),
    };
    let body = parser.list()?;
    if parser.at < parser.bytes.len() {
        return Err(parser.unexpected());
    }
    parser.no_pending()?;
    if body.entries.len() > 1 || body.entries.iter().any(|entry| entry.background || !entry.rest.is_empty()) {
        parser.shape.chains = true;
    }
    Ok((Script { body, documents: parser.documents, functions: parser.functions }, parser.shape))
}

/// How large a tree may become: a command counts four, a part of a word one.
const MAX_NODES: usize = 16_384;

/// A here-document whose body has not come yet.
struct Pending<'a> {
    number: usize,
    delimiter: std::borrow::Cow<'a, str>,
    quoted: bool,
    tabs: bool,
    span: Span,
}

struct Parser<'a> {
    text: &'a str,
    /// Up to where the present level may read: the whole text, or the inside of backticks or a here-document.
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    dialect: Dialect,
    ascii: bool,
    pending: Vec<Pending<'a>>,
    documents: Vec<Document<'a>>,
    functions: usize,
    /// How much tree has been made.
    nodes: usize,
    /// How many simple commands have been met.
    commands: usize,
    shape: Shape,
}

impl<'a> Parser<'a> {
    /// The byte under the cursor; 0 at the end (a NUL never gets here).
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn ahead(&self, distance: usize) -> u8 {
        self.bytes.get(self.at.saturating_add(distance)).copied().unwrap_or(0)
    }

    fn starts(&self, what: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(what))
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn span(&self, start: usize) -> Span {
        span(start, self.at)
    }

    fn bash(&self) -> bool {
        self.dialect == Dialect::Bash
    }

    fn refuse<T>(&self, start: usize, reason: impl Into<String>) -> Read<T> {
        Err(Refusal { reason: reason.into(), span: span(start, self.at.max(start)) })
    }

    /// In POSIX text, refuses what only bash has.
    fn bash_only(&self, start: usize, what: &str) -> Read<()> {
        if self.bash() {
            return Ok(());
        }
        self.refuse(start, format!("{what} is read differently by bash and by a POSIX shell"))
    }

    fn unexpected(&self) -> Refusal {
        let rest = self.text.get(self.at..self.bytes.len()).unwrap_or_default();
        let end = self.at + rest.chars().next().map_or(0, char::len_utf8);
        let reason = match rest.chars().next() {
            Some('\n') => "unexpected end of line".to_owned(),
            Some(met) => format!("unexpected `{met}`"),
            None => "the text ends before its construct does".to_owned(),
        };
        Refusal { reason, span: span(self.at, end) }
    }

    /// Counts what is made, so that a short text cannot become a huge tree.
    fn node(&mut self, weight: usize) -> Read<()> {
        self.nodes += weight;
        if self.nodes > MAX_NODES {
            return self.refuse(self.at, "a text with too many parts");
        }
        Ok(())
    }

    /// Counts simple commands: beyond the bound nothing more is read.
    fn command_met(&mut self) -> Read<()> {
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            return self.refuse(self.at, "more commands than are looked at");
        }
        Ok(())
    }

    /// Runs a nested reading, one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.refuse(self.at, format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Reads with the end of the text moved to `end`, which must be reached exactly.
    fn within<T>(&mut self, end: usize, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let whole = self.bytes;
        self.bytes = whole.get(..end).unwrap_or(whole);
        let result = inner(self);
        let reached = self.at == end;
        let result = match result {
            Ok(_) if !reached => Err(self.unexpected()),
            other => other,
        };
        self.bytes = whole;
        result
    }

    /// Skips blanks and line continuations.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.ahead(1) == b'\n' => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips a comment, if one starts here. The newline after it stays.
    fn comment(&mut self) -> Read<()> {
        if self.peek() == b'#' {
            let start = self.at;
            while !matches!(self.peek(), b'\n' | 0) {
                self.at += 1;
            }
            self.visible(start)?;
        }
        Ok(())
    }

    /// Skips blanks, comments and newlines; here-documents that are due are read.
    fn newlines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            self.comment()?;
            if self.peek() != b'\n' {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Reads one newline and the here-documents that stand after it.
    fn newline(&mut self) -> Read<()> {
        self.at += 1;
        if self.pending.is_empty() { Ok(()) } else { self.due_documents() }
    }

    fn no_pending(&self) -> Read<()> {
        match self.pending.first() {
            None => Ok(()),
            Some(pending) => {
                Err(Refusal { reason: "a here-document without its end".into(), span: pending.span })
            }
        }
    }

    /// Moves past an operator, and refuses a line continuation that could hide a longer one.
    fn operator(&mut self, length: usize) -> Read<()> {
        let start = self.at;
        self.at += length;
        let mut look = 0;
        while self.ahead(look) == b'\\' && self.ahead(look + 1) == b'\n' {
            look += 2;
        }
        if look > 0 && matches!(self.ahead(look), b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')' | b'-') {
            return self.refuse(start, "an operator continued on the next line");
        }
        Ok(())
    }

    /// Refuses invisible and direction-changing characters since `start`: they make text look like another.
    fn visible(&self, start: usize) -> Read<()> {
        if self.ascii {
            return Ok(());
        }
        match self.slice(start, self.at).chars().find(|&met| screen::deceives(met)) {
            Some(met) => {
                self.refuse(start, format!("an invisible character U+{:04X} outside quotes", u32::from(met)))
            }
            None => Ok(()),
        }
    }

    /// The unquoted word under the cursor, if it ends at a delimiter: what reserved words are compared with.
    fn bare(&self) -> &'a str {
        let mut end = self.at;
        while let Some(&byte) = self.bytes.get(end) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' if self.bytes.get(end + 1) == Some(&b'\n') => {
                    // The next line would continue the word.
                    match self.bytes.get(end + 2) {
                        Some(b' ' | b'\t' | b'\n') => break,
                        _ => return "",
                    }
                }
                b'\'' | b'"' | b'\\' | b'`' | b'$' => return "",
                _ => end += 1,
            }
            if end - self.at > 64 {
                return "";
            }
        }
        self.slice(self.at, end)
    }

    /// Moves past a reserved word.
    fn keyword(&mut self, word: &str) -> Read<()> {
        let start = self.at;
        if self.bare() != word {
            let mut refusal = self.unexpected();
            refusal.reason = format!("expected `{word}`: {}", refusal.reason);
            return Err(refusal);
        }
        self.at += word.len();
        if self.peek() == b'\\' && !matches!(self.ahead(2), b' ' | b'\t' | b'\n') {
            return self.refuse(start, "a reserved word continued on the next line");
        }
        Ok(())
    }

    /// The identifier under the cursor, perhaps empty.
    fn identifier(&self) -> &'a str {
        let mut end = self.at;
        while let Some(&byte) = self.bytes.get(end) {
            if !(byte == b'_' || byte.is_ascii_alphabetic() || (end > self.at && byte.is_ascii_digit())) {
                break;
            }
            end += 1;
        }
        self.slice(self.at, end)
    }
}

fn span(start: usize, end: usize) -> Span {
    Span { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
}

pub(crate) use compound::SPECIAL;
pub(crate) use simple::DECLARES;
