//! The clients' own commands: `\d` and `\!` of psql and mysql, `.tables` and `.shell` of sqlite3 and duckdb.

use super::super::{Finding, Reading};

/// Commands of psql that only look, beside all that start with `d`.
const LOOKING: &[&str] = &[
    "l",
    "l+",
    "list",
    "list+",
    "z",
    "x",
    "t",
    "a",
    "h",
    "timing",
    "conninfo",
    "encoding",
    "q",
    "quit",
    "?",
    "sf",
    "sf+",
    "sv",
    "sv+",
    "p",
    "r",
    "errverbose",
    "pset",
    "f",
    "g",
    "gx",
    "watch",
    "copyright",
];
/// Commands of sqlite3 and duckdb that only look or change how things are shown.
const SHOWING: &[&str] = &[
    "tables",
    "schema",
    "headers",
    "header",
    "mode",
    "width",
    "databases",
    "dbinfo",
    "indexes",
    "indices",
    "show",
    "timer",
    "bail",
    "echo",
    "fullschema",
    "nullvalue",
    "separator",
    "explain",
    "stats",
    "changes",
    "eqp",
    "print",
    "quit",
    "exit",
    "help",
    "version",
    "dump",
    "maxrows",
    "columns",
    "rows",
    "limit",
    "dbconfig",
];

/// What follows `\`.
pub(super) fn backslash(line: &str, reading: &mut Reading) {
    let (name, rest) = split(line);
    let rest = rest.trim();
    // psql runs what stands in backticks of an argument.
    if rest.contains('`') {
        reading.runs_unknown();
        return;
    }
    if name.starts_with('!') {
        shell(line.trim_start_matches('!'), reading);
        return;
    }
    if name == "copy" {
        copy(rest, reading);
        return;
    }
    if rest.contains('\\') {
        reading.incomplete();
    }
    let first = word(rest);
    match name {
        "g" | "gx" | "o" | "out" | "w" | "write" if !rest.is_empty() => match rest.strip_prefix('|') {
            Some(command) => shell(command, reading),
            // Options in brackets come before the file.
            None if rest.starts_with('(') => reading.incomplete(),
            None => reading.found(Finding::Write(first)),
        },
        "o" | "out" => {}
        "G" if rest.is_empty() => {}
        "." if rest.is_empty() => reading.incomplete(),
        "i" | "ir" | "include" | "include_relative" | "." => {
            reading.found(Finding::Read(first));
            reading.runs_unknown();
        }
        "lo_export" => {
            let file = rest.split_whitespace().nth(1).unwrap_or_default();
            reading.found(Finding::Write(word(file)));
        }
        "lo_import" => {
            reading.found(Finding::Read(first));
            reading.found(Finding::Data("lo_import".to_owned()));
        }
        "setenv" => reading.found(Finding::Environment(first)),
        "e" | "edit" | "ef" | "ev" | "P" | "pager" => reading.runs_unknown(),
        "T" | "tee" => reading.found(Finding::Write(first)),
        "c" | "connect" => {
            reading.found(Finding::Connect(None));
            reading.incomplete();
        }
        "gexec" => {
            reading.found(Finding::Data("gexec".to_owned()));
            reading.incomplete();
        }
        _ if LOOKING.contains(&name.to_ascii_lowercase().as_str()) => {}
        _ if name.starts_with('d') && name.len() <= 5 => {}
        _ => reading.incomplete(),
    }
}

/// `\copy … from|to file|program|stdin`.
fn copy(rest: &str, reading: &mut Reading) {
    let lower = rest.to_ascii_lowercase();
    let to = lower.rfind(" to ").map(|at| (at, at + 4));
    let from = lower.rfind(" from ").map(|at| (at, at + 6));
    let (out, start) = match (to, from) {
        (Some((at, end)), Some((before, _))) if at > before => (true, end),
        (_, Some((_, end))) => (false, end),
        (Some((_, end)), None) => (true, end),
        (None, None) => {
            reading.incomplete();
            return;
        }
    };
    let place = rest.get(start..).unwrap_or_default().trim();
    let lower = place.to_ascii_lowercase();
    if let Some(command) = lower.strip_prefix("program") {
        let command = place.get(place.len() - command.len()..).unwrap_or_default();
        shell(&word(command.trim()), reading);
    } else if !matches!(word(place).to_ascii_lowercase().as_str(), "stdin" | "stdout" | "pstdin" | "pstdout")
    {
        let file = word(place);
        reading.found(if out { Finding::Write(file) } else { Finding::Read(file) });
    }
    if !out {
        reading.found(Finding::Data("COPY".to_owned()));
    }
    // A query inside is not read here.
    if rest.starts_with('(') {
        reading.incomplete();
    }
}

/// What follows `.` at the start of a line.
pub(super) fn dot(line: &str, reading: &mut Reading) {
    let (name, rest) = split(line);
    let rest = rest.trim();
    let first = word(rest);
    match name {
        "shell" | "system" | "sh" => shell(rest, reading),
        "output" | "once" | "o" | "log" | "trace" => match first.strip_prefix('|') {
            Some(command) => {
                // Without quotes the command is the rest of the line.
                let command = if rest.starts_with('|') { rest.trim_start_matches('|') } else { command };
                shell(command, reading);
            }
            None if first.starts_with('-') => reading.runs_unknown(),
            None if matches!(first.as_str(), "" | "stdout" | "stderr" | "off" | "on") => {}
            None => reading.found(Finding::Write(first)),
        },
        "read" | "import" => {
            match first.strip_prefix('|') {
                Some(command) => {
                    shell(if rest.starts_with('|') { rest.trim_start_matches('|') } else { command }, reading)
                }
                None if first.starts_with('-') => reading.incomplete(),
                None => reading.found(Finding::Read(first)),
            }
            if name == "read" {
                reading.runs_unknown();
            } else {
                reading.found(Finding::Data("import".to_owned()));
            }
        }
        "save" | "backup" | "clone" => {
            let file = rest.split_whitespace().last().unwrap_or_default();
            reading.found(Finding::Write(word(file)));
        }
        "restore" => {
            let file = rest.split_whitespace().last().unwrap_or_default();
            reading.found(Finding::Read(word(file)));
            reading.found(Finding::History("RESTORE".to_owned()));
        }
        "open" => {
            let file = rest.split_whitespace().last().unwrap_or_default();
            reading.found(Finding::Write(word(file)));
            reading.incomplete();
        }
        "load" | "excel" | "edit" | "www" => reading.runs_unknown(),
        _ if SHOWING.contains(&name) => {}
        _ => reading.incomplete(),
    }
}

fn shell(command: &str, reading: &mut Reading) {
    reading.found(Finding::RunShell(command.trim().to_owned()));
}

fn split(line: &str) -> (&str, &str) {
    line.split_once(char::is_whitespace).unwrap_or((line, ""))
}

/// The first word, without its quotes.
fn word(text: &str) -> String {
    let mut all = text.chars();
    match all.next() {
        Some(quote @ ('\'' | '"')) => all.take_while(|c| *c != quote).collect(),
        _ => text.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default().to_owned(),
    }
}
