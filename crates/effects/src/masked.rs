//! Effects as they may be shown. A secret among the words of a command is masked where the command is shown, and must not come
//! out again as a path that the command would touch: `ls --password hunter2` reads `/w/hunter2`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use call::{MASKED, mask, mask_argv};

use crate::analysis::{Analysis, Part};
use crate::effect::{Effect, Target};

/// So many secrets of one call are looked for in what is shown of it.
const MOST: usize = 64;
/// A shorter one is looked for only where it stands alone.
const SHORT: usize = 4;

/// What is masked in the commands of a call.
#[derive(Default)]
pub struct Hidden {
    /// Whole words, and what is shown of them.
    words: BTreeMap<String, String>,
    /// The secrets in them, the longest first.
    secrets: Vec<String>,
    /// There are more than are looked for.
    too_many: bool,
}

impl Analysis {
    /// What is masked in its commands.
    #[must_use]
    pub fn hidden(&self) -> Hidden {
        let mut hidden = Hidden::default();
        for part in &self.parts {
            hidden.see(part);
        }
        hidden.secrets.sort_by(|one, two| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
        hidden.secrets.dedup();
        hidden
    }
}

impl Hidden {
    fn see(&mut self, part: &Part) {
        match &part.argv {
            Some(argv) => {
                for (word, shown) in argv.iter().zip(mask_argv(argv)) {
                    self.hide(word, &shown);
                }
            }
            None => {
                let shown = mask(&part.text);
                self.hide(&part.text, &shown);
            }
        }
    }

    fn hide(&mut self, word: &str, shown: &str) {
        if word == shown {
            return;
        }
        for secret in apart(word, shown) {
            if self.secrets.len() < MOST {
                self.secrets.push(secret.to_owned());
            } else {
                self.too_many = true;
            }
        }
        if self.words.len() < MOST {
            self.words.insert(word.to_owned(), shown.to_owned());
        }
    }

    /// An effect, masked.
    #[must_use]
    pub fn effect(&self, effect: &Effect) -> String {
        if self.secrets.is_empty() {
            return mask(&effect.to_string()).into_owned();
        }
        let target = |target: &Target| Target {
            path: target
                .given
                .as_ref()
                .and_then(|given| self.words.get(given))
                .map_or_else(|| self.within(&target.path).into_owned(), |shown| mask(shown).into_owned()),
            given: None,
            place: target.place,
        };
        let text = |text: &String| self.within(text).into_owned();
        let shown = match effect {
            Effect::Read(one) => Effect::Read(target(one)),
            Effect::Write(one) => Effect::Write(target(one)),
            Effect::Delete { target: one, recursive } => {
                Effect::Delete { target: target(one), recursive: *recursive }
            }
            Effect::Run { program } => Effect::Run { program: text(program) },
            Effect::Privilege(what) => Effect::Privilege(text(what)),
            Effect::System(what) => Effect::System(text(what)),
            Effect::History(what) => Effect::History(text(what)),
            Effect::Environment(what) => Effect::Environment(text(what)),
            Effect::Unknown(why) => Effect::Unknown(text(why)),
            Effect::Connect(_) | Effect::Code { .. } => effect.clone(),
        };
        mask(&shown.to_string()).into_owned()
    }

    /// A text that may name paths of the call, masked.
    #[must_use]
    pub fn within<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // FAIL-CLOSED: what was not looked for may be in it.
        if self.too_many {
            return Cow::Owned(MASKED.to_owned());
        }
        let mut shown = Cow::Borrowed(text);
        for secret in &self.secrets {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(without(&shown, secret));
            }
        }
        shown
    }
}

/// A text with a secret replaced in it.
fn without(text: &str, secret: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(secret) {
        shown.push_str(before);
        let joined = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
        let alone = !joined(shown.chars().next_back()) && !joined(after.chars().next());
        shown.push_str(if alone || secret.len() >= SHORT { MASKED } else { secret });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// What of a word is not in what is shown of it.
fn apart<'a>(word: &'a str, shown: &str) -> Vec<&'a str> {
    let mut secrets = Vec::new();
    let mut pieces = shown.split(MASKED).peekable();
    let Some(mut rest) = pieces.next().and_then(|first| word.strip_prefix(first)) else { return vec![word] };
    while let Some(piece) = pieces.next() {
        let last = pieces.peek().is_none();
        let at = match (last, piece.is_empty()) {
            (true, _) => rest.len().checked_sub(piece.len()).filter(|_| rest.ends_with(piece)),
            // Two secrets side by side cannot be told apart.
            (false, true) => None,
            (false, false) => rest.find(piece),
        };
        // FAIL-CLOSED: what cannot be found in it again is all of it.
        let Some((secret, after)) = at.and_then(|at| rest.split_at_checked(at)) else {
            return vec![word];
        };
        if !secret.is_empty() {
            secrets.push(secret);
        }
        rest = after.strip_prefix(piece).unwrap_or(after);
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_masked_in_a_word_is_found_in_it() {
        for (word, shown, secrets) in [
            ("hunter2", "[masked]", &["hunter2"][..]),
            ("https://u:hunter2@h", "https://u:[masked]@h", &["hunter2"]),
            ("token=a&secret=b", "token=[masked]&secret=[masked]", &["a", "b"]),
            ("odd", "other", &["odd"]),
        ] {
            assert_eq!(apart(word, shown), secrets, "{word}");
        }
    }

    #[test]
    fn a_short_secret_is_replaced_only_where_it_stands_alone() {
        for (text, secret, expected) in [
            ("/w/ab/tab", "ab", "/w/[masked]/tab"),
            ("/w/hunter2x/y", "hunter2", "/w/[masked]x/y"),
            ("/w/aXa", "X", "/w/aXa"),
        ] {
            assert_eq!(without(text, secret), expected);
        }
    }
}
