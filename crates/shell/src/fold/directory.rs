//! `cd`: where a text has moved to.

use super::Folder;
use super::expand::Seen;
use super::state::{Binding, Key, unknown};
use crate::{Value, Why, Word};

impl<'t, 'a> Folder<'t, 'a> {
    /// Follows `cd` with these arguments.
    pub(super) fn change_directory(&mut self, arguments: &[Word]) {
        let before = self.directory();
        let mut arguments = arguments;
        while let Some((first, rest)) = arguments.split_first() {
            match &first.value {
                Value::Text(text) if text == "-L" || text == "--" => arguments = rest,
                _ => break,
            }
        }
        let after = match arguments {
            [] => match self.variable("HOME") {
                Seen::Value(value) => self.reached(&before, &value),
                Seen::Unset => unknown(Why::Variable("PWD".into())),
            },
            [only] => match &only.value {
                Value::Text(text) if text == "-" => match self.state.get(&Key::Previous) {
                    Binding::Set(value) => value.clone(),
                    _ => unknown(Why::Variable("OLDPWD".into())),
                },
                value => self.reached(&before, value),
            },
            _ => unknown(Why::Variable("PWD".into())),
        };
        self.state.set(Key::Previous, Binding::Set(before.clone()));
        self.state.set(Key::Directory, Binding::Set(after));
        self.failed = Some(Binding::Set(before));
    }

    /// Where `cd target` from `here` leads.
    fn reached(&self, here: &Value, target: &Value) -> Value {
        let lost = || unknown(Why::Variable("PWD".into()));
        if !matches!(self.state.variable("CDPATH"), Binding::Outside | Binding::Unset) {
            return lost();
        }
        match target {
            Value::Text(text) if text.is_empty() || text.starts_with('-') => lost(),
            Value::Text(text) => each(here, &|here| join(here, text)),
            Value::OneOf(members) => {
                let mut all = Vec::new();
                for member in members {
                    match self.reached(here, member) {
                        Value::OneOf(inner) => all.extend(inner),
                        value @ (Value::Text(_) | Value::Pattern(_)) => all.push(value),
                        Value::Unknown(_) | Value::Process { .. } => return lost(),
                    }
                }
                if all.len() > 16 { lost() } else { Value::OneOf(all) }
            }
            Value::Pattern(pattern) => {
                let hidden = pattern
                    .split('/')
                    .any(|component| component.starts_with('.') || component.contains('\\'));
                match here {
                    Value::Text(here)
                        if !hidden && !pattern.starts_with('/') && !here.contains(['*', '?', '[', '\\']) =>
                    {
                        Value::Pattern(format!(
                            "{}/{}",
                            here.trim_end_matches('/'),
                            pattern.trim_end_matches('/')
                        ))
                    }
                    _ if !hidden && pattern.starts_with('/') => {
                        Value::Pattern(pattern.trim_end_matches('/').to_owned())
                    }
                    _ => lost(),
                }
            }
            Value::Unknown(_) | Value::Process { .. } => lost(),
        }
    }
}

fn each(here: &Value, step: &dyn Fn(&str) -> Option<String>) -> Value {
    let lost = || unknown(Why::Variable("PWD".into()));
    match here {
        Value::Text(here) => step(here).map_or_else(lost, Value::Text),
        Value::OneOf(members) => {
            let mut all: Vec<Value> = Vec::new();
            for member in members {
                // What is not known stays so beside what is.
                let value = each(member, step);
                if !all.contains(&value) {
                    all.push(value);
                }
            }
            match (all.len(), all.pop()) {
                (1, Some(only)) => only,
                (_, Some(last)) => {
                    all.push(last);
                    Value::OneOf(all)
                }
                (_, None) => lost(),
            }
        }
        // From an unknown place, only an absolute path leads to a known one.
        Value::Pattern(_) | Value::Process { .. } | Value::Unknown(_) => {
            step("").map_or_else(lost, Value::Text)
        }
    }
}

/// The path that a shell would print after `cd target` in `here`; nothing where `here` is needed and not known.
fn join(here: &str, target: &str) -> Option<String> {
    let mut components: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        if !here.starts_with('/') {
            return None;
        }
        components.extend(here.split('/').filter(|part| !part.is_empty()));
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                components.pop();
            }
            part => components.push(part),
        }
    }
    Some(format!("/{}", components.join("/")))
}
