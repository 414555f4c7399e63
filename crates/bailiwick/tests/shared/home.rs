//! A home of its own for each test: configuration, state and a workspace, and the binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_bailiwick");

/// A home directory that goes with the test.
pub(crate) struct Home(pub(crate) PathBuf);

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Nothing where a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
impl Home {
    /// With a repository in `work`, which is where everything is run.
    pub(crate) fn new() -> Home {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("home-{}-{number}", std::process::id()));
        let _left_over = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("work")).expect("a workspace");
        let home = Home(path);
        home.command("git").args(["init", "-q", "."]).status().expect("git");
        std::fs::write(home.0.join("work/notes.txt"), "notes\n").expect("a file");
        home
    }

    pub(crate) fn configure(&self, yaml: &str) {
        let directory = self.0.join(".config/bailiwick");
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("config.yaml"), yaml).expect("a configuration");
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join(".local/state/bailiwick/journal")
    }

    /// What the journal says.
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        let text = self.run(&["journal", "export"]).out;
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.join("work"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.0)
            .env("USER", "tester")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// The binary without a terminal: `setsid` takes the one of whoever runs the test away.
    pub(crate) fn alone(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("setsid");
        command.args(["-w", "timeout", "-s", "KILL", "120", BINARY]).args(arguments);
        command
    }

    /// Runs it so.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.alone(arguments).output().expect("the binary").into()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _kept = std::fs::remove_dir_all(&self.0);
    }
}
