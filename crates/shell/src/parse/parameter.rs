//! `${…}` in all its forms.

use super::{Parser, Read};
use crate::syntax::{Form, Parameter, Part};

/// How an operand of `${…}` is used, which decides how quotes and backslashes in it are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Text,
    Pattern,
    Replacement,
    Number,
}

impl<'a> Parser<'a> {
    /// Reads from behind `${` to the closing brace.
    pub(super) fn parameter(&mut self, start: usize, quoted: bool) -> Read<Part<'a>> {
        let mut indirect = false;
        let mut length = false;
        match (self.peek(), self.ahead(1)) {
            (b'#', b'}') | (b'!', b'}') => {}
            (b'#', next) if is_name(next) => {
                length = true;
                self.at += 1;
            }
            (b'#', b'@' | b'*') if self.ahead(2) == b'}' => {
                length = true;
                self.at += 1;
            }
            (b'!', next) if is_name(next) => {
                self.bash_only(start, "`${!…}`")?;
                indirect = true;
                self.at += 1;
            }
            (b'#' | b'!', _) => return self.refuse(start, "a parameter form that is not modelled"),
            _ => {}
        }
        let from = self.at;
        match self.peek() {
            b'0'..=b'9' => {
                while self.peek().is_ascii_digit() {
                    self.at += 1;
                }
            }
            b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' => self.at += 1,
            _ => self.at += self.identifier().len(),
        }
        let name = self.slice(from, self.at);
        if name.is_empty() {
            return self.refuse(start, "a parameter form that is not modelled");
        }
        let mut subscript = None;
        if self.peek() == b'[' {
            self.bash_only(start, "an array")?;
            self.at += 1;
            subscript = Some(self.subscript()?);
        }
        let form = if length {
            Form::Length
        } else if indirect && matches!((self.peek(), self.ahead(1)), (b'*' | b'@', b'}')) {
            self.at += 1;
            Form::Other("${!prefix*}")
        } else {
            self.form(start, quoted)?
        };
        if self.peek() != b'}' {
            return self.refuse(start, "a parameter form that is not modelled");
        }
        self.at += 1;
        Ok(Part::Parameter(Box::new(Parameter { name, indirect, subscript, form })))
    }

    fn form(&mut self, start: usize, quoted: bool) -> Read<Form<'a>> {
        let operator = self.peek();
        match operator {
            b'}' => Ok(Form::Plain),
            b':' if matches!(self.ahead(1), b'-' | b'=' | b'+' | b'?') => {
                let operator = self.ahead(1);
                self.at += 2;
                Ok(Form::Default { operator, colon: true, word: self.operand(quoted, Operand::Text)? })
            }
            b'-' | b'=' | b'+' | b'?' => {
                self.at += 1;
                Ok(Form::Default { operator, colon: false, word: self.operand(quoted, Operand::Text)? })
            }
            b'#' | b'%' => {
                let longest = self.ahead(1) == operator;
                self.at += 1 + usize::from(longest);
                Ok(Form::Strip {
                    suffix: operator == b'%',
                    longest,
                    pattern: self.operand(quoted, Operand::Pattern)?,
                })
            }
            b'/' => {
                self.bash_only(start, "`${x/…}`")?;
                self.at += 1;
                let mode = match self.peek() {
                    b'/' => b'*',
                    b'#' => b'#',
                    b'%' => b'%',
                    _ => b'/',
                };
                self.at += usize::from(mode != b'/');
                let pattern = self.operand_until(quoted, Operand::Pattern, b'/')?;
                let with = if self.peek() == b'/' {
                    self.at += 1;
                    self.operand(quoted, Operand::Replacement)?
                } else {
                    Vec::new()
                };
                Ok(Form::Replace { mode, pattern, with })
            }
            b':' => {
                self.bash_only(start, "`${x:…}`")?;
                self.at += 1;
                let offset = self.operand_until(quoted, Operand::Number, b':')?;
                let length = if self.peek() == b':' {
                    self.at += 1;
                    Some(self.operand(quoted, Operand::Number)?)
                } else {
                    None
                };
                Ok(Form::Slice { offset, length })
            }
            b'^' | b',' => {
                self.bash_only(start, "`${x^}`")?;
                let all = self.ahead(1) == operator;
                self.at += 1 + usize::from(all);
                Ok(Form::Case {
                    upper: operator == b'^',
                    all,
                    pattern: self.operand(quoted, Operand::Pattern)?,
                })
            }
            b'@' if matches!(self.ahead(1), b'Q' | b'U' | b'u' | b'L' | b'E' | b'A' | b'a' | b'K' | b'k') => {
                self.bash_only(start, "`${x@…}`")?;
                self.at += 2;
                Ok(Form::Other("${x@…}"))
            }
            _ => self.refuse(start, "a parameter form that is not modelled"),
        }
    }

    fn operand(&mut self, quoted: bool, operand: Operand) -> Read<Vec<Part<'a>>> {
        self.operand_until(quoted, operand, b'}')
    }

    /// Reads an operand up to the closing brace or to `end`, neither of which is read.
    fn operand_until(&mut self, quoted: bool, operand: Operand, end: u8) -> Read<Vec<Part<'a>>> {
        let start = self.at;
        let mut parts = Vec::new();
        loop {
            let from = self.at;
            let byte = self.peek();
            self.node(1)?;
            match byte {
                b'}' => return Ok(parts),
                _ if byte == end && (from > start || end != b'/') => return Ok(parts),
                b'$' => {
                    let part = self.dollar(quoted)?;
                    parts.push(part);
                }
                b'`' => parts.push(self.backticks()?),
                b'"' if operand != Operand::Number => {
                    if quoted && (!self.bash() || operand == Operand::Replacement) {
                        return self.refuse(start, "quotes inside `${ }` inside quotes");
                    }
                    parts.push(self.double()?);
                }
                b'\'' if !quoted && operand != Operand::Number => {
                    self.at += 1;
                    let inside = self.at;
                    while self.peek() != b'\'' {
                        if self.at >= self.bytes.len() {
                            return self.refuse(from, "a quote without its end");
                        }
                        self.at += 1;
                    }
                    parts.push(Part::Quoted(self.slice(inside, self.at)));
                    self.at += 1;
                }
                b'\\' => {
                    let next = self.ahead(1);
                    let plain = match operand {
                        Operand::Text if quoted => matches!(next, b'$' | b'`' | b'"'),
                        Operand::Text => next != b'\n' && next != 0,
                        Operand::Pattern => next.is_ascii_punctuation() && next != b'\\',
                        Operand::Replacement | Operand::Number => false,
                    };
                    if !plain {
                        return self.refuse(from, "a backslash inside `${ }`");
                    }
                    self.at += 1;
                    self.character();
                    parts.push(Part::Quoted(self.slice(from + 1, self.at)));
                }
                b'[' if operand == Operand::Number => {
                    return self.refuse(start, "arithmetic with a subscript, which the shell would evaluate");
                }
                0 => return self.refuse(start, "a parameter form without its end"),
                b'\n' | b'{' | b'\'' | b'"' | b'<' | b'>' | b'(' | b')' | b'&' | b';' | b'|' => {
                    // Some of these are harmless in most forms; none of them is needed in them.
                    let harmless = match byte {
                        b'(' | b')' => operand == Operand::Number,
                        b'&' | b';' | b'|' => operand == Operand::Text || operand == Operand::Pattern,
                        b'<' | b'>' => self.ahead(1) != b'(' && operand == Operand::Text,
                        _ => false,
                    };
                    if !harmless {
                        return self.refuse(from, "a character inside `${ }` that is not modelled");
                    }
                    self.at += 1;
                    parts.push(self.plain(quoted, from));
                }
                _ => {
                    while !matches!(
                        self.peek(),
                        b'}' | b'$'
                            | b'`'
                            | b'"'
                            | b'\''
                            | b'\\'
                            | b'['
                            | 0
                            | b'\n'
                            | b'{'
                            | b'<'
                            | b'>'
                            | b'('
                            | b')'
                            | b'&'
                            | b';'
                            | b'|'
                    ) && (self.peek() != end || (self.at == start && end == b'/'))
                    {
                        self.at += 1;
                    }
                    if self.at == from {
                        self.at += 1;
                    }
                    self.visible(from)?;
                    parts.push(self.plain(quoted && operand == Operand::Text, from));
                }
            }
        }
    }

    fn plain(&self, quoted: bool, from: usize) -> Part<'a> {
        let text = self.slice(from, self.at);
        if quoted { Part::Quoted(text) } else { Part::Literal(text) }
    }
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}
