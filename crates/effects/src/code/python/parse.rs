//! Python tokens to the syntax tree.
//!
//! A statement that is not understood is skipped to its end, and the program is no longer whole. Bodies are read as
//! if they stood one after another.

use super::super::tree::{Arg, Expr, Key, Program};
use super::tokens::{Piece, Token, tokens};

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

    /// Targets of a loop, up to the word `stop`.
    fn targets(&mut self, stop: &str) -> Option<Expr> {
        let mut all = Vec::new();
        let mut comma = false;
        loop {
            let starred = self.eat("*");
            let one = self.postfix()?;
            all.push(if starred { Expr::Splat(Box::new(one)) } else { one });
            if !self.eat(",") {
                break;
            }
            comma = true;
            if self.is_word(stop) {
                break;
            }
        }
        if !self.eat_word(stop) {
            return None;
        }
        if comma { Some(Expr::List(all)) } else { all.pop() }
    }

    /// Expressions with commas between them are a list.
    fn expressions(&mut self) -> Option<Expr> {
        let first = self.starred()?;
        if !self.is(",") {
            return Some(first);
        }
        let mut all = vec![first];
        while self.eat(",") {
            let over = match self.peek() {
                None | Some(Token::Newline) => true,
                Some(Token::Op(operator)) => matches!(*operator, ";" | "=" | ":" | ")" | "]" | "}"),
                Some(_) => false,
            };
            if over {
                break;
            }
            all.push(self.starred()?);
        }
        Some(Expr::List(all))
    }

    fn starred(&mut self) -> Option<Expr> {
        if self.eat("*") {
            return Some(Expr::Splat(Box::new(self.binary()?)));
        }
        self.expression()
    }

    fn expression(&mut self) -> Option<Expr> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = self.conditional();
        self.depth = self.depth.saturating_sub(1);
        found
    }

    fn conditional(&mut self) -> Option<Expr> {
        if self.eat_word("lambda") {
            let mark = self.statements.len();
            self.parameters(":")?;
            let parameters = self.statements.split_off(mark);
            let body = self.expression()?;
            let mut statements = parameters;
            statements.push(Expr::Escape(Box::new(body)));
            return Some(Expr::Function(Vec::new(), statements));
        }
        let value = self.binary()?;
        if self.eat(":=") {
            let Expr::Name(_) = value else { return None };
            let bound = self.expression()?;
            return Some(Expr::Assign(Box::new(value), Box::new(bound)));
        }
        if self.eat_word("if") {
            let condition = self.binary()?;
            if !self.eat_word("else") {
                return None;
            }
            let other = self.expression()?;
            return Some(Expr::Mix(vec![value, condition, other]));
        }
        Some(value)
    }

    /// Operators of all strengths, flat: only their kinds matter.
    fn binary(&mut self) -> Option<Expr> {
        let mut parts = vec![self.unary()?];
        let mut operators: Vec<&'static str> = Vec::new();
        loop {
            let operator = match self.peek() {
                Some(Token::Op(operator)) if BINARY.contains(operator) => *operator,
                Some(Token::Name(word)) => match word.as_str() {
                    "and" | "or" | "is" => "word",
                    "in" => "in",
                    "not" if matches!(self.tokens.get(self.at + 1), Some(Token::Name(next)) if next == "in") =>
                    {
                        self.at += 1;
                        "in"
                    }
                    _ => break,
                },
                _ => break,
            };
            self.at += 1;
            if operator == "word" {
                self.eat_word("not");
            }
            operators.push(operator);
            parts.push(self.unary()?);
        }
        if operators.is_empty() {
            return parts.pop();
        }
        let all = |wanted: &str| operators.iter().all(|operator| *operator == wanted);
        Some(if all("+") {
            Expr::Sum(parts)
        } else if all("/") {
            Expr::Divide(parts)
        } else if operators.len() == 1 && all("in") {
            let whole = parts.pop()?;
            Expr::Within(Box::new(parts.pop()?), Box::new(whole))
        } else {
            Expr::Mix(parts)
        })
    }

    fn unary(&mut self) -> Option<Expr> {
        let mut signed = false;
        while self.eat("-") || self.eat("+") || self.eat("~") || self.eat_word("not") {
            signed = true;
        }
        let value = self.postfix()?;
        Some(if signed { Expr::Mix(vec![value]) } else { value })
    }

    /// An atom with its members, calls and indices.
    fn postfix(&mut self) -> Option<Expr> {
        let mut value = self.atom()?;
        for _ in 0..LONGEST_CHAIN {
            if self.eat(".") {
                value = Expr::Member(Box::new(value), self.identifier()?);
            } else if self.eat("(") {
                let args = self.arguments()?;
                value = Expr::Call(Box::new(value), args);
            } else if self.eat("[") {
                let index = self.subscript()?;
                value = Expr::Index(Box::new(value), Box::new(index));
            } else {
                return Some(value);
            }
        }
        None
    }

    fn arguments(&mut self) -> Option<Vec<Arg>> {
        let mut args = Vec::new();
        while !self.eat(")") {
            let named = matches!(self.tokens.get(self.at + 1), Some(Token::Op("=")));
            if self.eat("**") || self.eat("*") {
                let value = Expr::Splat(Box::new(self.expression()?));
                args.push(Arg { name: None, value });
            } else if named {
                let name = self.identifier()?;
                self.need("=")?;
                args.push(Arg { name: Some(name), value: self.expression()? });
            } else {
                let value = self.expression()?;
                let value = self.comprehension(vec![value])?;
                args.push(Arg { name: None, value });
            }
            if !self.eat(",") && !self.is(")") {
                return None;
            }
        }
        Some(args)
    }

    fn subscript(&mut self) -> Option<Expr> {
        let mut parts = Vec::new();
        let mut slice = false;
        let mut several = false;
        while !self.eat("]") {
            if self.eat(":") {
                slice = true;
            } else if self.eat(",") {
                several = true;
            } else {
                parts.push(self.starred()?);
                if !self.is(":") && !self.is(",") && !self.is("]") {
                    return None;
                }
            }
        }
        if slice {
            return Some(Expr::Splat(Box::new(Expr::Mix(parts))));
        }
        if several { Some(Expr::List(parts)) } else { parts.pop() }
    }

    fn atom(&mut self) -> Option<Expr> {
        match self.peek()?.clone() {
            Token::Text(text) => {
                self.at += 1;
                Some(Expr::Text(text))
            }
            Token::Opaque => {
                self.at += 1;
                Some(Expr::Opaque)
            }
            Token::Number(number) => {
                self.at += 1;
                Some(Expr::Plain(number))
            }
            Token::Mixed(pieces) => {
                self.at += 1;
                self.mixed(pieces)
            }
            Token::Name(name) if matches!(name.as_str(), "None" | "True" | "False") => {
                self.at += 1;
                Some(Expr::Plain(name))
            }
            Token::Name(name) if name == "yield" => {
                self.at += 1;
                self.eat_word("from");
                if self.is(")") {
                    return Some(Expr::Opaque);
                }
                Some(Expr::Escape(Box::new(self.expressions()?)))
            }
            Token::Name(_) => self.identifier().map(Expr::Name),
            Token::Op("...") => {
                self.at += 1;
                Some(Expr::Opaque)
            }
            Token::Op("(") => {
                self.at += 1;
                if self.eat(")") {
                    return Some(Expr::List(Vec::new()));
                }
                self.deeper(|parser| {
                    let value = parser.expressions()?;
                    let value = parser.comprehension(vec![value])?;
                    parser.need(")")?;
                    Some(value)
                })
            }
            Token::Op("[") => {
                self.at += 1;
                if self.eat("]") {
                    return Some(Expr::List(Vec::new()));
                }
                self.deeper(Self::brackets)
            }
            Token::Op("{") => {
                self.at += 1;
                self.deeper(Self::braces)
            }
            _ => None,
        }
    }

    /// A list, after its `[`.
    fn brackets(&mut self) -> Option<Expr> {
        let first = self.starred()?;
        if self.is_word("for") {
            let all = self.comprehension(vec![first])?;
            self.need("]")?;
            return Some(all);
        }
        let mut items = vec![first];
        while self.eat(",") && !self.is("]") {
            items.push(self.starred()?);
        }
        self.need("]")?;
        Some(Expr::List(items))
    }

    fn deeper(&mut self, inside: impl FnOnce(&mut Self) -> Option<Expr>) -> Option<Expr> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = inside(self);
        self.depth = self.depth.saturating_sub(1);
        found
    }

    /// A mapping or a set, after its `{`.
    fn braces(&mut self) -> Option<Expr> {
        let mut entries = Vec::new();
        let mut items = Vec::new();
        while !self.eat("}") {
            if self.eat("**") {
                let value = self.expression()?;
                entries.push((Key::Spread, value));
            } else {
                let key = self.starred()?;
                if self.eat(":") {
                    let value = self.expression()?;
                    if self.is_word("for") {
                        let all = self.comprehension(vec![key, value])?;
                        self.need("}")?;
                        return Some(all);
                    }
                    let key = match key {
                        Expr::Text(text) => Key::Constant(text),
                        other => Key::Computed(other),
                    };
                    entries.push((key, value));
                } else if self.is_word("for") {
                    let all = self.comprehension(vec![key])?;
                    self.need("}")?;
                    return Some(all);
                } else {
                    items.push(key);
                }
            }
            if !self.eat(",") && !self.is("}") {
                return None;
            }
        }
        if items.is_empty() { Some(Expr::Map(entries)) } else { Some(Expr::Mix(items)) }
    }

    /// `for … in … if …` after its elements; without one, the element itself.
    fn comprehension(&mut self, mut elements: Vec<Expr>) -> Option<Expr> {
        if !self.is_word("for") {
            return elements.pop();
        }
        let mut parts = Vec::new();
        while self.eat_word("for") {
            let target = self.targets("in")?;
            let value = self.binary()?;
            parts.push(Expr::Iterate(Box::new(target), Box::new(value)));
            while self.eat_word("if") {
                let condition = self.binary()?;
                parts.push(Expr::Mix(vec![condition]));
            }
        }
        parts.append(&mut elements);
        Some(Expr::Mix(parts))
    }

    /// A string with holes.
    fn mixed(&mut self, pieces: Vec<Piece>) -> Option<Expr> {
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) if text.is_empty() => {}
                Piece::Text(text) => parts.push(Expr::Text(text)),
                Piece::Hole(code, exact) => {
                    let (tokens, whole) = tokens(&code);
                    if !whole || self.depth >= DEEPEST {
                        return None;
                    }
                    let mut inner =
                        Parser { tokens, at: 0, depth: self.depth + 4, statements: Vec::new(), whole: true };
                    let value = inner.expressions()?;
                    if inner.at < inner.tokens.len() || !inner.statements.is_empty() {
                        return None;
                    }
                    parts.push(if exact { value } else { Expr::Mix(vec![value]) });
                }
            }
        }
        // A hole alone would pass its value on as it is, but what comes out is always text.
        if parts.len() < 2 {
            parts.push(Expr::Text(String::new()));
        }
        Some(Expr::Sum(parts))
    }
}
