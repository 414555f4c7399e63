//! The world as a value: everything that the gate needs from outside comes in here, so that the whole gate can run in a
//! test without touching anything.

use std::path::{Path, PathBuf};

use effects::Files;

/// Files, as far as the gate reads them.
pub trait Disk: Files + Send + Sync {
    /// The text of a file, or `None` where there is none.
    ///
    /// # Errors
    /// What is wrong, in words: a file that exists and cannot be read is never taken for a missing one.
    fn read(&self, path: &Path) -> Result<Option<String>, String>;

    /// Whether something of this name exists.
    fn exists(&self, path: &Path) -> bool;

    /// The digest of a file's content, for what an approval is bound to. `None` where it is no file that can be read whole.
    fn content(&self, path: &Path) -> Option<String>;
}

/// Where a call happens.
pub struct World {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's name.
    pub user: Option<String>,
    /// Where the managed configuration is.
    pub managed: Option<PathBuf>,
    /// Where the user's configuration is.
    pub configuration: Option<PathBuf>,
    /// Where the journal and the grants are.
    pub state: Option<PathBuf>,
    /// Where the keys are.
    pub keys: Option<PathBuf>,
    /// The files.
    pub disk: Box<dyn Disk>,
}

/// Directories of the system: whoever stands in one of them stands in nobody's workspace.
const SYSTEM: [&str; 18] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
    "/Applications",
    "/Library",
    "/System",
    "/private/etc",
];
/// Directories that hold other people's directories.
const SHARED: [&str; 9] =
    ["/home", "/media", "/mnt", "/root", "/srv", "/tmp", "/var/tmp", "/Users", "/Volumes"];

impl World {
    /// The directories that are Bailiwick's own: no call may touch them.
    pub fn own(&self) -> impl Iterator<Item = &Path> {
        [&self.managed, &self.configuration, &self.state, &self.keys]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }

    /// The workspace around a directory: the nearest one above it with a `.git` or a `.bailiwick.yaml`, else the directory
    /// itself. The root, the home directory, and what belongs to the system or to everybody are nobody's workspace.
    #[must_use]
    pub fn workspace(&self, directory: &Path) -> Option<PathBuf> {
        let unfit = |path: &Path| {
            path.parent().is_none()
                || self.home.as_deref() == Some(path)
                || SHARED.iter().any(|shared| path == Path::new(shared))
                || (SYSTEM.iter().any(|system| path.starts_with(system)) && !path.starts_with("/var/tmp"))
        };
        for candidate in directory.ancestors().take_while(|path| !unfit(path)) {
            if self.disk.exists(&candidate.join(".git"))
                || self.disk.exists(&candidate.join(".bailiwick.yaml"))
            {
                return Some(candidate.to_path_buf());
            }
        }
        (!unfit(directory)).then(|| directory.to_path_buf())
    }
}
