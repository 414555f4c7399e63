//! Names that must not come into being: protected paths of the workspace that do not exist. A mount can stand only on
//! something that exists, so these are watched, and what appears there is moved away at once.
//!
//! The supervisor works with descriptors below the workspace and follows no link, so the program cannot make it move
//! anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, WatchFlags};
use rustix::fs::{Access, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use crate::blocked::Blocked;
use crate::survey::Survey;
use crate::terrain::Terrain;

/// The watch over forbidden names.
#[derive(Debug)]
pub(crate) struct Forbidden {
    names: Vec<PathBuf>,
    fresh: Vec<PathBuf>,
    watch: Option<OwnedFd>,
}

impl Forbidden {
    /// The names to keep away. `None` where there are none.
    pub(crate) fn new(names: &[PathBuf], fresh: &[PathBuf]) -> Option<Forbidden> {
        let any = !names.is_empty() || !fresh.is_empty();
        any.then(|| Forbidden { names: names.to_vec(), fresh: fresh.to_vec(), watch: None })
    }

    /// Starts to watch. The kernel takes longer to end a watch than most commands take to run, so short ones are looked
    /// after when they have ended.
    pub(crate) fn watch(&mut self) -> rustix::io::Result<()> {
        let watch = rustix::fs::inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let parents: BTreeSet<&Path> = self
            .names
            .iter()
            .filter_map(|name| name.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok()))
            .collect();
        for parent in parents {
            let flags =
                WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            rustix::fs::inotify::add_watch(&watch, parent, flags)?;
        }
        self.watch = Some(watch);
        Ok(())
    }

    /// The descriptor to be polled.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Moves away whatever has appeared.
    pub(crate) fn sweep(&self) -> Vec<Blocked> {
        let mut events = [std::mem::MaybeUninit::uninit(); 4096];
        if let Some(watch) = &self.watch {
            let mut reader = rustix::fs::inotify::Reader::new(watch.as_fd(), &mut events);
            // What the events say does not matter: the names are looked at.
            while reader.next().is_ok() {}
        }
        let mut found = self.sweep_names();
        found.extend(
            self.fresh.iter().flat_map(|repository| alive(repository)).filter_map(|name| away(&name)),
        );
        found
    }

    /// Moves away whatever has appeared, but for what is in new repositories: these may just be in the making, and what is
    /// half written is not understood.
    pub(crate) fn sweep_names(&self) -> Vec<Blocked> {
        let survey = Survey::default();
        let mut closed = Closed::default();
        let there = |name: &&PathBuf| survey.look(name).is_some() || closed.holds(name);
        self.names.iter().filter(there).filter_map(|name| away(name)).collect()
    }
}

/// Directories that a program may have closed so that nobody sees what it made in them.
#[derive(Default)]
struct Closed(BTreeMap<PathBuf, bool>);

impl Closed {
    /// Whether a name is in a directory that cannot be looked into.
    fn holds(&mut self, name: &Path) -> bool {
        let Some(parent) = name.parent() else { return false };
        if let Some(closed) = self.0.get(parent) {
            return *closed;
        }
        let looked = rustix::fs::access(parent, Access::READ_OK | Access::EXEC_OK);
        let closed = looked == Err(Errno::ACCESS);
        self.0.insert(parent.to_path_buf(), closed);
        closed
    }
}

/// Moves a path away if something is there.
fn away(name: &Path) -> Option<Blocked> {
    match remove(name) {
        Ok(now) => Some(Blocked::Made(name.to_path_buf(), now)),
        Err(Errno::NOENT) => None,
        Err(error) => Some(Blocked::Left(name.to_path_buf(), error.to_string())),
    }
}

/// What of a new repository would run on the user's side: hooks, and settings that name a program.
fn alive(repository: &Path) -> Vec<PathBuf> {
    if repository.symlink_metadata().is_err() {
        return Vec::new();
    }
    // Only a directory that is really there is looked into; a pointer to a repository elsewhere runs that one's.
    if !repository.symlink_metadata().is_ok_and(|file| file.is_dir()) {
        return vec![repository.to_path_buf()];
    }
    let mut found = Vec::new();
    let hooks = repository.join("hooks");
    let samples_only = match hooks.symlink_metadata() {
        Err(_) => true,
        Ok(file) if file.is_dir() => hooks.read_dir().is_ok_and(|entries| {
            entries.flatten().all(|entry| entry.path().extension().is_some_and(|end| end == "sample"))
        }),
        Ok(_) => false,
    };
    if !samples_only {
        found.push(hooks);
    }
    // What makes another repository's settings this one's.
    let elsewhere = repository.join("commondir");
    if elsewhere.symlink_metadata().is_ok() {
        found.push(elsewhere);
    }
    for name in ["config", "config.worktree"] {
        let settings = repository.join(name);
        if settings.symlink_metadata().is_ok() && !is_harmless(&settings) {
            found.push(settings);
        }
    }
    found
}

/// Sections and keys that `git init` and `git clone` write, or that say who somebody is.
const HARMLESS: [&str; 6] = ["core", "remote", "branch", "user", "extensions", "init"];
const HARMLESS_CORE: [&str; 8] = [
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
    "autocrlf",
];
const HARMLESS_ELSEWHERE: [&str; 12] = [
    "url",
    "fetch",
    "merge",
    "remote",
    "rebase",
    "name",
    "email",
    "signingkey",
    "objectformat",
    "worktreeconfig",
    "defaultbranch",
    "tagopt",
];

/// Whether settings are only such as name no program. What is not understood is not harmless.
#[expect(
    clippy::disallowed_methods,
    reason = "a repository's settings are looked at once the program has ended"
)]
fn is_harmless(settings: &Path) -> bool {
    let small = settings.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() < 64 * 1024);
    let Some(text) = small.then(|| std::fs::read_to_string(settings).ok()).flatten() else { return false };
    let mut section = String::new();
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
        if let Some(head) = line.strip_prefix('[') {
            let Some(head) = head.strip_suffix(']') else { return false };
            section = head.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            return HARMLESS.contains(&section.as_str());
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = if section == "core" { &HARMLESS_CORE[..] } else { &HARMLESS_ELSEWHERE[..] };
        // An address can name a program, too (`ext::`), and a line can go on.
        known.contains(&key.as_str()) && !line.contains("ext::") && !line.ends_with('\\')
    })
}

/// Moves a path to a harmless name beside it. Where a link stands in the path, it is the link that is moved: it was not
/// there when the plan was drawn.
fn remove(path: &Path) -> rustix::io::Result<PathBuf> {
    let mut whole = PathBuf::from("/");
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let mut directory = root;
    let parts: Vec<OsString> = path.components().skip(1).map(|part| part.as_os_str().to_owned()).collect();
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.iter().enumerate() {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let open = || rustix::fs::openat2(&directory, part, flags, Mode::empty(), ResolveFlags::BENEATH);
        let next = unlocked(directory.as_fd(), open)?;
        let is_link = rustix::fs::fstat(&next)?.st_mode & libc::S_IFMT == libc::S_IFLNK;
        if index == last || is_link {
            return unlocked(directory.as_fd(), || rename_away(directory.as_fd(), part, &whole));
        }
        whole.push(part);
        directory = next;
    }
    Err(Errno::NOENT)
}

/// Does something in a directory, also where the program has taken the user's own rights to it away. The directory is changed by
/// its descriptor, so it is the one that was found. One of somebody else's that is closed to us was closed to the program too: it
/// made nothing there.
fn unlocked<T>(directory: BorrowedFd<'_>, work: impl Fn() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    let done = work();
    if !matches!(done, Err(Errno::ACCESS)) {
        return done;
    }
    let mode = Mode::from_raw_mode(rustix::fs::fstat(directory)?.st_mode) | Mode::RWXU;
    match rustix::fs::chmod(format!("/proc/self/fd/{}", directory.as_raw_fd()), mode) {
        Err(Errno::PERM) => Err(Errno::NOENT),
        Err(error) => Err(error),
        Ok(()) => work(),
    }
}

/// So many names are tried that a person would give; after them, names that nobody can have taken before.
const PLAIN: u32 = 16;

fn rename_away(directory: BorrowedFd<'_>, name: &OsString, below: &Path) -> rustix::io::Result<PathBuf> {
    for number in 1..2 * PLAIN {
        let mut aside = name.clone();
        match number {
            ..=PLAIN => aside.push(format!(".refused-{number}")),
            _ => aside.push(format!(".refused-{:016x}", RandomState::new().build_hasher().finish())),
        }
        match rustix::fs::renameat_with(directory, name, directory, &aside, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(below.join(aside)),
        }
    }
    Err(Errno::EXIST)
}
