//! Which files a search passes over, as ripgrep has it: `.ignore`, `.gitignore` inside a repository, `.git/info/exclude`.
//! The rules' files are read through the directories' descriptors like any other file, so a pipe that is called `.gitignore`
//! blocks nobody. Rules from outside the roots (a user's global ones) are not read.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use fence::rooted::{Directory, Entry, Kind};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The largest file of rules that is read.
const LARGEST: u64 = 1024 * 1024;

/// The rules of a directory, on top of those above it.
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Option<Gitignore>,
    git: Option<Gitignore>,
    exclude: Option<Gitignore>,
    is_repository: bool,
    /// Here or above is a repository.
    in_repository: bool,
}

/// What the rules say about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Nothing,
    Ignored,
    /// It is named as one that is not to be passed over.
    Wanted,
}

impl Rules {
    /// The rules of a directory with these names in it. Where none are, those above serve.
    pub(crate) fn of(
        directory: &Directory<'_>,
        entries: &[Entry],
        above: Option<&Arc<Rules>>,
    ) -> Option<Arc<Rules>> {
        let mut names = [false; 3];
        for entry in entries {
            match entry.name.as_encoded_bytes() {
                b".ignore" => names[0] = entry.kind == Kind::File,
                b".gitignore" => names[1] = entry.kind == Kind::File,
                b".git" => names[2] = true,
                _ => {}
            }
        }
        if names == [false; 3] {
            return above.cloned();
        }
        let [has_ignore, has_git, is_repository] = names;
        let read = |name: &str, wanted: bool| wanted.then(|| rules(directory, directory, name)).flatten();
        let exclude = || {
            let info = directory.down(OsStr::new(".git")).ok()?.down(OsStr::new("info")).ok()?;
            rules(&info, directory, "exclude")
        };
        Some(Arc::new(Rules {
            ignore: read(".ignore", has_ignore),
            git: read(".gitignore", has_git),
            exclude: is_repository.then(exclude).flatten(),
            is_repository,
            in_repository: is_repository || above.is_some_and(|above| above.in_repository),
            above: above.cloned(),
        }))
    }

    /// What the rules say about a path, which is absolute and below the directories that the rules are of.
    pub(crate) fn say(&self, path: &Path, is_directory: bool) -> Said {
        let mut said = [Match::None, Match::None, Match::None];
        let mut of_this_repository = self.in_repository;
        let mut next = Some(self);
        while let Some(rules) = next {
            let [ignore, git, exclude] = &mut said;
            let ask = |rules: &Option<Gitignore>, said: &mut Match<()>| {
                if let (Match::None, Some(rules)) = (&said, rules) {
                    *said = rules.matched(path, is_directory).map(|_| ());
                }
            };
            ask(&rules.ignore, ignore);
            if of_this_repository {
                ask(&rules.git, git);
                ask(&rules.exclude, exclude);
            }
            if rules.is_repository {
                of_this_repository = false;
            }
            next = rules.above.as_deref();
        }
        match said.into_iter().find(|said| !said.is_none()) {
            None | Some(Match::None) => Said::Nothing,
            Some(Match::Ignore(())) => Said::Ignored,
            Some(Match::Whitelist(())) => Said::Wanted,
        }
    }
}

/// Reads one file of rules. A line that is no rule is passed over, as is a file that cannot be read: rules are a convenience
/// and hide nothing from anybody.
fn rules(directory: &Directory<'_>, root: &Directory<'_>, name: &str) -> Option<Gitignore> {
    let mut bytes = Vec::new();
    let mut opened = directory.read(OsStr::new(name)).ok()?;
    (&mut opened.file).take(LARGEST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(&root.path);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
