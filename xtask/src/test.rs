//! Everything that must pass before a change lands. What the tests need is installed first; nothing is skipped.

use crate::run::{built, exists, must};
use crate::{clients, generate, graph, interface, promises};

/// Programs that the tests compare with or run behind the fence, and the Debian packages that bring them.
const NEEDED: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("dash", "dash"),
    ("busybox", "busybox-static"),
    ("bwrap", "bubblewrap"),
    ("gcc", "gcc"),
    ("make", "make"),
    ("curl", "curl"),
    ("gdb", "gdb"),
    ("perl", "perl"),
    ("rg", "ripgrep"),
    ("tmux", "tmux"),
    ("unzip", "unzip"),
    ("zip", "zip"),
    ("git", "git"),
    ("node", "nodejs"),
    ("python3", "python3"),
    ("virtualenv", "virtualenv"),
    ("setpriv", "util-linux"),
    ("ps", "procps"),
    ("strace", "strace"),
    ("vim", "vim"),
    ("chromium", "chromium"),
    ("npm", "npm"),
];

/// What tries the console in a browser.
const CONSOLE: &str = "crates/door-serve/console-tests/run.py";

pub(crate) fn all() -> Result<(), String> {
    install()?;
    must("cargo", &["fmt", "--all", "--check"])?;
    must("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    graph::check()?;
    promises::check()?;
    // The binary is built with the tests: alone it would be built with other features of what it is made of, all of it twice.
    must("cargo", &["test", "--workspace", "--locked", "--no-run"])?;
    generate::check()?;
    interface::check()?;
    // Whatever a test would do without on somebody's own machine was installed above. Signals that a script's background job
    // has to ignore are none that the tests ignore.
    let words = ["--default-signal=INT,QUIT", "CI=1", "cargo", "test", "--workspace", "--locked"];
    must("env", &words)?;
    must("python3", &[CONSOLE, "--binary", &built().display().to_string()])?;
    clients::check()
}

fn install() -> Result<(), String> {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(program, _)| !exists(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let sudo: &[&str] = if exists("sudo") { &["sudo"] } else { &[] };
    let apt = |words: &[&str]| {
        let all: Vec<&str> = sudo.iter().chain(words).copied().collect();
        match all.split_first() {
            Some((program, rest)) => must(program, rest),
            None => Ok(()),
        }
    };
    apt(&["apt-get", "update", "-q"])?;
    let mut words = vec!["apt-get", "install", "-y", "-q", "--no-install-recommends"];
    words.extend(missing);
    apt(&words)
}
