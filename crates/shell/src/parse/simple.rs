//! Simple commands: assignments, words and redirections in any order.

use super::{Parser, Read};
use crate::syntax::{Assign, Assigned, Command, Part, Simple, Word};
use crate::{MAX_REDIRECTS, MAX_WORDS};

/// The builtins whose arguments are read as assignments.
pub(crate) const DECLARES: [&str; 5] = ["export", "readonly", "declare", "typeset", "local"];

impl<'a> Parser<'a> {
    /// Reads a simple command, or the function definition that it turns out to be.
    pub(super) fn simple(&mut self) -> Read<Command<'a>> {
        let start = self.at;
        self.command_met()?;
        let mut simple = Simple::default();
        let mut declares = false;
        let mut end = self.at;
        loop {
            self.blanks();
            let here = self.at;
            match self.peek() {
                0 | b'\n' | b';' | b'|' | b')' => break,
                b'#' => {
                    self.comment()?;
                    break;
                }
                b'&' => {
                    if self.ahead(1) != b'>' {
                        break;
                    }
                    self.bash_only(here, "`&>`")?;
                    let redirect = self.redirect(None, None)?;
                    simple.redirects.push(redirect);
                }
                b'(' => {
                    if simple.words.len() == 1
                        && simple.assignments.is_empty()
                        && simple.redirects.is_empty()
                        && let Some([Part::Literal(name)]) =
                            simple.words.first().map(|word| word.parts.as_slice())
                    {
                        return self.function_after(start, name);
                    }
                    return Err(self.unexpected());
                }
                b'<' | b'>' if self.ahead(1) != b'(' => {
                    let redirect = self.redirect(None, None)?;
                    simple.redirects.push(redirect);
                }
                first => {
                    if (first.is_ascii_digit() || first == b'{') && self.prefixed_redirect(&mut simple)? {
                        end = self.at;
                        continue;
                    }
                    if simple.words.is_empty() {
                        if let Some(assign) = self.assignment(false)? {
                            simple.assignments.push(assign);
                            end = self.at;
                            continue;
                        }
                    } else if declares
                        && simple.redirects.is_empty()
                        && let Some(assign) = self.assignment(true)?
                    {
                        let span = assign.span;
                        simple.words.push(Word { span, array: Some(Box::new(assign)), ..Word::default() });
                        end = self.at;
                        continue;
                    }
                    let word = self.word()?;
                    if matches!(self.peek(), b'<' | b'>') && first.is_ascii_digit() {
                        let digits = self.slice(here, self.at).bytes().all(|byte| byte.is_ascii_digit());
                        if digits {
                            return self
                                .refuse(here, "a descriptor with a number that shells read differently");
                        }
                    }
                    if simple.words.is_empty() {
                        declares =
                            matches!(word.parts.as_slice(), [Part::Literal(name)] if DECLARES.contains(name));
                    }
                    simple.words.push(word);
                }
            }
            if simple.words.len() > MAX_WORDS {
                return self.refuse(here, "more words than are looked at");
            }
            if simple.redirects.len() > MAX_REDIRECTS {
                return self.refuse(here, "more redirections than are looked at");
            }
            end = self.at;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(self.unexpected());
        }
        simple.span = super::span(start, end);
        Ok(Command::Simple(simple))
    }

    /// `2>`, `{fd}>`
    fn prefixed_redirect(&mut self, simple: &mut Simple<'a>) -> Read<bool> {
        let here = self.at;
        let (length, descriptor, variable) = if self.peek() == b'{' {
            self.at += 1;
            let name = self.identifier();
            self.at = here;
            if name.is_empty() || self.ahead(name.len() + 1) != b'}' {
                return Ok(false);
            }
            (name.len() + 2, None, Some(name))
        } else {
            let mut length = 1;
            while self.ahead(length).is_ascii_digit() && length < 12 {
                length += 1;
            }
            (length, self.slice(here, here + length).parse::<u32>().ok(), None)
        };
        let operator = self.ahead(length);
        if !matches!(operator, b'<' | b'>') {
            // A continuation between the number and the operator would join them.
            if operator == b'\\' && self.ahead(length + 1) == b'\n' {
                return self.refuse(here, "a word continued on the next line");
            }
            return Ok(false);
        }
        if self.ahead(length + 1) == b'(' {
            return Ok(false);
        }
        self.at += length;
        if variable.is_some() {
            self.bash_only(here, "`{name}>`")?;
        } else if descriptor.is_none_or(|number| number > 255) || (length > 1 && !self.bash()) {
            return self.refuse(here, "a descriptor with a number that shells read differently");
        }
        let redirect = self.redirect(descriptor, variable)?;
        simple.redirects.push(redirect);
        Ok(true)
    }

    /// An assignment, if one stands here. As an argument of a declaration only `name=( … )` counts.
    fn assignment(&mut self, argument: bool) -> Read<Option<Assign<'a>>> {
        let start = self.at;
        let name = self.identifier();
        if name.is_empty() {
            return Ok(None);
        }
        self.at += name.len();
        if argument {
            let array = self.starts(b"=(") || self.starts(b"+=(");
            if !array {
                self.at = start;
                return Ok(None);
            }
        }
        let mut subscript = None;
        if self.peek() == b'[' {
            if !self.bash() {
                return self.refuse(start, "a subscript is read differently by bash and by a POSIX shell");
            }
            self.at += 1;
            let parts = self.nested(Self::subscript)?;
            if !matches!(self.peek(), b'=' | b'+') || (self.peek() == b'+' && self.ahead(1) != b'=') {
                return self.refuse(start, "a pattern in the place of a command's name");
            }
            subscript = Some(parts);
        }
        let appends = self.peek() == b'+' && self.ahead(1) == b'=';
        if !appends && self.peek() != b'=' {
            self.at = start;
            return Ok(None);
        }
        if appends {
            self.bash_only(start, "`+=`")?;
            self.at += 1;
        }
        self.at += 1;
        let value = if self.peek() == b'(' {
            self.bash_only(start, "an array")?;
            if subscript.is_some() {
                return self.refuse(start, "an array inside an array");
            }
            self.nested(Self::array)?
        } else {
            Assigned::Word(self.value()?)
        };
        Ok(Some(Assign { name, subscript, appends, value, span: self.span(start) }))
    }

    /// `( a b [2]=c )`
    fn array(&mut self) -> Read<Assigned<'a>> {
        self.at += 1;
        self.shape.control = true;
        let mut elements = Vec::new();
        loop {
            self.newlines()?;
            match self.peek() {
                b')' => {
                    self.at += 1;
                    if !self.at_delimiter() {
                        return Err(self.unexpected());
                    }
                    return Ok(Assigned::Array(elements));
                }
                b'[' => {
                    let start = self.at;
                    self.at += 1;
                    let subscript = self.nested(Self::subscript)?;
                    if self.peek() != b'=' {
                        return self.refuse(start, "an array element that starts with a bracket");
                    }
                    self.at += 1;
                    elements.push((Some(subscript), self.value()?));
                }
                0 | b';' | b'&' | b'|' | b'(' => return Err(self.unexpected()),
                b'<' | b'>' if self.ahead(1) != b'(' => return Err(self.unexpected()),
                _ => elements.push((None, self.word()?)),
            }
        }
    }

    /// What stands between `[` and `]`, which is read too.
    pub(super) fn subscript(&mut self) -> Read<Vec<Part<'a>>> {
        let start = self.at;
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                b']' => {
                    if parts.is_empty() {
                        return self.refuse(start, "an empty subscript");
                    }
                    self.at += 1;
                    return Ok(parts);
                }
                b'$' => parts.push(self.dollar(true)?),
                b'"' => parts.push(self.double()?),
                byte if byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'@' | b'*' | b'-' | b'+' | b'.' | b':' | b'/') =>
                {
                    let from = self.at;
                    self.at += 1;
                    parts.push(Part::Quoted(self.slice(from, self.at)));
                }
                _ => return self.refuse(start, "a subscript that is not modelled"),
            }
        }
    }

    pub(super) fn at_delimiter(&self) -> bool {
        matches!(self.peek(), 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
    }
}
