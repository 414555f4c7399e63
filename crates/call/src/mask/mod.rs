//! Secrets inside text are replaced by `[masked]` before anybody sees or stores the text.
//!
//! One pass over the bytes ([`scan`]) finds them by the name that they are given ([`names`]: `--password x`,
//! `token=x`, `Authorization: …`), by their shape ([`shapes`]: `ghp_…`, `AKIA…`), by where they stand ([`place`]: `user:x@host`,
//! a private key's block), or because they are long and random ([`opaque`]). A reference such as `$TOKEN` is no
//! secret and stays. This is best effort and no boundary: what must not be seen at all is a [`crate::Secret`].

mod names;
mod opaque;
mod place;
mod scan;
mod shapes;
mod value;

use std::borrow::Cow;

use serde_json::{Map, Value};

use names::{BY_PLACE, Name, Way, before_password, habit, name};
use scan::Scanner;
use value::is_reference;

/// What stands in place of a secret.
pub const MASKED: &str = "[masked]";

/// `text` with the secrets in it replaced.
#[must_use]
pub fn mask(text: &str) -> Cow<'_, str> {
    Scanner::text(text).run()
}

/// The words of a command with the secrets in them replaced, also where option and value are two words.
#[must_use]
pub fn mask_argv(words: &[String]) -> Vec<String> {
    let mut masked = Vec::with_capacity(words.len());
    let mut program = Program::default();
    let (mut earlier, mut before) = ("", "");
    for word in words {
        masked.push(match follows((earlier, before), word, &program) {
            Some(hidden) => hidden,
            None => match program.attached(word) {
                Some(hidden) => hidden,
                None => Scanner::argument(word).run().into_owned(),
            },
        });
        program.see(word);
        earlier = before;
        before = word;
    }
    masked
}

/// A JSON value with the secrets in its strings and under its keys replaced.
///
/// Recurses as deep as the value is nested, which its maker bounds ([`crate::bounds::MAX_DEPTH`] for a call).
#[must_use]
pub fn mask_json(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => mask(text).into(),
        Value::Array(items) => {
            let words: Option<Vec<String>> =
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            match words {
                Some(words) => mask_argv(&words).into(),
                None => items.iter().map(mask_json).collect(),
            }
        }
        Value::Object(members) => {
            let mut masked = Map::new();
            for (key, value) in members {
                let secret = name(key.as_bytes()) != Name::Plain;
                let value = if secret { mask_all(value) } else { mask_json(value) };
                masked.insert(mask(key).into_owned(), value);
            }
            Value::Object(masked)
        }
    }
}

/// Everything that could be a secret under a key that names one.
fn mask_all(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) if text.is_empty() => value.clone(),
        Value::Number(_) | Value::String(_) => MASKED.into(),
        Value::Array(items) => items.iter().map(mask_all).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(key, value)| (mask(key).into_owned(), mask_all(value))).collect(),
        ),
    }
}

/// `word` masked, where the word `before` it announces a secret.
fn follows((earlier, before): (&str, &str), word: &str, program: &Program) -> Option<String> {
    if word.is_empty() || is_reference(word) {
        return None;
    }
    // `configure set aws_secret_access_key x`
    if earlier.eq_ignore_ascii_case("set") && name(before.as_bytes()) != Name::Plain
        || program.operands == Some(0) && !word.starts_with('-')
    {
        return Some(MASKED.to_owned());
    }
    let announced = if before.starts_with('-') {
        !word.starts_with('-') && name(before.as_bytes()) != Name::Plain
    } else if let Some(header) = before.strip_suffix([':', '=']) {
        name(header.as_bytes()) != Name::Plain
    } else {
        before.eq_ignore_ascii_case("bearer")
    };
    if announced {
        return Some(MASKED.to_owned());
    }
    match program.way(before)? {
        Way::Next | Way::Either => Some(MASKED.to_owned()),
        Way::AfterColon => mask_after(word, ':'),
        Way::AfterPercent => mask_after(word, '%'),
        Way::Attached => None,
    }
}

/// `user:[masked]` of `user:secret`.
fn mask_after(word: &str, mark: char) -> Option<String> {
    let (user, secret) = word.split_once(mark)?;
    (!secret.is_empty() && !is_reference(secret)).then(|| format!("{user}{mark}{MASKED}"))
}

/// The program of a list of words, as far as its options for passwords matter.
#[derive(Default)]
struct Program {
    habit: Option<&'static names::Habit>,
    ready: bool,
    /// It takes a password as an operand.
    by_place: bool,
    /// So many operands come before it.
    operands: Option<usize>,
}

impl Program {
    fn see(&mut self, word: &str) {
        let base = word.rsplit('/').next().unwrap_or(word);
        if base.as_bytes() == BY_PLACE {
            *self = Program { by_place: true, ..Program::default() };
            return;
        }
        if self.by_place && word.starts_with('-') {
            self.operands = before_password(word.as_bytes()).or(self.operands);
        } else if self.by_place {
            self.operands = self.operands.and_then(|count| count.checked_sub(1));
        }
        if let Some(found) = habit(base.as_bytes()) {
            *self = Program { habit: Some(found), ready: found.after.is_none(), ..Program::default() };
        } else if self.habit.is_some_and(|habit| habit.after == Some(word)) {
            self.ready = true;
        }
    }

    fn way(&self, option: &str) -> Option<Way> {
        let options = self.habit.filter(|_| self.ready)?.options;
        options.iter().find(|(known, _)| *known == option).map(|(_, way)| *way)
    }

    /// A word that is an option and its secret in one.
    fn attached(&self, word: &str) -> Option<String> {
        let options = self.habit.filter(|_| self.ready)?.options;
        options.iter().find_map(|(option, way)| {
            let value = word.strip_prefix(option).filter(|value| !value.is_empty())?;
            let long = option.starts_with("--");
            let value = if long { value.strip_prefix('=')? } else { value };
            let joint = if long { "=" } else { "" };
            match way {
                Way::Attached | Way::Either if !is_reference(value) => {
                    Some(format!("{option}{joint}{MASKED}"))
                }
                Way::AfterColon => mask_after(value, ':').map(|masked| format!("{option}{joint}{masked}")),
                Way::AfterPercent => mask_after(value, '%').map(|masked| format!("{option}{joint}{masked}")),
                Way::Attached | Way::Either | Way::Next => None,
            }
        })
    }
}

#[cfg(test)]
mod tests;
