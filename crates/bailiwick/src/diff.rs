//! A change of a text, line by line, as people read it: the lines around it, what goes, what comes.

/// So many unchanged lines are shown around a change.
const AROUND: usize = 3;

/// The change from one text to another, from the first line that differs to the last.
pub(crate) fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len()).saturating_sub(start);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count().min(shorter);
    let (gone, come) = (old.len().saturating_sub(end), new.len().saturating_sub(end));
    if start == gone && start == come {
        return String::new();
    }
    let from = start.saturating_sub(AROUND);
    let until = |length: usize, changed: usize| length.min(changed.saturating_add(AROUND));
    let (old_until, new_until) = (until(old.len(), gone), until(new.len(), come));
    let mut out = format!(
        "@@ -{},{} +{},{} @@\n",
        from.saturating_add(1).min(old.len()),
        old_until.saturating_sub(from),
        from.saturating_add(1).min(new.len()),
        new_until.saturating_sub(from)
    );
    let parts = [
        (' ', old.get(from..start)),
        ('-', old.get(start..gone)),
        ('+', new.get(start..come)),
        (' ', old.get(gone..old_until)),
    ];
    for (mark, lines) in parts {
        for line in lines.unwrap_or_default() {
            out.push(mark);
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let table = [
            ("a\nb\n", "a\nb\n", ""),
            ("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"),
            ("a\n", "", "@@ -1,1 +0,0 @@\n-a\n"),
            (
                "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                "1\n2\n3\n4\n5\nx\n7\n8\n9\n",
                "@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+x\n 7\n 8\n 9\n",
            ),
            ("a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n"),
        ];
        for (old, new, expected) in table {
            assert_eq!(diff(old, new), expected, "{old:?} {new:?}");
        }
    }
}
