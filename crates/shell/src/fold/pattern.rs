//! Matching a constant text against a pattern, for `${x#p}` and its kind. Brackets are left to `Unknown`.

/// One element of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Exactly(char),
    One,
    Many,
}

/// The longest texts and patterns that are matched.
const MAX_TEXT: usize = 512;
const MAX_PATTERN: usize = 64;

/// Whether a whole text matches.
fn matches(pattern: &[Element], text: &[char]) -> bool {
    let (mut at, mut inside) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        let step = match (pattern.get(inside), text.get(at)) {
            (Some(Element::Many), _) => {
                retry = Some((inside + 1, at));
                inside += 1;
                continue;
            }
            (Some(Element::One), Some(_)) => true,
            (Some(Element::Exactly(wanted)), Some(met)) => wanted == met,
            _ => false,
        };
        if step {
            at += 1;
            inside += 1;
        } else if let Some((back, from)) = retry {
            retry = Some((back, from + 1));
            inside = back;
            at = from + 1;
        } else {
            return false;
        }
    }
    pattern.get(inside..).is_some_and(|rest| rest.iter().all(|element| *element == Element::Many))
}

fn bounded(pattern: &[Element], text: &str) -> Option<Vec<char>> {
    (text.len() <= MAX_TEXT && pattern.len() <= MAX_PATTERN).then(|| text.chars().collect())
}

/// `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`
pub(super) fn strip(text: &str, pattern: &[Element], suffix: bool, longest: bool) -> Option<String> {
    let chars = bounded(pattern, text)?;
    let lengths: Vec<usize> =
        if longest { (0..=chars.len()).rev().collect() } else { (0..=chars.len()).collect() };
    for length in lengths {
        let (cut, rest) = if suffix {
            let (rest, cut) = chars.split_at(chars.len() - length);
            (cut, rest)
        } else {
            chars.split_at(length)
        };
        if matches(pattern, cut) {
            return Some(rest.iter().collect());
        }
    }
    Some(text.to_owned())
}

/// `${x/p/w}`, `${x//p/w}`, `${x/#p/w}`, `${x/%p/w}`
pub(super) fn replace(text: &str, pattern: &[Element], with: &str, mode: u8) -> Option<String> {
    let chars = bounded(pattern, text)?;
    if pattern.is_empty() || chars.is_empty() {
        return (pattern.is_empty() && mode != b'#' && mode != b'%').then(|| text.to_owned());
    }
    if pattern.contains(&Element::Many) && pattern.iter().all(|element| *element == Element::Many) {
        return None;
    }
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = chars.get(at..)?;
        let found = match mode {
            b'#' if at > 0 => None,
            b'%' => matches(pattern, rest).then_some(rest.len()),
            _ => (1..=rest.len())
                .rev()
                .find(|&length| rest.get(..length).is_some_and(|part| matches(pattern, part))),
        };
        match found {
            Some(length) => {
                out.push_str(with);
                at += length;
                if mode != b'*' {
                    break;
                }
            }
            None => {
                out.push(*chars.get(at)?);
                at += 1;
            }
        }
    }
    out.extend(chars.get(at..)?);
    Some(out)
}
