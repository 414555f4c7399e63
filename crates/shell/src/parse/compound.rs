//! Compound commands: everything that contains lists by grammar.

use super::{Parser, Read};
use crate::syntax::{Arm, Command, Compound, Function, Kind, List, Word};

impl<'a> Parser<'a> {
    /// Reads one stage of a pipeline.
    pub(super) fn command(&mut self) -> Read<Command<'a>> {
        let start = self.at;
        self.node(2)?;
        let kind = match self.peek() {
            b'(' => self.parenthesis()?,
            b'{' | b'i' | b'f' | b'w' | b'u' | b'c' | b's' | b'[' | b'!' | b'}' | b't' | b'e' | b'd' => {
                match self.bare() {
                    "{" => {
                        self.at += 1;
                        let list = self.body()?;
                        self.keyword("}")?;
                        Kind::Group(list)
                    }
                    "if" => self.conditional()?,
                    "for" => self.loop_over()?,
                    "while" | "until" => {
                        self.at += 5;
                        let condition = self.body()?;
                        let body = self.repeated()?;
                        Kind::While(condition, body)
                    }
                    "case" => self.case()?,
                    "select" => {
                        self.bash_only(start, "`select`")?;
                        self.loop_over()?
                    }
                    "function" => {
                        self.bash_only(start, "`function`")?;
                        self.nested(Self::function_named)?
                    }
                    "[[" => {
                        self.bash_only(start, "`[[`")?;
                        self.condition()?
                    }
                    "coproc" => return self.refuse(start, "`coproc` is not modelled"),
                    "time" if self.bash() => return self.refuse(start, "`time` inside a pipeline"),
                    "!" | "}" | "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" => {
                        return Err(self.unexpected());
                    }
                    _ => return self.simple(),
                }
            }
            _ => return self.simple(),
        };
        self.shape.control |= !matches!(kind, Kind::Subshell(_));
        if matches!(kind, Kind::Function(_)) {
            let span = self.span(start);
            return Ok(Command::Compound(Box::new(Compound { kind, redirects: Vec::new(), span })));
        }
        let redirects = self.trailing_redirects()?;
        Ok(Command::Compound(Box::new(Compound { kind, redirects, span: self.span(start) })))
    }

    fn parenthesis(&mut self) -> Read<Kind<'a>> {
        let start = self.at;
        if self.ahead(1) == b'(' {
            self.bash_only(start, "`((`")?;
            self.at += 2;
            return Ok(Kind::Arithmetic(self.arithmetic(start)?));
        }
        self.operator(1)?;
        self.shape.subshells = true;
        let list = self.body()?;
        if self.peek() != b')' {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(Kind::Subshell(list))
    }

    fn conditional(&mut self) -> Read<Kind<'a>> {
        self.at += 2;
        let mut branches = Vec::new();
        loop {
            let condition = self.body()?;
            self.keyword("then")?;
            branches.push((condition, self.body()?));
            match self.bare() {
                "elif" => self.keyword("elif")?,
                "else" => {
                    self.keyword("else")?;
                    let otherwise = self.body()?;
                    self.keyword("fi")?;
                    return Ok(Kind::If(branches, Some(otherwise)));
                }
                _ => {
                    self.keyword("fi")?;
                    return Ok(Kind::If(branches, None));
                }
            }
        }
    }

    /// `do list done`
    fn repeated(&mut self) -> Read<List<'a>> {
        self.keyword("do")?;
        let body = self.body()?;
        self.keyword("done")?;
        Ok(body)
    }

    /// `for` and `select`
    fn loop_over(&mut self) -> Read<Kind<'a>> {
        let start = self.at;
        let select = self.peek() == b's';
        self.at += if select { 6 } else { 3 };
        self.blanks();
        if self.starts(b"((") && !select {
            self.bash_only(start, "`for ((`")?;
            return self.count();
        }
        let name = self.identifier();
        if name.is_empty() || self.bare() != name {
            return self.refuse(start, "a loop without a variable");
        }
        self.at += name.len();
        self.blanks();
        let mut words = None;
        if self.peek() == b';' {
            self.operator(1)?;
        } else {
            self.newlines()?;
            if self.bare() == "in" {
                self.keyword("in")?;
                let mut list = Vec::new();
                loop {
                    self.blanks();
                    self.comment()?;
                    match self.peek() {
                        b';' => {
                            self.operator(1)?;
                            break;
                        }
                        b'\n' => break,
                        b'<' | b'>' if self.ahead(1) != b'(' => return Err(self.unexpected()),
                        _ => list.push(self.word()?),
                    }
                }
                words = Some(list);
            }
        }
        self.newlines()?;
        let body = self.repeated()?;
        Ok(Kind::For { name, words, body, select })
    }

    fn count(&mut self) -> Read<Kind<'a>> {
        let start = self.at;
        self.at += 2;
        let mut heads = Vec::new();
        for index in 0..3 {
            let from = self.at;
            let parts = self.expression(start, true)?;
            heads.push(crate::syntax::Arithmetic { parts, span: self.span(from) });
            if index < 2 {
                if self.peek() != b';' {
                    return Err(self.unexpected());
                }
                self.at += 1;
            }
        }
        if !self.starts(b"))") {
            return Err(self.unexpected());
        }
        self.at += 2;
        self.blanks();
        if self.peek() == b';' {
            self.operator(1)?;
        }
        self.newlines()?;
        let body = self.repeated()?;
        Ok(Kind::Count(heads, body))
    }

    fn case(&mut self) -> Read<Kind<'a>> {
        self.at += 4;
        self.blanks();
        let subject = self.word()?;
        self.newlines()?;
        self.keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.bare() == "esac" {
                self.keyword("esac")?;
                return Ok(Kind::Case(subject, arms));
            }
            if self.peek() == b'(' {
                self.operator(1)?;
                self.blanks();
                if self.bare() == "esac" {
                    return Err(self.unexpected());
                }
            }
            let patterns = self.patterns()?;
            let body = self.list()?;
            let start = self.at;
            let falls = if self.starts(b";;&") || self.starts(b";&") {
                self.bash_only(start, "`;&`")?;
                self.operator(if self.ahead(1) == b'&' { 2 } else { 3 })?;
                true
            } else if self.starts(b";;") {
                self.operator(2)?;
                false
            } else {
                self.keyword("esac")?;
                arms.push(Arm { patterns, body, falls: false });
                return Ok(Kind::Case(subject, arms));
            };
            arms.push(Arm { patterns, body, falls });
        }
    }

    fn patterns(&mut self) -> Read<Vec<Word<'a>>> {
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            if self.peek() == b'#' {
                return Err(self.unexpected());
            }
            patterns.push(self.word()?);
            self.blanks();
            match self.peek() {
                b'|' => self.operator(1)?,
                b')' => {
                    self.at += 1;
                    return Ok(patterns);
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// `function name { … }`
    fn function_named(&mut self) -> Read<Kind<'a>> {
        self.keyword("function")?;
        self.blanks();
        let name = self.bare();
        self.at += name.len();
        self.blanks();
        if self.peek() == b'(' {
            let back = self.at;
            self.at += 1;
            self.blanks();
            if self.peek() == b')' {
                self.at += 1;
            } else {
                self.at = back;
            }
        }
        self.function_body(name)
    }

    /// `name() …`, with the cursor on the parenthesis.
    pub(super) fn function_after(&mut self, start: usize, name: &'a str) -> Read<Command<'a>> {
        self.operator(1)?;
        self.blanks();
        if self.peek() != b')' {
            return Err(self.unexpected());
        }
        self.at += 1;
        let kind = self.nested(|parser| parser.function_body(name))?;
        self.shape.control = true;
        Ok(Command::Compound(Box::new(Compound { kind, redirects: Vec::new(), span: self.span(start) })))
    }

    fn function_body(&mut self, name: &'a str) -> Read<Kind<'a>> {
        let start = self.at;
        let ordinary = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-');
        if name.is_empty() || !name.bytes().all(ordinary) || RESERVED.contains(&name) {
            return self.refuse(start, "a function with a name that is not modelled");
        }
        if !self.bash() {
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !plain || name.starts_with(|c: char| c.is_ascii_digit()) || SPECIAL.contains(&name) {
                return self.refuse(start, "a function with a name that shells treat differently");
            }
        }
        self.newlines()?;
        if self.peek() == b'(' && self.ahead(1) == b'(' {
            return self.refuse(start, "a function whose body is arithmetic");
        }
        match self.command()? {
            Command::Compound(body) if !matches!(body.kind, Kind::Function(_)) => {
                let number = self.functions;
                self.functions += 1;
                Ok(Kind::Function(Function { name, body, number }))
            }
            _ => self.refuse(start, "a function whose body is not a compound command"),
        }
    }
}

const RESERVED: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in",
    "function", "time", "select", "coproc", "{", "}", "!", "[[", "]]",
];

/// The special builtins, which a POSIX shell finds before functions.
pub(crate) const SPECIAL: [&str; 15] = [
    "break", ":", "continue", ".", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
    "times", "trap", "unset",
];
