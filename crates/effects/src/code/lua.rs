//! Lua, by its tokens.

use std::sync::LazyLock;

use super::Reading;
use super::cursor::Cursor;
use super::light::{Deed, List, Token, Words, operator, scan};

static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(&LIST));

const LIST: List = List {
    deeds: &[
        (Deed::Shell, "os.execute io.popen"),
        (Deed::Open, "io.open"),
        (Deed::Read, "io.lines io.input"),
        (Deed::Write, "io.output"),
        (Deed::Delete, "os.remove"),
        (Deed::Move, "os.rename"),
        (Deed::Load, "require"),
        (
            Deed::Runs,
            "load loadstring loadfile dofile package debug _G _ENV getfenv setfenv setmetatable getmetatable rawset os.setlocale",
        ),
    ],
    plain: "print tostring tonumber pairs ipairs type select unpack next error assert pcall math string table os io \
        string.format string.rep string.sub string.gsub string.gmatch string.match string.find string.upper string.lower \
        string.len string.byte string.char string.reverse math.floor math.ceil math.sqrt math.pi math.huge math.max math.min \
        math.abs math.random math.randomseed math.sin math.cos math.log math.exp math.fmod math.tointeger math.type \
        table.concat table.insert table.remove table.sort table.unpack os.time os.date os.clock os.getenv os.exit io.write \
        io.read io.stdin io.stdout io.stderr _VERSION local function end if then else elseif for in do while repeat until \
        return break and or not true false nil self arg utf8.char utf8.len",
    members: "format rep sub gsub gmatch match find upper lower len byte char reverse read write close lines concat insert \
        remove sort n",
    modules: "",
    defining: &["local", "function", "for"],
    joining: &["and", "or", "then", "do", "end", "else"],
    dots: &[".", ":"],
};

/// Reads a program.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let (tokens, whole) = tokens(text);
    if !whole {
        reading.incomplete();
    }
    scan(&tokens, &WORDS, reading);
    // `os` and `io` by themselves can be handed on, and so can their members.
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let module = matches!(word.as_str(), "os" | "io" | "string" | "table" | "math");
        if module && !matches!(tokens.get(at + 1), Some(Token::Op("."))) {
            reading.incomplete();
        }
    }
}

fn tokens(text: &str) -> (Vec<Token>, bool) {
    let mut cursor = Cursor::new(text);
    let mut found = Vec::new();
    while let Some(c) = cursor.peek() {
        match c {
            '\n' | '\r' => {
                cursor.skip(1);
                found.push(Token::Line);
            }
            _ if c.is_ascii_whitespace() => cursor.skip(1),
            '-' if cursor.at("--") => {
                cursor.skip(2);
                if long_bracket(&cursor).is_some() {
                    if long_string(&mut cursor).is_none() {
                        return (found, false);
                    }
                } else {
                    cursor.take_while(|c| c != '\n' && c != '\r');
                }
            }
            '[' if long_bracket(&cursor).is_some() => match long_string(&mut cursor) {
                Some(text) => found.push(Token::Text(text)),
                None => return (found, false),
            },
            '"' | '\'' => match string(&mut cursor) {
                Some(text) => found.push(Token::Text(text)),
                None => return (found, false),
            },
            _ if c.is_ascii_digit() => {
                cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
                found.push(Token::Plain);
            }
            _ if c.is_ascii_alphabetic() || c == '_' => found.push(Token::Word(cursor.word())),
            _ => match operator(&cursor) {
                Some(operator) => {
                    cursor.skip(operator.len());
                    found.push(Token::Op(operator));
                }
                None => return (found, false),
            },
        }
    }
    (found, true)
}

/// The level of the long bracket that opens here.
fn long_bracket(cursor: &Cursor) -> Option<usize> {
    if cursor.peek() != Some('[') {
        return None;
    }
    let mut level = 0;
    while cursor.ahead(1 + level) == Some('=') {
        level += 1;
    }
    (cursor.ahead(1 + level) == Some('[')).then_some(level)
}

fn long_string(cursor: &mut Cursor) -> Option<String> {
    let level = long_bracket(cursor)?;
    cursor.skip(level + 2);
    let end = format!("]{}]", "=".repeat(level));
    let mut text = String::new();
    while !cursor.done() {
        if cursor.peek() == Some(']') && cursor.eat_str(&end) {
            return Some(text.strip_prefix('\n').map_or(text.clone(), str::to_owned));
        }
        text.push(cursor.bump()?);
    }
    None
}

fn string(cursor: &mut Cursor) -> Option<String> {
    let quote = cursor.bump()?;
    let mut text = String::new();
    loop {
        let c = cursor.bump()?;
        match c {
            _ if c == quote => return Some(text),
            '\n' | '\r' => return None,
            '\\' => match cursor.bump()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                c @ ('\\' | '"' | '\'') => text.push(c),
                'x' => {
                    let value = cursor.bump()?.to_digit(16)? * 16 + cursor.bump()?.to_digit(16)?;
                    text.push(char::from_u32(value)?);
                }
                c if c.is_ascii_digit() => {
                    let mut value = c.to_digit(10)?;
                    for _ in 0..2 {
                        if let Some(digit) = cursor.peek().and_then(|c| c.to_digit(10)) {
                            value = value * 10 + digit;
                            cursor.skip(1);
                        }
                    }
                    text.push(char::from_u32(value)?);
                }
                _ => return None,
            },
            _ => text.push(c),
        }
    }
}
