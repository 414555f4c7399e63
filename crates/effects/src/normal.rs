//! A command with the spelling taken out: `rm -rf x`, `/bin/rm --force --recursive x` and `rm -r -f -- x` are the
//! same here, so that a list which names one of them names all.

use crate::arg::Arg;
use crate::evaluate::known_name;
use crate::knowledge;
use crate::options::Line;

/// Program, options and operands of a command, evened out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Normal {
    /// The program's base name, or empty where it is not certain.
    pub program: String,
    /// Options in their canonical spelling (the first one that the knowledge lists), clusters taken apart, sorted,
    /// without their values. For a program without knowledge: each option as written, short clusters of letters
    /// taken apart.
    pub options: Vec<String>,
    /// What is left, in order. A word that is not certain is `None`.
    pub operands: Vec<Option<String>>,
}

impl Normal {
    /// Whether a command is what a list's entry names: the same program, every option of the entry given, and the
    /// entry's operands at the front of the command's.
    #[must_use]
    pub fn matches_prefix(&self, rule: &Normal) -> bool {
        !rule.program.is_empty()
            && self.program == rule.program
            && rule.options.iter().all(|option| self.options.contains(option))
            && rule.operands.len() <= self.operands.len()
            && rule
                .operands
                .iter()
                .zip(&self.operands)
                .all(|(wanted, given)| wanted.is_some() && wanted == given)
    }
}

/// The words of a list's entry (`rm -rf`, `cargo test`), evened out. Wrappers are not taken off.
#[must_use]
pub fn normalize(argv: &[&str]) -> Normal {
    let Some((program, rest)) = argv.split_first() else { return Normal::default() };
    let words: Vec<Arg<'_>> = rest.iter().map(|word| Arg::Text((*word).into())).collect();
    let name = known_name(program).unwrap_or(program);
    match knowledge::program(name) {
        Some(node) => of(name, &Line::read(node, &words)),
        None => plain(name, &words),
    }
}

/// From a command line that was taken apart.
pub(crate) fn of(name: &str, line: &Line<'_>) -> Normal {
    let mut options: Vec<&str> = line
        .options
        .iter()
        .map(|set| set.choice.canonical)
        .chain(line.unlisted.iter().map(String::as_str))
        .chain(line.accepted.iter().map(String::as_str))
        .collect();
    options.sort_unstable();
    options.dedup();
    let options = options.into_iter().map(str::to_owned).collect();
    let operands = line.subs.iter().chain(&line.operands).chain(&line.tail).map(certain).collect();
    Normal { program: name.to_owned(), options, operands }
}

/// Without knowledge: by the look of the words.
pub(crate) fn plain(name: &str, words: &[Arg<'_>]) -> Normal {
    let mut normal = Normal { program: name.to_owned(), ..Normal::default() };
    let mut ended = false;
    for word in words {
        match word.text() {
            Some("--") if !ended => ended = true,
            Some(text) if !ended && text.len() > 1 && text.starts_with('-') => {
                let letters = text.get(1..).unwrap_or_default();
                if letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                    normal.options.extend(letters.chars().map(|letter| format!("-{letter}")));
                } else {
                    let name = text.split_once('=').map_or(text, |(name, _)| name);
                    normal.options.push(name.to_owned());
                }
            }
            _ => normal.operands.push(certain(word)),
        }
    }
    normal.options.sort_unstable();
    normal.options.dedup();
    normal
}

fn certain(word: &Arg<'_>) -> Option<String> {
    word.text().map(str::to_owned)
}
