//! `$[namespace].name`: how a skill is named.
//!
//! A namespace is one or more words joined by `:`, a name is one word. A word starts with a letter or digit and goes on with
//! those, `_` and `-`, all ASCII: no word can be a path, or more than one step of it.

use std::fmt;

/// The longest word.
const LONGEST_WORD: usize = 64;
/// The most words of a namespace.
const MOST_WORDS: usize = 7;

/// What names a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mention {
    namespace: String,
    name: String,
}

impl Mention {
    /// Reads `$[namespace].name`, with nothing before or after it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Mention> {
        let (namespace, name) = text.strip_prefix("$[")?.split_once("].")?;
        Mention::new(namespace, name)
    }

    pub(crate) fn new(namespace: &str, name: &str) -> Option<Mention> {
        (is_namespace(namespace) && is_word(name))
            .then(|| Mention { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Which space it is in.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its name there, which is the name of its folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Mention {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "$[{}].{}", self.namespace, self.name)
    }
}

/// Whether a text can be a namespace.
#[must_use]
pub fn is_namespace(text: &str) -> bool {
    text.split(':').count() <= MOST_WORDS && text.split(':').all(is_word)
}

pub(crate) fn is_word(text: &str) -> bool {
    (1..=LONGEST_WORD).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !text.starts_with(['_', '-'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_plain_words_name_a_skill() {
        for (text, namespace, name) in [
            ("$[team].report", "team", "report"),
            ("$[a].b", "a", "b"),
            ("$[team:web:2].Build_it-2", "team:web:2", "Build_it-2"),
        ] {
            let mention = Mention::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((mention.namespace(), mention.name()), (namespace, name));
            assert_eq!(mention.to_string(), text);
        }
        let long = "x".repeat(LONGEST_WORD + 1);
        let deep = ["n"; MOST_WORDS + 1].join(":");
        let wrong = [
            "",
            "$",
            "$[]",
            "$[].",
            "$[a].",
            "$[].b",
            "[a].b",
            "$[a]b",
            "$a.b",
            "$[a].b ",
            " $[a].b",
            "$[a].b\n",
            "$[a]..",
            "$[a].../b",
            "$[a].b/c",
            "$[a]./etc",
            "$[..].b",
            "$[a/b].c",
            "$[a:].b",
            "$[:a].b",
            "$[a::b].c",
            "$[a].b.c",
            "$[a].-b",
            "$[a]._b",
            "$[a].b\0",
            "$[ä].b",
            "$[a].ｂ",
            "$[a].b]",
            "$[[a].b",
            "$[a].$[b].c",
            "$[a].%2e%2e",
            "$[a].~",
        ];
        for text in
            wrong.map(str::to_owned).into_iter().chain([format!("$[a].{long}"), format!("$[{deep}].b")])
        {
            assert_eq!(Mention::parse(&text), None, "{text:?}");
        }
    }

    proptest! {
        /// What is read has one form, and its parts are single steps of a path.
        #[test]
        fn a_mention_that_is_read_is_written_the_same(text in "\\$?\\[?[a-zA-Z0-9:._/\\-]{0,12}\\]?\\.?[a-z0-9._/\\-]{0,8}|\\PC{0,20}") {
            if let Some(mention) = Mention::parse(&text) {
                prop_assert_eq!(mention.to_string(), text);
                let steps = std::path::Path::new(mention.name()).components().collect::<Vec<_>>();
                prop_assert!(matches!(steps[..], [std::path::Component::Normal(_)]));
            }
        }

        #[test]
        fn every_pair_of_words_is_a_mention(namespace in "[a-z0-9][a-z0-9_-]{0,20}(:[a-z0-9]{1,5}){0,3}", name in "[A-Za-z0-9][a-z0-9_-]{0,63}") {
            let text = format!("$[{namespace}].{name}");
            prop_assert!(Mention::parse(&text).is_some());
        }
    }
}
