//! Every promise has a test that cites it, and every citation has a promise.

use std::collections::BTreeMap;

use crate::run::{output, read};

/// What promises are about.
const AREAS: &[&str] = &[
    "CALL", "SEC", "SHL", "EFF", "POL", "APR", "FNC", "AUD", "SYS", "HOOK", "CHK", "SRV", "MCP", "RUN", "TUI",
];

pub(crate) fn check() -> Result<(), String> {
    let mut cited: BTreeMap<String, usize> = BTreeMap::new();
    for line in read("PROMISES.md")?.lines() {
        if let Some(id) = line.strip_prefix("| ").and_then(|rest| rest.split(' ').next())
            && is_id(id)
        {
            cited.insert(id.to_owned(), 0);
        }
    }
    for file in output("git", &["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"])?.lines() {
        // A file that git still lists may be gone from the tree.
        let Ok(text) = read(file) else { continue };
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter(|word| is_id(word))
        {
            match cited.get_mut(word) {
                Some(count) => *count += 1,
                None if file.contains("tests/") => {
                    return Err(format!("{file} cites {word}, which PROMISES.md does not have"));
                }
                None => {}
            }
        }
    }
    let lonely: Vec<&str> =
        cited.iter().filter(|(_, count)| **count == 0).map(|(id, _)| id.as_str()).collect();
    if lonely.is_empty() { Ok(()) } else { Err(format!("no test cites the promises {}", lonely.join(", "))) }
}

/// `POL-1`, `SHL-12` …
fn is_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(area, number)| {
        AREAS.contains(&area) && (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit())
    })
}
