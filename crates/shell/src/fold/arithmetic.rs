//! Arithmetic over constants. What it assigns is forgotten, what it cannot know stays unknown.

use super::expand::{Seen, is_identifier, sources};
use super::state::{Binding, unknown};
use super::{Folder, refuse};
use crate::parse::Read;
use crate::syntax::Arithmetic;
use crate::{Span, Unknown, Value, Why};

/// How deep an expression may nest.
const MAX_NESTING: usize = 32;
/// How often one variable may name another.
const MAX_CHAIN: usize = 3;

impl<'t, 'a> Folder<'t, 'a> {
    /// Evaluates an expression, follows the commands in it, and notes what it assigns.
    pub(super) fn arithmetic(&mut self, arithmetic: &'t Arithmetic<'a>) -> Read<Value> {
        let value = self.quoted(&arithmetic.parts, arithmetic.span)?;
        // Assignments are looked for in what is written, whether or not the whole is constant.
        let mut assigns = false;
        for part in &arithmetic.parts {
            if let crate::syntax::Part::Quoted(text) = part {
                assigns |= assigns_in(text);
            }
        }
        match value {
            Value::Text(text) => self.evaluate(&text, assigns, arithmetic.span),
            other => {
                if assigns {
                    self.state.lose_variables();
                }
                if let Value::OneOf(members) = &other {
                    for member in members {
                        if let Value::Text(text) = member {
                            self.safe(text, arithmetic.span)?;
                        }
                    }
                }
                Ok(Value::Unknown(Unknown {
                    prefix: String::new(),
                    suffix: String::new(),
                    splits: false,
                    why: Why::Arithmetic,
                    from: sources(other),
                }))
            }
        }
    }

    /// Evaluates constant text.
    pub(super) fn evaluate(&mut self, text: &str, assigns: bool, span: Span) -> Read<Value> {
        self.safe(text, span)?;
        if assigns || assigns_in(text) {
            for name in names(text) {
                self.assignable(name, span)?;
                self.bind(name, Binding::Lost);
            }
            return Ok(unknown(Why::Arithmetic));
        }
        let mut reader = Reader { folder: self, rest: text.trim(), depth: 0 };
        let value = reader.ternaryless(0);
        let whole = reader.rest.trim().is_empty();
        Ok(match value {
            Some(number) if whole => Value::Text(number.to_string()),
            _ => unknown(Why::Arithmetic),
        })
    }

    /// Refuses an expression, or a variable in it, that the shell would evaluate as code.
    fn safe(&self, text: &str, span: Span) -> Read<()> {
        if text.contains(['[', '$', '`']) {
            return refuse(span, "arithmetic with a subscript, which the shell would evaluate");
        }
        self.safe_names(text, span, 0)
    }

    /// Refuses a name whose text the shell would evaluate as code. Where that text is a name again, so is what it names.
    pub(super) fn safe_names(&self, text: &str, span: Span, depth: usize) -> Read<()> {
        for name in names(text) {
            let refusal =
                || refuse(span, format!("arithmetic over `{name}`, whose text the shell would evaluate"));
            let checked = |text: &str| {
                if !is_number(text) || depth > MAX_CHAIN {
                    return refusal();
                }
                if is_identifier(text) && text != name {
                    self.safe_names(text, span, depth + 1)
                } else {
                    Ok(())
                }
            };
            match self.variable(name) {
                Seen::Value(Value::Text(text)) => checked(&text)?,
                Seen::Value(Value::OneOf(members)) => {
                    for member in &members {
                        match member {
                            Value::Text(text) => checked(text)?,
                            _ => return refusal(),
                        }
                    }
                }
                Seen::Value(Value::Pattern(_) | Value::Process { .. }) => return refusal(),
                Seen::Value(_) | Seen::Unset => {}
            }
        }
        Ok(())
    }

    /// A subscript is arithmetic: what it assigns is forgotten, and a name in it must not hold code.
    pub(super) fn subscript_text(&mut self, text: &str, span: Span) -> Read<()> {
        if matches!(text, "@" | "*") {
            return Ok(());
        }
        if text.contains(['$', '`', '[']) {
            return refuse(span, "a subscript that the shell would evaluate");
        }
        self.safe_names(text, span, 0)?;
        if assigns_in(text) {
            for name in names(text) {
                self.bind(name, Binding::Lost);
            }
        }
        Ok(())
    }
}

fn is_number(text: &str) -> bool {
    text.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-_ #".contains(&byte))
        && !text.bytes().any(|byte| byte.is_ascii_alphabetic())
        || text.is_empty()
        || (is_identifier(text) && text.len() < 64)
}

/// The names in an expression.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|met: char| !(met == '_' || met.is_ascii_alphanumeric())).filter(|piece| is_identifier(piece))
}

/// Whether an expression may assign.
fn assigns_in(text: &str) -> bool {
    if text.contains("++") || text.contains("--") {
        return true;
    }
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, &byte)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let two = at.checked_sub(2).and_then(|at| bytes.get(at));
        byte == b'='
            && bytes.get(at + 1) != Some(&b'=')
            && match before {
                Some(b'=' | b'!') => false,
                Some(b'<') => two == Some(&b'<'),
                Some(b'>') => two == Some(&b'>'),
                _ => true,
            }
    })
}

struct Reader<'f, 't, 'a, 'x> {
    folder: &'f Folder<'t, 'a>,
    rest: &'x str,
    depth: usize,
}

/// The binary operators, by how tightly they bind; longer ones first.
const OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("**", 11),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
];

impl Reader<'_, '_, '_, '_> {
    /// An expression whose operators bind at least this tightly. Anything else ends it.
    fn ternaryless(&mut self, least: u8) -> Option<i64> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return None;
        }
        let mut left = self.operand()?;
        loop {
            self.rest = self.rest.trim_start();
            let found = OPERATORS.iter().find(|(sign, _)| self.rest.starts_with(sign)).copied();
            let (sign, binds) = match found {
                Some(found) => found,
                None if self.rest.starts_with('%') => ("%", 10),
                None => break,
            };
            if binds < least || binds == 0 {
                break;
            }
            if sign == "**" || sign == "&&" || sign == "||" {
                return None;
            }
            self.rest = self.rest.get(sign.len()..)?;
            let right = self.ternaryless(binds + 1)?;
            left = match sign {
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                "*" => left.checked_mul(right)?,
                "/" => left.checked_div(right)?,
                "%" => left.checked_rem(right)?,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "&" => left & right,
                "|" => left | right,
                "^" => left ^ right,
                "<<" if (0..32).contains(&right) && (0..1 << 20).contains(&left) => left << right,
                ">>" if (0..63).contains(&right) && left >= 0 => left >> right,
                _ => return None,
            };
        }
        self.depth -= 1;
        Some(left)
    }

    fn operand(&mut self) -> Option<i64> {
        self.rest = self.rest.trim_start();
        if let Some(after) = self.rest.strip_prefix('(') {
            self.rest = after;
            let value = self.ternaryless(0)?;
            self.rest = self.rest.trim_start().strip_prefix(')')?;
            return Some(value);
        }
        if let Some(after) = self.rest.strip_prefix('-') {
            self.rest = after;
            self.depth += 1;
            if self.depth > MAX_NESTING {
                return None;
            }
            let value = self.operand()?;
            self.depth -= 1;
            return value.checked_neg();
        }
        let end = self
            .rest
            .find(|met: char| !(met == '_' || met.is_ascii_alphanumeric()))
            .unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at(end);
        self.rest = after;
        if self.rest.starts_with('#') {
            return None;
        }
        if is_identifier(word) {
            return match self.folder.variable(word) {
                Seen::Value(Value::Text(text)) => plain(&text),
                _ => None,
            };
        }
        plain(word)
    }
}

/// A decimal number without the leading zero that would make it octal.
fn plain(text: &str) -> Option<i64> {
    if text.len() > 18
        || (text.len() > 1 && text.starts_with('0'))
        || !text.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    text.parse().ok()
}
