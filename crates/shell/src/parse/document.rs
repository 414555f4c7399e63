//! Here-documents: their ends, and their bodies, which come after the line that names them.

use std::borrow::Cow;

use super::{Parser, Pending, Read};
use crate::syntax::{Document, Part, Word};

/// The text that ends a here-document, and whether any of it is quoted (so that the body is taken as it stands).
pub(super) fn delimiter<'a>(word: &Word<'a>) -> Option<(Cow<'a, str>, bool)> {
    match word.parts.as_slice() {
        [] => None,
        [Part::Literal(text)] if !text.contains('~') => Some((Cow::Borrowed(text), false)),
        [Part::Quoted(text)] => {
            (!text.is_empty() && !text.contains('\n')).then_some((Cow::Borrowed(*text), true))
        }
        parts => {
            let mut all = String::new();
            let mut quoted = false;
            for part in parts {
                match part {
                    Part::Literal(text) => all.push_str(text),
                    Part::Quoted(text) => {
                        all.push_str(text);
                        quoted = true;
                    }
                    Part::Double(inner) => {
                        quoted = true;
                        for part in inner {
                            let Part::Quoted(text) = part else { return None };
                            all.push_str(text);
                        }
                    }
                    _ => return None,
                }
            }
            (!all.is_empty() && !all.contains(['\n', '\\', '~'])).then_some((Cow::Owned(all), quoted))
        }
    }
}

impl<'a> Parser<'a> {
    /// Reads the bodies of all here-documents that are due, from the start of a line.
    pub(super) fn due_documents(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let document = self.nested(|parser| parser.document(&pending))?;
            if let Some(place) = self.documents.get_mut(pending.number) {
                *place = document;
            }
        }
        Ok(())
    }

    fn document(&mut self, pending: &Pending<'a>) -> Read<Document<'a>> {
        let start = self.at;
        let mut continued = false;
        let mut logical = String::new();
        loop {
            let line = self.at;
            if line >= self.bytes.len() {
                self.at = start;
                return Err(crate::Refusal {
                    reason: "a here-document without its end".into(),
                    span: pending.span,
                });
            }
            let mut end = line;
            while !matches!(self.bytes.get(end), None | Some(b'\n')) {
                end += 1;
            }
            let text = self.slice(line, end);
            let bare = if pending.tabs { text.trim_start_matches('\t') } else { text };
            let next = (end + 1).min(self.bytes.len());
            if continued {
                if bare == pending.delimiter {
                    return self.refuse(line, "a here-document's end after a continued line");
                }
                logical.push_str(bare);
                if logical == pending.delimiter {
                    return self.refuse(line, "a here-document's end over two lines");
                }
            } else if bare == pending.delimiter {
                self.at = next;
                let parts = self.document_parts(pending, start, line)?;
                self.at = next;
                return Ok(Document { parts });
            }
            let slashes = text.bytes().rev().take_while(|&byte| byte == b'\\').count();
            let goes_on = !pending.quoted && slashes % 2 == 1;
            if goes_on {
                if pending.tabs {
                    return self.refuse(line, "a continued line in a here-document with `<<-`");
                }
                if !continued {
                    logical.clear();
                    logical.push_str(bare);
                }
                logical.pop();
            }
            continued = goes_on;
            self.at = next;
        }
    }

    fn document_parts(&mut self, pending: &Pending<'a>, start: usize, end: usize) -> Read<Vec<Part<'a>>> {
        let mut parts = Vec::new();
        if pending.quoted {
            let text = self.slice(start, end);
            if !pending.tabs {
                if !text.is_empty() {
                    parts.push(Part::Quoted(text));
                }
                return Ok(parts);
            }
            for line in text.split_inclusive('\n') {
                self.node(1)?;
                parts.push(Part::Quoted(line.trim_start_matches('\t')));
            }
            return Ok(parts);
        }
        self.at = start;
        self.within(end, |parser| {
            let mut fresh = true;
            loop {
                if fresh && pending.tabs {
                    while parser.peek() == b'\t' {
                        parser.at += 1;
                    }
                }
                fresh = false;
                parser.node(1)?;
                let from = parser.at;
                match parser.peek() {
                    0 => return Ok(parts),
                    b'\\' => match parser.ahead(1) {
                        b'\n' => parser.at += 2,
                        b'$' | b'`' | b'\\' => {
                            parser.at += 2;
                            parts.push(Part::Quoted(parser.slice(from + 1, from + 2)));
                        }
                        _ => {
                            parser.at += 1;
                            parts.push(Part::Quoted("\\"));
                        }
                    },
                    b'$' | b'`' => {
                        let part = if parser.peek() == b'$' {
                            parser.dollar_in_document()?
                        } else {
                            parser.backticks()?
                        };
                        if pending.tabs && parser.slice(from, parser.at).contains("\n\t") {
                            return parser.refuse(
                                from,
                                "an expansion over several lines in a here-document with `<<-`",
                            );
                        }
                        parts.push(part);
                    }
                    _ => {
                        while !matches!(parser.peek(), 0 | b'\\' | b'$' | b'`') {
                            parser.at += 1;
                            if pending.tabs && parser.bytes.get(parser.at.wrapping_sub(1)) == Some(&b'\n') {
                                fresh = true;
                                break;
                            }
                        }
                        parts.push(Part::Quoted(parser.slice(from, parser.at)));
                    }
                }
            }
        })
    }

    fn dollar_in_document(&mut self) -> Read<Part<'a>> {
        let start = self.at;
        let part = self.dollar(true)?;
        // Quotes inside `${…}` are read differently in a here-document.
        if matches!(part, Part::Parameter(_)) && self.slice(start, self.at).contains(['"', '\'', '\\']) {
            return self.refuse(start, "quotes inside `${ }` in a here-document");
        }
        Ok(part)
    }
}
