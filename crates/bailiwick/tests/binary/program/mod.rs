//! Running the binary as a user would, in a workspace of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a run printed and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A directory with a workspace and a home, gone when dropped.
pub(crate) struct Place {
    root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Place {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("bailiwick-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(root.join("work/.git/hooks")).expect("a temporary directory");
        std::fs::create_dir_all(root.join("home/.ssh")).expect("a temporary directory");
        Place { root }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.root.join("work")
    }

    #[expect(clippy::disallowed_methods, reason = "tests write what they test with")]
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, text).expect("a file");
        path
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        self.run_bytes(&self.workspace(), arguments, input.as_bytes())
    }

    #[expect(clippy::disallowed_methods, reason = "tests start what they test")]
    pub(crate) fn run_bytes(&self, cwd: &Path, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bailiwick"))
            .args(arguments)
            .current_dir(cwd)
            .env_clear()
            .env("HOME", self.root.join("home"))
            .env("USER", "user")
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        // A process that ends without reading closes the pipe: that is its right.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("the binary ends");
        writer.join().expect("the writer ends");
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let ran = self.run(arguments);
        serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.root));
    }
}
