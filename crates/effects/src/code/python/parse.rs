//! Python tokens to the syntax tree.
//!
//! A statement that is not understood is skipped to its end, and the program is no longer whole. Bodies are read as
//! if they stood one after another.

mod expression;

use super::super::tree::{Expr, Program};
use super::tokens::{Token, tokens};

/// Brackets, lambdas and holes inside one another, and members behind one another.
const DEEPEST: usize = 40;
const LONGEST_CHAIN: usize = 64;

const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
const BINARY: &[&str] =
    &["+", "-", "*", "/", "//", "%", "@", "**", "<<", ">>", "&", "|", "^", "<", ">", "<=", ">=", "==", "!="];

/// Reads a whole program.
pub(super) fn program(text: &str) -> Program {
    let (tokens, whole) = tokens(text);
    let mut parser = Parser { tokens, at: 0, depth: 0, statements: Vec::new(), whole };
    while parser.at < parser.tokens.len() {
        let start = parser.at;
        if parser.statement().is_none() {
            parser.whole = false;
            parser.depth = 0;
            parser.at = parser.at.max(start);
            parser.recover(start);
        }
    }
    Program { statements: parser.statements, whole: parser.whole }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    statements: Vec<Expr>,
    whole: bool,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, operator: &str) -> bool {
        matches!(self.peek(), Some(Token::Op(found)) if *found == operator)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(found)) if found == word)
    }

    fn eat(&mut self, operator: &str) -> bool {
        let found = self.is(operator);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, operator: &str) -> Option<()> {
        self.eat(operator).then_some(())
    }

    /// An identifier that is not a keyword.
    fn identifier(&mut self) -> Option<String> {
        match self.peek() {
            Some(Token::Name(name)) if !KEYWORDS.contains(&name.as_str()) => {
                let name = name.clone();
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    /// Skips what was not understood, but keeps calls by a dotted name that can be read on their own.
    fn recover(&mut self, start: usize) {
        let mut tries = 0;
        self.at = start;
        let mut end = start;
        while !matches!(self.tokens.get(end), None | Some(Token::Newline)) {
            end += 1;
        }
        while self.at < end {
            let here = self.at;
            let after_dot = here > start && matches!(self.tokens.get(here - 1), Some(Token::Op(".")));
            let starts_name =
                matches!(self.peek(), Some(Token::Name(name)) if !KEYWORDS.contains(&name.as_str()));
            let goes_on = matches!(self.tokens.get(here + 1), Some(Token::Op("." | "(")));
            if starts_name && !after_dot && goes_on && tries < 16 {
                tries += 1;
                if let Some(expr @ Expr::Call(..)) = self.postfix() {
                    self.statements.push(expr);
                    continue;
                }
                self.depth = 0;
            }
            self.at = here + 1;
        }
        self.at = end + 1;
    }

    /// The end of a simple statement.
    fn end(&mut self) -> Option<()> {
        match self.peek() {
            None => Some(()),
            Some(Token::Newline | Token::Op(";")) => {
                self.at += 1;
                Some(())
            }
            Some(_) => None,
        }
    }

    fn statement(&mut self) -> Option<()> {
        let word = match self.peek()? {
            Token::Newline | Token::Op(";") => {
                self.at += 1;
                return Some(());
            }
            Token::Op("@") => {
                self.at += 1;
                return self.decorator();
            }
            Token::Name(word) if KEYWORDS.contains(&word.as_str()) => word.clone(),
            _ => return self.simple(),
        };
        match word.as_str() {
            "lambda" | "not" => return self.simple(),
            "yield" => {
                self.at += 1;
                self.eat_word("from");
                return self.result();
            }
            "await" | "async" | "class" => return None,
            _ => self.at += 1,
        }
        match word.as_str() {
            "import" => self.import(),
            "from" => self.import_from(),
            "if" | "elif" | "while" => {
                let condition = self.expression()?;
                self.statements.push(Expr::Mix(vec![condition]));
                self.need(":")
            }
            "else" | "try" | "finally" => self.need(":"),
            "for" => {
                let target = self.targets("in")?;
                let value = self.expressions()?;
                self.statements.push(Expr::Iterate(Box::new(target), Box::new(value)));
                self.need(":")
            }
            "with" => self.with(),
            "except" => {
                self.eat("*");
                if !self.is(":") {
                    let kind = self.expression()?;
                    self.statements.push(Expr::Mix(vec![kind]));
                    if self.eat_word("as") {
                        let name = self.identifier()?;
                        self.statements.push(Expr::Receive(Box::new(Expr::Name(name))));
                    }
                }
                self.need(":")
            }
            "def" => self.define(),
            "return" => self.result(),
            "raise" => {
                if self.end().is_some() {
                    return Some(());
                }
                let error = self.expression()?;
                self.statements.push(Expr::Escape(Box::new(error)));
                if self.eat_word("from") {
                    let cause = self.expression()?;
                    self.statements.push(Expr::Escape(Box::new(cause)));
                }
                self.end()
            }
            "assert" => {
                let checked = self.expressions()?;
                self.statements.push(Expr::Mix(vec![checked]));
                self.end()
            }
            "del" => {
                let target = self.expressions()?;
                self.statements.push(Expr::Remove(Box::new(target)));
                self.end()
            }
            "pass" | "break" | "continue" => self.end(),
            "global" | "nonlocal" => {
                self.identifier()?;
                while self.eat(",") {
                    self.identifier()?;
                }
                self.end()
            }
            _ => None,
        }
    }

    fn result(&mut self) -> Option<()> {
        if self.end().is_some() {
            return Some(());
        }
        let value = self.expressions()?;
        self.statements.push(Expr::Escape(Box::new(value)));
        self.end()
    }

    /// Only decorators that keep what they are given are understood.
    fn decorator(&mut self) -> Option<()> {
        let value = self.postfix()?;
        let name = match &value {
            Expr::Call(callee, _) => callee,
            other => other,
        };
        let short = match name {
            Expr::Name(name) | Expr::Member(_, name) => name.as_str(),
            _ => return None,
        };
        if !matches!(short, "cache" | "lru_cache" | "wraps" | "contextmanager") {
            self.whole = false;
        }
        self.statements.push(Expr::Mix(vec![value]));
        self.end()
    }

    fn define(&mut self) -> Option<()> {
        let name = self.identifier()?;
        self.need("(")?;
        self.parameters(")")?;
        if self.eat("->") {
            let hint = self.expression()?;
            self.statements.push(Expr::Mix(vec![hint]));
        }
        self.need(":")?;
        let function = Expr::Function(Vec::new(), Vec::new());
        self.statements.push(Expr::Assign(Box::new(Expr::Name(name)), Box::new(function)));
        Some(())
    }

    /// Parameters up to `close`: each can be anything that is data.
    fn parameters(&mut self, close: &str) -> Option<()> {
        while !self.eat(close) {
            if self.eat("/") {
                self.eat(",");
                continue;
            }
            let starred = self.eat("*") || self.eat("**");
            if starred && self.eat(",") {
                continue;
            }
            let name = self.identifier()?;
            self.statements.push(Expr::Receive(Box::new(Expr::Name(name))));
            if close == ")" && self.eat(":") {
                let hint = self.expression()?;
                self.statements.push(Expr::Mix(vec![hint]));
            }
            if self.eat("=") {
                let default = self.expression()?;
                self.statements.push(Expr::Escape(Box::new(default)));
            }
            if !self.eat(",") && !self.is(close) {
                return None;
            }
        }
        Some(())
    }

    fn with(&mut self) -> Option<()> {
        // `with (open(a) as f, open(b) as g):` keeps its bracket; `with (a):` is an expression.
        let bracketed = self.is("(") && self.with_bracket_holds_names();
        if bracketed {
            self.at += 1;
        }
        loop {
            let value = self.expression()?;
            if self.eat_word("as") {
                let target = self.postfix()?;
                self.statements.push(Expr::Assign(Box::new(target), Box::new(value)));
            } else {
                self.statements.push(Expr::Escape(Box::new(value)));
            }
            if !self.eat(",") || (bracketed && self.is(")")) {
                break;
            }
        }
        if bracketed {
            self.need(")")?;
        }
        self.need(":")
    }

    fn with_bracket_holds_names(&self) -> bool {
        let mut open = 0usize;
        for token in self.tokens.iter().skip(self.at) {
            match token {
                Token::Op("(" | "[" | "{") => open += 1,
                Token::Op(")" | "]" | "}") => open = open.saturating_sub(1),
                Token::Name(name) if name == "as" && open == 1 => return true,
                _ => {}
            }
            if open == 0 {
                return false;
            }
        }
        false
    }

    fn dotted(&mut self) -> Option<String> {
        let mut name = self.identifier()?;
        while self.eat(".") {
            name.push('.');
            name.push_str(&self.identifier()?);
        }
        Some(name)
    }

    fn import(&mut self) -> Option<()> {
        loop {
            let name = self.dotted()?;
            if self.eat_word("as") {
                let alias = self.identifier()?;
                self.statements.push(Expr::Import(alias, name));
            } else {
                let first = name.split('.').next().unwrap_or_default().to_owned();
                if name != first {
                    // The inner module is loaded; only the outer one is named.
                    self.statements.push(Expr::Import(format!("import {name}"), name));
                }
                self.statements.push(Expr::Import(first.clone(), first));
            }
            if !self.eat(",") {
                return self.end();
            }
        }
    }

    fn import_from(&mut self) -> Option<()> {
        let module = self.dotted()?;
        if !self.eat_word("import") {
            return None;
        }
        if module == "__future__" {
            while self.end().is_none() {
                self.at += 1;
            }
            return Some(());
        }
        let bracketed = self.eat("(");
        loop {
            let name = self.identifier()?;
            let alias = if self.eat_word("as") { self.identifier()? } else { name.clone() };
            self.statements.push(Expr::Import(alias, format!("{module}.{name}")));
            if !self.eat(",") || (bracketed && self.is(")")) {
                break;
            }
        }
        if bracketed {
            self.need(")")?;
        }
        self.end()
    }

    /// An expression, or an assignment.
    fn simple(&mut self) -> Option<()> {
        let first = self.expressions()?;
        if self.eat(":") {
            let hint = self.expression()?;
            self.statements.push(Expr::Mix(vec![hint]));
            if self.eat("=") {
                let value = self.expressions()?;
                self.statements.push(Expr::Assign(Box::new(first), Box::new(value)));
            }
            return self.end();
        }
        let augmented = matches!(
            self.peek(),
            Some(Token::Op(
                "+=" | "-=" | "*=" | "/=" | "//=" | "%=" | "**=" | "&=" | "|=" | "^=" | ">>=" | "<<=" | "@="
            ))
        );
        if augmented {
            self.at += 1;
            let value = self.expressions()?;
            self.statements.push(Expr::Mix(vec![value]));
            self.statements.push(Expr::Receive(Box::new(first)));
            return self.end();
        }
        let mut targets = vec![first];
        while self.eat("=") {
            if targets.len() > 8 {
                return None;
            }
            if self.eat_word("yield") {
                targets.push(Expr::Opaque);
                break;
            }
            targets.push(self.expressions()?);
        }
        let value = targets.pop()?;
        if targets.is_empty() {
            self.statements.push(value);
            return self.end();
        }
        for target in targets {
            self.statements.push(Expr::Assign(Box::new(target), Box::new(value.clone())));
        }
        self.end()
    }
}
