//! Python text to tokens. Indentation is dropped: what is read does not depend on it.

use super::super::cursor::Cursor;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(String),
    /// A string without holes.
    Text(String),
    /// Bytes, or a string whose value is not followed.
    Opaque,
    /// A string with holes.
    Mixed(Vec<Piece>),
    Op(&'static str),
    Newline,
}

/// A part of a string with holes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    /// Code, and whether its value is put in as it is.
    Hole(String, bool),
}

/// Longest first.
const OPERATORS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "!=", "->", ":=", "**", "//", ">>", "<<", "<=", ">=", "==", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<",
    ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
];

/// The tokens, and whether all of the text was understood. What stands before the first trouble is kept.
pub(super) fn tokens(text: &str) -> (Vec<Token>, bool) {
    let mut cursor = Cursor::new(text);
    let mut found = Vec::new();
    let mut open: Vec<&'static str> = Vec::new();
    while let Some(c) = cursor.peek() {
        match c {
            ' ' | '\t' | '\x0c' => cursor.skip(1),
            // A carriage return alone ends a line too.
            '\n' | '\r' => {
                cursor.skip(1);
                if open.is_empty() {
                    found.push(Token::Newline);
                }
            }
            '#' => {
                cursor.take_while(|c| c != '\n' && c != '\r');
            }
            '\\' => {
                cursor.skip(1);
                let returned = cursor.eat('\r');
                if !cursor.eat('\n') && !returned {
                    return (found, false);
                }
            }
            '"' | '\'' => match string(&mut cursor, "") {
                Some(token) => push_string(&mut found, token),
                None => return (found, false),
            },
            _ if c.is_ascii_digit() || (c == '.' && cursor.ahead(1).is_some_and(|c| c.is_ascii_digit())) => {
                match number(&mut cursor) {
                    Some(token) => found.push(token),
                    None => return (found, false),
                }
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                let word = cursor.word();
                if cursor.peek().is_some_and(|c| !c.is_ascii()) {
                    return (found, false);
                }
                let quoted = matches!(cursor.peek(), Some('"' | '\''));
                if quoted && word.len() <= 2 && word.chars().all(|c| "rRbBuUfF".contains(c)) {
                    match string(&mut cursor, &word.to_ascii_lowercase()) {
                        Some(token) => push_string(&mut found, token),
                        None => return (found, false),
                    }
                } else if quoted {
                    return (found, false);
                } else {
                    found.push(Token::Name(word));
                }
            }
            _ => {
                let Some(operator) = cursor.one_of(OPERATORS) else {
                    return (found, false);
                };
                cursor.skip(operator.len());
                match operator {
                    "(" => open.push(")"),
                    "[" => open.push("]"),
                    "{" => open.push("}"),
                    ")" | "]" | "}" if open.pop() != Some(operator) => return (found, false),
                    _ => {}
                }
                found.push(Token::Op(operator));
            }
        }
    }
    (found, open.is_empty())
}

/// Strings that stand next to one another are one.
fn push_string(found: &mut Vec<Token>, token: Token) {
    let joined = match (found.last_mut(), token) {
        (Some(Token::Text(before)), Token::Text(text)) => {
            before.push_str(&text);
            return;
        }
        (Some(Token::Mixed(before)), Token::Text(text)) => {
            before.push(Piece::Text(text));
            return;
        }
        (Some(Token::Mixed(before)), Token::Mixed(pieces)) => {
            before.extend(pieces);
            return;
        }
        (Some(last @ Token::Text(_)), Token::Mixed(pieces)) => {
            let Token::Text(text) = std::mem::replace(last, Token::Opaque) else { return };
            let mut all = vec![Piece::Text(text)];
            all.extend(pieces);
            *last = Token::Mixed(all);
            return;
        }
        (Some(Token::Opaque), Token::Opaque) => return,
        (_, token) => token,
    };
    found.push(joined);
}

fn number(cursor: &mut Cursor) -> Option<Token> {
    let mut text = String::new();
    while let Some(c) = cursor.peek() {
        let sign = matches!(c, '+' | '-')
            && text.ends_with(['e', 'E'])
            && !text.starts_with("0x")
            && !text.starts_with("0X");
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || sign) {
            break;
        }
        text.push(c);
        cursor.skip(1);
    }
    let digits = text.to_ascii_lowercase();
    let based = digits.starts_with("0x") || digits.starts_with("0o") || digits.starts_with("0b");
    // `1if x else y` is a number and a word to Python: rare, so refused.
    let fine = based && digits.chars().skip(2).all(|c| c.is_ascii_hexdigit() || c == '_')
        || !based && digits.chars().all(|c| c.is_ascii_digit() || "_.ej+-".contains(c));
    fine.then_some(Token::Number(text))
}

/// A string literal after its prefix.
fn string(cursor: &mut Cursor, prefix: &str) -> Option<Token> {
    let quote = cursor.bump()?;
    let triple = cursor.peek() == Some(quote) && cursor.ahead(1) == Some(quote);
    if triple {
        cursor.skip(2);
    }
    let raw = prefix.contains('r');
    let bytes = prefix.contains('b');
    let holes = prefix.contains('f');
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut followed = !bytes;
    loop {
        let c = cursor.bump()?;
        if c == quote {
            if !triple {
                break;
            }
            if cursor.peek() == Some(quote) && cursor.ahead(1) == Some(quote) {
                cursor.skip(2);
                break;
            }
            text.push(c);
            continue;
        }
        match c {
            '\n' | '\r' if !triple => return None,
            '\\' if raw => {
                text.push(c);
                text.push(cursor.bump()?);
            }
            '\\' => followed &= escape(cursor, &mut text, bytes)?,
            '{' | '}' if holes => {
                if cursor.eat(c) {
                    text.push(c);
                } else if c == '{' {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                    hole(cursor, quote, triple, &mut pieces)?;
                } else {
                    return None;
                }
            }
            _ => text.push(c),
        }
    }
    if !pieces.is_empty() {
        pieces.push(Piece::Text(text));
        return Some(Token::Mixed(pieces));
    }
    Some(if followed { Token::Text(text) } else { Token::Opaque })
}

/// A hole of an f-string, after its `{`. Quotes of the string's own kind inside are read differently by different
/// versions, so they are refused.
fn hole(cursor: &mut Cursor, quote: char, triple: bool, pieces: &mut Vec<Piece>) -> Option<()> {
    let mut code = String::new();
    let mut open = 0usize;
    let mut inner: Option<char> = None;
    loop {
        let c = cursor.peek()?;
        if c == quote || c == '\\' || c == '#' || (c == '\n' && !triple) {
            return None;
        }
        match (inner, c) {
            (Some(mark), _) if c == mark => inner = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => inner = Some(c),
            (None, '(' | '[' | '{') => open += 1,
            (None, ')' | ']') => open = open.checked_sub(1)?,
            (None, '}') if open > 0 => open -= 1,
            (None, '}') => break,
            (None, '!') if open == 0 && cursor.ahead(1) != Some('=') => break,
            (None, ':') if open == 0 => break,
            // `{x=}` shows the code; one that compares is read as code.
            (None, '=') if open == 0 && matches!(cursor.ahead(1), Some('}' | '!' | ':')) => {
                cursor.skip(1);
                pieces.push(Piece::Hole(std::mem::take(&mut code), false));
                continue;
            }
            _ => {}
        }
        code.push(c);
        cursor.skip(1);
    }
    let mut exact = true;
    if cursor.eat('!') {
        exact = false;
        cursor.word();
    }
    if !code.trim().is_empty() {
        pieces.push(Piece::Hole(code, exact && cursor.peek() == Some('}')));
    } else if !matches!(pieces.last(), Some(Piece::Hole(..))) {
        return None;
    }
    if cursor.eat(':') {
        specification(cursor, quote, pieces)?;
    }
    cursor.eat('}').then_some(())
}

/// What follows `:` in a hole; it may have simple holes itself.
fn specification(cursor: &mut Cursor, quote: char, pieces: &mut Vec<Piece>) -> Option<()> {
    loop {
        let c = cursor.peek()?;
        match c {
            '}' => return Some(()),
            '{' => {
                cursor.skip(1);
                let code = cursor.take_while(|c| c.is_ascii_alphanumeric() || "_.+-* ".contains(c));
                pieces.push(Piece::Hole(code, false));
                if !cursor.eat('}') {
                    return None;
                }
            }
            _ if c == quote || c == '\n' || c == '\\' => return None,
            _ => cursor.skip(1),
        }
    }
}

/// An escape after its backslash. False if the value is not followed.
fn escape(cursor: &mut Cursor, text: &mut String, bytes: bool) -> Option<bool> {
    let c = cursor.bump()?;
    match c {
        '\n' => {}
        '\r' => {
            cursor.eat('\n');
        }
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'a' => text.push('\x07'),
        'b' => text.push('\x08'),
        'f' => text.push('\x0c'),
        'v' => text.push('\x0b'),
        '\\' | '\'' | '"' => text.push(c),
        'x' => return code_point(cursor, text, 2),
        'u' if !bytes => return code_point(cursor, text, 4),
        'U' if !bytes => return code_point(cursor, text, 8),
        'N' if !bytes => {
            // A character by its name: the names are not known here.
            cursor.eat('{').then_some(())?;
            cursor.take_while(|c| c.is_ascii_alphanumeric() || c == ' ' || c == '-');
            cursor.eat('}').then_some(())?;
            return Some(false);
        }
        '0'..='7' => {
            let mut value = c.to_digit(8)?;
            for _ in 0..2 {
                if let Some(digit) = cursor.peek().and_then(|c| c.to_digit(8)) {
                    value = value * 8 + digit;
                    cursor.skip(1);
                }
            }
            text.push(char::from_u32(value)?);
        }
        _ => {
            text.push('\\');
            text.push(c);
        }
    }
    Some(true)
}

fn code_point(cursor: &mut Cursor, text: &mut String, digits: usize) -> Option<bool> {
    let mut value = 0u32;
    for _ in 0..digits {
        value = value.checked_mul(16)?.checked_add(cursor.bump()?.to_digit(16)?)?;
    }
    match char::from_u32(value) {
        Some(c) => {
            text.push(c);
            Some(true)
        }
        None => Some(false),
    }
}
