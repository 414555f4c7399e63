//! Regular expressions of rules: checked when they are read, compiled when they are first needed, and bounded when
//! they run.

use std::sync::OnceLock;

use fancy_regex::{Expr, Regex, RegexBuilder};
use regex_syntax::ast::parse::Parser;

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
        let refuse = |error: String| format!("not a regular expression: {error}");
        let tree = Expr::parse_tree(text).map_err(|error| refuse(error.to_string()))?;
        check_classes(&tree.expr).map_err(refuse)?;
        let needles = needles(&tree.expr);
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

/// Character classes are handed on to the linear engine as text; whether they make sense, its parser tells.
fn check_classes(expr: &Expr) -> Result<(), String> {
    if let Expr::Delegate { inner, .. } = expr {
        return Parser::new().parse(inner).map(drop).map_err(|error| error.kind().to_string());
    }
    expr.children_iter().try_for_each(check_classes)
}

/// Literal texts of which every match must contain one: those of a concatenation's best part. `None` where there is no
/// such set. It errs only towards `None`.
fn needles(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Literal { val, casei: false } => Some(vec![val.clone()]),
        Expr::Group(inner) => needles(inner),
        Expr::AtomicGroup(inner) => needles(inner),
        Expr::Repeat { child, lo, .. } if *lo > 0 => needles(child),
        Expr::Alt(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(needles(branch)?);
            }
            (all.len() <= 32).then_some(all)
        }
        Expr::Concat(parts) => {
            let mut best: Option<Vec<String>> = None;
            let mut run = String::new();
            for part in parts {
                match part {
                    Expr::Literal { val, casei: false } => run.push_str(val),
                    // What has no width stands between characters and breaks no run.
                    Expr::Assertion(_) | Expr::LookAround(..) | Expr::KeepOut | Expr::Empty => {}
                    other => {
                        take_longer(&mut best, vec![std::mem::take(&mut run)]);
                        if let Some(inner) = needles(other) {
                            take_longer(&mut best, inner);
                        }
                    }
                }
            }
            take_longer(&mut best, vec![run]);
            best
        }
        _ => None,
    }
}

/// Keeps the set whose shortest text is longer. Single characters are in everything and tell nothing.
fn take_longer(best: &mut Option<Vec<String>>, candidate: Vec<String>) {
    let length = |set: &Vec<String>| set.iter().map(String::len).min().unwrap_or(0);
    if length(&candidate) >= 2 && best.as_ref().is_none_or(|known| length(&candidate) > length(known)) {
        *best = Some(candidate);
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
            (r"^run7 (?!--dry)", Some(vec!["run7 "])),
            (r"(?<!un)safe", Some(vec!["safe"])),
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
