//! How rulings are put into words: reasons, citations, suggestions.

use std::borrow::Cow;

use effects::{Class, Effect, Part, Place};

use super::{Verdict, Word};
use crate::command_list::Entry;
use crate::config::{At, CommandMatcher, CommandRule, Set};
use crate::decision::Decision::{self, Allow, Ask, Deny};
use crate::pattern::Found;
use crate::rule::Rule;
use crate::ruling::Cited;

pub(super) fn command_rule_matches(rule: &CommandRule, part: &Part) -> bool {
    match &rule.matcher {
        CommandMatcher::Meaning(entry) => match rule.decision {
            Allow => entry.covers(part),
            Ask | Deny => entry.names(std::slice::from_ref(part)),
        },
        // FAIL-CLOSED: a pattern that cannot be evaluated counts as found where that is the stricter reading.
        CommandMatcher::Regex(pattern) => match pattern.search(&part.text) {
            Found::Yes => true,
            Found::No => false,
            Found::Failed => rule.decision != Allow,
        },
    }
}

pub(super) fn find_tool<'a>(list: &'a [Set<String>], tool: &str) -> Option<&'a Set<String>> {
    let server = call::mcp_server(tool);
    list.iter().find(|entry| entry.value == tool || server == Some(&entry.value))
}

pub(super) fn place_of(effect: &Effect) -> Option<Place> {
    match effect {
        Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => Some(target.place),
        _ => None,
    }
}

pub(super) fn decides(
    decision: Decision,
    reason: String,
    rule: Cited,
    part: Option<usize>,
    help: Vec<String>,
) -> Word {
    Word::Decides(Box::new(Verdict { decision, reason, rule, part, help }))
}

pub(super) fn ask(reason: &str, rule: Cited, part: Option<usize>) -> Verdict {
    Verdict { decision: Ask, reason: reason.into(), rule, part, help: Vec::new() }
}

pub(super) const fn cite(id: &'static str) -> Cited {
    Cited { id: Cow::Borrowed(id), at: None }
}

pub(super) fn cited(id: &'static str, at: &At) -> Cited {
    Cited { id: Cow::Borrowed(id), at: Some(at.clone()) }
}

pub(super) fn cited_rule(rule: &Rule) -> Cited {
    Cited { id: Cow::Owned(rule.name.clone()), at: Some(rule.at.clone()) }
}

pub(super) fn effect_rule(class: Class, at: &At) -> Cited {
    Cited { id: Cow::Owned(format!("safety.effects.{}", class.key())), at: Some(at.clone()) }
}

/// A part as a person would call it. Its end is never cut off: that is where the surprise stands.
pub(super) fn name(part: &Part) -> String {
    const LONGEST: usize = 160;
    // Masked before it is shortened: half of a token is no longer seen to be one.
    let text = call::visible(&call::mask(&part.text));
    let count = text.chars().count();
    if count <= LONGEST {
        return format!("`{text}`");
    }
    let head: String = text.chars().take(LONGEST / 2).collect();
    let tail: String = text.chars().skip(count - LONGEST / 2).collect();
    format!("`{head} … {tail}`")
}

pub(super) fn on_list(entry: &Entry) -> String {
    format!("`{}` is on the allow list", entry.text)
}

/// The narrowest entry that would cover a part: program, options, and the word that says what it is about.
pub(super) fn suggestion(part: &Part) -> String {
    let normal = &part.normal;
    let subcommand = normal.operands.first().and_then(Option::as_deref).filter(|word| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    });
    match subcommand {
        Some(word) => format!("{} {word}", normal.program),
        None => normal.program.clone(),
    }
}

pub(super) fn parent(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, _)) if !directory.is_empty() => format!("{directory}/**"),
        _ => path.into(),
    }
}
