//! `sed`: a script is harmless but for `w`, `r`, `e` and their like.

use crate::arg::Arg;
use crate::classify::Purpose;
use crate::doing::Inner;
use crate::effect::Origin;
use crate::evaluate::Evaluation;
use crate::knowledge::Role;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let given = super::has(line, &["-e", "--expression", "-f", "--file"]);
    let mut files = line.operands.iter();
    if !given && let Some(text) = files.next() {
        match text.written() {
            Some(text) => script(&text, evaluation),
            // An unknown script could write or run anything.
            None => evaluation.doing.code("sed", Origin::Unresolved),
        }
    }
    for file in files {
        evaluation.role(Role::Read, file, line, false);
    }
    evaluation.doing.code_given = true;
    true
}

/// Reads a script.
pub(super) fn script(text: &str, evaluation: &mut Evaluation<'_, '_, '_, '_, '_>) {
    let mut reader = Reader { rest: text };
    while reader.command(evaluation) {}
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// One command; whether there may be more.
    fn command(&mut self, evaluation: &mut Evaluation<'_, '_, '_, '_, '_>) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', ';', '\r']);
        if self.rest.is_empty() {
            return false;
        }
        if !self.addresses() {
            evaluation.doing.unknown("an address of sed that is not understood");
            return false;
        }
        let Some(letter) = self.next() else { return false };
        match letter {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {
            }
            'l' | 'L' | 'q' | 'Q' => {
                self.rest = self
                    .rest
                    .trim_start_matches(' ')
                    .trim_start_matches(|letter: char| letter.is_ascii_digit());
            }
            'a' | 'i' | 'c' => self.text(),
            ':' | 'v' | '#' => {
                self.line();
            }
            'b' | 't' | 'T' => {
                let end = self.rest.find(['\n', ';', '}']).unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..).unwrap_or_default();
            }
            'y' => {
                if self.delimited(2).is_none() {
                    evaluation.doing.unknown("a command of sed that is not understood");
                    return false;
                }
            }
            's' => return self.substitution(evaluation),
            'r' | 'R' => {
                let file = self.line().trim_start().to_owned();
                evaluation.doing.path(
                    &Arg::owned(file),
                    Purpose::Read,
                    &evaluation.cwds,
                    evaluation.engine.around,
                );
            }
            'w' | 'W' => {
                let file = self.line().trim_start().to_owned();
                evaluation.doing.path(
                    &Arg::owned(file),
                    Purpose::Write,
                    &evaluation.cwds,
                    evaluation.engine.around,
                );
            }
            'e' => {
                let command = self.line().trim().to_owned();
                if command.is_empty() {
                    evaluation.doing.code("shell", Origin::Unresolved);
                } else {
                    evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(command)));
                }
            }
            _ => {
                evaluation.doing.unknown("a command of sed that is not understood");
                return false;
            }
        }
        true
    }

    fn substitution(&mut self, evaluation: &mut Evaluation<'_, '_, '_, '_, '_>) -> bool {
        if self.delimited(2).is_none() {
            evaluation.doing.unknown("a command of sed that is not understood");
            return false;
        }
        while let Some(flag) = self.rest.chars().next() {
            match flag {
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                'e' => evaluation.doing.code("shell", Origin::Unresolved),
                'w' => {
                    self.next();
                    let file = self.line().trim_start().to_owned();
                    evaluation.doing.path(
                        &Arg::owned(file),
                        Purpose::Write,
                        &evaluation.cwds,
                        evaluation.engine.around,
                    );
                    return true;
                }
                ';' | '\n' | '}' | ' ' | '\t' | '#' | '\r' => return true,
                _ => {
                    evaluation.doing.unknown("a flag of sed that is not understood");
                    return false;
                }
            }
            self.next();
        }
        true
    }

    /// `1,5`, `/re/,+3`, `$!`, …
    fn addresses(&mut self) -> bool {
        loop {
            match self.rest.chars().next() {
                Some('0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t') => {
                    self.next();
                }
                Some('/') => {
                    if self.delimited(1).is_none() {
                        return false;
                    }
                    self.rest = self.rest.trim_start_matches(['I', 'M']);
                }
                Some('\\') => {
                    self.next();
                    if self.delimited(1).is_none() {
                        return false;
                    }
                    self.rest = self.rest.trim_start_matches(['I', 'M']);
                }
                _ => return true,
            }
        }
    }

    /// A delimiter, then this many texts that it ends.
    fn delimited(&mut self, count: usize) -> Option<()> {
        let mark = self.next()?;
        if mark == '\\' || mark == '\n' {
            return None;
        }
        for _ in 0..count {
            loop {
                let letter = self.next()?;
                match letter {
                    '\\' => {
                        self.next()?;
                    }
                    // A delimiter inside a bracket expression ends the text in GNU sed too.
                    _ if letter == mark => break,
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// The text of `a`, `i`, `c`: to the end of the line, with continued lines.
    fn text(&mut self) {
        loop {
            let line = self.line();
            if !line.ends_with('\\') {
                return;
            }
            if self.rest.is_empty() {
                return;
            }
        }
    }

    /// What is left of the line.
    fn line(&mut self) -> &'t str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let line = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end..).unwrap_or_default().strip_prefix('\n').unwrap_or_default();
        line
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = self.rest.get(letter.len_utf8()..)?;
        Some(letter)
    }
}
