//! The tables of `knowledge/`, as they are written there.

/// A line of a table: what is to be done, and with what.
pub(crate) type Line<'a> = (&'a str, &'a str);

pub(crate) const SYSTEM: &str = include_str!("../knowledge/system.txt");
pub(crate) const HOME: &str = include_str!("../knowledge/home.txt");
pub(crate) const WORKSPACE: &str = include_str!("../knowledge/workspace.txt");
pub(crate) const ENVIRONMENT: &str = include_str!("../knowledge/environment.txt");
pub(crate) const SYSCALLS: &str = include_str!("../knowledge/syscalls.txt");

/// The lines of a table, in order.
pub(crate) fn lines(table: &'static str) -> impl Iterator<Item = Line<'static>> {
    table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_known_word_and_stands_once() {
        let tables = [
            (SYSTEM, &["show", "hide", "scratch"][..]),
            (HOME, &["show", "hide"][..]),
            (WORKSPACE, &["protect", "hide"][..]),
            (ENVIRONMENT, &["pass", "never"][..]),
            (SYSCALLS, &["refuse", "absent", "landlock"][..]),
        ];
        for (table, words) in tables {
            let mut seen = std::collections::HashSet::new();
            let written = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
            assert_eq!(written, lines(table).count());
            for (word, what) in lines(table) {
                assert!(words.contains(&word), "{word} {what}");
                assert!(seen.insert(what), "{what} stands twice");
                assert!(!what.contains(' ') && !what.ends_with('/'), "{what}");
            }
        }
    }
}
