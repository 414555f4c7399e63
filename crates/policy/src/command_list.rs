//! Lists of commands: `allowlist`, `denylist`, `denied_commands` and rules' `commands`.
//!
//! An entry is matched by meaning: `rm -rf` covers `rm -f --recursive x` and `/bin/rm -fr -- x`, and nothing that merely
//! mentions it. Entries are indexed by their program and evened out only when that program is met.

use std::collections::HashMap;
use std::sync::OnceLock;

use effects::{Normal, Part};

use crate::config::{At, ConfigError};

/// One entry.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) at: At,
    /// The commands that it names: one, or several joined by `|`, `&&`, `;` …
    stages: Vec<Stage>,
}

#[derive(Debug)]
struct Stage {
    words: Vec<String>,
    normal: OnceLock<Normal>,
    /// What is left when the first word is taken for a wrapper: `sudo apt` is `apt` run by `sudo`.
    inner: OnceLock<Option<Normal>>,
}

impl Entry {
    /// Reads an entry.
    pub(crate) fn new(text: &str, at: At) -> Result<Entry, ConfigError> {
        let stages: Vec<Stage> = text
            .split(['|', ';', '&', '\n'])
            .map(|stage| stage.split_whitespace().map(unquote).filter(|word| word != "*").collect::<Vec<_>>())
            .filter(|words| !words.is_empty())
            .map(|words| Stage { words, normal: OnceLock::new(), inner: OnceLock::new() })
            .collect();
        if stages.is_empty() {
            return Err(ConfigError {
                at,
                message: format!("`{text}` names no command"),
                help: Some("write a program, or a program with its first words: `cargo test`".into()),
            });
        }
        Ok(Entry { text: text.into(), at, stages })
    }

    /// Whether the entry covers this part: for an entry of one command only.
    pub(crate) fn covers(&self, part: &Part) -> bool {
        match self.stages.as_slice() {
            [only] => part.normal.matches_prefix(only.normal()),
            _ => false,
        }
    }

    /// Whether the entry names something that these parts do, wrappers counted.
    pub(crate) fn names(&self, parts: &[Part]) -> bool {
        let mut stages = self.stages.iter().peekable();
        for part in parts {
            if let Some(stage) = stages.peek()
                && stage.is_in(part)
            {
                stages.next();
            }
        }
        stages.peek().is_none()
    }

    /// Whether a part that this entry covers has nothing beyond it: no option but those of the entry and `options`, and, unless
    /// there may be more, no further operand.
    pub(crate) fn says_all(&self, part: &Part, options: Option<&[String]>, more_operands: bool) -> bool {
        let Some(stage) = self.stages.first() else { return false };
        let known = stage.normal();
        if !more_operands && part.normal.operands.len() > known.operands.len() {
            return false;
        }
        let Some(options) = options else { return true };
        part.normal.options.iter().all(|given| {
            known.options.contains(given)
                || options.iter().any(|option| {
                    // One at a time: an option that wants a value would take the next one for it.
                    let words: Vec<String> = stage.words.iter().chain([option]).cloned().collect();
                    option == given || normal(&words).options.contains(given)
                })
        })
    }

    /// The program of the first command, for the index.
    pub(crate) fn program(&self) -> &str {
        self.stages.first().map_or("", |stage| base_name(stage.words.first().map_or("", String::as_str)))
    }

    pub(crate) const fn is_single(&self) -> bool {
        self.stages.len() == 1
    }
}

impl Stage {
    fn normal(&self) -> &Normal {
        self.normal.get_or_init(|| normal(&self.words))
    }

    fn is_in(&self, part: &Part) -> bool {
        if part.normal.matches_prefix(self.normal()) {
            return true;
        }
        let Some((first, rest)) = self.words.split_first() else { return false };
        let first = base_name(first);
        if !part.via.iter().any(|wrapper| base_name(wrapper) == first) {
            return false;
        }
        let inner = self.inner.get_or_init(|| (!rest.is_empty()).then(|| normal(rest)));
        inner.as_ref().is_none_or(|inner| part.normal.matches_prefix(inner))
    }
}

fn normal(words: &[String]) -> Normal {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    effects::normalize(&words)
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn unquote(word: &str) -> String {
    word.trim_matches(['\'', '"']).to_owned()
}

/// A list, indexed by program.
#[derive(Debug, Default)]
pub(crate) struct CommandList {
    entries: Vec<Entry>,
    by_program: HashMap<String, Vec<u32>>,
}

impl CommandList {
    pub(crate) fn push(&mut self, entry: Entry) {
        let index = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.by_program.entry(entry.program().to_owned()).or_default().push(index);
        self.entries.push(entry);
    }

    /// The first entry that covers this part by itself.
    pub(crate) fn covering(&self, part: &Part) -> Option<&Entry> {
        self.of_program(&part.normal.program).find(|entry| entry.covers(part))
    }

    /// The first entry that names something that these parts do, and the part that it names.
    pub(crate) fn naming<'a>(&'a self, parts: &'a [Part]) -> Option<(&'a Entry, usize)> {
        if self.entries.is_empty() {
            return None;
        }
        for (index, part) in parts.iter().enumerate() {
            let programs = std::iter::once(part.normal.program.as_str())
                .chain(part.via.iter().map(|wrapper| base_name(wrapper)));
            for program in programs {
                let found = self.of_program(program).find(|entry| {
                    // An entry of several commands must find the rest of them from here on.
                    entry.names(if entry.is_single() { std::slice::from_ref(part) } else { parts })
                });
                if let Some(entry) = found {
                    return Some((entry, index));
                }
            }
        }
        None
    }

    fn of_program(&self, program: &str) -> impl Iterator<Item = &Entry> {
        self.by_program
            .get(program)
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .filter_map(|index| self.entries.get(usize::try_from(*index).unwrap_or(usize::MAX)))
    }
}
