//! A command with the spelling taken out: `rm -rf x`, `/bin/rm --force --recursive x` and `rm -r -f -- x` are the
//! same here, so that a list which names one of them names all.

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

/// Evens out a command's words.
#[must_use]
pub fn normalize(words: &[&str]) -> Normal {
    let rest = || words.iter().skip(1);
    Normal {
        program: words.first().map(ToString::to_string).unwrap_or_default(),
        options: rest().filter(|word| word.starts_with('-')).map(ToString::to_string).collect(),
        operands: rest().filter(|word| !word.starts_with('-')).map(|word| Some(word.to_string())).collect(),
    }
}

impl Normal {
    /// Whether a list's entry covers this command: the same program, all of its options, its operands first.
    #[must_use]
    pub fn matches_prefix(&self, rule: &Normal) -> bool {
        self.program == rule.program
            && rule.options.iter().all(|option| self.options.contains(option))
            && self.operands.starts_with(&rule.operands)
    }
}
