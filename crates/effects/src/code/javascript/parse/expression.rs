//! Expressions of JavaScript.

use super::super::super::tree::{Arg, Expr, Key};
use super::super::tokens::{Kind, Piece, tokens};
use super::{ASSIGNING, BINARY, DEEPEST, LONGEST_CHAIN, Parser};

impl Parser {
    pub(super) fn expressions(&mut self) -> Option<Expr> {
        let first = self.expression()?;
        if !self.is(",") {
            return Some(first);
        }
        let mut all = vec![first];
        while self.eat(",") {
            all.push(self.expression()?);
        }
        Some(Expr::Sequence(all))
    }

    pub(super) fn expression(&mut self) -> Option<Expr> {
        self.deeper(Self::assignment)
    }

    pub(super) fn assignment(&mut self) -> Option<Expr> {
        if let Some(function) = self.arrow()? {
            return Some(function);
        }
        let value = self.binary()?;
        if self.eat("=") {
            let bound = self.expression()?;
            return Some(Expr::Assign(Box::new(value), Box::new(bound)));
        }
        if matches!(self.kind(0), Some(Kind::Op(operator)) if ASSIGNING.contains(operator)) {
            self.at += 1;
            let added = self.expression()?;
            return Some(Expr::Mix(vec![added, Expr::Receive(Box::new(value))]));
        }
        if self.eat("?") {
            let yes = self.expression()?;
            self.need(":")?;
            let no = self.expression()?;
            return Some(Expr::Mix(vec![value, yes, no]));
        }
        Some(value)
    }

    /// `x => …`, `(x, y) => …`, with or without `async`. `Some(None)` if there is none here.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is absence")]
    pub(super) fn arrow(&mut self) -> Option<Option<Expr>> {
        let start = self.at;
        if self.is_word("async") && !matches!(self.kind(1), Some(Kind::Op("=>"))) {
            if matches!(self.kind(1), Some(Kind::Name(next)) if next == "function") {
                self.at += 1;
                return Some(None);
            }
            self.at += 1;
        }
        let parameters = if matches!(self.kind(1), Some(Kind::Op("=>"))) {
            match self.identifier() {
                Some(name) => vec![Expr::Name(name)],
                None => return None,
            }
        } else if self.is("(") && self.arrow_follows() {
            self.at += 1;
            self.parameters()?
        } else {
            self.at = start;
            return Some(None);
        };
        self.need("=>")?;
        let mut body = Vec::new();
        if self.eat("{") {
            self.block(&mut body)?;
        } else {
            body.push(Expr::Escape(Box::new(self.expression()?)));
        }
        Some(Some(Expr::Function(parameters, body)))
    }

    /// Does `=>` follow the bracket that opens here?
    pub(super) fn arrow_follows(&self) -> bool {
        let mut open = 0usize;
        // Parameters are short: the look ahead is bounded, so that many brackets stay linear.
        for (distance, token) in self.tokens.iter().skip(self.at).take(96).enumerate() {
            match token.kind {
                Kind::Op("(" | "[" | "{") => open += 1,
                Kind::Op(")" | "]" | "}") => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                return matches!(self.kind(distance + 1), Some(Kind::Op("=>")));
            }
        }
        false
    }

    pub(super) fn binary(&mut self) -> Option<Expr> {
        let mut parts = vec![self.unary()?];
        let mut only_plus = true;
        let mut within = 0usize;
        loop {
            match self.kind(0) {
                Some(Kind::Op(operator)) if BINARY.contains(operator) => only_plus &= *operator == "+",
                Some(Kind::Name(word)) if word == "in" || word == "instanceof" => {
                    only_plus = false;
                    within += 1;
                }
                _ => break,
            }
            self.at += 1;
            parts.push(self.unary()?);
        }
        if within == 1 && parts.len() == 2 {
            let whole = parts.pop()?;
            return Some(Expr::Within(Box::new(parts.pop()?), Box::new(whole)));
        }
        Some(match parts.len() {
            1 => parts.pop()?,
            _ if only_plus => Expr::Sum(parts),
            _ => Expr::Mix(parts),
        })
    }

    pub(super) fn unary(&mut self) -> Option<Expr> {
        let mut changes = false;
        let mut computed = false;
        let mut removes = false;
        for _ in 0..LONGEST_CHAIN {
            if self.eat("!") || self.eat("-") || self.eat("+") || self.eat("~") {
                computed = true;
            } else if self.eat("++") || self.eat("--") {
                changes = true;
            } else if self.eat_word("typeof") || self.eat_word("void") {
                computed = true;
            } else if self.eat_word("delete") {
                removes = true;
            } else if !self.eat_word("await") {
                break;
            }
        }
        let value = self.postfix()?;
        let follows = matches!(self.tokens.get(self.at), Some(token) if !token.after_line);
        if follows && (self.eat("++") || self.eat("--")) {
            changes = true;
        }
        if removes {
            return Some(Expr::Remove(Box::new(value)));
        }
        if changes {
            return Some(Expr::Receive(Box::new(value)));
        }
        Some(if computed { Expr::Mix(vec![value]) } else { value })
    }

    pub(super) fn postfix(&mut self) -> Option<Expr> {
        let mut value = if self.eat_word("new") { self.construction()? } else { self.atom()? };
        for _ in 0..LONGEST_CHAIN {
            if self.eat(".") {
                value = Expr::Member(Box::new(value), self.member_name()?);
            } else if self.eat("?.") {
                value = if self.eat("(") {
                    Expr::Call(Box::new(value), self.arguments()?)
                } else if self.eat("[") {
                    self.index(value)?
                } else {
                    Expr::Member(Box::new(value), self.member_name()?)
                };
            } else if self.eat("(") {
                value = Expr::Call(Box::new(value), self.arguments()?);
            } else if self.eat("[") {
                value = self.index(value)?;
            } else if matches!(self.kind(0), Some(Kind::Template(_))) {
                // A template behind a value calls it.
                return None;
            } else {
                return Some(value);
            }
        }
        None
    }

    /// `new X.Y(…)`: a call as far as effects go.
    pub(super) fn construction(&mut self) -> Option<Expr> {
        let mut value = Expr::Name(self.identifier()?);
        for _ in 0..LONGEST_CHAIN {
            if !self.eat(".") {
                break;
            }
            value = Expr::Member(Box::new(value), self.member_name()?);
        }
        let args = if self.eat("(") { self.arguments()? } else { Vec::new() };
        Some(Expr::Call(Box::new(value), args))
    }

    pub(super) fn index(&mut self, value: Expr) -> Option<Expr> {
        let index = self.expressions()?;
        self.need("]")?;
        Some(Expr::Index(Box::new(value), Box::new(index)))
    }

    pub(super) fn member_name(&mut self) -> Option<String> {
        match self.kind(0) {
            Some(Kind::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    pub(super) fn arguments(&mut self) -> Option<Vec<Arg>> {
        let mut all = Vec::new();
        while !self.eat(")") {
            let spread = self.eat("...");
            let value = self.expression()?;
            let value = if spread { Expr::Splat(Box::new(value)) } else { value };
            all.push(Arg { name: None, value });
            if !self.eat(",") && !self.is(")") {
                return None;
            }
        }
        Some(all)
    }

    pub(super) fn atom(&mut self) -> Option<Expr> {
        match self.kind(0)?.clone() {
            Kind::Text(text) => {
                self.at += 1;
                Some(Expr::Text(text))
            }
            Kind::Number(number) => {
                self.at += 1;
                Some(Expr::Plain(number))
            }
            Kind::Regex => {
                self.at += 1;
                Some(Expr::Plain("//".to_owned()))
            }
            Kind::Template(pieces) => {
                self.at += 1;
                self.template(pieces)
            }
            Kind::Name(name)
                if matches!(name.as_str(), "true" | "false" | "null" | "undefined" | "NaN" | "Infinity") =>
            {
                self.at += 1;
                Some(Expr::Plain(name))
            }
            Kind::Name(name) if name == "function" => {
                self.at += 1;
                if !self.is("(") {
                    self.identifier()?;
                }
                self.deeper(Self::function_rest)
            }
            Kind::Name(_) => self.identifier().map(Expr::Name),
            Kind::Op("(") => {
                self.at += 1;
                let value = self.expressions()?;
                self.need(")")?;
                Some(value)
            }
            Kind::Op("[") => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.eat("]") {
                    let spread = self.eat("...");
                    let item = self.expression()?;
                    items.push(if spread { Expr::Splat(Box::new(item)) } else { item });
                    if !self.eat(",") && !self.is("]") {
                        return None;
                    }
                }
                Some(Expr::List(items))
            }
            Kind::Op("{") => {
                self.at += 1;
                self.object()
            }
            Kind::Op(_) => None,
        }
    }

    /// An object, after its `{`. Methods, getters and setters are refused.
    pub(super) fn object(&mut self) -> Option<Expr> {
        let mut entries = Vec::new();
        while !self.eat("}") {
            if self.eat("...") {
                entries.push((Key::Spread, self.expression()?));
            } else {
                let key = match self.kind(0)?.clone() {
                    Kind::Name(name) => {
                        self.at += 1;
                        if self.is(",") || self.is("}") {
                            entries.push((Key::Constant(name.clone()), Expr::Name(name)));
                            self.eat(",");
                            continue;
                        }
                        Key::Constant(name)
                    }
                    Kind::Text(name) | Kind::Number(name) => {
                        self.at += 1;
                        Key::Constant(name)
                    }
                    Kind::Op("[") => {
                        self.at += 1;
                        let key = self.expression()?;
                        self.need("]")?;
                        Key::Computed(key)
                    }
                    _ => return None,
                };
                self.need(":")?;
                entries.push((key, self.expression()?));
            }
            if !self.eat(",") && !self.is("}") {
                return None;
            }
        }
        Some(Expr::Map(entries))
    }

    pub(super) fn template(&mut self, pieces: Vec<Piece>) -> Option<Expr> {
        let mut parts = vec![Expr::Text(String::new())];
        for piece in pieces {
            match piece {
                Piece::Text(text) if text.is_empty() => {}
                Piece::Text(text) => parts.push(Expr::Text(text)),
                Piece::Hole(code) => {
                    let (tokens, whole) = tokens(&code);
                    if !whole || self.depth + 4 >= DEEPEST {
                        return None;
                    }
                    let mut inner = Parser { tokens, at: 0, depth: self.depth + 4 };
                    let value = inner.expressions()?;
                    if inner.at < inner.tokens.len() {
                        return None;
                    }
                    parts.push(value);
                }
            }
        }
        Some(Expr::Sum(parts))
    }
}
