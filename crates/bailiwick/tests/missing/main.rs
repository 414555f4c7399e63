//! FNC-2: a fence that cannot be built as planned is refused. Every system call that builds one is made missing, one by one and
//! by two error numbers; each time the program either does not run (126, `sandbox_denied`) or is held as if nothing were
//! missing.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test prepares files, starts programs and reads what they left; what fails fails it"
)]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the fence is built with, by name and number on x86-64.
const CALLS: &[(&str, &[i64])] = &[
    ("openat2", &[437]),
    ("open_tree", &[428]),
    ("move_mount", &[429]),
    ("mount_setattr", &[442]),
    ("fsopen", &[430]),
    ("fsconfig", &[431]),
    ("fsmount", &[432]),
    ("mount", &[165]),
    ("pivot_root", &[155]),
    ("umount2", &[166]),
    ("unshare", &[272]),
    ("setns", &[308]),
    ("landlock_create_ruleset", &[444]),
    ("landlock_add_rule", &[445]),
    ("landlock_restrict_self", &[446]),
    ("all of Landlock", &[444, 445, 446]),
    ("memfd_create", &[319]),
    ("execveat", &[322]),
    ("capset", &[126]),
    ("close_range", &[436]),
    ("mkdirat", &[258]),
    ("mknodat", &[259]),
    ("symlinkat", &[266]),
    ("fchmodat", &[268]),
    ("setsid", &[112]),
    ("prlimit64", &[302]),
    ("signalfd4", &[289]),
    ("socketpair", &[53]),
    ("sendmsg", &[46]),
    ("the new mount interface", &[428, 429, 430, 431, 432, 433, 442]),
    ("the new mount interface and Landlock", &[428, 429, 430, 431, 432, 433, 442, 444, 445, 446]),
];

/// `ENOSYS`, as on an older kernel; `EPERM`, as under somebody else's filter.
const ERRORS: [i32; 2] = [38, 1];

struct Setting {
    directory: PathBuf,
    listener: TcpListener,
}

impl Setting {
    fn new() -> Setting {
        let directory =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("missing-{}", std::process::id()));
        let _old = fs::remove_dir_all(&directory);
        for name in ["work/.git/hooks", "outside", "home/.ssh"] {
            fs::create_dir_all(directory.join(name)).unwrap();
        }
        fs::write(directory.join("work/.git/config"), "[core]\n").unwrap();
        fs::write(directory.join("home/.ssh/id_rsa"), "canary").unwrap();
        fs::write(directory.join("outside/file"), "before").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let show = directory.display();
        let script = format!(
            "#!/bin/bash\nexec 2>/dev/null\ntouch ran\ncat {show}/home/.ssh/id_rsa && echo escaped: read\n\
             echo after > {show}/outside/file && echo escaped: write\necho x > .git/hooks/pre-commit && echo escaped: hook\n\
             echo x > /dev/tcp/127.0.0.1/{port} && echo escaped: connect\nexit 0\n"
        );
        let program = directory.join("work/try.sh");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let compiled = Command::new("cc")
            .args(["-O1", "-o"])
            .arg(directory.join("shim"))
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/missing/shim.c"))
            .status();
        assert!(compiled.is_ok_and(|status| status.success()), "a C compiler is needed");
        Setting { directory, listener }
    }

    fn run(&self, shim: Option<(&[i64], i32)>, fenced: bool) -> Output {
        let mut words: Vec<String> = Vec::new();
        if let Some((calls, error)) = shim {
            words.push(self.directory.join("shim").display().to_string());
            words.push(calls.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
            words.push(error.to_string());
        }
        if fenced {
            words.extend([env!("CARGO_BIN_EXE_bailiwick"), "exec", "--"].map(String::from));
        }
        words.push("./try.sh".into());
        let (program, rest) = words.split_first().unwrap();
        let _old = fs::remove_file(self.directory.join("work/ran"));
        Command::new(program)
            .args(rest)
            .current_dir(self.directory.join("work"))
            .env("HOME", self.directory.join("home"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    }

    /// What got out, as seen from outside; everything is put back.
    fn escapes(&self, output: &Output) -> Vec<String> {
        let text = String::from_utf8_lossy(&output.stdout);
        let mut escapes: Vec<String> = text
            .lines()
            .filter(|line| line.contains("escaped") || line.contains("canary"))
            .map(str::to_owned)
            .collect();
        if fs::read_to_string(self.directory.join("outside/file")).unwrap() != "before" {
            escapes.push("a file outside was written".into());
            fs::write(self.directory.join("outside/file"), "before").unwrap();
        }
        if fs::remove_file(self.directory.join("work/.git/hooks/pre-commit")).is_ok() {
            escapes.push("a hook was made".into());
        }
        while self.listener.accept().is_ok() {
            escapes.push("somebody connected".into());
        }
        escapes
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.directory);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn whatever_the_kernel_lacks_the_fence_holds_or_is_refused() {
    let setting = Setting::new();
    // The control: without a fence everything gets out, with or without the shim.
    for shim in [None, Some((&[308][..], 38))] {
        let output = setting.run(shim, false);
        assert!(setting.escapes(&output).len() >= 6, "the control is vacuous: {output:?}");
    }
    // With nothing missing it runs, and nothing gets out.
    let output = setting.run(None, true);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(setting.directory.join("work/ran").exists());
    assert_eq!(setting.escapes(&output), Vec::<String>::new());
    let (mut held, mut refused) = (0, 0);
    for (name, calls) in CALLS {
        for error in ERRORS {
            let output = setting.run(Some((calls, error)), true);
            assert_eq!(setting.escapes(&output), Vec::<String>::new(), "without {name} ({error})");
            let said = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => {
                    assert!(setting.directory.join("work/ran").exists(), "without {name} ({error})");
                    held += 1;
                }
                Some(126) => {
                    assert!(
                        said.contains("sandbox_denied") && said.contains("help:"),
                        "without {name} ({error}): {said}"
                    );
                    assert!(!setting.directory.join("work/ran").exists(), "it ran without {name} ({error})");
                    refused += 1;
                }
                // What Bailiwick itself needs is its own failure; nothing ran.
                Some(125) => {
                    assert!(!setting.directory.join("work/ran").exists(), "it ran without {name} ({error})");
                    refused += 1;
                }
                other => panic!("without {name} ({error}): {other:?} {said}"),
            }
        }
    }
    assert!(held >= 4 && refused >= 20, "{held} held, {refused} refused");
}
