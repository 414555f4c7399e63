//! Commands of vi's line editor, as `vim -c` and `ex` run them: those that run something, write something or leave.
//! What an edit does to the file that is open is said by the knowledge; every other command is not understood.

use super::{Finding, Reading};

/// Reads commands, one or several a line.
pub(super) fn read(text: &str, reading: &mut Reading) {
    for line in text.lines() {
        let mut rest = Some(line);
        while let Some(text) = rest {
            rest = command(text, reading);
        }
    }
}

/// One command. What follows it after a bar, where that is certain.
fn command<'t>(text: &'t str, reading: &mut Reading) -> Option<&'t str> {
    let text = text.trim_start_matches([' ', '\t', ':']);
    if text.is_empty() || text.starts_with('"') {
        return None;
    }
    // A search takes all that follows it, unless it is ended.
    if let Some(pattern) = text.strip_prefix('/') {
        if pattern.contains(['/', '|', '\\']) {
            reading.incomplete();
        }
        return None;
    }
    let text = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".$%,;+- ".contains(letter));
    let name_ends = text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(name_ends).unwrap_or((text, ""));
    let (forced, after) = match rest.strip_prefix('!') {
        Some(after) => (true, after),
        None => (false, rest),
    };
    match name {
        "" if forced => shell(after, reading),
        "" if rest.is_empty() => None,
        "sil" | "sile" | "silen" | "silent" => Some(after),
        // `:r!cmd` is `:r !cmd`.
        "r" | "re" | "rea" | "read" if forced => shell(after, reading),
        "r" | "re" | "rea" | "read" => file(rest, Finding::Read, reading),
        "w" | "wr" | "wri" | "writ" | "write" | "sav" | "saveas" => {
            let rest = after.trim_start();
            file(rest.strip_prefix(">>").unwrap_or(rest), Finding::Write, reading)
        }
        "wq" | "x" | "xi" | "xit" | "exi" | "exit" => file(after, Finding::Write, reading),
        "q" | "qu" | "qui" | "quit" | "qa" | "qal" | "qall" | "quita" | "quitall" | "wqa" | "wqall"
        | "xa" | "xall" | "wa" | "wall" | "cq" | "cquit" => {
            let rest = after.trim_start();
            if rest.is_empty() {
                return None;
            }
            let next = rest.strip_prefix('|');
            if next.is_none() {
                reading.incomplete();
            }
            next
        }
        _ => {
            reading.incomplete();
            None
        }
    }
}

/// A command of the shell, to the end of the line.
fn shell<'t>(text: &str, reading: &mut Reading) -> Option<&'t str> {
    let text = text.trim();
    // The names of files, the command before, `<cword>` and its kind are put in for these.
    let filled = text.contains(['%', '#', '!', '\\']) || text.contains('<') && text.contains('>');
    if text.is_empty() || filled {
        reading.runs_unknown();
    } else {
        reading.found(Finding::RunShell(text.to_owned()));
    }
    None
}

/// A file, or a command of the shell after `!`.
fn file<'t>(text: &'t str, touch: impl Fn(String) -> Finding, reading: &mut Reading) -> Option<&'t str> {
    let text = text.trim_start();
    if let Some(command) = text.strip_prefix('!') {
        return shell(command, reading);
    }
    let (path, next) = match text.split_once('|') {
        Some((path, next)) => (path, Some(next)),
        None => (text, None),
    };
    let path = path.trim_end();
    if path.contains('`') {
        reading.runs_unknown();
        return None;
    }
    if path.starts_with("++") || path.contains(['\\', '%', '#', '<', '*', '?', '[', '{', '$', '\'', '"']) {
        reading.incomplete();
        return None;
    }
    if !path.is_empty() {
        reading.found(touch(path.to_owned()));
    }
    next
}
