//! awk text to tokens.

use super::super::cursor::Cursor;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Number,
    Regex,
    Op(&'static str),
    /// The end of a line.
    Line,
}

/// Longest first.
const OPERATORS: &[&str] = &[
    "**=", "|&", ">>", "&&", "||", "==", "!=", "<=", ">=", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=",
    "!~", "**", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "^", "!", "~",
    "?", ":", "=", "$", "|", "@",
];

/// The tokens, or nothing if the text is not understood.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut cursor = Cursor::new(text);
    let mut found: Vec<Token> = Vec::new();
    // For each open bracket: does a condition stand in it, after which a statement starts?
    let mut brackets: Vec<bool> = Vec::new();
    let mut closed_condition = false;
    while let Some(c) = cursor.peek() {
        let mut condition = false;
        match c {
            ' ' | '\t' | '\r' => {
                cursor.skip(1);
                continue;
            }
            '\n' => {
                cursor.skip(1);
                found.push(Token::Line);
            }
            '\\' => {
                cursor.skip(1);
                cursor.eat('\r');
                if !cursor.eat('\n') {
                    return None;
                }
                continue;
            }
            '#' => {
                cursor.take_while(|c| c != '\n');
                continue;
            }
            '"' => found.push(Token::Text(string(&mut cursor)?)),
            '/' if starts_regex(&found, closed_condition)? => {
                regex(&mut cursor)?;
                found.push(Token::Regex);
            }
            _ if c.is_ascii_digit() || (c == '.' && cursor.ahead(1).is_some_and(|c| c.is_ascii_digit())) => {
                cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
                found.push(Token::Number);
            }
            _ if c.is_ascii_alphabetic() || c == '_' => found.push(Token::Word(cursor.word())),
            _ => {
                let operator = cursor.one_of(OPERATORS)?;
                cursor.skip(operator.len());
                match operator {
                    "(" => {
                        let opens = matches!(found.last(), Some(Token::Word(word)) if matches!(word.as_str(), "if" | "while" | "for" | "switch"));
                        brackets.push(opens);
                    }
                    ")" => condition = brackets.pop()?,
                    _ => {}
                }
                found.push(Token::Op(operator));
            }
        }
        closed_condition = condition;
    }
    brackets.is_empty().then_some(found)
}

/// Does `/` start a regular expression here? Nothing if it cannot be told.
fn starts_regex(found: &[Token], closed_condition: bool) -> Option<bool> {
    match found.last() {
        None | Some(Token::Line) => Some(true),
        Some(Token::Op(")")) => Some(closed_condition),
        Some(Token::Op("]" | "++" | "--" | "$")) | Some(Token::Number | Token::Text(_) | Token::Regex) => {
            Some(false)
        }
        Some(Token::Op(_)) => Some(true),
        Some(Token::Word(word)) => match word.as_str() {
            "print" | "printf" | "return" | "else" | "do" | "case" | "exit" => Some(true),
            "length" | "getline" | "in" | "BEGIN" | "END" | "next" | "func" | "function" | "delete" => None,
            _ => Some(false),
        },
    }
}

fn regex(cursor: &mut Cursor) -> Option<()> {
    cursor.skip(1);
    loop {
        match cursor.bump()? {
            '\n' => return None,
            '\\' => {
                cursor.bump()?;
            }
            '/' => return Some(()),
            '[' => cursor.bracket_expression()?,
            _ => {}
        }
    }
}

fn string(cursor: &mut Cursor) -> Option<String> {
    cursor.skip(1);
    let mut text = String::new();
    loop {
        match cursor.bump()? {
            '"' => return Some(text),
            '\n' => return None,
            '\\' => match cursor.bump()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                'a' => text.push('\x07'),
                'b' => text.push('\x08'),
                'f' => text.push('\x0c'),
                'v' => text.push('\x0b'),
                '\n' => {}
                c @ '0'..='7' => {
                    let mut value = c.to_digit(8)?;
                    for _ in 0..2 {
                        if let Some(digit) = cursor.peek().and_then(|c| c.to_digit(8)) {
                            value = value * 8 + digit;
                            cursor.skip(1);
                        }
                    }
                    text.push(char::from_u32(value)?);
                }
                c @ ('"' | '\\' | '/' | '.' | '|' | '+' | '*' | '?' | '(' | ')' | '[' | ']' | '{' | '}'
                | '^' | '$' | '-' | 's' | 'S' | 'w' | 'W' | 'y' | '<' | '>' | '&' | ',') => {
                    if !matches!(c, '"' | '\\' | '/') {
                        text.push('\\');
                    }
                    text.push(c);
                }
                // `\x` takes two digits or as many as there are, depending on the awk.
                _ => return None,
            },
            c => text.push(c),
        }
    }
}
