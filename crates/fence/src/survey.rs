//! This machine's files, for whoever looks at many names in a few directories: after the first few names a directory is listed
//! once, and what is not in the list needs no further look. A survey is of one moment; it is made for one plan and thrown away.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::FileType;
use std::path::{Path, PathBuf};

use crate::terrain::{Ground, Kind, Terrain};

/// So many names are looked at one by one before their directory is listed.
const LOOKS: u32 = 6;
/// A directory with more entries is not listed.
const ENTRIES: usize = 400;

/// The machine's files, as they were when they were first asked for.
#[derive(Debug, Default)]
pub struct Survey {
    directories: RefCell<HashMap<PathBuf, Directory>>,
    looked: RefCell<HashMap<PathBuf, Option<Kind>>>,
    followed: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

/// What is known of a directory.
#[derive(Debug)]
enum Directory {
    /// So many names in it were looked at.
    Asked(u32),
    /// It is not there, or is no directory.
    Missing,
    /// All that is in it.
    Listed(Listing),
    /// It cannot be listed, or its list would not tell: names are looked at one by one.
    Unlisted,
}

/// The entries of a directory by their names in small letters, in order.
#[derive(Debug)]
struct Listing(Vec<(OsString, OsString, FileType)>);

/// What a list says of a name.
enum Said {
    Nothing,
    Missing,
    There(FileType),
}

impl Survey {
    fn asked(&self, directory: &Path, name: &OsStr) -> Said {
        if !self.directories.borrow().contains_key(directory) {
            let known = if self.is_missing(directory) { Directory::Missing } else { Directory::Asked(0) };
            self.directories.borrow_mut().insert(directory.to_path_buf(), known);
        }
        let mut directories = self.directories.borrow_mut();
        let Some(known) = directories.get_mut(directory) else { return Said::Nothing };
        if let Directory::Asked(looks) = known {
            *looks += 1;
            if *looks > LOOKS {
                *known = Directory::list(directory);
            }
        }
        match known {
            Directory::Missing => Said::Missing,
            Directory::Listed(listing) => listing.says(name),
            Directory::Asked(_) | Directory::Unlisted => Said::Nothing,
        }
    }

    /// Whether what is above has been listed, and this directory is not in it.
    fn is_missing(&self, directory: &Path) -> bool {
        let above = directory.parent().zip(directory.file_name());
        let directories = self.directories.borrow();
        above.is_some_and(|(above, name)| match directories.get(above) {
            Some(Directory::Missing) => true,
            Some(Directory::Listed(listing)) => matches!(listing.says(name), Said::Missing),
            Some(Directory::Asked(_) | Directory::Unlisted) | None => false,
        })
    }
}

impl Directory {
    fn list(path: &Path) -> Directory {
        let entries = match path.read_dir() {
            Ok(entries) => entries,
            Err(error) => {
                return match error.kind() {
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Directory::Missing,
                    _ => Directory::Unlisted,
                };
            }
        };
        let mut listed = Vec::new();
        for entry in entries {
            let Some((name, kind)) =
                entry.ok().and_then(|entry| Some((entry.file_name(), entry.file_type().ok()?)))
            else {
                return Directory::Unlisted;
            };
            // A letter outside ASCII may be taken for one in it where large and small ones are not told apart.
            if listed.len() == ENTRIES || !name.is_ascii() {
                return Directory::Unlisted;
            }
            listed.push((name.to_ascii_lowercase(), name, kind));
        }
        listed.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Directory::Listed(Listing(listed))
    }
}

impl Listing {
    fn says(&self, name: &OsStr) -> Said {
        let small = name.to_ascii_lowercase();
        let alike = self.0.partition_point(|entry| entry.0 < small);
        match self.0.get(alike) {
            Some((_, entry, kind)) if entry == name => Said::There(*kind),
            // Where the file system does not tell large letters from small ones, the name is there although no entry has it.
            Some((entry, ..)) if *entry == small => Said::Nothing,
            _ => Said::Missing,
        }
    }
}

impl Terrain for Survey {
    fn look(&self, path: &Path) -> Option<Kind> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ground.look(path) };
        if let Some(kind) = self.looked.borrow().get(path) {
            return kind.clone();
        }
        let kind = match self.asked(parent, name) {
            Said::Nothing => Ground.look(path),
            Said::Missing => return None,
            Said::There(kind) if kind.is_dir() => Some(Kind::Directory),
            Said::There(kind) if kind.is_symlink() => Ground.look(path),
            Said::There(_) => Some(Kind::File),
        };
        self.looked.borrow_mut().insert(path.to_path_buf(), kind.clone());
        kind
    }

    fn text(&self, path: &Path) -> Option<String> {
        Ground.text(path)
    }

    /// What is no link itself is where its directory is.
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        if let Some(followed) = self.followed.borrow().get(path) {
            return followed.clone();
        }
        let followed = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => match self.look(path) {
                Some(Kind::Directory | Kind::File) => self.follow(parent).map(|parent| parent.join(name)),
                Some(Kind::Link(_)) => Ground.follow(path),
                None => None,
            },
            _ => Ground.follow(path),
        };
        self.followed.borrow_mut().insert(path.to_path_buf(), followed.clone());
        followed
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes what it looks at")]
mod tests {
    use super::*;

    /// A directory that goes with the value.
    struct Place(PathBuf);

    impl Place {
        fn make(name: &str) -> Place {
            let path = std::env::temp_dir().join(format!("bailiwick-survey-{name}-{}", std::process::id()));
            let _left = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(&path).expect("a directory");
            Place(path.canonicalize().expect("its path"))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _left = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_survey_says_of_every_path_what_the_machine_says() {
        let place = Place::make("same");
        let root = &place.0;
        for directory in ["deep/er", "other", "crowd", "foreign"] {
            std::fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        for file in ["plain", "deep/file", "deep/er/.hidden", "crowd/zz", "foreign/ünlike", "foreign/a"] {
            std::fs::write(root.join(file), "").expect("a file");
        }
        for number in 0..=ENTRIES {
            std::fs::write(root.join("crowd").join(number.to_string()), "").expect("a file");
        }
        for (link, target) in [
            ("to-file", "plain"),
            ("to-directory", "deep"),
            ("to-nothing", "none"),
            ("round", "round"),
            ("up", ".."),
        ] {
            std::os::unix::fs::symlink(target, root.join(link)).expect("a link");
        }
        let names = [
            "plain",
            "PLAIN",
            "deep",
            "deep/file",
            "deep/er",
            "deep/er/.hidden",
            "deep/er/none",
            "deep/none",
            "deep/none/x",
            "none",
            "none/a",
            "none/b",
            "none/c",
            "none/d",
            "plain/a",
            "plain/b",
            "plain/c",
            "plain/d",
            "to-file",
            "to-directory",
            "to-directory/file",
            "to-directory/er/.hidden",
            "to-nothing",
            "round",
            "up",
            "up/none",
            "crowd",
            "crowd/zz",
            "crowd/1",
            "crowd/none",
            "foreign/ünlike",
            "foreign/a",
            "foreign/b",
            "foreign/c",
            "foreign/d",
            "..",
            ".",
            "deep/..",
            "deep/../plain",
            "",
        ];
        let (cold, warm) = (Survey::default(), Survey::default());
        for directory in
            ["", "deep", "deep/er", "none", "plain", "to-directory", "up", "crowd", "foreign", "other"]
        {
            for number in 0..=LOOKS {
                assert_eq!(warm.look(&root.join(directory).join(format!("absent-{number}"))), None);
            }
        }
        for (survey, name) in [&cold, &warm].into_iter().flat_map(|survey| names.map(|name| (survey, name))) {
            let path = root.join(name);
            assert_eq!(survey.look(&path), Ground.look(&path), "look at {name:?}");
            assert_eq!(survey.follow(&path), Ground.follow(&path), "follow {name:?}");
        }
        assert_eq!(warm.look(Path::new("/")), Ground.look(Path::new("/")));
    }

    #[test]
    fn what_was_not_there_when_its_directory_was_listed_is_not_there() {
        let place = Place::make("moment");
        let survey = Survey::default();
        for name in 0..=LOOKS {
            assert_eq!(survey.look(&place.0.join(name.to_string())), None);
        }
        std::fs::write(place.0.join("d"), "").expect("a file");
        assert_eq!(survey.look(&place.0.join("d")), None);
        assert_eq!(Survey::default().look(&place.0.join("d")), Some(Kind::File));
    }
}
