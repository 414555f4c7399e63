//! Commands of gdb and lldb: those that run a shell. What the program under the debugger does is said by the knowledge.

use super::{Finding, Reading};

/// Commands of gdb that only look at the program, or let it go on.
const PLAIN: &[&str] = &[
    "q",
    "quit",
    "bt",
    "backtrace",
    "where",
    "info",
    "list",
    "l",
    "run",
    "r",
    "start",
    "continue",
    "c",
    "next",
    "n",
    "step",
    "s",
    "finish",
    "up",
    "down",
    "frame",
    "f",
    "break",
    "b",
    "tbreak",
    "disassemble",
    "ni",
    "si",
];

/// Reads commands of gdb, one a line.
pub(super) fn gdb(text: &str, reading: &mut Reading) {
    for line in lines(text) {
        if let Some(command) = line.strip_prefix('!') {
            shell(command, reading);
            continue;
        }
        let (name, rest) =
            line.split_once([' ', '\t']).map_or((line, ""), |(name, rest)| (name, rest.trim()));
        match name {
            "shell" | "shel" | "she" => shell(rest, reading),
            "make" => reading.found(Finding::RunShell(line.to_owned())),
            "pipe" | "|" => match rest.split_once('|') {
                Some((_, command)) if !rest.starts_with('-') => {
                    shell(command, reading);
                    reading.incomplete();
                }
                _ => reading.runs_unknown(),
            },
            // Arguments of `run` go through a shell.
            "run" | "r" | "start" if !rest.is_empty() => reading.incomplete(),
            // Expressions can call functions.
            name if PLAIN.contains(&name) && !rest.contains(['(', '$']) => {}
            "thread" if matches!(rest, "apply all bt" | "apply all bt full" | "apply all backtrace") => {}
            "set" if matches!(rest, "pagination off" | "confirm off" | "width 0" | "height 0") => {}
            _ => reading.incomplete(),
        }
    }
}

/// Reads commands of lldb, one a line.
pub(super) fn lldb(text: &str, reading: &mut Reading) {
    for line in lines(text) {
        let (name, rest) =
            line.split_once([' ', '\t']).map_or((line, ""), |(name, rest)| (name, rest.trim()));
        let rest = match name {
            "platform" => {
                rest.strip_prefix("shell").filter(|rest| rest.starts_with([' ', '\t'])).map(str::trim)
            }
            "shell" => Some(rest),
            _ => None,
        };
        match rest {
            Some(command) if !command.starts_with('-') => shell(command, reading),
            Some(_) => reading.runs_unknown(),
            None if matches!(line, "q" | "quit" | "bt" | "bt all" | "c" | "continue") => {}
            None => reading.incomplete(),
        }
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn shell(command: &str, reading: &mut Reading) {
    let command = command.trim();
    if command.is_empty() {
        // A shell that somebody types into.
        reading.runs_unknown();
    } else {
        reading.found(Finding::RunShell(command.to_owned()));
    }
}
