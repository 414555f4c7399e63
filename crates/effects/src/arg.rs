//! One word of a command as the judging sees it: certain text, a pattern, a pipe with a name, or not known.

use std::borrow::Cow;

use shell::{CommandId, Value};

use crate::glob;

/// A word. Alternatives have been taken apart before ([`alternatives`]).
#[derive(Debug, Clone)]
pub(crate) enum Arg<'a> {
    /// Exactly this.
    Text(Cow<'a, str>),
    /// A pathname pattern, quoted letters escaped.
    Pattern(Cow<'a, str>),
    /// A pipe with a name.
    Process { reads: bool, commands: &'a [CommandId] },
    /// Not known.
    Hazy(Hazy<'a>),
}

/// What is left to say about a word that is not known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hazy<'a> {
    /// It certainly starts with this.
    pub(crate) prefix: Cow<'a, str>,
    /// It certainly ends with this.
    pub(crate) suffix: &'a str,
    /// It may become any number of words.
    pub(crate) splits: bool,
    /// It would come from a standard input to which nothing is connected.
    pub(crate) absent: bool,
    /// The commands whose output goes into it.
    pub(crate) from: &'a [CommandId],
}

impl<'a> Arg<'a> {
    pub(crate) fn of(value: &'a Value) -> Arg<'a> {
        match value {
            Value::Text(text) => Arg::Text(Cow::Borrowed(text)),
            Value::Pattern(text) => Arg::Pattern(Cow::Borrowed(text)),
            Value::Process { reads, commands } => Arg::Process { reads: *reads, commands },
            Value::Unknown(unknown) => Arg::Hazy(Hazy {
                prefix: Cow::Borrowed(&unknown.prefix),
                suffix: &unknown.suffix,
                splits: unknown.splits,
                absent: false,
                from: &unknown.from,
            }),
            Value::OneOf(values) => match values.as_slice() {
                [only] if !matches!(only, Value::OneOf(_)) => Arg::of(only),
                _ => Arg::Hazy(Hazy { splits: true, ..Hazy::default() }),
            },
        }
    }

    pub(crate) fn owned(text: impl Into<String>) -> Arg<'a> {
        Arg::Text(Cow::Owned(text.into()))
    }

    /// The text, where it is certain.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Arg::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text, where it is certain; a pattern as it stands.
    pub(crate) fn written(&self) -> Option<Cow<'_, str>> {
        match self {
            Arg::Text(text) => Some(Cow::Borrowed(text)),
            Arg::Pattern(text) => Some(Cow::Owned(glob::literal(text))),
            Arg::Process { .. } | Arg::Hazy(_) => None,
        }
    }

    /// What it certainly starts with.
    pub(crate) fn lead(&self) -> &str {
        match self {
            Arg::Text(text) | Arg::Pattern(text) => text,
            Arg::Process { .. } => "/dev/fd/",
            Arg::Hazy(hazy) => &hazy.prefix,
        }
    }

    /// Whether all of it is known, if only as a pattern.
    pub(crate) fn is_certain(&self) -> bool {
        matches!(self, Arg::Text(_) | Arg::Pattern(_))
    }

    /// The word without its first bytes.
    pub(crate) fn after(&self, bytes: usize) -> Arg<'a> {
        let cut = |text: &Cow<'a, str>| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(bytes..).unwrap_or_default()),
            Cow::Owned(text) => Cow::Owned(text.get(bytes..).unwrap_or_default().to_owned()),
        };
        match self {
            Arg::Text(text) => Arg::Text(cut(text)),
            Arg::Pattern(text) => {
                let rest = cut(text);
                if glob::is_wild(&rest) {
                    Arg::Pattern(rest)
                } else {
                    Arg::Text(Cow::Owned(glob::literal(&rest)))
                }
            }
            Arg::Process { .. } => self.clone(),
            Arg::Hazy(hazy) => Arg::Hazy(Hazy { prefix: cut(&hazy.prefix), ..hazy.clone() }),
        }
    }

    /// Whether it might be read as an option by a program that looks for them here.
    pub(crate) fn may_be_option(&self) -> bool {
        match self {
            Arg::Hazy(hazy) => {
                !hazy.absent && (hazy.splits || hazy.prefix.is_empty() || hazy.prefix.starts_with('-'))
            }
            Arg::Text(_) | Arg::Pattern(_) | Arg::Process { .. } => false,
        }
    }

    /// For people.
    pub(crate) fn show(&self, into: &mut String) {
        match self {
            Arg::Text(text) => quote(text, into),
            Arg::Pattern(text) => into.push_str(text),
            Arg::Process { .. } => into.push_str("/dev/fd/…"),
            Arg::Hazy(hazy) => {
                into.push_str(&hazy.prefix);
                into.push('…');
            }
        }
    }
}

fn quote(text: &str, into: &mut String) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&byte) || byte >= 0x80;
    if !text.is_empty() && text.bytes().all(plain) {
        into.push_str(text);
        return;
    }
    into.push('\'');
    for letter in text.chars() {
        if letter == '\'' {
            into.push_str("'\\''");
        } else {
            into.push(letter);
        }
    }
    into.push('\'');
}

/// The most combinations of alternatives that are looked at one by one.
const MOST: usize = 64;

/// Every combination of the alternatives that words leave open. Too many: such a word is not known.
pub(crate) fn alternatives<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> Vec<Vec<Arg<'a>>> {
    if !values.clone().any(|value| matches!(value, Value::OneOf(_))) {
        return vec![values.map(Arg::of).collect()];
    }
    let mut lines: Vec<Vec<Arg<'a>>> = vec![Vec::new()];
    for value in values {
        let mut choices = Vec::new();
        flatten(value, &mut choices, 0);
        if choices.len() * lines.len() > MOST || choices.is_empty() {
            choices = vec![Arg::Hazy(Hazy { splits: true, ..Hazy::default() })];
        }
        if let [only] = choices.as_slice() {
            for line in &mut lines {
                line.push(only.clone());
            }
            continue;
        }
        lines = lines
            .iter()
            .flat_map(|line| {
                choices.iter().map(move |choice| {
                    let mut line = line.clone();
                    line.push(choice.clone());
                    line
                })
            })
            .collect();
    }
    lines
}

/// A value's alternatives, nested ones included.
pub(crate) fn flatten<'a>(value: &'a Value, into: &mut Vec<Arg<'a>>, depth: usize) {
    match value {
        Value::OneOf(values) if depth < 8 => values.iter().for_each(|value| flatten(value, into, depth + 1)),
        _ => into.push(Arg::of(value)),
    }
}
