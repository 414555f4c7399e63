//! Writing a rule into the text of the user's configuration, which stays as it is otherwise: comments, order and all.
//!
//! Only plain block style is edited. Where the text has another form, or where the result would not read back as the same
//! configuration with exactly this rule added at the end of its list, nothing is changed, and the lines to paste come back.

use std::fmt::Write as _;

use policy::{Base, Config, Layer, Origin};

use crate::always::Proposal;

/// Who saved a rule, when and why: it stands above the rule as a comment.
#[derive(Debug, Clone, Copy)]
pub struct Provenance<'a> {
    /// Who.
    pub who: &'a str,
    /// When, as a date.
    pub when: &'a str,
    /// Why.
    pub why: &'a str,
}

/// The text cannot be edited safely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CannotEdit {
    /// Why not.
    pub why: String,
    /// What to paste below `rules:`.
    pub snippet: String,
}

impl std::fmt::Display for CannotEdit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; add this by hand below `rules:`:\n{}", self.why, self.snippet)
    }
}

impl std::error::Error for CannotEdit {}

/// The text of a configuration with the rule added as the last one, so that it lifts nothing that another rule says.
///
/// # Errors
/// The text has a form that cannot be edited safely.
pub fn add_rule(text: &str, proposal: &Proposal, provenance: &Provenance<'_>) -> Result<String, CannotEdit> {
    let refuse = |why: &str| {
        let snippet = format!("{}{}", comment("  ", provenance), proposal.entry("  "));
        CannotEdit { why: why.to_owned(), snippet }
    };
    let before = read(text).map_err(|why| refuse(&why))?;
    if before
        .iter()
        .any(|(key, value)| key == "rules" && value.contains(&format!("name: {}", proposal.name())))
    {
        return Err(refuse("a rule of this name is there already"));
    }
    let changed =
        edited(text, proposal, provenance).ok_or_else(|| refuse("the file has a form that is not edited"))?;
    // FAIL-CLOSED: whatever was done to the text, it must read as what was there and this one rule after all others.
    let after = read(&changed).map_err(|why| refuse(&format!("the edited file would not load: {why}")))?;
    let alone = read(&proposal.document()).map_err(|why| refuse(&why))?;
    let rules =
        |all: &[(String, String)]| all.iter().filter(|(key, _)| key == "rules").cloned().collect::<Vec<_>>();
    let others =
        |all: &[(String, String)]| all.iter().filter(|(key, _)| key != "rules").cloned().collect::<Vec<_>>();
    let expected = [rules(&before), rules(&alone)].concat();
    if rules(&after) != expected || others(&after) != others(&before) {
        return Err(refuse("the edited file would not hold exactly this rule more"));
    }
    Ok(changed)
}

/// Everything that a text sets, as it was written, key by key.
fn read(text: &str) -> Result<Vec<(String, String)>, String> {
    let layer = Layer::parse(Origin::User, "the configuration", text).map_err(|error| error.to_string())?;
    let base = Base { cwd: "/".into(), home: Some("/".into()) };
    let config = Config::merge(vec![layer], &base).map_err(|error| error.to_string())?;
    Ok(config.shown().into_iter().map(|shown| (shown.key, shown.value)).collect())
}

fn comment(indent: &str, provenance: &Provenance<'_>) -> String {
    // One line each, whatever the words hold.
    let plain = |text: &str| call::visible(&call::mask(text));
    format!(
        "{indent}# Approved for always by {} on {}.\n{indent}# Why it was asked: {}\n",
        plain(provenance.who),
        plain(provenance.when),
        plain(provenance.why)
    )
}

fn edited(text: &str, proposal: &Proposal, provenance: &Provenance<'_>) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let odd = |line: &&str| {
        line.contains('\t') || line.starts_with("---") || line.starts_with("...") || line.starts_with('{')
    };
    if text.contains('\r') || lines.iter().any(odd) {
        return None;
    }
    let added = |indent: &str| format!("{}{}", comment(indent, provenance), proposal.entry(indent));
    let starts = |line: &str| line == "rules:" || line.starts_with("rules: ") || line.starts_with("rules :");
    let keys: Vec<usize> =
        (0..lines.len()).filter(|index| lines.get(*index).is_some_and(|line| starts(line))).collect();
    let mut out = String::with_capacity(text.len() + 512);
    match keys.as_slice() {
        [] => {
            // Quoted or written in another way, it would be there twice.
            if lines
                .iter()
                .any(|line| line.trim_start().trim_start_matches(['"', '\'', '?', ' ']).starts_with("rules"))
            {
                return None;
            }
            out.push_str(text);
            if !text.is_empty() && !text.ends_with('\n') {
                out.push('\n');
            }
            let _ = write!(out, "rules:\n{}", added("  "));
        }
        [key] => {
            let rest = lines.get(*key)?.strip_prefix("rules:")?;
            let value = rest.split(" #").next().unwrap_or_default().trim();
            let empty = match value {
                "" => false,
                "[]" => true,
                _ => return None,
            };
            // The list ends before the first line that is not indented and is no item of it.
            let ends = |line: &&str| {
                !line.trim().is_empty()
                    && !line.starts_with([' ', '#'])
                    && !line.starts_with("- ")
                    && *line != "-"
            };
            let after = lines.iter().skip(key + 1).position(ends).map_or(lines.len(), |at| key + 1 + at);
            let body = lines.get(key + 1..after)?;
            // Comments and empty lines before the next key belong to it.
            let used = body.iter().rposition(|line| {
                let trimmed = line.trim_start();
                !trimmed.is_empty() && !trimmed.starts_with('#')
            });
            let end = used.map_or(key + 1, |at| key + 2 + at);
            if used.is_some() && empty {
                return None;
            }
            let item = body.iter().find(|line| line.trim_start().starts_with('-'));
            let indent = match (used, item) {
                (None, _) => "  ".to_owned(),
                (Some(_), Some(item)) => " ".repeat(item.len() - item.trim_start().len()),
                (Some(_), None) => return None,
            };
            for (index, line) in lines.iter().enumerate() {
                if index == *key && empty {
                    let tail =
                        rest.split_once(" #").map(|(_, comment)| format!(" #{comment}")).unwrap_or_default();
                    let _ = writeln!(out, "rules:{tail}");
                } else {
                    let _ = writeln!(out, "{line}");
                }
                if index + 1 == end {
                    out.push_str(&added(&indent));
                }
            }
        }
        _ => return None,
    }
    Some(out)
}
