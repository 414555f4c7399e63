//! JavaScript tokens to the syntax tree: what agents write in one line, and no classes, getters, labels or generators.
//!
//! A statement that is not understood makes the program not whole; calls by a name in the rest are still looked for.

mod expression;

use super::super::tree::{Expr, Key, Program};
use super::tokens::{Kind, Token, tokens};

const DEEPEST: usize = 32;
const LONGEST_CHAIN: usize = 64;
const MOST_TRIES: usize = 64;

const KEYWORDS: &[&str] = &[
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "export",
    "extends",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "new",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "enum",
    "await",
    "let",
    "arguments",
];
const BINARY: &[&str] = &[
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "??", "<<", ">>", ">>>", "**", "<", ">", "+", "-", "*",
    "/", "%", "&", "|", "^",
];
const ASSIGNING: &[&str] =
    &["+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??="];

/// Reads a whole program.
pub(super) fn program(text: &str) -> Program {
    let (tokens, mut whole) = tokens(text);
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let mut statements = Vec::new();
    let mut tries = 0;
    while parser.at < parser.tokens.len() {
        let start = parser.at;
        match parser.statement(&mut statements) {
            Some(()) => {}
            None => {
                whole = false;
                parser.depth = 0;
                // Skip to a place where a name that is called may start.
                parser.at = start;
                let called = loop {
                    let here = parser.at;
                    if here >= parser.tokens.len() || tries >= MOST_TRIES {
                        break None;
                    }
                    if parser.starts_call(here) {
                        tries += 1;
                        if let Some(call @ Expr::Call(..)) = parser.postfix() {
                            break Some(call);
                        }
                        parser.depth = 0;
                    }
                    parser.at = here + 1;
                };
                match called {
                    Some(call) => statements.push(call),
                    None => break,
                }
            }
        }
    }
    Program { statements, whole }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn kind(&self, ahead: usize) -> Option<&Kind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    fn is(&self, operator: &str) -> bool {
        matches!(self.kind(0), Some(Kind::Op(found)) if *found == operator)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(0), Some(Kind::Name(found)) if found == word)
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

    fn identifier(&mut self) -> Option<String> {
        match self.kind(0) {
            Some(Kind::Name(name)) if !KEYWORDS.contains(&name.as_str()) => {
                let name = name.clone();
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    fn starts_call(&self, here: usize) -> bool {
        let after_dot = here > 0
            && matches!(self.tokens.get(here - 1).map(|token| &token.kind), Some(Kind::Op("." | "?.")));
        matches!(self.kind(0), Some(Kind::Name(name)) if !KEYWORDS.contains(&name.as_str()))
            && !after_dot
            && matches!(self.kind(1), Some(Kind::Op("." | "(")))
    }

    /// The end of a statement: `;`, a closing brace, a new line, or nothing more.
    fn end(&mut self) -> Option<()> {
        if self.eat(";") {
            return Some(());
        }
        match self.tokens.get(self.at) {
            None => Some(()),
            Some(token) if token.after_line || token.kind == Kind::Op("}") => Some(()),
            Some(_) => None,
        }
    }

    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = inside(self);
        self.depth = self.depth.saturating_sub(1);
        found
    }

    fn statement(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        self.deeper(|parser| parser.statement_here(out))
    }

    fn statement_here(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        if self.eat(";") {
            return Some(());
        }
        if self.eat("{") {
            return self.block(out);
        }
        let word = match self.kind(0)? {
            Kind::Name(word) => word.clone(),
            _ => return self.expression_statement(out),
        };
        match word.as_str() {
            "const" | "let" | "var" => {
                self.at += 1;
                self.declarations(out)?;
                self.end()
            }
            "if" | "while" => {
                self.at += 1;
                self.need("(")?;
                out.push(Expr::Mix(vec![self.expressions()?]));
                self.need(")")?;
                self.statement(out)?;
                if word == "if" && self.eat_word("else") {
                    self.statement(out)?;
                }
                Some(())
            }
            "do" => {
                self.at += 1;
                self.statement(out)?;
                if !self.eat_word("while") {
                    return None;
                }
                self.need("(")?;
                out.push(Expr::Mix(vec![self.expressions()?]));
                self.need(")")?;
                self.eat(";");
                Some(())
            }
            "for" => self.for_loop(out),
            "try" => {
                self.at += 1;
                self.need("{")?;
                self.block(out)?;
                if self.eat_word("catch") {
                    if self.eat("(") {
                        let name = self.pattern()?;
                        out.push(Expr::Receive(Box::new(name)));
                        self.need(")")?;
                    }
                    self.need("{")?;
                    self.block(out)?;
                }
                if self.eat_word("finally") {
                    self.need("{")?;
                    self.block(out)?;
                }
                Some(())
            }
            "switch" => self.switch(out),
            "function" => {
                self.at += 1;
                self.declared_function(out)
            }
            "async" if matches!(self.kind(1), Some(Kind::Name(next)) if next == "function") => {
                self.at += 2;
                self.declared_function(out)
            }
            "return" => {
                self.at += 1;
                if self.end().is_some() {
                    return Some(());
                }
                let value = self.expressions()?;
                out.push(Expr::Escape(Box::new(value)));
                self.end()
            }
            "throw" => {
                self.at += 1;
                let value = self.expressions()?;
                out.push(Expr::Escape(Box::new(value)));
                self.end()
            }
            "break" | "continue" => {
                self.at += 1;
                self.end()
            }
            "import" => {
                self.at += 1;
                self.import(out)
            }
            _ => self.expression_statement(out),
        }
    }

    fn expression_statement(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        let value = self.expressions()?;
        out.push(value);
        self.end()
    }

    /// Statements up to the closing brace.
    fn block(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        while !self.eat("}") {
            self.kind(0)?;
            self.statement(out)?;
        }
        Some(())
    }

    fn declarations(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        loop {
            let target = self.pattern()?;
            if self.eat("=") {
                let value = self.expression()?;
                out.push(Expr::Assign(Box::new(target), Box::new(value)));
            } else {
                out.push(Expr::Assign(Box::new(target), Box::new(Expr::Plain("undefined".to_owned()))));
            }
            if !self.eat(",") {
                return Some(());
            }
        }
    }

    fn for_loop(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        self.at += 1;
        self.eat_word("await");
        self.need("(")?;
        let declares = self.eat_word("const") || self.eat_word("let") || self.eat_word("var");
        if declares {
            let start = self.at;
            let target = self.pattern()?;
            if self.eat_word("of") {
                let value = self.expression()?;
                out.push(Expr::Iterate(Box::new(target), Box::new(value)));
                self.need(")")?;
                return self.statement(out);
            }
            if self.eat_word("in") {
                let value = self.expressions()?;
                out.push(Expr::Keys(Box::new(target), Box::new(value)));
                self.need(")")?;
                return self.statement(out);
            }
            self.at = start;
            self.declarations(out)?;
        } else if !self.is(";") {
            out.push(self.expressions()?);
        }
        self.need(";")?;
        if !self.is(";") {
            out.push(Expr::Mix(vec![self.expressions()?]));
        }
        self.need(";")?;
        if !self.is(")") {
            out.push(self.expressions()?);
        }
        self.need(")")?;
        self.statement(out)
    }

    fn switch(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        self.at += 1;
        self.need("(")?;
        out.push(Expr::Mix(vec![self.expressions()?]));
        self.need(")")?;
        self.need("{")?;
        while !self.eat("}") {
            if self.eat_word("case") {
                out.push(Expr::Mix(vec![self.expressions()?]));
                self.need(":")?;
            } else if self.eat_word("default") {
                self.need(":")?;
            } else {
                self.kind(0)?;
                self.statement(out)?;
            }
        }
        Some(())
    }

    fn declared_function(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        let name = self.identifier()?;
        let function = self.function_rest()?;
        out.push(Expr::Assign(Box::new(Expr::Name(name)), Box::new(function)));
        Some(())
    }

    /// Parameters and body.
    fn function_rest(&mut self) -> Option<Expr> {
        self.need("(")?;
        let parameters = self.parameters()?;
        self.need("{")?;
        let mut body = Vec::new();
        self.block(&mut body)?;
        Some(Expr::Function(parameters, body))
    }

    fn parameters(&mut self) -> Option<Vec<Expr>> {
        let mut all = Vec::new();
        while !self.eat(")") {
            let spread = self.eat("...");
            let target = self.pattern()?;
            let target = if self.eat("=") {
                Expr::Assign(Box::new(target), Box::new(self.expression()?))
            } else {
                target
            };
            all.push(if spread { Expr::Splat(Box::new(target)) } else { target });
            if !self.eat(",") && !self.is(")") {
                return None;
            }
        }
        Some(all)
    }

    /// `import fs from "fs"`, `import {a as b} from "fs"`, `import * as fs from "fs"`.
    fn import(&mut self, out: &mut Vec<Expr>) -> Option<()> {
        let mut names: Vec<(String, Option<String>)> = Vec::new();
        if let Some(name) = self.identifier() {
            names.push((name, None));
            self.eat(",");
        }
        if self.eat("*") {
            if !self.eat_word("as") {
                return None;
            }
            names.push((self.identifier()?, None));
        } else if self.eat("{") {
            while !self.eat("}") {
                let name = self.identifier()?;
                let alias = if self.eat_word("as") { self.identifier()? } else { name.clone() };
                names.push((alias, Some(name)));
                if !self.eat(",") && !self.is("}") {
                    return None;
                }
            }
        }
        if names.is_empty() || !self.eat_word("from") {
            return None;
        }
        let Some(Kind::Text(module)) = self.kind(0) else { return None };
        let module = module.strip_prefix("node:").unwrap_or(module).to_owned();
        self.at += 1;
        for (alias, name) in names {
            let known = match name {
                Some(name) => format!("{module}.{name}"),
                None => module.clone(),
            };
            out.push(Expr::Import(alias, known));
        }
        self.end()
    }

    /// What is bound: a name, `[a, b]` or `{a, b: c, ...d}`.
    fn pattern(&mut self) -> Option<Expr> {
        self.deeper(|parser| {
            if parser.eat("[") {
                let mut all = Vec::new();
                while !parser.eat("]") {
                    if parser.eat(",") {
                        return None;
                    }
                    let spread = parser.eat("...");
                    let one = parser.pattern_with_default()?;
                    all.push(if spread { Expr::Splat(Box::new(one)) } else { one });
                    if !parser.eat(",") && !parser.is("]") {
                        return None;
                    }
                }
                return Some(Expr::List(all));
            }
            if parser.eat("{") {
                let mut all = Vec::new();
                while !parser.eat("}") {
                    if parser.eat("...") {
                        let rest = parser.identifier()?;
                        all.push((Key::Spread, Expr::Name(rest)));
                    } else {
                        let name = parser.identifier()?;
                        let target = if parser.eat(":") {
                            parser.pattern_with_default()?
                        } else if parser.eat("=") {
                            Expr::Assign(Box::new(Expr::Name(name.clone())), Box::new(parser.expression()?))
                        } else {
                            Expr::Name(name.clone())
                        };
                        all.push((Key::Constant(name), target));
                    }
                    if !parser.eat(",") && !parser.is("}") {
                        return None;
                    }
                }
                return Some(Expr::Map(all));
            }
            parser.identifier().map(Expr::Name)
        })
    }

    fn pattern_with_default(&mut self) -> Option<Expr> {
        let target = self.pattern()?;
        if self.eat("=") {
            return Some(Expr::Assign(Box::new(target), Box::new(self.expression()?)));
        }
        Some(target)
    }
}
