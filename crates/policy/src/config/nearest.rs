//! The word that somebody probably meant.

/// The candidate that is nearest to `word`, where one is near enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance with swaps of neighbours (optimal string alignment), over characters. Inputs are configuration keys, so short; longer
/// ones count as infinitely far.
fn distance(a: &str, b: &str) -> usize {
    const MAX: usize = 64;
    let a: Vec<char> = a.chars().take(MAX + 1).collect();
    let b: Vec<char> = b.chars().take(MAX + 1).collect();
    if a.len() > MAX || b.len() > MAX {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut previous = '\0';
    for (row, &left) in a.iter().enumerate() {
        let mut current = vec![row + 1];
        let mut last = row + 1;
        let mut upper = '\0';
        for (column, &top) in b.iter().enumerate() {
            let cell = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX - 8);
            let mut best = (cell(&above, column) + usize::from(left != top))
                .min(cell(&above, column + 1) + 1)
                .min(last + 1);
            if row > 0 && column > 0 && left == upper && previous == top {
                best = best.min(cell(&before, column - 1) + 1);
            }
            current.push(best);
            last = best;
            upper = top;
        }
        previous = left;
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_key_that_was_meant_and_nonsense_finds_none() {
        let keys = ["allowlist", "denylist", "mode", "read_only", "allowed_paths"];
        for (word, meant) in [
            ("alowlist", Some("allowlist")),
            ("allow_list", Some("allowlist")),
            ("denlyist", Some("denylist")),
            ("mdoe", Some("mode")),
            ("readonly", Some("read_only")),
            ("allowedpaths", Some("allowed_paths")),
            ("banana", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, keys), meant, "{word}");
        }
    }
}
