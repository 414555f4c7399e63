//! Perl text to tokens: what one-liners are made of. Here-documents, formats and file tests are refused.

use super::super::cursor::Cursor;
use super::super::light::{Token, after_value, operator};

/// Words after which a value starts.
const BEFORE_VALUE: &[&str] = &[
    "if", "unless", "while", "until", "and", "or", "not", "return", "print", "split", "grep", "map", "join",
    "push", "x", "lt", "gt", "le", "ge", "eq", "ne", "cmp", "foreach", "for", "when", "printf", "say",
    "keys", "values", "each", "my", "our", "local", "reverse", "sort", "scalar",
];
const DEEPEST: usize = 3;

/// False if the text is not understood; what stands before the trouble is kept.
pub(super) fn tokens(text: &str, found: &mut Vec<Token>, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let mut cursor = Cursor::new(text);
    while !cursor.done() {
        if token(&mut cursor, found, depth).is_none() {
            return false;
        }
    }
    true
}

fn token(cursor: &mut Cursor, found: &mut Vec<Token>, depth: usize) -> Option<()> {
    let c = cursor.peek()?;
    let value_before = after_value(found, BEFORE_VALUE);
    match c {
        '\n' => {
            cursor.skip(1);
            // Documentation.
            if cursor.peek() == Some('=') && cursor.ahead(1).is_some_and(|c| c.is_ascii_alphabetic()) {
                return None;
            }
        }
        _ if c.is_ascii_whitespace() => cursor.skip(1),
        '#' => {
            cursor.take_while(|c| c != '\n');
        }
        '\'' => {
            let text = delimited(cursor)?;
            found.push(Token::Text(single(&text)));
        }
        '"' => {
            let text = delimited(cursor)?;
            found.push(double(&text)?);
        }
        '`' => {
            let text = delimited(cursor)?;
            found.push(command(&text));
        }
        '/' => {
            // After a word or a brace it is not known whether it divides.
            let doubtful = matches!(found.last(), Some(Token::Op("}")))
                || matches!(found.last(), Some(Token::Word(word)) if !BEFORE_VALUE.contains(&word.as_str()));
            if doubtful {
                return None;
            }
            if value_before {
                cursor.skip(1);
                cursor.eat('=');
                found.push(Token::Op("/"));
            } else {
                let text = delimited(cursor)?;
                pattern(&text)?;
                cursor.take_while(|c| c.is_ascii_alphabetic());
                found.push(Token::Plain);
            }
        }
        '<' if !value_before => {
            cursor.skip(1);
            cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
            cursor.eat('>').then_some(())?;
            found.push(Token::Plain);
        }
        '<' if cursor.at("<<")
            && cursor.ahead(2).is_some_and(|c| c.is_ascii_alphabetic() || "\"'~`_".contains(c)) =>
        {
            return None;
        }
        '$' | '@' => variable(cursor, found)?,
        '%' if !value_before => variable(cursor, found)?,
        // A glob of the symbol table, or a call without brackets.
        '*' if !value_before => return None,
        '&' if !cursor.at("&&") => return None,
        '-' if !value_before
            && cursor.ahead(1).is_some_and(|c| c.is_ascii_alphabetic())
            && !cursor.ahead(2).is_some_and(|c| c.is_ascii_alphanumeric()) =>
        {
            return None;
        }
        _ if c.is_ascii_digit() => {
            cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            if cursor.peek() == Some('.') && cursor.ahead(1).is_some_and(|c| c.is_ascii_digit()) {
                cursor.skip(1);
                cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            }
            found.push(Token::Plain);
        }
        _ if c.is_ascii_alphabetic() || c == '_' => word(cursor, found, depth)?,
        _ => {
            let operator = operator(cursor)?;
            cursor.skip(operator.len());
            found.push(Token::Op(operator));
        }
    }
    Some(())
}

fn word(cursor: &mut Cursor, found: &mut Vec<Token>, depth: usize) -> Option<()> {
    let word = cursor.word();
    if word == "__END__" || word == "__DATA__" || word == "format" {
        return None;
    }
    let mut blanks = 0;
    while cursor.ahead(blanks).is_some_and(|c| c.is_ascii_whitespace()) {
        blanks += 1;
    }
    let next = cursor.ahead(blanks);
    let arrow = next == Some('=') && cursor.ahead(blanks + 1) == Some('>');
    let key = matches!(found.last(), Some(Token::Op("{"))) && next == Some('}');
    if arrow || key {
        found.push(Token::Plain);
        return Some(());
    }
    let quotes = matches!(word.as_str(), "q" | "qq" | "qw" | "m" | "s" | "tr" | "y" | "qr" | "qx");
    let member = matches!(found.last(), Some(Token::Op("->" | "::")));
    let opens = next
        .is_some_and(|c| !c.is_whitespace() && c != ',' && c != ';' && c != ')' && !(c == '=' && blanks > 0));
    if !quotes || member || !opens {
        found.push(Token::Word(word));
        return Some(());
    }
    // With a blank before it, `#` starts a comment and a letter is the mark: both are rare.
    if blanks > 0 && next.is_some_and(|c| c == '#' || c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    cursor.skip(blanks);
    let mark = cursor.peek()?;
    let text = delimited(cursor)?;
    match word.as_str() {
        "q" => found.push(Token::Text(single(&text))),
        "qq" => found.push(double(&text)?),
        "qw" => found.push(Token::Plain),
        "qx" => found.push(command(&text)),
        "m" | "qr" => {
            pattern(&text)?;
            cursor.take_while(|c| c.is_ascii_alphabetic());
            found.push(Token::Plain);
        }
        _ => {
            let other = if closing(mark) == mark {
                rest_of(cursor, mark)?
            } else {
                cursor.take_while(|c| c.is_ascii_whitespace());
                delimited(cursor)?
            };
            let flags = cursor.take_while(|c| c.is_ascii_alphabetic());
            found.push(Token::Plain);
            if word == "s" {
                pattern(&text)?;
                if flags.contains('e') {
                    // The replacement is code.
                    found.push(Token::Op("("));
                    if flags.matches('e').count() > 1 || !tokens(&other, found, depth + 1) {
                        return None;
                    }
                    found.push(Token::Op(")"));
                } else {
                    double(&other)?;
                }
            }
        }
    }
    Some(())
}

fn closing(mark: char) -> char {
    match mark {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// The raw text between the mark that stands here and its end.
fn delimited(cursor: &mut Cursor) -> Option<String> {
    let mark = cursor.bump()?;
    let end = closing(mark);
    if end == mark {
        return rest_of(cursor, mark);
    }
    let mut open = 1usize;
    let mut text = String::new();
    loop {
        let c = cursor.bump()?;
        if c == '\\' {
            text.push(c);
            text.push(cursor.bump()?);
            continue;
        }
        if c == mark {
            open += 1;
        } else if c == end {
            open -= 1;
            if open == 0 {
                return Some(text);
            }
        }
        text.push(c);
    }
}

fn rest_of(cursor: &mut Cursor, end: char) -> Option<String> {
    let mut text = String::new();
    loop {
        let c = cursor.bump()?;
        if c == end {
            return Some(text);
        }
        text.push(c);
        if c == '\\' {
            text.push(cursor.bump()?);
        }
    }
}

fn single(raw: &str) -> String {
    raw.replace("\\'", "'").replace("\\\\", "\\")
}

fn command(raw: &str) -> Token {
    match double(raw) {
        Some(Token::Text(text)) => Token::Command(Some(text)),
        _ => Token::Command(None),
    }
}

/// Text in double quotes. Nothing if code could be put into it.
fn double(raw: &str) -> Option<Token> {
    let plain = interpolates_plainly(raw)?;
    if !plain {
        return Some(Token::Mixed);
    }
    let mut text = String::new();
    let mut all = raw.chars();
    while let Some(c) = all.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match all.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            c if c.is_ascii_alphanumeric() => return Some(Token::Mixed),
            c => text.push(c),
        }
    }
    Some(Token::Text(text))
}

/// A regular expression. Nothing if it could hold code.
fn pattern(raw: &str) -> Option<()> {
    if raw.contains("(?{") || raw.contains("(??{") || raw.contains("(?p{") || raw.contains("(*") {
        return None;
    }
    interpolates_plainly(raw).map(|_| ())
}

/// True if nothing is put into the text, false if plain variables are, nothing if it could be more.
fn interpolates_plainly(raw: &str) -> Option<bool> {
    let mut cursor = Cursor::new(raw);
    let mut constant = true;
    while let Some(c) = cursor.bump() {
        match c {
            '\\' => cursor.skip(1),
            '$' | '@' => {
                if cursor.peek() == Some('{') {
                    cursor.skip(1);
                    let name = cursor.word();
                    if name.is_empty() || !cursor.eat('}') {
                        return None;
                    }
                    constant = false;
                } else if cursor.peek() == Some('$') {
                    return None;
                } else {
                    let digits = cursor.take_while(|c| c.is_ascii_digit());
                    let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':');
                    let special = digits.is_empty() && name.is_empty() && c == '$';
                    if special && cursor.peek().is_some_and(|c| "&.,;!@/0+-".contains(c)) {
                        constant = false;
                        cursor.skip(1);
                    }
                    constant &= digits.is_empty() && name.is_empty();
                }
                // An index may be any code.
                for _ in 0..4 {
                    if cursor.at("->[") || cursor.at("->{") {
                        cursor.skip(2);
                    }
                    let end = match cursor.peek() {
                        Some('[') => ']',
                        Some('{') => '}',
                        _ => break,
                    };
                    cursor.skip(1);
                    cursor.take_while(|c| c.is_ascii_alphanumeric() || "_$'\"-^,".contains(c));
                    if !cursor.eat(end) {
                        return None;
                    }
                }
            }
            _ => {}
        }
    }
    Some(constant)
}

/// A variable. Its name decides what may be done with it.
fn variable(cursor: &mut Cursor, found: &mut Vec<Token>) -> Option<()> {
    let mark = cursor.bump()?;
    let mut name = String::from(mark);
    if mark == '$' && cursor.eat('#') {
        name.push('#');
    }
    match cursor.peek() {
        // A reference that is followed: its inside is read as code.
        Some('{' | '$') => {
            found.push(Token::Variable(name));
            return Some(());
        }
        Some('^') => {
            cursor.skip(1);
            name.push('^');
            name.extend(cursor.bump());
        }
        Some(c) if c.is_ascii_alphabetic() || c == '_' || c == ':' => {
            name.push_str(&cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':'));
        }
        Some(c) if c.is_ascii_digit() => name.push_str(&cursor.take_while(|c| c.is_ascii_digit())),
        Some(c) if mark == '$' && "&.,;!@/\\|\"0+<>()[]-".contains(c) => {
            cursor.skip(1);
            name.push(c);
        }
        _ => return None,
    }
    found.push(Token::Variable(name));
    Some(())
}
