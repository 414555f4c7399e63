//! Links that the text itself makes: `ln -s /etc x; echo … > x/passwd` writes to `/etc/passwd`.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::classify;
use crate::place::Files;

/// The file system as it would be after the links that were seen.
pub(crate) struct Links<'a> {
    files: &'a dyn Files,
    made: RefCell<Vec<(String, String)>>,
}

/// How many links are kept.
const MOST: usize = 32;

impl<'a> Links<'a> {
    pub(crate) fn over(files: &'a dyn Files) -> Self {
        Links { files, made: RefCell::new(Vec::new()) }
    }

    /// Notes that `link` (absolute) now leads to `target` (absolute, or as seen from the link's directory). Whether
    /// there was room for it.
    #[must_use]
    pub(crate) fn make(&self, link: &str, target: &str) -> bool {
        let directory = link.rsplit_once('/').map_or("", |(directory, _)| directory);
        let target =
            if target.starts_with('/') { target.to_owned() } else { format!("{directory}/{target}") };
        let made = (link.to_owned(), classify::tidy(&target).into_owned());
        let mut all = self.made.borrow_mut();
        if all.contains(&made) {
            return true;
        }
        if all.len() >= MOST {
            return false;
        }
        all.push(made);
        true
    }
}

impl Files for Links<'_> {
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let made = self.made.borrow();
        let mut here: Option<String> = None;
        // How often one link leads to another.
        for _ in 0..if made.is_empty() { 0 } else { 8 } {
            let Some(at) = here.as_deref().or(path.to_str()) else { break };
            let step = made.iter().rev().find_map(|(link, target)| match classify::below(at, link)? {
                "" => Some(target.clone()),
                rest => Some(format!("{}/{rest}", target.trim_end_matches('/'))),
            });
            match step {
                Some(next) => here = Some(next),
                None => break,
            }
        }
        match here.map(PathBuf::from) {
            Some(here) => Some(self.files.follow(&here).unwrap_or(here)),
            None => self.files.follow(path),
        }
    }

    fn is_directory(&self, path: &Path) -> Option<bool> {
        // Where the text has made links, what is there now is not what will be there.
        if self.made.borrow().is_empty() { self.files.is_directory(path) } else { None }
    }
}
