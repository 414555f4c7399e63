//! Pathname patterns, as far as judging needs them: `*`, `?`, `[…]`, and the backslash before a letter that is meant.

/// Whether a text has a wildcard that is not escaped.
pub(crate) fn is_wild(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'*' | b'?' | b'[' => return true,
            _ => {}
        }
    }
    false
}

/// Whether a text has anything that a pattern reads otherwise than as it stands.
pub(crate) fn has_marks(text: &str) -> bool {
    text.contains(['*', '?', '[', '\\'])
}

/// Whether a pattern for a name takes (nearly) everything: `*`, `.*`, `**`, `?*`, `.[!.]*`, `*.*`.
pub(crate) fn takes_all(name: &str) -> bool {
    is_wild(name) && name.contains('*') && literals(name) == 0
}

/// How many letters, digits and marks of a pattern are meant as they stand (dots not counted).
pub(crate) fn literals(pattern: &str) -> usize {
    let mut count = 0;
    let mut bytes = pattern.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
                count += 1;
            }
            b'*' | b'?' | b'.' => {}
            b'[' => {
                let mut first = true;
                for byte in bytes.by_ref() {
                    if byte == b']' && !first {
                        break;
                    }
                    first = false;
                }
            }
            _ => count += 1,
        }
    }
    count
}

/// The text with its escapes taken out.
pub(crate) fn literal(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            plain.extend(letters.next());
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// Whether a name fits a pattern. A wildcard at the start does not take a dot there. What cannot be read fits: the
/// question is always whether a pattern could name something that must not be touched.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && matches!(pattern.bytes().next(), Some(b'*' | b'?')) {
        return false;
    }
    let pattern = pattern.as_bytes();
    let name = name.as_bytes();
    let (mut at, mut here) = (0, 0);
    // Where the last star stands, and how far it had reached.
    let mut back: Option<(usize, usize)> = None;
    while here < name.len() {
        let step = match pattern.get(at) {
            Some(b'*') => {
                back = Some((at, here));
                at += 1;
                continue;
            }
            Some(b'?') => Some(at + 1),
            Some(b'[') => match class(pattern, at, name.get(here).copied().unwrap_or_default()) {
                Some((true, next)) => Some(next),
                Some((false, _)) => None,
                None => return true,
            },
            Some(b'\\') if pattern.get(at + 1) == name.get(here) => Some(at + 2),
            Some(b'\\') => None,
            Some(letter) if name.get(here) == Some(letter) => Some(at + 1),
            _ => None,
        };
        match (step, back) {
            (Some(next), _) => {
                at = next;
                here += 1;
            }
            (None, Some((star, reached))) => {
                back = Some((star, reached + 1));
                at = star + 1;
                here = reached + 1;
            }
            (None, None) => return false,
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// `[…]` at `at`: whether it takes this byte, and where the pattern goes on. `None`: not closed, or with a named class.
fn class(pattern: &[u8], at: usize, byte: u8) -> Option<(bool, usize)> {
    let mut place = at + 1;
    let negated = matches!(pattern.get(place), Some(b'!' | b'^'));
    if negated {
        place += 1;
    }
    let start = place;
    let mut inside = false;
    loop {
        match pattern.get(place)? {
            b']' if place > start => return Some((inside != negated, place + 1)),
            b'[' if pattern.get(place + 1) == Some(&b':') => return None,
            low => match (pattern.get(place + 1), pattern.get(place + 2)) {
                (Some(b'-'), Some(high)) if *high != b']' => {
                    inside |= (*low..=*high).contains(&byte);
                    place += 3;
                }
                _ => {
                    inside |= *low == byte;
                    place += 1;
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns_as_in_a_shell() {
        for (pattern, name, fits) in [
            ("*", "a", true),
            ("*", ".env", false),
            (".e*", ".env", true),
            ("id_*", "id_rsa", true),
            ("*_rsa", "id_rsa", true),
            ("?d_rs[a-b]", "id_rsa", true),
            ("[!.]env", "xenv", true),
            ("[!.]env", ".env", false),
            ("sh*dow", "shadow", true),
            (r"\*", "*", true),
            (r"\*", "a", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_that_take_everything_are_known() {
        for pattern in ["*", ".*", "**", "?*", ".[!.]*", "*.*", "..?*"] {
            assert!(takes_all(pattern), "{pattern}");
        }
        for pattern in ["a*", "*.py", "?", r"\*"] {
            assert!(!takes_all(pattern), "{pattern}");
        }
    }
}
