//! Text that the shell's grammar refuses: a rough look for what is beyond doubt destructive, so that it is denied
//! and not merely asked about. It can only add; nothing that it does not find is thereby harmless.

use crate::classify::Purpose;
use crate::doing::{Cwds, Doing};
use crate::effect::{Effect, Place};
use crate::place::Surroundings;

/// The most words that are looked at.
const MOST: usize = 4096;
/// The most paths that are looked at.
const MOST_PATHS: usize = 256;

/// Adds what the text certainly names.
pub(crate) fn scan(text: &str, around: &Surroundings<'_>, effects: &mut Vec<Effect>) {
    if is_fork_bomb(text) {
        effects.push(Effect::System("starts processes without end".into()));
    }
    let cwd = around.cwd.to_str().unwrap_or("/");
    let cwds = Cwds::at(cwd);
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || ";|&()`{}".contains(letter))
        .map(|word| word.trim_matches(['\'', '"']))
        .filter(|word| !word.is_empty())
        .take(MOST)
        .collect();
    let mut paths = 0;
    for (place, word) in words.iter().enumerate() {
        let rest = || words.iter().skip(place + 1).take(16);
        match word.rsplit('/').next().unwrap_or(word) {
            "rm" => {
                let recursive = rest().any(|word| {
                    *word == "--recursive"
                        || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
                });
                if !recursive {
                    continue;
                }
                for path in rest().filter(|word| !word.starts_with('-')) {
                    paths += 1;
                    if paths > MOST_PATHS {
                        return;
                    }
                    let mut doing = Doing { recursive: true, ..Doing::default() };
                    doing.named(path, path.contains('*'), Purpose::Delete, &cwds, around);
                    effects.extend(doing.effects.into_iter().filter(
                        |effect| matches!(effect, Effect::Delete { target, .. } if matches!(target.place, Place::Vital | Place::System)),
                    ));
                }
            }
            name if name == "mkfs" || name.starts_with("mkfs.") => {
                effects.push(Effect::System("makes a new file system".into()));
            }
            "dd" => {
                for path in rest().filter_map(|word| word.strip_prefix("of=/dev/")) {
                    if !matches!(path, "null" | "stdout" | "stderr" | "zero") {
                        effects.push(Effect::System("writes onto a device".into()));
                    }
                }
            }
            _ => {}
        }
    }
}

/// `name(){ name|name& };name`, under any name and with any blanks.
fn is_fork_bomb(text: &str) -> bool {
    let tight: String = text.chars().filter(|letter| !letter.is_whitespace()).take(4096).collect();
    let mut rest = tight.as_str();
    while let Some(at) = rest.find("(){") {
        let (before, after) = (rest.get(..at).unwrap_or_default(), rest.get(at + 3..).unwrap_or_default());
        let before = before.strip_suffix("function").unwrap_or(before);
        let name = before.rsplit([';', '&', '|', '}', '{', '(']).next().unwrap_or_default();
        let name = name.strip_prefix("function").filter(|name| !name.is_empty()).unwrap_or(name);
        if !name.is_empty() && name.len() < 64 && after.contains(&format!("{name}|{name}")) {
            return true;
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_bomb_is_known_under_any_name() {
        for text in [
            ":(){ :|:& };:",
            "bomb(){ bomb|bomb& }; bomb",
            "f () {\n f | f &\n}\nf",
            "function f(){ f|f& };f",
        ] {
            assert!(is_fork_bomb(text), "{text}");
        }
        for text in ["f(){ g|h; }; f", "echo hi", "a(){ b; }"] {
            assert!(!is_fork_bomb(text), "{text}");
        }
    }
}
