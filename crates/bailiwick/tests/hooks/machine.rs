//! A home with a trace of every host and the hooks that `init` put in.

use std::io::Write as _;
use std::process::Stdio;

use crate::home::{Home, Ran};

#[expect(clippy::disallowed_methods, reason = "a test has files and starts programs")]
impl Home {
    /// With the hooks of every host, and no configuration.
    pub(crate) fn hooked() -> Home {
        let home = Home::bare();
        let mut arguments = vec!["init", "--yes"];
        arguments.extend(door_hook::Host::ALL.map(door_hook::Host::name));
        let done = home.run(&arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        std::fs::remove_file(home.0.join(".config/bailiwick/config.yaml")).expect("the starter's");
        home
    }

    /// With a project in its workspace.
    pub(crate) fn bare() -> Home {
        let home = Home::new();
        std::fs::create_dir_all(home.0.join("work/src")).expect("a directory");
        std::fs::write(home.0.join("work/Cargo.toml"), "").expect("a file");
        home
    }

    pub(crate) fn work(&self) -> String {
        self.0.join("work").display().to_string()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("a file")
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
