//! Whether two path patterns can mean the same file.
//!
//! A command may be given a pattern (`cat *`), and a denied path may be one (`**/*.key`). What the shell will make of the
//! first depends on files that nobody has looked at; so the question is whether some path matches both.

/// The longest patterns that are compared; longer ones count as meeting.
const LONGEST: usize = 1024;

/// One step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// This character.
    Is(char),
    /// One character that is no separator.
    One,
    /// Any number of characters that are no separators.
    Some,
    /// Any number of any characters.
    Any,
}

/// Whether a path has characters by which a shell would take it for a pattern.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Whether some path could match both a shell's pattern and a configured one. It errs only towards yes.
pub(crate) fn could_meet(target: &str, configured: &str) -> bool {
    if target.len() > LONGEST || configured.len() > LONGEST {
        return true;
    }
    let (a, b) = (steps(target), steps(configured));
    // Cell j of a row: the steps of `a` so far and the first j steps of `b` can have matched the same text. `inside` says the
    // same where the last step of `a` is a gap that has taken up at least one character.
    let width = b.len() + 1;
    let at =
        |cells: &[bool], index: Option<usize>| index.and_then(|at| cells.get(at)).copied().unwrap_or(false);
    let mut row: Vec<bool> = vec![false; width];
    for i in 0..=a.len() {
        let left = i.checked_sub(1).and_then(|before| Some((before, *a.get(before)?)));
        let (mut next, mut inside) = (vec![false; width], vec![false; width]);
        for j in 0..width {
            let before = j.checked_sub(1);
            let up = before.and_then(|before| b.get(before)).copied();
            let mut taken = false;
            let mut reachable = i == 0 && j == 0;
            if let Some((place, left)) = left {
                reachable |= is_gap(left) && at(&row, Some(j));
                if let Some(up) = up {
                    taken = at(&row, before) && meet(left, up, starts_component(&a, place));
                    taken |= is_gap(left) && at(&inside, before) && fits(left, up);
                    // A gap of the other takes up this step and goes on.
                    reachable |= is_gap(up) && at(&row, Some(j)) && fits(up, left);
                }
            }
            if let Some(up) = up {
                reachable |= is_gap(up) && at(&next, before);
            }
            if let (Some(cell), Some(within)) = (next.get_mut(j), inside.get_mut(j)) {
                *cell = reachable || taken;
                *within = taken;
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or(true)
}

const fn is_gap(step: Step) -> bool {
    matches!(step, Step::Some | Step::Any)
}

/// Whether a gap can take up this step of the other pattern.
fn fits(gap: Step, other: Step) -> bool {
    match (gap, other) {
        (Step::Any, _) => true,
        (Step::Some, Step::Is(character)) => character != '/',
        (Step::Some, Step::One | Step::Some | Step::Any) => true,
        _ => false,
    }
}

/// Whether two steps can stand for the same character. A shell's wildcard at the start of a name stands for no dot.
fn meet(target: Step, configured: Step, starts_name: bool) -> bool {
    match (target, configured) {
        (Step::Is(a), Step::Is(b)) => a == b,
        (Step::One | Step::Some, Step::Is('.')) if starts_name => false,
        (Step::One | Step::Some, Step::Is('/')) | (Step::Is('/'), Step::One | Step::Some) => false,
        _ => true,
    }
}

fn starts_component(steps: &[Step], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| steps.get(before)) {
        None => true,
        Some(step) => *step == Step::Is('/'),
    }
}

fn steps(pattern: &str) -> Vec<Step> {
    let mut steps = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        steps.push(match character {
            '\\' => Step::Is(characters.next().unwrap_or('\\')),
            '*' if characters.peek() == Some(&'*') => {
                while characters.next_if_eq(&'*').is_some() {}
                // In the middle `**/` is also nothing; at the start of an absolute path there is a separator anyway.
                if !steps.is_empty() {
                    characters.next_if_eq(&'/');
                }
                Step::Any
            }
            '*' => Step::Some,
            '?' => Step::One,
            '[' => {
                let rest: String = characters.clone().take(64).collect();
                match rest.find(']') {
                    Some(end) => {
                        // The escape of a literal character, as `[*]`, is that character.
                        let inside: Vec<char> = rest.chars().take_while(|c| *c != ']').collect();
                        for _ in 0..=rest.get(..end).map_or(0, |inner| inner.chars().count()) {
                            characters.next();
                        }
                        match inside.as_slice() {
                            [only] => Step::Is(*only),
                            _ => Step::One,
                        }
                    }
                    None => Step::Is('['),
                }
            }
            // Alternatives may be anything.
            '{' => {
                while characters.next_if(|c| *c != '}').is_some() {}
                characters.next();
                Step::Any
            }
            other => Step::Is(other),
        });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_meet_where_some_path_matches_both() {
        for (target, configured, expected) in [
            ("/w/*", "/w/secret.txt", true),
            ("/w/secret*", "/w/secret.txt", true),
            ("/w/**", "/w/a/b/secret.txt", true),
            ("/w/*.py", "/w/secret.txt", false),
            ("/w/*", "/w/a/secret.txt", false),
            ("/w/*/secret.txt", "/w/a/secret.txt", true),
            ("/w/*", "**/.env", false),
            ("/w/.*", "**/.env", true),
            ("/w/.e??", "**/.env", true),
            ("/w/*.key", "**/*.key", true),
            ("/w/*.rs", "**/*.key", false),
            ("/w/src/*.rs", "/w/src/**", true),
            ("/w/src/*.rs", "/other/**", false),
            ("/w/[ab].txt", "/w/a.txt", true),
            ("/w/?", "/w/ab", false),
            ("/w/x*", "/w/{x,y}.txt", true),
            ("/w/*", "/w/[*]", true),
            ("/*", "/etc/shadow", false),
            ("/**", "/etc/shadow", true),
        ] {
            assert_eq!(could_meet(target, configured), expected, "{target} and {configured}");
        }
    }
}
