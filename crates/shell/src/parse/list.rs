//! Lists and pipelines: what joins commands.

use super::{Parser, Read};
use crate::syntax::{Command, Connector, Entry, List, Operator, Part, Pipeline, Redirect, Target, Word};

impl<'a> Parser<'a> {
    /// Reads entries until something that cannot start one; the caller looks at what that is.
    pub(super) fn list(&mut self) -> Read<List<'a>> {
        self.nested(Self::entries)
    }

    fn entries(&mut self) -> Read<List<'a>> {
        let mut list = List::default();
        loop {
            self.newlines()?;
            if self.ends() {
                return Ok(list);
            }
            let mut entry = self.entry()?;
            self.blanks();
            self.comment()?;
            let goes_on = match self.peek() {
                b'\n' => {
                    self.newline()?;
                    true
                }
                b';' if !matches!(self.ahead(1), b';' | b'&') => {
                    self.operator(1)?;
                    true
                }
                b'&' if self.ahead(1) != b'&' => {
                    self.operator(1)?;
                    entry.background = true;
                    true
                }
                _ => false,
            };
            list.entries.push(entry);
            if !goes_on {
                return Ok(list);
            }
            if list.entries.len() > 1 {
                self.shape.chains = true;
            }
        }
    }

    /// Reads a list that must not be empty.
    pub(super) fn body(&mut self) -> Read<List<'a>> {
        let list = self.list()?;
        if list.entries.is_empty() {
            return Err(self.unexpected());
        }
        if list.entries.len() > 1 || list.entries.iter().any(|e| e.background || !e.rest.is_empty()) {
            self.shape.chains = true;
        }
        Ok(list)
    }

    fn ends(&self) -> bool {
        match self.peek() {
            0 | b')' | b';' | b'&' | b'|' => true,
            b'}' | b't' | b'e' | b'f' | b'd' => {
                matches!(self.bare(), "}" | "then" | "else" | "elif" | "fi" | "do" | "done" | "esac")
            }
            _ => false,
        }
    }

    fn entry(&mut self) -> Read<Entry<'a>> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let connector = if self.starts(b"&&") {
                Connector::And
            } else if self.starts(b"||") {
                Connector::Or
            } else {
                return Ok(Entry { first, rest, background: false });
            };
            self.operator(2)?;
            self.newlines()?;
            self.shape.chains = true;
            rest.push((connector, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Read<Pipeline<'a>> {
        let mut negated = false;
        let mut timed = false;
        loop {
            let start = self.at;
            match self.peek() {
                b'!' if self.bare() == "!" => {
                    self.at += 1;
                    if negated || !matches!(self.peek(), b' ' | b'\t') {
                        return self.refuse(start, "`!` in a place where shells differ");
                    }
                    negated = true;
                }
                b't' if self.bash() && self.bare() == "time" => {
                    self.keyword("time")?;
                    if timed {
                        return self.refuse(start, "`time` twice");
                    }
                    timed = true;
                    self.blanks();
                    match self.bare() {
                        "-p" => self.at += 2,
                        "--" => return self.refuse(start, "`time --`"),
                        _ => {}
                    }
                }
                _ => break,
            }
            self.blanks();
        }
        let mut stages = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != b'|' || self.ahead(1) == b'|' {
                return Ok(Pipeline { negated, stages });
            }
            let start = self.at;
            if self.ahead(1) == b'&' {
                self.bash_only(start, "`|&`")?;
                self.operator(2)?;
                let both = self.errors_too(start);
                match stages.last_mut() {
                    Some(Command::Simple(simple)) => simple.redirects.push(both),
                    Some(Command::Compound(compound)) => compound.redirects.push(both),
                    None => {}
                }
            } else {
                self.operator(1)?;
            }
            self.shape.pipes = true;
            self.newlines()?;
            stages.push(self.command()?);
        }
    }

    /// The `2>&1` that `|&` stands for.
    fn errors_too(&self, start: usize) -> Redirect<'a> {
        let span = self.span(start);
        Redirect {
            operator: Operator::DuplicateOut,
            descriptor: Some(2),
            variable: None,
            target: Target::Word(Word { parts: vec![Part::Quoted("1")], span, ..Word::default() }),
            span,
        }
    }
}
