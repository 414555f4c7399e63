//! Running a program bare or behind the fence, as one user or another, with whatever the caller leaves lying about.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// Which fence, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// No fence at all: the control.
    Bare,
    /// `sandbox.mode: linux`.
    Native,
    /// `sandbox.mode: bubblewrap`.
    Bubblewrap,
    /// `sandbox.mode: linux` where the kernel forbids namespaces and mounts: it holds, or it refuses.
    NoNamespaces,
    /// The same with `sandbox.protect: false`: what Landlock and the filter of system calls hold by themselves.
    Landlock,
    /// `bwrap` as it is usually called. Not ours: it shows that the suite can tell a hole from a wall.
    Usual,
}

impl Mode {
    pub(crate) const FENCED: [Mode; 4] = [Mode::Native, Mode::Bubblewrap, Mode::NoNamespaces, Mode::Landlock];

    /// The name of its configuration file, and what that says of the fence.
    fn configured(self) -> (&'static str, &'static str) {
        match self {
            Mode::Bubblewrap => ("bubblewrap", "mode: bubblewrap"),
            Mode::Landlock => ("landlock", "mode: linux\n  protect: false"),
            Mode::Bare | Mode::Native | Mode::NoNamespaces | Mode::Usual => ("linux", "mode: linux"),
        }
    }

    fn forbids_namespaces(self) -> bool {
        matches!(self, Mode::NoNamespaces | Mode::Landlock)
    }
}

/// As whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    Root,
    Ordinary,
}

impl Who {
    /// Those that this process can be: root can be both, anybody else is ordinary.
    pub(crate) fn possible() -> Vec<Who> {
        if is_root() { vec![Who::Root, Who::Ordinary] } else { vec![Who::Ordinary] }
    }

    /// The ids to change to, where we have to.
    pub(crate) fn ids(self) -> Option<(u32, u32)> {
        (self == Who::Ordinary && is_root()).then(ordinary_ids)
    }
}

pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").expect("/proc").uid() == 0
}

/// A user that every system has and that owns nothing.
fn ordinary_ids() -> (u32, u32) {
    let table = std::fs::read_to_string("/etc/passwd").expect("/etc/passwd");
    for name in ["games", "daemon", "bin"] {
        for line in table.lines() {
            let parts: Vec<&str> = line.split(':').collect();
            if parts.len() > 3 && parts[0] == name {
                return (parts[2].parse().expect("a number"), parts[3].parse().expect("a number"));
            }
        }
    }
    panic!("no ordinary user in /etc/passwd");
}

/// How a run ended and what it printed.
pub(crate) struct Outcome {
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) took: Duration,
}

impl Outcome {
    /// The exit code as a shell gives it; -1 where the run had to be ended by us.
    pub(crate) fn code(&self) -> i32 {
        match self.status {
            None => -1,
            Some(status) => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        }
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The fence said that it cannot be built here.
    pub(crate) fn refused(&self) -> bool {
        // At a terminal there is one stream for both.
        let text = self.err() + &self.out();
        self.code() == 126
            && ["sandbox_denied", "cannot be built here"].iter().any(|words| text.contains(words))
    }
}

/// A run to be made. The words of the launcher come first, then Bailiwick's, then the program's.
pub(crate) struct Run<'a> {
    pub(crate) mode: Mode,
    pub(crate) who: Who,
    /// The program that is Bailiwick, and its configuration files by mode.
    pub(crate) root: &'a Path,
    pub(crate) workspace: &'a Path,
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) home: Option<&'a Path>,
    pub(crate) environment: Vec<(&'a str, String)>,
    pub(crate) launcher: Vec<OsString>,
    pub(crate) flags: Vec<&'a str>,
    /// Words before Bailiwick's own: a shell that redirects.
    pub(crate) wrapper: Vec<&'a str>,
    pub(crate) input: &'a [u8],
    pub(crate) longest: Duration,
}

impl<'a> Run<'a> {
    pub(crate) fn new(mode: Mode, who: Who, root: &'a Path, workspace: &'a Path) -> Run<'a> {
        Run {
            mode,
            who,
            root,
            workspace,
            cwd: None,
            home: None,
            environment: Vec::new(),
            launcher: Vec::new(),
            flags: Vec::new(),
            wrapper: Vec::new(),
            input: b"",
            longest: Duration::from_secs(60),
        }
    }

    /// The whole command, ready to be started.
    pub(crate) fn command(&self, program: &[&str]) -> Command {
        let mut command = Command::new(probe());
        command.arg("launch");
        if let Some((user, group)) = self.who.ids() {
            command.args(["-u", &format!("{user}:{group}")]);
        }
        command.args(&self.launcher);
        match self.mode {
            Mode::Bare => {
                command.arg("--").args(&self.wrapper);
            }
            Mode::Usual => {
                command.args(["--", "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]);
                command.args(["--dev", "/dev", "--proc", "/proc"]);
                // What is to be reached may lie below /tmp itself.
                if !self.workspace.starts_with("/tmp") {
                    command.args(["--tmpfs", "/tmp"]);
                }
                command.arg("--bind");
                command.arg(self.workspace).arg(self.workspace).arg("--");
            }
            Mode::Native | Mode::Bubblewrap | Mode::NoNamespaces | Mode::Landlock => {
                if self.mode.forbids_namespaces() {
                    command.arg("-n");
                }
                command.arg("--").args(&self.wrapper).arg(self.root.join("program")).arg("exec");
                command.arg("--config").arg(configuration(self.root, self.mode));
                command.arg("--workspace").arg(self.workspace).args(["--profile", "dev"]);
                command.args(&self.flags).arg("--");
            }
        }
        command.args(program);
        command.current_dir(self.cwd.unwrap_or(self.workspace));
        command.env_clear();
        command.env("HOME", self.home.unwrap_or(&self.root.join("home")));
        command.envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TERM", "xterm")]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, program: &[&str]) -> Outcome {
        finished(self.command(program), self.input, self.longest)
    }
}

/// Where the configuration file of a mode is.
pub(crate) fn configuration(root: &Path, mode: Mode) -> PathBuf {
    root.join(format!("config/{}.yaml", mode.configured().0))
}

/// Puts Bailiwick and its configuration into a directory.
pub(crate) fn install(root: &Path) {
    std::fs::create_dir_all(root.join("config")).expect("a directory");
    for mode in [Mode::Native, Mode::Bubblewrap, Mode::Landlock] {
        let text = format!("config_version: 1\nprofile: dev\nsandbox:\n  {}\n", mode.configured().1);
        std::fs::write(configuration(root, mode), text).expect("a file");
    }
    std::fs::copy(env!("CARGO_BIN_EXE_bailiwick"), root.join("program")).expect("a copy of the program");
}

/// Runs a command to its end, or ends it.
pub(crate) fn finished(mut command: Command, input: &[u8], longest: Duration) -> Outcome {
    let start = Instant::now();
    let mut child = command.spawn().expect("the launcher starts");
    let mut stdin = child.stdin.take();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A process that ends without reading closes the pipe: that is its right.
        if let Some(stdin) = stdin.as_mut() {
            drop(stdin.write_all(&input));
        }
    });
    let stdout = child.stdout.take().map(reading);
    let stderr = child.stderr.take().map(reading);
    let status = loop {
        let status = child.try_wait().expect("a child of ours");
        if status.is_some() || start.elapsed() > longest {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = start.elapsed();
    if status.is_none() {
        drop(child.kill());
    }
    // One that has ended answers at once.
    drop(child.wait());
    drop(writer.join());
    Outcome {
        status,
        stdout: stdout.map(collected).unwrap_or_default(),
        stderr: stderr.map(collected).unwrap_or_default(),
        took,
    }
}

type Reading = std::sync::mpsc::Receiver<Vec<u8>>;

fn reading(mut pipe: impl Read + Send + 'static) -> Reading {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length) = pipe.read(&mut buffer) {
            if length == 0 || send.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    receive
}

/// What was printed; a process that was left behind and holds the pipe is not waited for.
fn collected(reading: Reading) -> Vec<u8> {
    let mut all = Vec::new();
    while let Ok(part) = reading.recv_timeout(Duration::from_secs(3)) {
        all.extend(part);
    }
    all
}

/// Where the tests put what they make: not beneath `/tmp`, which a fence may make private and so hide by accident.
pub(crate) fn ground() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// The program of probes, compiled once.
pub(crate) fn probe() -> PathBuf {
    static PROBE: OnceLock<PathBuf> = OnceLock::new();
    PROBE
        .get_or_init(|| {
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fence/probes");
            let program = ground().join(format!("fence-probe-{}", std::process::id()));
            let mut compile = Command::new("cc");
            compile.args(["-O1", "-Wall", "-Werror", "-o"]).arg(&program);
            for entry in std::fs::read_dir(sources).expect("the sources of the probes") {
                let path = entry.expect("an entry").path();
                if path.extension().is_some_and(|extension| extension == "c") {
                    compile.arg(path);
                }
            }
            let output = compile.output().expect("a C compiler");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            // One name, so that nothing piles up; whoever runs the one before goes on running it.
            let named = ground().join("fence-probe");
            std::fs::rename(&program, &named).expect("a file of ours");
            named
        })
        .clone()
}

/// Whether a tool is there. One that is missing is a skip at home and a failure in CI.
pub(crate) fn has(tool: &str) -> bool {
    let found = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"]
        .iter()
        .any(|place| Path::new(place).join(tool).exists());
    if !found {
        println!("skipped: `{tool}` is not installed");
        assert!(std::env::var_os("CI").is_none(), "`{tool}` is missing in CI");
    }
    found
}

/// A mode that cannot be tried for want of a tool.
pub(crate) fn can_try(mode: Mode) -> bool {
    !matches!(mode, Mode::Bubblewrap | Mode::Usual) || has("bwrap")
}

/// The fences that can be built here. That the first two can is a test of its own; the third may refuse.
pub(crate) fn standing(root: &Path, who: Who) -> Vec<Mode> {
    let space = root.join("standing");
    std::fs::create_dir_all(&space).expect("a directory");
    std::fs::write(space.join("row.sh"), "#!/bin/sh\nexit 0\n").expect("a file");
    std::fs::set_permissions(space.join("row.sh"), std::fs::Permissions::from_mode(0o755))
        .expect("a file of ours");
    crate::setting::give(&space, who);
    Mode::FENCED
        .into_iter()
        .filter(|mode| can_try(*mode) && !Run::new(*mode, who, root, &space).run(&["./row.sh"]).refused())
        .collect()
}

static ONE: RwLock<()> = RwLock::new(());

/// One at a time: some probes reach every process of a user, and clocks are measured.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    ONE.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Beside others, but not beside one that has to be alone.
pub(crate) fn together() -> RwLockReadGuard<'static, ()> {
    ONE.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}
