//! SQL text to tokens, over all dialects.

use super::super::cursor::Cursor;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// In lower case.
    Word(String),
    /// `"x"`, `` `x` ``, `[x]`: a name, or text in some dialects.
    Quoted(String),
    Text(String),
    Number,
    Symbol(char),
    /// `;`
    End,
    /// The rest of a line after `\`: a command of psql or mysql.
    Backslash(String),
    /// A line that starts with `.`: a command of sqlite3 or duckdb.
    Dot(String),
}

/// The tokens, and whether every dialect reads the text so.
pub(super) fn tokens(text: &str) -> (Vec<Token>, bool) {
    let mut cursor = Cursor::new(text);
    let mut found = Vec::new();
    let mut whole = true;
    while let Some(c) = cursor.peek() {
        match c {
            _ if c.is_whitespace() => {
                whole &= c.is_ascii();
                cursor.skip(1);
            }
            '-' if cursor.at("--") => {
                // mysql wants a space after the dashes; without one they are arithmetic to it.
                whole &= cursor.ahead(2).is_none_or(char::is_whitespace);
                cursor.take_while(|c| c != '\n' && c != '\r');
            }
            '/' if cursor.at("/*") => {
                cursor.skip(2);
                if matches!(cursor.peek(), Some('!' | 'M' | '+')) {
                    // mysql runs what is in such a comment: read on as code.
                    whole = false;
                    cursor.skip(1);
                    cursor.take_while(|c| c.is_ascii_digit() || c == '!');
                    continue;
                }
                let mut closed = false;
                while !cursor.done() {
                    if cursor.eat_str("*/") {
                        closed = true;
                        break;
                    }
                    // Comments inside comments: not in every dialect.
                    whole &= !cursor.at("/*");
                    cursor.skip(1);
                }
                whole &= closed;
            }
            '*' if cursor.at("*/") => {
                whole = false;
                cursor.skip(2);
            }
            '\'' => match quoted(&mut cursor, '\'', &mut whole) {
                Some(text) => {
                    // `e'\x72'` and the like: the value is not what is written.
                    if text.contains('\\')
                        && matches!(found.last(), Some(Token::Word(word)) if word.len() == 1)
                    {
                        whole = false;
                    }
                    found.push(Token::Text(text));
                }
                None => return (found, false),
            },
            '"' | '`' => match quoted(&mut cursor, c, &mut whole) {
                Some(text) => found.push(Token::Quoted(text)),
                None => return (found, false),
            },
            '[' => {
                // A name in some dialects, an index in others: what is inside must be harmless as both.
                whole &= bracket_is_plain(&cursor);
                cursor.skip(1);
                found.push(Token::Symbol('['));
            }
            '$' if cursor.ahead(1).is_some_and(|c| c == '$' || c.is_ascii_alphabetic() || c == '_') => {
                match dollar(&mut cursor) {
                    Some(text) => {
                        // To some dialects these are names and the inside is code.
                        whole &= !text.contains([';', '\'', '"', '`', '\\']) && !text.contains("--");
                        found.push(Token::Text(text));
                    }
                    None => return (found, false),
                }
            }
            ';' => {
                cursor.skip(1);
                found.push(Token::End);
            }
            '\\' => {
                cursor.skip(1);
                let line = cursor.take_while(|c| c != '\n' && c != '\r');
                found.push(Token::Backslash(line));
            }
            '.' if starts_line(&cursor) => {
                cursor.skip(1);
                let line = cursor.take_while(|c| c != '\n' && c != '\r');
                found.push(Token::Dot(line));
            }
            '#' => {
                // A comment to mysql, an operator to others.
                whole = false;
                cursor.skip(1);
            }
            ':' => {
                cursor.skip(1);
                if cursor.eat(':') {
                    found.push(Token::Symbol(':'));
                } else if cursor.peek().is_some_and(|c| c.is_ascii_alphabetic() || "'\"{_!".contains(c)) {
                    // A variable of the client, put in as it is.
                    whole = false;
                }
            }
            _ if c.is_ascii_digit() => {
                cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
                found.push(Token::Number);
            }
            _ if c.is_alphabetic() || c == '_' || c == '@' || c == '$' => {
                let word = cursor.take_while(|c| c.is_alphanumeric() || c == '_' || c == '@' || c == '$');
                found.push(Token::Word(word.to_lowercase()));
            }
            _ => {
                whole &= !c.is_control() && c.is_ascii();
                cursor.skip(1);
                found.push(Token::Symbol(c));
            }
        }
    }
    (found, whole)
}

fn bracket_is_plain(cursor: &Cursor) -> bool {
    for distance in 1..128 {
        match cursor.ahead(distance) {
            Some(']') => return true,
            Some('\'' | '"' | '`' | ';' | '\\' | '-' | '/' | '$' | '#') | None => return false,
            Some(_) => {}
        }
    }
    false
}

/// Is this the first character of its line?
fn starts_line(cursor: &Cursor) -> bool {
    matches!(cursor.behind(), None | Some('\n' | '\r' | ';'))
        && cursor.ahead(1).is_some_and(|c| c.is_ascii_alphabetic())
}

fn quoted(cursor: &mut Cursor, quote: char, whole: &mut bool) -> Option<String> {
    cursor.skip(1);
    let mut text = String::new();
    loop {
        let c = cursor.bump()?;
        if c == quote {
            if cursor.eat(quote) {
                text.push(c);
                continue;
            }
            return Some(text);
        }
        // A backslash hides a quote from mysql, and from nobody else.
        if c == '\\' && cursor.peek() == Some(quote) {
            *whole = false;
        }
        text.push(c);
    }
}

/// `$tag$ … $tag$`
fn dollar(cursor: &mut Cursor) -> Option<String> {
    cursor.skip(1);
    let tag = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    if !cursor.eat('$') {
        return None;
    }
    let end: Vec<char> = format!("${tag}$").chars().collect();
    let mut text: Vec<char> = Vec::new();
    loop {
        text.push(cursor.bump()?);
        if text.last() == Some(&'$') && text.ends_with(&end) {
            text.truncate(text.len() - end.len());
            return Some(text.into_iter().collect());
        }
    }
}
