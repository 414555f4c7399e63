//! Expressions of Python.

use super::super::super::tree::{Arg, Expr, Key};
use super::super::tokens::{Piece, Token, tokens};
use super::{BINARY, DEEPEST, LONGEST_CHAIN, Parser};

impl Parser {
    /// Targets of a loop, up to the word `stop`.
    pub(super) fn targets(&mut self, stop: &str) -> Option<Expr> {
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
    pub(super) fn expressions(&mut self) -> Option<Expr> {
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

    pub(super) fn starred(&mut self) -> Option<Expr> {
        if self.eat("*") {
            return Some(Expr::Splat(Box::new(self.binary()?)));
        }
        self.expression()
    }

    pub(super) fn expression(&mut self) -> Option<Expr> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = self.conditional();
        self.depth = self.depth.saturating_sub(1);
        found
    }

    pub(super) fn conditional(&mut self) -> Option<Expr> {
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
    pub(super) fn binary(&mut self) -> Option<Expr> {
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

    pub(super) fn unary(&mut self) -> Option<Expr> {
        let mut signed = false;
        while self.eat("-") || self.eat("+") || self.eat("~") || self.eat_word("not") {
            signed = true;
        }
        let value = self.postfix()?;
        Some(if signed { Expr::Mix(vec![value]) } else { value })
    }

    /// An atom with its members, calls and indices.
    pub(super) fn postfix(&mut self) -> Option<Expr> {
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

    pub(super) fn arguments(&mut self) -> Option<Vec<Arg>> {
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

    pub(super) fn subscript(&mut self) -> Option<Expr> {
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

    pub(super) fn atom(&mut self) -> Option<Expr> {
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
    pub(super) fn brackets(&mut self) -> Option<Expr> {
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

    pub(super) fn deeper(&mut self, inside: impl FnOnce(&mut Self) -> Option<Expr>) -> Option<Expr> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = inside(self);
        self.depth = self.depth.saturating_sub(1);
        found
    }

    /// A mapping or a set, after its `{`.
    pub(super) fn braces(&mut self) -> Option<Expr> {
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
    pub(super) fn comprehension(&mut self, mut elements: Vec<Expr>) -> Option<Expr> {
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
    pub(super) fn mixed(&mut self, pieces: Vec<Piece>) -> Option<Expr> {
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
