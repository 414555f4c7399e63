//! A machine's files as a table.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Component, Path, PathBuf};

use fence::plan::Limits;
use fence::terrain::{Kind, Terrain};
use fence::{Network, Wishes};

/// Files and directories by their real paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Field {
    files: Table<Kind>,
    texts: Table<String>,
    followed: RefCell<Table<Option<PathBuf>>>,
}

/// By a path's text, which is hashed as one piece: hundreds of thousands of machines are asked hundreds of times.
type Table<T> = HashMap<OsString, T, BuildHasherDefault<Quick>>;

/// Fowler, Noll and Vo's hash, over words of eight bytes.
#[derive(Debug, Default)]
pub(crate) struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
            self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

impl Field {
    /// One line each: `dir/`, `file`, `link -> target`, `file = text`. Directories above are made.
    pub(crate) fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Field {
        let mut field = Field::default();
        field.files.insert("/".into(), Kind::Directory);
        for line in lines.into_iter().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((path, target)) = line.split_once(" -> ") {
                field.put(path, Kind::Link(target.into()));
            } else if let Some((path, text)) = line.split_once(" = ") {
                field.put(path, Kind::File);
                field.texts.insert(path.into(), text.to_owned());
            } else if let Some(path) = line.strip_suffix('/') {
                field.put(path, Kind::Directory);
            } else {
                field.put(line, Kind::File);
            }
        }
        field
    }

    pub(crate) fn put(&mut self, path: &str, kind: Kind) {
        let path = PathBuf::from(path);
        // What is below something else than a directory is not there.
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for above in above.into_iter().rev() {
            if *self.files.entry(above.as_os_str().to_owned()).or_insert(Kind::Directory) != Kind::Directory {
                return;
            }
        }
        self.files.entry(path.into_os_string()).or_insert(kind);
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(Path::new)
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut whole = PathBuf::from("/");
        let mut rest: Vec<OsString> = names(path);
        let mut links = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                whole.pop();
                continue;
            }
            let next = whole.join(&name);
            match self.files.get(next.as_os_str())? {
                Kind::Link(target) => {
                    links += 1;
                    if links > 40 {
                        return None;
                    }
                    if target.is_absolute() {
                        whole = PathBuf::from("/");
                    }
                    rest.extend(names(target));
                }
                Kind::File if !rest.is_empty() => return None,
                _ => whole = next,
            }
        }
        Some(whole)
    }
}

/// The names of a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    let mut names: Vec<_> = names.collect();
    names.reverse();
    names
}

impl Terrain for Field {
    fn look(&self, path: &Path) -> Option<Kind> {
        if let Some(kind) = self.files.get(path.as_os_str()) {
            return Some(kind.clone());
        }
        // A directory by its real path: what it has would have been found.
        if self.files.get(path.parent()?.as_os_str()) == Some(&Kind::Directory) {
            return None;
        }
        let parent = self.follow(path.parent()?)?;
        self.files.get(parent.join(path.file_name()?).as_os_str()).cloned()
    }

    fn text(&self, path: &Path) -> Option<String> {
        self.texts.get(self.follow(path)?.as_os_str()).cloned()
    }

    fn follow(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.followed.borrow().get(path.as_os_str()) {
            return known.clone();
        }
        let found = self.resolve(path);
        self.followed.borrow_mut().insert(path.as_os_str().to_owned(), found.clone());
        found
    }
}

/// Nothing but a workspace.
pub(crate) fn wishes(workspace: &str) -> Wishes {
    Wishes {
        workspace: Some(workspace.into()),
        cwd: workspace.into(),
        home: Some("/home/me".into()),
        read: Vec::new(),
        write: Vec::new(),
        hide: Vec::new(),
        read_only: false,
        protect: true,
        lifted: Vec::new(),
        environment: [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/me"),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into(),
        pass: Vec::new(),
        set: Vec::new(),
        network: Network::Off,
        limits: Limits {
            memory_mb: 4096,
            wall_ms: None,
            cpu_s: None,
            processes: 512,
            open_files: 1024,
            file_mb: 1024,
            scratch_mb: 1024,
            output_bytes: 1 << 20,
        },
        execute_scratch: true,
    }
}
