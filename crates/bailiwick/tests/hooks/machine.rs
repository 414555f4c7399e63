//! A home of its own for each test, with a trace of every host and the hooks that `init` put in.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_bailiwick");

/// A home directory that goes with the test.
pub(crate) struct Machine(pub(crate) PathBuf);

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
impl Machine {
    /// With the hooks of every host, and no configuration.
    pub(crate) fn hooked() -> Machine {
        let machine = Machine::bare();
        let mut arguments = vec!["init", "--yes"];
        arguments.extend(door_hook::Host::ALL.map(door_hook::Host::name));
        let done = machine.run(&arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        std::fs::remove_file(machine.0.join(".config/bailiwick/config.yaml")).expect("the starter's");
        machine
    }

    pub(crate) fn bare() -> Machine {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hooks-{}-{number}", std::process::id()));
        let _left_over = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("work/src")).expect("a workspace");
        std::fs::write(path.join("work/notes.txt"), "notes\n").expect("a file");
        std::fs::write(path.join("work/Cargo.toml"), "").expect("a file");
        let machine = Machine(path);
        machine.command("git").args(["init", "-q", "."]).status().expect("git");
        machine
    }

    pub(crate) fn configure(&self, yaml: &str) {
        let directory = self.0.join(".config/bailiwick");
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("config.yaml"), yaml).expect("a configuration");
    }

    pub(crate) fn work(&self) -> String {
        self.0.join("work").display().to_string()
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join(".local/state/bailiwick/journal")
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("a file")
    }

    pub(crate) fn records(&self) -> Vec<Value> {
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
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary without a terminal.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command("setsid");
        command.args(["-w", "timeout", "-s", "KILL", "60", BINARY]).args(arguments);
        command.output().expect("the binary").into()
    }

    /// Runs a shell's command with this on its standard input.
    pub(crate) fn shell(&self, script: &str, input: &str) -> Ran {
        let mut command = self.command("setsid");
        command.args(["-w", "timeout", "-s", "KILL", "60", "sh", "-c", script]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a shell");
        // A hook that is gone before it read its question is one of the tests.
        let _unread = child.stdin.take().expect("its input").write_all(input.as_bytes());
        child.wait_with_output().expect("its end").into()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _kept = std::fs::remove_dir_all(&self.0);
    }
}
