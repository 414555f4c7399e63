//! Regular expressions of rules: checked when they are read, compiled when they are first needed, and bounded when
//! they run.

use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};
use regex_syntax::ast::{self, Ast};

/// How many steps a pattern with look-around may take before it counts as failed.
const BACKTRACK_LIMIT: usize = 100_000;
/// The longest pattern.
const MAX_PATTERN: usize = 4096;

/// A regular expression of a rule.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    /// Every match contains one of these, where that could be found out.
    needles: Option<Vec<String>>,
    compiled: OnceLock<Option<Regex>>,
}

/// What came of searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It matches.
    Yes,
    /// It does not.
    No,
    /// It could not be evaluated within its bounds.
    Failed,
}

impl Pattern {
    /// Checks a pattern. The message says what is wrong with it.
    pub(crate) fn new(text: &str) -> Result<Pattern, String> {
        if text.len() > MAX_PATTERN {
            return Err(format!("a pattern of {} bytes is longer than {MAX_PATTERN}", text.len()));
        }
        // The linear engine's own parser is quick and exact; what it refuses may still be a pattern with
        // look-around, which only compiling tells.
        let needles = match ast::parse::ParserBuilder::new().nest_limit(64).build().parse(text) {
            Ok(ast) => needles(&ast),
            Err(_) => {
                compile(text).map_err(|error| format!("not a regular expression: {error}"))?;
                None
            }
        };
        Ok(Pattern { text: text.into(), needles, compiled: OnceLock::new() })
    }

    /// Texts of which every match contains at least one.
    pub(crate) fn needles(&self) -> Option<&[String]> {
        self.needles.as_deref()
    }

    /// Searches.
    pub(crate) fn search(&self, haystack: &str) -> Found {
        let Some(regex) = self.compiled.get_or_init(|| compile(&self.text).ok()) else {
            return Found::Failed;
        };
        match regex.is_match(haystack) {
            Ok(true) => Found::Yes,
            Ok(false) => Found::No,
            Err(_) => Found::Failed,
        }
    }
}

fn compile(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(1 << 20)
        .build()
        .map_err(|error| error.to_string())
}

/// Literal texts of which every match must contain one: those of a concatenation's best part. `None` where there is no
/// such set. It errs only towards `None`.
fn needles(ast: &Ast) -> Option<Vec<String>> {
    const SHORTEST: usize = 2;
    match ast {
        Ast::Literal(literal) => Some(vec![literal.c.to_string()]),
        Ast::Group(group) => match &group.kind {
            // Flags inside a group (case folding above all) change what a literal means.
            ast::GroupKind::NonCapturing(flags) if !flags.items.is_empty() => None,
            _ => needles(&group.ast),
        },
        Ast::Repetition(repetition) => {
            let at_least_once = match &repetition.op.kind {
                ast::RepetitionKind::OneOrMore => true,
                ast::RepetitionKind::Range(range) => match range {
                    ast::RepetitionRange::Exactly(n) | ast::RepetitionRange::AtLeast(n) => *n > 0,
                    ast::RepetitionRange::Bounded(n, _) => *n > 0,
                },
                ast::RepetitionKind::ZeroOrOne | ast::RepetitionKind::ZeroOrMore => false,
            };
            if at_least_once { needles(&repetition.ast) } else { None }
        }
        Ast::Alternation(alternation) => {
            let mut all = Vec::new();
            for branch in &alternation.asts {
                all.extend(needles(branch)?);
            }
            (all.len() <= 32).then_some(all)
        }
        Ast::Concat(concat) => {
            let mut best: Option<Vec<String>> = None;
            let mut run = String::new();
            let better = |candidate: Vec<String>, best: &mut Option<Vec<String>>| {
                let length = |set: &Vec<String>| set.iter().map(String::len).min().unwrap_or(0);
                if length(&candidate) >= SHORTEST
                    && best.as_ref().is_none_or(|known| length(&candidate) > length(known))
                {
                    *best = Some(candidate);
                }
            };
            for part in &concat.asts {
                match part {
                    Ast::Literal(literal) => run.push(literal.c),
                    Ast::Flags(_) => return None,
                    // A word boundary stands between characters and breaks no run.
                    Ast::Assertion(_) => {}
                    other => {
                        better(vec![std::mem::take(&mut run)], &mut best);
                        if let Some(inner) = needles(other) {
                            better(inner, &mut best);
                        }
                    }
                }
            }
            better(vec![run], &mut best);
            best
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_of_a_pattern_contains_one_of_its_needles() {
        for (pattern, expected) in [
            (r"\brm\s+-rf\b", Some(vec!["-rf"])),
            (r"^git\s+push", Some(vec!["push"])),
            (r"(curl|wget).*\|\s*sh", Some(vec!["curl", "wget"])),
            (r"(?i)drop table", None),
            (r"a?b*", None),
            (r"(abc)?def", Some(vec!["def"])),
            (r"x", Some(vec!["x"])),
            (r"\.env$", Some(vec![".env"])),
            (r"[a-z]+", None),
        ] {
            let made = Pattern::new(pattern).expect("valid");
            let expected = expected.map(|set| set.into_iter().map(String::from).collect::<Vec<_>>());
            assert_eq!(made.needles().map(<[_]>::to_vec), expected, "{pattern}");
        }
    }

    #[test]
    fn look_around_works_and_a_pattern_that_explodes_fails_instead_of_hanging() {
        let ahead = Pattern::new(r"^git (?!push)").expect("valid");
        assert_eq!(ahead.search("git status"), Found::Yes);
        assert_eq!(ahead.search("git push"), Found::No);
        let bomb = Pattern::new(r"^(a|b|ab)*(?=c)\1d").expect("valid");
        assert_eq!(bomb.search(&"ab".repeat(64)), Found::Failed);
    }

    #[test]
    fn a_broken_pattern_is_refused_when_it_is_read() {
        for broken in ["(", "[z-a]", "(?<n", "\\"] {
            assert!(Pattern::new(broken).is_err(), "{broken}");
        }
    }
}
