//! JavaScript text to tokens.
//!
//! Whether `/` divides or starts a regular expression is decided by the token before it. Where that token leaves
//! doubt, the reading that is taken makes the parser refuse if it is the wrong one.

use super::super::cursor::Cursor;

/// A token, and whether a line ended before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) after_line: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Name(String),
    Number(String),
    Text(String),
    Regex,
    /// A template: its texts and the code of its holes, in order.
    Template(Vec<Piece>),
    Op(&'static str),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Hole(String),
}

/// Longest first.
const OPERATORS: &[&str] = &[
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
    "**", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~",
    "?", ":", "=", ".",
];
/// Words after which an expression starts.
const BEFORE_EXPRESSION: &[&str] = &[
    "return",
    "typeof",
    "case",
    "in",
    "instanceof",
    "delete",
    "void",
    "throw",
    "new",
    "else",
    "do",
    "yield",
];
/// Templates inside one another.
const DEEPEST_TEMPLATE: usize = 8;

/// The tokens, and whether all of the text was understood. What stands before the first trouble is kept.
pub(super) fn tokens(text: &str) -> (Vec<Token>, bool) {
    let mut cursor = Cursor::new(text);
    let mut found: Vec<Token> = Vec::new();
    let mut after_line = true;
    let mut whole = true;
    while let Some(c) = cursor.peek() {
        let kind = match c {
            '\n' | '\r' => {
                after_line = true;
                cursor.skip(1);
                continue;
            }
            ' ' | '\t' | '\x0b' | '\x0c' => {
                cursor.skip(1);
                continue;
            }
            '/' if cursor.at("//") => {
                let comment = cursor.take_while(|c| c != '\n' && c != '\r');
                // These end a line too, so what follows them would be code.
                whole &= !comment.contains(['\u{2028}', '\u{2029}']);
                continue;
            }
            '/' if cursor.at("/*") => {
                cursor.skip(2);
                let start = cursor.position();
                if !cursor.skip_past("*/") {
                    return (found, false);
                }
                after_line |= cursor.position() > start + 2;
                continue;
            }
            '/' if starts_regex(&found) => match regex(&mut cursor) {
                Some(()) => Kind::Regex,
                None => return (found, false),
            },
            '"' | '\'' => match string(&mut cursor) {
                Some(text) => Kind::Text(text),
                None => return (found, false),
            },
            '`' => match template(&mut cursor) {
                Some(pieces) => Kind::Template(pieces),
                None => return (found, false),
            },
            _ if c.is_ascii_digit() || (c == '.' && cursor.ahead(1).is_some_and(|c| c.is_ascii_digit())) => {
                match number(&mut cursor) {
                    Some(text) => Kind::Number(text),
                    None => return (found, false),
                }
            }
            _ if c.is_ascii_alphabetic() || c == '_' || c == '$' => {
                let word = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
                if cursor.peek().is_some_and(|c| c == '\\' || !c.is_ascii()) {
                    return (found, false);
                }
                Kind::Name(word)
            }
            // Comments of the old web: `<!--` hides the rest of a line, and so does `-->` at the start of one.
            _ if cursor.at("<!--") || cursor.at("-->") => return (found, false),
            _ => match cursor.one_of(OPERATORS) {
                // `a?.5:b`
                Some("?.") if cursor.ahead(2).is_some_and(|c| c.is_ascii_digit()) => {
                    cursor.skip(1);
                    Kind::Op("?")
                }
                Some(operator) => {
                    cursor.skip(operator.len());
                    Kind::Op(operator)
                }
                None => return (found, false),
            },
        };
        found.push(Token { kind, after_line });
        after_line = false;
    }
    (found, whole)
}

fn starts_regex(found: &[Token]) -> bool {
    let mut before = found.iter().rev().map(|token| &token.kind);
    match before.next() {
        None => true,
        Some(Kind::Op(operator)) => !matches!(*operator, ")" | "]" | "}"),
        Some(Kind::Name(word)) => {
            BEFORE_EXPRESSION.contains(&word.as_str()) && !matches!(before.next(), Some(Kind::Op("." | "?.")))
        }
        Some(_) => false,
    }
}

fn regex(cursor: &mut Cursor) -> Option<()> {
    cursor.skip(1);
    let mut in_class = false;
    loop {
        match cursor.bump()? {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => return None,
            '\\' => {
                cursor.bump().filter(|c| !matches!(c, '\n' | '\r'))?;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => break,
            _ => {}
        }
    }
    cursor.take_while(|c| c.is_ascii_alphabetic());
    Some(())
}

fn number(cursor: &mut Cursor) -> Option<String> {
    let mut text = String::new();
    while let Some(c) = cursor.peek() {
        let sign = matches!(c, '+' | '-') && text.ends_with(['e', 'E']) && !text.starts_with("0x");
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || sign) {
            break;
        }
        text.push(c);
        cursor.skip(1);
    }
    let lower = text.to_ascii_lowercase();
    let based = lower.starts_with("0x") || lower.starts_with("0b") || lower.starts_with("0o");
    let fine = based && lower.chars().skip(2).all(|c| c.is_ascii_hexdigit() || c == '_' || c == 'n')
        || !based && lower.chars().all(|c| c.is_ascii_digit() || "_.en+-".contains(c));
    // `1..toString()` and `1.toFixed` are refused.
    (fine && lower.matches('.').count() <= 1).then_some(text)
}

fn string(cursor: &mut Cursor) -> Option<String> {
    let quote = cursor.bump()?;
    let mut text = String::new();
    loop {
        let c = cursor.bump()?;
        match c {
            _ if c == quote => return Some(text),
            '\n' | '\r' => return None,
            '\\' => escape(cursor, &mut text)?,
            _ => text.push(c),
        }
    }
}

fn escape(cursor: &mut Cursor, text: &mut String) -> Option<()> {
    match cursor.bump()? {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'b' => text.push('\x08'),
        'f' => text.push('\x0c'),
        'v' => text.push('\x0b'),
        '\r' => {
            cursor.eat('\n');
        }
        '\n' | '\u{2028}' | '\u{2029}' => {}
        'x' => text.push(code_point(cursor, 2)?),
        'u' if cursor.eat('{') => {
            let digits = cursor.take_while(|c| c.is_ascii_hexdigit());
            cursor.eat('}').then_some(())?;
            text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
        }
        // Half of a pair: refused with the text.
        'u' => text.push(code_point(cursor, 4)?),
        c @ '0'..='7' => {
            let mut value = c.to_digit(8)?;
            for _ in 0..2 {
                let digit = cursor.peek().and_then(|c| c.to_digit(8));
                if let Some(digit) = digit.filter(|digit| value * 8 + digit < 256) {
                    value = value * 8 + digit;
                    cursor.skip(1);
                }
            }
            text.push(char::from_u32(value)?);
        }
        c => text.push(c),
    }
    Some(())
}

fn code_point(cursor: &mut Cursor, digits: usize) -> Option<char> {
    let mut value = 0u32;
    for _ in 0..digits {
        value = value * 16 + cursor.bump()?.to_digit(16)?;
    }
    char::from_u32(value)
}

fn template(cursor: &mut Cursor) -> Option<Vec<Piece>> {
    cursor.skip(1);
    let mut pieces = Vec::new();
    let mut text = String::new();
    loop {
        let c = cursor.bump()?;
        match c {
            '`' => {
                pieces.push(Piece::Text(text));
                return Some(pieces);
            }
            '\\' => escape(cursor, &mut text)?,
            '$' if cursor.eat('{') => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Hole(hole(cursor)?));
            }
            _ => text.push(c),
        }
    }
}

/// The code of a hole, up to its `}`. Regular expressions and comments could hide that brace: a `/` next to one of
/// `/`, `*` or inside quotes' reach is refused by taking only what is plain.
fn hole(cursor: &mut Cursor) -> Option<String> {
    let mut code = String::new();
    // What is open: a brace of code, or a template.
    let mut open: Vec<char> = vec!['{'];
    while let Some(c) = cursor.bump() {
        let in_template = open.last() == Some(&'`');
        match c {
            '\\' if in_template => {
                code.push(c);
                code.push(cursor.bump()?);
                continue;
            }
            '`' if in_template => {
                open.pop();
            }
            '$' if in_template && cursor.peek() == Some('{') => {
                code.push(c);
                cursor.skip(1);
                open.push('{');
                code.push('{');
                continue;
            }
            _ if in_template => {}
            '`' => open.push('`'),
            '{' => open.push('{'),
            '}' => {
                open.pop();
                if open.is_empty() {
                    return Some(code);
                }
            }
            '"' | '\'' => {
                code.push(c);
                loop {
                    let inner = cursor.bump()?;
                    code.push(inner);
                    match inner {
                        '\\' => code.push(cursor.bump()?),
                        '\n' | '\r' => return None,
                        _ if inner == c => break,
                        _ => {}
                    }
                }
                continue;
            }
            // Division is rare here; a regular expression or a comment could hold a brace or a quote.
            '/' => return None,
            _ => {}
        }
        if open.len() > DEEPEST_TEMPLATE {
            return None;
        }
        code.push(c);
    }
    None
}
