//! Shells that only hand on what they are given: `sh -c 'pytest -q'` and `command pytest -q` are `pytest -q`.

use shell::{Dialect, Given, Program, Value};

use crate::evaluate::known_name;

/// How many such shells may stand in each other.
const MOST: usize = 16;

/// The words of a program that is one simple command and nothing else.
pub(crate) fn words(program: &Program) -> Option<Vec<String>> {
    let [command] = program.commands.as_slice() else { return None };
    if !(command.assignments.is_empty() && command.redirects.is_empty()) || command.standing.background {
        return None;
    }
    let words = command.words.iter().map(|word| match &word.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    });
    words.collect()
}

/// The words with such shells taken off.
pub(crate) fn unwrapped(mut argv: Vec<String>) -> Vec<String> {
    for _ in 0..MOST {
        match inner(&argv) {
            Some(words) => argv = words,
            None => break,
        }
    }
    argv
}

/// What one shell is given, where it is one simple command.
fn inner(argv: &[String]) -> Option<Vec<String>> {
    let (program, rest) = argv.split_first()?;
    match (known_name(program)?, rest) {
        (name @ ("sh" | "bash" | "dash"), [flags, text]) if asks_for_text(flags) => {
            let dialect = if name == "bash" { Dialect::Bash } else { Dialect::Posix };
            words(&shell::read(text, dialect, &Given::default()).ok()?).filter(|words| !words.is_empty())
        }
        ("command", [first, ..]) if !first.starts_with('-') => Some(rest.to_vec()),
        ("command", [first, ..]) if first == "--" && rest.len() > 1 => Some(rest.get(1..)?.to_vec()),
        _ => None,
    }
}

/// `-c`, `-lc`, `-euxc`: letters that change how the text is read from the outside in, but not what it runs.
fn asks_for_text(flags: &str) -> bool {
    flags.strip_prefix('-').is_some_and(|letters| {
        letters.matches('c').count() == 1 && letters.bytes().all(|letter| b"ceiluxvhf".contains(&letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shells_that_hand_on_are_taken_off() {
        let argv = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (given, kept) in [
            (&["sh", "-c", "pytest -q"][..], &["pytest", "-q"][..]),
            (&["/bin/bash", "-lc", "command sh -ec 'a b'"], &["a", "b"]),
            (&["command", "--", "ls"], &["ls"]),
            (&["command", "-v", "ls"], &["command", "-v", "ls"]),
            (&["sh", "-c", "a; b"], &["sh", "-c", "a; b"]),
            (&["sh", "-c", "X=1 a"], &["sh", "-c", "X=1 a"]),
            (&["sh", "-c", "a > f"], &["sh", "-c", "a > f"]),
            (&["sh", "-c", "a $1", "x"], &["sh", "-c", "a $1", "x"]),
            (&["sh", "-n", "a"], &["sh", "-n", "a"]),
            (&["env", "sh", "-c", "a"], &["env", "sh", "-c", "a"]),
            (&["./sh", "-c", "a"], &["./sh", "-c", "a"]),
            (&["sh", "-c", ""], &["sh", "-c", ""]),
        ] {
            assert_eq!(unwrapped(argv(given)), argv(kept), "{given:?}");
        }
    }
}
