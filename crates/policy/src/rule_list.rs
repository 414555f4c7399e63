//! Ordered rules of one origin, indexed so that a thousand of them cost no more than the few that could match.

use std::collections::HashMap;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use effects::Part;

use crate::config::Origin;
use crate::question::Question;
use crate::rule::Rule;

/// Rules in order; the first that matches a part decides for it.
#[derive(Debug)]
pub(crate) struct RuleList {
    pub(crate) origin: Origin,
    pub(crate) rules: Vec<Rule>,
    index: OnceLock<Index>,
}

/// Which rules could match at all, by what every match of theirs needs.
#[derive(Debug, Default)]
struct Index {
    /// Rules that name programs.
    by_program: HashMap<String, Vec<usize>>,
    /// Rules whose patterns need one of some texts.
    needles: Option<AhoCorasick>,
    rule_of_needle: Vec<usize>,
    /// Rules that must always be looked at.
    always: Vec<usize>,
}

impl RuleList {
    pub(crate) fn new(origin: Origin, rules: Vec<Rule>) -> RuleList {
        RuleList { origin, rules, index: OnceLock::new() }
    }

    /// The rules that match this part, in order. The first one decides.
    pub(crate) fn matches<'a>(
        &'a self,
        question: &Question<'_>,
        part: &Part,
    ) -> impl Iterator<Item = &'a Rule> {
        self.candidates(question, part)
            .into_iter()
            .filter_map(|number| self.rules.get(number))
            .filter(move |rule| rule.matches(question, part))
    }

    /// The rules that could match at all, in order.
    fn candidates(&self, question: &Question<'_>, part: &Part) -> Vec<usize> {
        let index = self.index.get_or_init(|| Index::of(&self.rules));
        let mut candidates: Vec<usize> = index.always.clone();
        if question.runs_commands() {
            let programs =
                std::iter::once(part.normal.program.as_str()).chain(part.via.iter().map(String::as_str));
            for program in programs {
                let base = program.rsplit('/').next().unwrap_or(program);
                candidates.extend(index.by_program.get(base).into_iter().flatten());
            }
            if let Some(needles) = &index.needles {
                let texts = std::iter::once(part.text.as_str()).chain(question.text);
                for text in texts {
                    for hit in needles.find_overlapping_iter(text) {
                        candidates.extend(index.rule_of_needle.get(hit.pattern().as_usize()));
                    }
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }
}

impl Index {
    fn of(rules: &[Rule]) -> Index {
        let mut index = Index::default();
        let mut texts: Vec<&str> = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            if !rule.commands.is_empty() {
                for entry in &rule.commands {
                    index.by_program.entry(entry.program().to_owned()).or_default().push(number);
                }
            } else if let Some(needles) = needles_of(rule) {
                for needle in needles {
                    texts.push(needle);
                    index.rule_of_needle.push(number);
                }
            } else {
                index.always.push(number);
            }
        }
        if !texts.is_empty() {
            // INVARIANT: without the automaton its rules must still be looked at.
            match AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts) {
                Ok(automaton) => index.needles = Some(automaton),
                Err(_) => {
                    index.always.append(&mut index.rule_of_needle);
                    index.always.sort_unstable();
                    index.always.dedup();
                }
            }
        }
        index
    }
}

/// Texts of which every command that this rule matches contains one.
fn needles_of(rule: &Rule) -> Option<Vec<&str>> {
    if rule.command_patterns.is_empty() {
        return None;
    }
    let mut all = Vec::new();
    for pattern in &rule.command_patterns {
        all.extend(pattern.needles()?.iter().map(String::as_str));
    }
    (!all.is_empty()).then_some(all)
}
