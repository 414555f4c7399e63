//! A Linux distribution inside Windows: the command line that starts our own Linux fence there, and paths on both sides.
//!
//! The fence inside draws its plan from the same tables as the one outside, and from the flags that it gets. What neither says
//! cannot be carried over, and makes the plan unfit. Windows programs cannot be started from inside: the sockets and the
//! loader that Windows lends for that are not among what a fence shows.
//!
//! `--exec` and not `--`: the latter hands the words to a shell.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::drive::{self, DrivePath};
use crate::knowledge::{self, lines};
use crate::network::Network;
use crate::plan::{Access, Plan, Reach};
use crate::unfit::Unfit;

/// Which distribution, and what is where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Its name, as `wsl.exe --list` has it.
    pub distro: String,
    /// Where it mounts drives: `/mnt`, unless its `wsl.conf` says otherwise.
    pub mounts: PathBuf,
    /// Our own program inside it.
    pub launcher: PathBuf,
    /// The plan's workspace, spelt as the plan has it.
    pub workspace: Option<PathBuf>,
}

/// The longest command line that Windows takes, in UTF-16 units.
const LONGEST: usize = 32_000;

/// Variables that say where something is on this side. Inside, they have values of their own.
const OF_THIS_SIDE: [&str; 19] = [
    "PATH",
    "HOME",
    "PWD",
    "TMPDIR",
    "SHELL",
    "USER",
    "LOGNAME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "TZ",
];

/// The command line that runs a program behind the fence inside.
///
/// # Errors
/// What of the plan, the program or its arguments cannot be carried over.
pub fn command(
    plan: &Plan,
    settings: &Settings,
    program: &Path,
    arguments: &[OsString],
) -> Result<Vec<OsString>, Unfit> {
    let mut unfit = Vec::new();
    if !is_distro(&settings.distro) {
        unfit.push(format!("`{}` is no name of a distribution", settings.distro.escape_debug()));
    }
    let mut carried = Carried { plan, settings, words: Vec::new(), unfit };
    carried.word("wsl.exe");
    carried.flag("-d", &settings.distro);
    carried.path("--cd", &plan.cwd);
    if carried.words.last().is_some_and(|cwd| cwd.contains('"')) {
        // wsl.exe has no way to write one here.
        carried.unfit.push("the working directory's name has a quotation mark".into());
    }
    carried.word("--exec");
    carried.environment();
    match settings.launcher.to_str().filter(|launcher| launcher.starts_with('/')) {
        Some(launcher) => carried.word(launcher),
        None => carried.unfit.push(format!("{:?} is no program inside", settings.launcher)),
    }
    carried.word("exec");
    carried.places();
    carried.forbidden();
    carried.rest();
    carried.word("--");
    carried.program(program);
    for argument in arguments {
        match argument.to_str().filter(|text| !text.contains('\0')) {
            Some(text) => carried.word(text),
            None => carried.unfit.push(format!("the argument {argument:?} is no text")),
        }
    }
    // Quoting can double it.
    if carried.words.iter().map(|word| word.encode_utf16().count() * 2 + 3).sum::<usize>() > LONGEST {
        carried.unfit.push("the command line is longer than Windows takes".into());
    }
    Unfit::unless(carried.unfit, carried.words.into_iter().map(OsString::from).collect())
}

/// A Windows path as the distribution has it. A path that is Linux's already stays.
///
/// # Errors
/// It is relative, of another machine or distribution, or not plainly a path.
pub fn to_linux(path: &str, settings: &Settings) -> Result<PathBuf, Unfit> {
    if path.starts_with('/') && !path.starts_with("//") {
        return linux(Path::new(path)).map_err(Unfit::because);
    }
    match shared(path, settings) {
        Some(inside) => inside.map_err(Unfit::because),
        None => {
            let path = DrivePath::parse(path).map_err(Unfit::because)?;
            let mut inside = settings.mounts.join(path.letter().to_ascii_lowercase().to_string());
            inside.extend(path.parts());
            Ok(inside)
        }
    }
}

/// A path of the distribution as Windows has it: on a drive where it is one, else through the share of the distribution.
///
/// # Errors
/// It is relative, has `..` in it (which Linux follows through links, and Windows does not), or a name that Windows cannot
/// have.
pub fn to_windows(path: &Path, settings: &Settings) -> Result<String, Unfit> {
    let path = linux(path).map_err(Unfit::because)?;
    let text = path.to_str().ok_or_else(|| Unfit::because(format!("{path:?} is no text")))?;
    let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
    if let Some(name) = names.iter().find(|name| drive::plain(name).is_err()) {
        return Err(Unfit::because(format!("Windows cannot have a file named `{}`", name.escape_debug())));
    }
    let below = path.strip_prefix(&settings.mounts).ok().and_then(Path::to_str);
    let mut below = below.unwrap_or_default().split('/').filter(|name| !name.is_empty());
    let mut letters = below.next().unwrap_or_default().chars();
    if let (Some(letter @ 'a'..='z'), None) = (letters.next(), letters.next()) {
        let names: Vec<&str> = below.collect();
        return DrivePath::from_parts(letter, &names).map(|path| path.to_string()).map_err(Unfit::because);
    }
    if !is_distro(&settings.distro) {
        return Err(Unfit::because(format!("`{}` is no distribution", settings.distro.escape_debug())));
    }
    Ok(format!("\\\\wsl.localhost\\{}\\{}", settings.distro, names.join("\\")))
}

/// A path through the share of a distribution, if it is one: `\\wsl$\NAME\…` or `\\wsl.localhost\NAME\…`.
fn shared(path: &str, settings: &Settings) -> Option<Result<PathBuf, String>> {
    let path = path.replace('/', "\\");
    let (path, verbatim) = match path.strip_prefix("\\\\?\\UNC\\") {
        Some(rest) => (rest, true),
        None => (path.strip_prefix("\\\\")?, false),
    };
    let mut names = path.split('\\');
    let server = names.next()?.to_ascii_lowercase();
    if !matches!(server.as_str(), "wsl$" | "wsl.localhost") {
        return None;
    }
    let distro = names.next().unwrap_or_default();
    if !distro.eq_ignore_ascii_case(&settings.distro) || !is_distro(distro) {
        return Some(Err(format!(
            "`{}` is not in the distribution {}",
            path.escape_debug(),
            settings.distro
        )));
    }
    let mut inside = PathBuf::from("/");
    for name in names {
        match name {
            "" => {}
            "." | ".." if verbatim => {
                return Some(Err(format!("`{}` has dots for names", path.escape_debug())));
            }
            "." => {}
            ".." => {
                if !inside.pop() {
                    return Some(Err(format!("`{}` leads above its share", path.escape_debug())));
                }
            }
            name => match drive::plain(name) {
                Ok(()) => inside.push(name),
                Err(why) => {
                    return Some(Err(format!(
                        "`{}` has `{}`, {why}",
                        path.escape_debug(),
                        name.escape_debug()
                    )));
                }
            },
        }
    }
    Some(Ok(inside))
}

/// An absolute path of Linux in which every name is meant as it stands.
fn linux(path: &Path) -> Result<PathBuf, String> {
    let sound = path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
        && path.to_str().is_some_and(|text| !text.chars().any(char::is_control));
    // Components leave out `.` and doubled slashes.
    if sound {
        Ok(path.components().collect())
    } else {
        Err(format!("{path:?} is no absolute path of plain text"))
    }
}

fn is_distro(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

/// A command line in the making.
struct Carried<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    words: Vec<String>,
    unfit: Vec<String>,
}

impl Carried<'_> {
    fn word(&mut self, word: &str) {
        self.words.push(word.to_owned());
    }

    fn flag(&mut self, flag: &str, value: &str) {
        self.word(flag);
        self.word(value);
    }

    fn path(&mut self, flag: &str, path: &Path) {
        if let Some(path) = self.inside(path) {
            self.flag(flag, &path);
        }
    }

    fn inside(&mut self, path: &Path) -> Option<String> {
        let found = match path.to_str() {
            Some(text) => to_linux(text, self.settings),
            None => Err(Unfit::because(format!("{path:?} is no text"))),
        };
        match found {
            Ok(path) => path.to_str().map(str::to_owned),
            Err(unfit) => {
                self.unfit.extend_from_slice(unfit.reasons());
                None
            }
        }
    }

    /// Variables that are handed on inside as well.
    fn environment(&mut self) {
        let mut carried = Vec::new();
        for (name, value) in &self.plan.environment {
            match (name.to_str(), value.to_str()) {
                (Some(name), _) if OF_THIS_SIDE.contains(&name) => {}
                (Some(name), Some(value)) if is_passed(name) && !value.chars().any(char::is_control) => {
                    carried.push(format!("{name}={value}"));
                }
                _ => self.unfit.push(format!("the variable {name:?} cannot be handed on inside")),
            }
        }
        if !carried.is_empty() {
            self.word("/usr/bin/env");
            self.words.append(&mut carried);
        }
    }

    fn places(&mut self) {
        // Both sides spelt as Linux has them, so that one can be above the other.
        let mut whole = Plan { places: std::collections::BTreeMap::new(), ..self.plan.clone() };
        for (path, access) in &self.plan.places {
            if let Some(path) = self.inside(path) {
                let other = whole.places.insert(path.clone().into(), access.clone());
                if other.is_some_and(|other| other != *access) {
                    self.unfit.push(format!("{path} stands in the plan twice, with different words"));
                }
            }
        }
        let workspace = self.workspace();
        for (path, access) in &whole.places {
            let below = workspace.as_deref().and_then(|workspace| path.strip_prefix(workspace).ok());
            let text = path.to_string_lossy();
            match access {
                Access::Read if below == Some(Path::new("")) => {
                    self.unfit.push("a workspace that may only be read cannot be carried over".into());
                }
                Access::Read if listed(knowledge::SYSTEM, &["show"], path) => {}
                Access::Read if whole.above(path).is_some_and(|above| *above.1 == Access::Write) => {
                    self.unfit.push(format!("{text} may only be read here, and could be written inside"));
                }
                Access::Read => self.flag("--read", &text),
                Access::Write if below == Some(Path::new("")) => self.flag("--workspace", &text),
                // A directory between the workspace and something protected: inside it is found again.
                Access::Write if whole.above(path).is_some_and(|above| *above.1 == Access::Write) => {}
                Access::Write => self.flag("--write", &text),
                Access::Scratch if listed(knowledge::SYSTEM, &["scratch"], path) => {}
                // The home is scratch inside too, and has a path of its own there.
                Access::Scratch | Access::Link(_) => {}
                Access::Protected => {
                    if !below.is_some_and(|below| listed(knowledge::WORKSPACE, &["protect", "keep"], below)) {
                        self.unfit.push(format!("{text} is protected here, and would not be inside"));
                    }
                }
                Access::Hidden => {
                    let mut without = whole.clone();
                    without.places.remove(path);
                    if without.reach(path) != Reach::None
                        && !below.is_some_and(|below| listed(knowledge::WORKSPACE, &["hide"], below))
                        && !listed(knowledge::SYSTEM, &["hide"], path)
                    {
                        self.unfit.push(format!("{text} is hidden here, and would not be inside"));
                    }
                }
            }
        }
    }

    fn workspace(&mut self) -> Option<PathBuf> {
        let workspace = self.settings.workspace.clone()?;
        self.inside(&workspace).map(PathBuf::from)
    }

    fn forbidden(&mut self) {
        let workspace = self.workspace();
        for name in &self.plan.forbidden {
            let Some(name) = self.inside(name) else { continue };
            let below =
                workspace.as_deref().and_then(|workspace| Path::new(&name).strip_prefix(workspace).ok());
            if !below.is_some_and(|below| listed(knowledge::WORKSPACE, &["protect", "keep"], below)) {
                self.unfit.push(format!("{name} is forbidden here, and would not be inside"));
            }
        }
        for name in &self.plan.fresh {
            let Some(name) = self.inside(name) else { continue };
            if workspace.as_ref().is_none_or(|workspace| Path::new(&name) != workspace.join(".git")) {
                self.unfit.push(format!("{name} may be made here, and would not be looked at inside"));
            }
        }
    }

    fn rest(&mut self) {
        let net = match &self.plan.network {
            Network::Off => "off".to_owned(),
            Network::Open => "open".to_owned(),
            Network::Allow(hosts) if hosts.is_empty() => "off".to_owned(),
            Network::Allow(hosts) => hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        };
        self.flag("--net", &net);
        self.flag("--memory", &format!("{}M", self.plan.limits.memory_mb));
        if let Some(time) = self.plan.limits.wall_ms {
            self.flag("--time", &format!("{time}ms"));
        }
        if !self.plan.execute_scratch {
            self.unfit
                .push("that nothing written to scratch places is executed cannot be carried over".into());
        }
    }

    fn program(&mut self, program: &Path) {
        match program.to_str() {
            // A name that is looked for inside, or a path from the working directory.
            Some(text) if is_relative(text) => self.word(text),
            _ => {
                if let Some(program) = self.inside(program) {
                    self.word(&program);
                }
            }
        }
    }
}

fn is_relative(program: &str) -> bool {
    !program.is_empty()
        && !program.starts_with(['/', '-'])
        && !program.contains(['\\', ':', '\0'])
        && !program.chars().any(char::is_control)
}

fn listed(table: &'static str, words: &[&str], path: &Path) -> bool {
    lines(table).any(|(word, listed)| words.contains(&word) && Path::new(listed) == path)
}

fn is_passed(name: &str) -> bool {
    lines(knowledge::ENVIRONMENT).filter(|line| line.0 == "pass").any(|(_, listed)| {
        match listed.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => OsStr::new(name) == listed,
        }
    })
}
