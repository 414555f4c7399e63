//! The real world: this machine's files and this process's environment. The only place that reads them.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use call::DigestKey;
use effects::Files;

use crate::world::{Disk, World};

/// This machine's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Machine {
    /// The world as this process finds it.
    ///
    /// # Errors
    /// There is no working directory.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment enters")]
    pub fn world() -> Result<World, String> {
        let cwd =
            std::env::current_dir().map_err(|error| format!("there is no working directory: {error}"))?;
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let directory = |variable: &str, usual: &str| {
            std::env::var_os(variable)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .or_else(|| home.as_ref().map(|home| home.join(usual)))
                .map(|directory| directory.join("bailiwick"))
        };
        let configuration = directory("XDG_CONFIG_HOME", ".config");
        let state = directory("XDG_STATE_HOME", ".local/state");
        let keys = directory("XDG_DATA_HOME", ".local/share");
        let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok();
        let managed = Some(PathBuf::from("/etc/bailiwick"));
        Ok(World { cwd, home, user, managed, configuration, state, keys, disk: Box::new(Machine) })
    }
}

impl Machine {
    /// Says something to whoever watches this process. Where nobody does any more, nothing is lost that anything waits for.
    pub fn tell(text: impl std::fmt::Display) {
        let _nobody_listens = writeln!(std::io::stderr(), "{text}");
    }

    /// The same, and the answer is written behind it.
    pub fn prompt(text: impl std::fmt::Display) {
        let _nobody_listens = write!(std::io::stderr(), "{text}");
    }

    /// The environment of this process.
    #[must_use]
    pub fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        std::env::vars_os().collect()
    }

    /// A secret that the environment holds.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is where the environment enters")]
    pub fn secret(variable: &str) -> Option<call::Secret> {
        std::env::var(variable)
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
            .map(call::Secret::new)
    }

    /// The session of this process: the terminal, or the service, that it was started from. It has the leader's starting time
    /// in it, so that a number that is used again is another session.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is where the process looks at itself")]
    pub fn session() -> String {
        let stat = |process: &str| std::fs::read_to_string(format!("/proc/{process}/stat")).ok();
        // The name of a program may hold anything, a parenthesis included: fields are counted from the last one.
        let field = |text: &str, number: usize| {
            let rest = text.rsplit_once(')')?.1;
            rest.split_ascii_whitespace().nth(number.checked_sub(3)?).map(str::to_owned)
        };
        let leader = stat("self").and_then(|text| field(&text, 6)).unwrap_or_else(|| "0".into());
        let started = stat(&leader).and_then(|text| field(&text, 22)).unwrap_or_else(|| "0".into());
        format!("terminal-{leader}-{started}")
    }

    /// A key for digests that nobody else will ever have: it lasts as long as this process.
    ///
    /// # Errors
    /// The system's source of randomness cannot be read.
    pub fn digest_key() -> Result<DigestKey, String> {
        Machine::random().map(DigestKey::from_bytes)
    }

    /// Random bytes.
    ///
    /// # Errors
    /// The system's source of randomness cannot be read.
    #[expect(clippy::disallowed_methods, reason = "this is where randomness enters")]
    pub fn random<const COUNT: usize>() -> Result<[u8; COUNT], String> {
        // Every call takes its name from it: it is opened once.
        static SOURCE: OnceLock<std::fs::File> = OnceLock::new();
        let failed = |error: std::io::Error| format!("there is no randomness: {error}");
        let mut source = match SOURCE.get() {
            Some(source) => source,
            None => {
                let opened = std::fs::File::open("/dev/urandom").map_err(failed)?;
                SOURCE.get_or_init(|| opened)
            }
        };
        let mut bytes = [0_u8; COUNT];
        source.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

impl Files for Machine {
    #[expect(clippy::disallowed_methods, reason = "symlinks are followed here, for classification only")]
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        // Most calls are about the directory that this process is in, and the system has no link in the name that it gives it.
        if std::env::current_dir().is_ok_and(|here| here == path) {
            return None;
        }
        // The existing part is followed; what does not exist yet is appended as it is.
        let mut missing = Vec::new();
        let mut existing = path;
        loop {
            match std::fs::canonicalize(existing) {
                Ok(real) => {
                    let mut real = real;
                    real.extend(missing.iter().rev());
                    return (real != path).then_some(real);
                }
                Err(_) => {
                    // A dangling link leads where it points, even though nothing is there yet.
                    if let Ok(target) = std::fs::read_link(existing) {
                        let mut real = existing.parent()?.join(target);
                        real.extend(missing.iter().rev());
                        return Some(real);
                    }
                    missing.push(existing.file_name()?.to_owned());
                    existing = existing.parent()?;
                }
            }
        }
    }

    fn is_directory(&self, path: &Path) -> Option<bool> {
        std::fs::metadata(path).ok().map(|found| found.is_dir())
    }
}

impl Disk for Machine {
    #[expect(clippy::disallowed_methods, reason = "configuration is read here")]
    fn read(&self, path: &Path) -> Result<Option<String>, String> {
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot be read: {error}")),
        };
        let limit = u64::try_from(policy::MAX_BYTES).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| format!("cannot be read: {error}"))?;
        String::from_utf8(bytes).map(Some).map_err(|_| "is not UTF-8 text".into())
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn content(&self, path: &Path) -> Option<String> {
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe in the place of a file must not hold the gate up.
        const NONBLOCK: i32 = 0o4000;
        let file = std::fs::OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path).ok()?;
        let length = file.metadata().ok().filter(|metadata| metadata.is_file())?.len();
        let mut bytes = Vec::new();
        file.take(LARGEST_CONTENT + 1).read_to_end(&mut bytes).ok()?;
        (length <= LARGEST_CONTENT && bytes.len() as u64 <= LARGEST_CONTENT).then(|| call::sha256_hex(&bytes))
    }
}

/// The largest program that an approval is bound to by its content.
const LARGEST_CONTENT: u64 = 64 * 1024 * 1024;
