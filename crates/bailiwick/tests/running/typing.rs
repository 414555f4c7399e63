//! What somebody at a terminal does in a home: types, looks at what was kept, tries to approve from inside.

use std::path::Path;
use std::process::Stdio;

use crate::home::{BINARY, Home, Ran};

#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
impl Home {
    /// All bytes that Bailiwick keeps, journal and grants.
    pub(crate) fn kept(&self) -> String {
        let mut all = String::new();
        for directory in [self.journal(), self.0.join(".local/state/bailiwick/grants")] {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                if entry.path().is_file() {
                    all += &String::from_utf8_lossy(&std::fs::read(entry.path()).expect("a file"));
                }
            }
        }
        all
    }

    /// Runs the binary on a terminal. `typed` is what is typed, each after a text has appeared.
    pub(crate) fn at_terminal(&self, typed: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/running/typist.py");
        let mut command = self.command("python3");
        command.arg(script).arg("20");
        for (after, text) in typed {
            command.args([after, text]);
        }
        command.args(["--", BINARY]).args(arguments);
        command.output().expect("python3").into()
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
impl Home {
    /// Writes a file of the workspace.
    pub(crate) fn write(&self, name: &str, text: &str, executable: bool) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join("work").join(name);
        std::fs::write(&path, text).expect("a file");
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
    }

    /// Runs a script of many commands in one session without a terminal.
    pub(crate) fn shell(&self, script: &str) -> Ran {
        let mut command = self.command("setsid");
        command.args(["-w", "timeout", "-s", "KILL", "60", "sh", "-c", script]);
        command.output().expect("a shell").into()
    }

    /// The same on a terminal.
    pub(crate) fn shell_at_terminal(&self, typed: &[(&str, &str)], script: &str) -> Ran {
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/running/typist.py");
        let mut command = self.command("python3");
        command.arg(tool).arg("30");
        for (after, text) in typed {
            command.args([after, text]);
        }
        command.args(["--", "sh", "-c", script]);
        command.output().expect("python3").into()
    }

    /// Whether a script reaches what it tries to, behind the fence or without one. Everything that it may look for is there: a
    /// question that waits, a process of ours, a terminal.
    pub(crate) fn attempt(&self, script: &str, fenced: bool) -> bool {
        let waiting = self.run(&["exec", "--", "git", "reset", "--hard"]);
        assert_eq!(waiting.code, Some(126), "{waiting:?}");
        let listed: serde_json::Value =
            serde_json::from_str(&self.run(&["grants", "--json"]).out).expect("JSON");
        let text = |name: &str| listed[0][name].as_str().expect("a text").to_owned();
        let mut parent = self.command("python3");
        // A process of the approver's side, with a terminal of its own, whose name it tells.
        parent.args([
            "-c",
            "import os,pty,sys,time; m,s=pty.openpty(); print(os.ttyname(s),flush=True); time.sleep(60)",
        ]);
        let mut parent = parent.stdout(Stdio::piped()).spawn().expect("python3");
        let mut terminal = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(parent.stdout.take().expect("its output")),
            &mut terminal,
        )
        .expect("its terminal");
        let binary = Path::new(BINARY).canonicalize().expect("the binary");
        let names = format!(
            "STATE={home}/.local/state/bailiwick KEYS={home}/.local/share/bailiwick CONFIG={home}/.config/bailiwick \
             BAILIWICK={binary} QUESTION={} SESSION={} PARENT={} TERMINAL={}; exec 2>/dev/null; {script}",
            text("id"),
            text("session"),
            parent.id(),
            terminal.trim(),
            home = self.0.display(),
            binary = binary.display(),
        );
        self.write("attempt.sh", &names, false);
        let beside = binary.parent().expect("a directory").display().to_string();
        let ran = if fenced {
            self.run(&["exec", "--read", &beside, "--", "sh", "attempt.sh"])
        } else {
            self.shell("sh attempt.sh")
        };
        parent.kill().expect("it lives");
        parent.wait().expect("it ends");
        // The script's own verdict; anything that Bailiwick itself refuses is no success either.
        ran.code == Some(0)
    }
}
