//! Links that the text itself makes: `ln -s /etc x; echo … > x/passwd` writes to `/etc/passwd`.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::classify;
use crate::place::Files;

/// The file system as it would be after the links that were seen.
pub(crate) struct Links<'a> {
    files: &'a dyn Files,
    made: RefCell<Vec<(PathBuf, PathBuf)>>,
}

/// How many links are kept, and how often one leads to another.
const MOST: usize = 64;

impl<'a> Links<'a> {
    pub(crate) fn over(files: &'a dyn Files) -> Self {
        Links { files, made: RefCell::new(Vec::new()) }
    }

    /// Notes that `link` (absolute) now leads to `target` (absolute, or as seen from the link's directory).
    pub(crate) fn make(&self, link: &str, target: &str) {
        let directory = link.rsplit_once('/').map_or("", |(directory, _)| directory);
        let target =
            if target.starts_with('/') { target.to_owned() } else { format!("{directory}/{target}") };
        let mut made = self.made.borrow_mut();
        if made.len() < MOST {
            made.push((PathBuf::from(link), PathBuf::from(classify::tidy(&target).into_owned())));
        }
    }
}

impl Files for Links<'_> {
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let made = self.made.borrow();
        let mut here: Option<PathBuf> = None;
        for _ in 0..8 {
            let at = here.as_deref().unwrap_or(path);
            let step =
                made.iter().rev().find_map(|(link, target)| Some(target.join(at.strip_prefix(link).ok()?)));
            match step {
                Some(next) => here = Some(next),
                None => break,
            }
        }
        match here {
            Some(here) => Some(self.files.follow(&here).unwrap_or(here)),
            None => self.files.follow(path),
        }
    }
}
