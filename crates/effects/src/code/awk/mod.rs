//! awk programs: harmless but for `system`, pipes, redirections, `getline` from elsewhere, and what loads code.

mod tokens;

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use super::{Finding, Reading, listed};
use tokens::{Token, tokens};

const BUILT_IN: &str = "length substr index split sub gsub gensub match sprintf toupper tolower sin cos atan2 exp log sqrt int \
    rand srand close fflush strftime systime mktime and or xor compl lshift rshift strtonum asort asorti patsplit \
    isarray typeof print printf if while for switch return in getline delete exit else do case not";

static BUILT_IN_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| listed::set(BUILT_IN));

/// Reads a program.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let Some(tokens) = tokens(text) else {
        reading.incomplete();
        return;
    };
    let own = tokens.windows(2).filter_map(|pair| match pair {
        [Token::Word(function), Token::Word(name)] if function == "function" || function == "func" => {
            Some(name.as_str())
        }
        _ => None,
    });
    let reads_lines = tokens.iter().any(|token| matches!(token, Token::Word(word) if word == "getline"));
    Program { own: own.collect(), reads_lines, tokens: &tokens, reading }.read();
}

struct Program<'a> {
    tokens: &'a [Token],
    /// Functions that the program defines.
    own: BTreeSet<&'a str>,
    /// There is a `getline` somewhere.
    reads_lines: bool,
    reading: &'a mut Reading,
}

impl Program<'_> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn is(&self, at: usize, operator: &str) -> bool {
        matches!(self.token(at), Some(Token::Op(found)) if *found == operator)
    }

    fn is_word(&self, at: usize, wanted: &str) -> bool {
        matches!(self.token(at), Some(Token::Word(found)) if found == wanted)
    }

    fn read(&mut self) {
        let mut braces = 0usize;
        // The depth of brackets inside the print statement that is being read, if one is.
        let mut printing: Option<usize> = None;
        let mut depth = 0usize;
        let mut goes_on = false;
        for at in 0..self.tokens.len() {
            match self.token(at) {
                // A statement goes on over the end of a line after these.
                Some(Token::Line) if goes_on => {}
                Some(Token::Line | Token::Op(";")) => printing = None,
                Some(Token::Op("{")) => {
                    braces += 1;
                    printing = None;
                }
                Some(Token::Op("}")) => {
                    printing = None;
                    match braces.checked_sub(1) {
                        Some(fewer) => braces = fewer,
                        None => self.reading.incomplete(),
                    }
                }
                Some(Token::Op("(" | "[")) => depth += 1,
                Some(Token::Op(")" | "]")) => depth = depth.saturating_sub(1),
                Some(Token::Op(">" | ">>")) if printing == Some(depth) => self.output(at),
                Some(Token::Op(">>")) => self.reading.incomplete(),
                Some(Token::Op("|" | "|&")) => self.pipe(at, printing == Some(depth)),
                Some(Token::Op("@")) => self.at_sign(at),
                Some(Token::Op("<")) => self.input(at),
                Some(Token::Word(word)) => {
                    let word = word.clone();
                    match word.as_str() {
                        "print" | "printf" => printing = Some(depth),
                        "system" => self.system(at),
                        // What is in them is opened next.
                        "ARGV" | "ARGC" => self.reading.incomplete(),
                        "ENVIRON" => self.environment(at),
                        "extension" => self.reading.runs_unknown(),
                        _ => self.call(at, &word),
                    }
                }
                _ => {}
            }
            if !matches!(self.token(at), Some(Token::Line)) {
                goes_on = matches!(self.token(at), Some(Token::Op("," | "&&" | "||")));
            }
        }
        if braces != 0 {
            self.reading.incomplete();
        }
    }

    /// A function must be the language's or the program's own.
    fn call(&mut self, at: usize, word: &str) {
        if !self.is(at + 1, "(") || BUILT_IN_SET.contains(word) {
            return;
        }
        // A variable before a bracket is put next to what is in it; in other words it could be loaded.
        if !self.own.contains(word) {
            self.reading.incomplete();
        }
    }

    /// Does the expression that is one constant end before this token?
    fn ends(&self, at: usize) -> bool {
        matches!(self.token(at), None | Some(Token::Line | Token::Op(";" | "}" | ")")))
    }

    /// Does an expression start after this token?
    fn starts(&self, at: Option<usize>) -> bool {
        match at.and_then(|at| self.token(at)) {
            None | Some(Token::Line) => at.is_none() || self.token(at.unwrap_or(0)).is_some(),
            Some(Token::Op(operator)) => matches!(*operator, ";" | "{" | "}" | "(" | "&&" | "||" | "!" | ","),
            Some(_) => false,
        }
    }

    fn output(&mut self, at: usize) {
        match self.token(at + 1) {
            Some(Token::Text(file)) if self.ends(at + 2) => {
                let file = file.clone();
                self.file(file, Finding::Write);
            }
            _ => self.reading.incomplete(),
        }
    }

    fn input(&mut self, at: usize) {
        // `getline < file`, `getline line < file`, `getline a[i] < file`.
        let direct = at.checked_sub(1).is_some_and(|before| self.is_word(before, "getline"));
        let named = at.checked_sub(2).is_some_and(|before| self.is_word(before, "getline"));
        let element = at.checked_sub(1).is_some_and(|before| self.is(before, "]"));
        if !direct && !named {
            // Perhaps `getline a[i] < f`, perhaps a comparison: both, if there is a getline at all.
            if element && self.reads_lines {
                self.reading.incomplete();
            }
            return;
        }
        match self.token(at + 1) {
            Some(Token::Text(file))
                if self.ends(at + 2) || matches!(self.token(at + 2), Some(Token::Op(">"))) =>
            {
                let file = file.clone();
                self.file(file, Finding::Read);
            }
            _ => self.reading.incomplete(),
        }
    }

    fn file(&mut self, file: String, finding: impl Fn(String) -> Finding) {
        // gawk: `/inet/tcp/0/host/port`.
        if file.starts_with("/inet") {
            let host = file.split('/').nth(4).filter(|host| !host.is_empty()).map(str::to_owned);
            self.reading.found(Finding::Connect(host));
            self.reading.incomplete();
        } else {
            self.reading.found(finding(file));
        }
    }

    fn pipe(&mut self, at: usize, printing: bool) {
        let from_getline = self.is_word(at + 1, "getline");
        let both_ways = self.is(at, "|&");
        let command = if from_getline {
            let before = at.checked_sub(1);
            match before.and_then(|before| self.token(before)) {
                Some(Token::Text(command))
                    if self.starts(before.and_then(|before| before.checked_sub(1))) =>
                {
                    Some(command.clone())
                }
                _ => None,
            }
        } else if printing {
            match self.token(at + 1) {
                Some(Token::Text(command)) if self.ends(at + 2) => Some(command.clone()),
                _ => None,
            }
        } else {
            None
        };
        match command {
            Some(command) if both_ways && command.starts_with("/inet") => self.file(command, Finding::Read),
            Some(command) => self.reading.found(Finding::RunShell(command)),
            None => self.reading.runs_unknown(),
        }
    }

    fn system(&mut self, at: usize) {
        match (self.token(at + 1), self.token(at + 2), self.token(at + 3)) {
            (Some(Token::Op("(")), Some(Token::Text(command)), Some(Token::Op(")"))) => {
                let command = command.clone();
                self.reading.found(Finding::RunShell(command));
            }
            _ => self.reading.runs_unknown(),
        }
    }

    fn at_sign(&mut self, at: usize) {
        if self.is_word(at + 1, "load") || self.is_word(at + 1, "include") {
            self.reading.runs_unknown();
        } else {
            self.reading.incomplete();
        }
    }

    fn environment(&mut self, at: usize) {
        let one = self.is(at + 1, "[")
            && matches!(self.token(at + 2), Some(Token::Text(_)))
            && self.is(at + 3, "]");
        if !one {
            self.reading.found(Finding::Read("/proc/self/environ".to_owned()));
        }
    }
}
