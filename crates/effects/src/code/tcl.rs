//! Tcl, with the commands that `expect` adds: what is run, and what is deleted, by words that are constant.

use super::cursor::Cursor;
use super::{Finding, Reading};

/// A word: its text, where nothing is put into it.
type Word = Option<String>;

/// Reads a script.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let mut cursor = Cursor::new(text);
    while let Some(words) = command(&mut cursor) {
        match words {
            Some(words) => weigh(&words, reading),
            // A script in brackets, or quotes that do not end: where the next command starts is not certain.
            None => return reading.incomplete(),
        }
    }
}

/// The words of the next command; nothing inside where they could not be read.
fn command(cursor: &mut Cursor) -> Option<Option<Vec<Word>>> {
    let mut words = Vec::new();
    loop {
        cursor.take_while(|letter| letter == ' ' || letter == '\t');
        match cursor.peek() {
            None if words.is_empty() => return None,
            None => return Some(Some(words)),
            Some('\n' | ';' | '\r') => {
                cursor.bump();
                if !words.is_empty() {
                    return Some(Some(words));
                }
            }
            Some('#') if words.is_empty() => {
                if cursor.take_while(|letter| letter != '\n').ends_with('\\') {
                    return Some(None);
                }
            }
            Some('\\') if cursor.ahead(1) == Some('\n') => cursor.skip(2),
            Some(first) => {
                let word = match first {
                    '{' => braced(cursor),
                    '"' => quoted(cursor),
                    _ => bare(cursor),
                };
                match word {
                    Some(word) if ends(cursor) => words.push(word),
                    _ => return Some(None),
                }
            }
        }
    }
}

fn ends(cursor: &Cursor) -> bool {
    cursor.peek().is_none_or(|letter| matches!(letter, ' ' | '\t' | '\n' | '\r' | ';'))
        || cursor.peek() == Some('\\') && cursor.ahead(1) == Some('\n')
}

fn braced(cursor: &mut Cursor) -> Option<Word> {
    cursor.bump();
    let mut open = 1;
    let mut text = String::new();
    let mut certain = true;
    loop {
        let letter = cursor.bump()?;
        match letter {
            '{' => open += 1,
            '}' => open -= 1,
            '\\' => {
                certain &= cursor.peek() != Some('\n');
                text.push(letter);
                text.push(cursor.bump()?);
                continue;
            }
            _ => {}
        }
        if open == 0 {
            return Some(certain.then_some(text));
        }
        text.push(letter);
    }
}

fn quoted(cursor: &mut Cursor) -> Option<Word> {
    cursor.bump();
    let mut text = String::new();
    let mut certain = true;
    loop {
        match cursor.bump()? {
            '"' => return Some(certain.then_some(text)),
            '[' => return None,
            '$' => certain = false,
            '\\' => {
                certain = false;
                cursor.bump();
            }
            letter => text.push(letter),
        }
    }
}

fn bare(cursor: &mut Cursor) -> Option<Word> {
    let mut text = String::new();
    let mut certain = true;
    while !ends(cursor) {
        match cursor.bump()? {
            '[' => return None,
            '$' => certain = false,
            '\\' => {
                certain = false;
                cursor.bump();
            }
            letter => text.push(letter),
        }
    }
    Some(certain.then_some(text))
}

/// What one command does.
fn weigh(words: &[Word], reading: &mut Reading) {
    let Some((Some(name), rest)) = words.split_first() else { return reading.runs_unknown() };
    let Some(rest) = rest.iter().cloned().collect::<Option<Vec<String>>>() else {
        if matches!(name.as_str(), "exec" | "spawn" | "system" | "eval" | "open") {
            reading.runs_unknown();
        }
        return reading.incomplete();
    };
    match name.as_str() {
        "spawn" => {
            let program: Vec<String> = rest.iter().skip_while(|word| *word == "-noecho").cloned().collect();
            match program.first() {
                Some(first) if !first.starts_with('-') => reading.found(Finding::RunArgv(program)),
                _ => reading.runs_unknown(),
            }
        }
        "exec" => exec(&rest, reading),
        "system" => reading.found(Finding::RunShell(rest.join(" "))),
        "file" => file(&rest, reading),
        "puts" => {
            if rest.len() != 1 && rest.first().is_none_or(|first| first != "-nonewline") {
                reading.incomplete();
            }
        }
        "expect" if matches!(rest.as_slice(), [only] if !only.contains([' ', '\n', '\t', '{'])) => {}
        "set" if matches!(rest.as_slice(), [name, _] if name == "timeout") => {}
        // `exit -onexit` takes code.
        "exit" | "wait" | "close" | "sleep" | "log_user"
            if rest.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_digit())) => {}
        _ => reading.incomplete(),
    }
}

/// `exec prog word | prog word > file &`
fn exec(words: &[String], reading: &mut Reading) {
    let mut words: Vec<&String> = words
        .iter()
        .skip_while(|word| matches!(word.as_str(), "-ignorestderr" | "-keepnewline" | "--"))
        .collect();
    if words.last().is_some_and(|last| *last == "&") {
        words.pop();
    }
    for program in words.split(|word| matches!(word.as_str(), "|" | "|&")) {
        let plain: Vec<String> = program
            .iter()
            .take_while(|word| !word.starts_with(['<', '>', '2', '|']))
            .map(|word| (*word).clone())
            .collect();
        if plain.len() < program.len() {
            reading.incomplete();
        }
        if plain.is_empty() {
            reading.runs_unknown();
        } else {
            reading.found(Finding::RunArgv(plain));
        }
    }
}

/// `file delete -force -- path…`, `file mkdir path…`
fn file(words: &[String], reading: &mut Reading) {
    let Some((what, rest)) = words.split_first() else { return reading.incomplete() };
    let paths = rest.iter().skip_while(|word| matches!(word.as_str(), "-force" | "--"));
    let recursive = rest.first().is_some_and(|word| word == "-force");
    for path in paths {
        match what.as_str() {
            "delete" => reading.found(Finding::Delete { path: path.clone(), recursive }),
            "mkdir" => reading.found(Finding::Write(path.clone())),
            _ => return reading.incomplete(),
        }
    }
}
