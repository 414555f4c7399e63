//! Keys that a pager is given on its command line: `less +G`, `less +/word`, `less '+!command'`.

use super::{Finding, Reading};

/// Reads keys as they would be pressed.
pub(super) fn read(text: &str, reading: &mut Reading) {
    // `++key`: at every file.
    let mut keys = text.strip_prefix('+').unwrap_or(text).chars();
    while let Some(key) = keys.next() {
        match key {
            '0'..='9' | 'g' | 'G' | 'F' | 'p' | '%' | '<' | '>' | ' ' | 'f' | 'b' | 'd' | 'u' | 'j' | 'k' => {
            }
            // Anything after it would be a key again.
            '/' | '?' | '&' if !keys.as_str().contains(['\n', '\r']) => return,
            '!' => return shell(keys.as_str(), reading),
            // What lies between here and a mark goes into a command.
            '|' if keys.next().is_some() => return shell(keys.as_str(), reading),
            _ => return reading.incomplete(),
        }
    }
}

fn shell(text: &str, reading: &mut Reading) {
    // The names of files and the command before are put in for these.
    if text.trim().is_empty() || text.contains(['%', '#', '!', '\n', '\r']) {
        reading.runs_unknown();
    } else {
        reading.found(Finding::RunShell(text.trim().to_owned()));
    }
}
