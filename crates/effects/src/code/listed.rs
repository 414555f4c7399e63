//! Lists of words, written as text and looked up as sets. They are built when they are first asked.

use std::collections::{HashMap, HashSet};

/// A set of the words of a text.
pub(super) fn set(text: &'static str) -> HashSet<&'static str> {
    text.split_ascii_whitespace().collect()
}

/// What each word of the texts stands for; the first that names it counts.
pub(super) fn map<T: Copy>(texts: impl IntoIterator<Item = (T, &'static str)>) -> HashMap<&'static str, T> {
    let mut all = HashMap::new();
    for (meaning, text) in texts {
        for word in text.split_ascii_whitespace() {
            all.entry(word).or_insert(meaning);
        }
    }
    all
}

/// As [`map`], with an owner for each text.
pub(super) fn members<T: Copy>(
    texts: impl IntoIterator<Item = (&'static str, T, &'static str)>,
) -> HashMap<(&'static str, &'static str), T> {
    let mut all = HashMap::new();
    for (owner, meaning, text) in texts {
        for word in text.split_ascii_whitespace() {
            all.entry((owner, word)).or_insert(meaning);
        }
    }
    all
}
