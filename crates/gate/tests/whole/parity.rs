//! POL-4: the same meaning gets the same ruling, whichever tool, shell or wrapper brings it.

use crate::stage::{Dice, gate, judge};
use gate::Gate;
use gate::call::RawCall;
use serde_json::json;

const PROGRAMS: &[&str] = &[
    "ls",
    "cat",
    "rm",
    "cp",
    "mv",
    "touch",
    "mkdir",
    "grep",
    "git",
    "curl",
    "pytest",
    "make",
    "npm",
    "cargo",
    "python3",
    "find",
    "sed",
    "chmod",
    "dd",
    "tee",
    "unheard-of",
    "./run.sh",
    "/bin/rm",
    "/usr/bin/git",
    "docker",
    "terraform",
];

const WORDS: &[&str] = &[
    "-r",
    "-f",
    "-rf",
    "--force",
    "--",
    "-la",
    "status",
    "push",
    "commit",
    "-m",
    "a message",
    "reset",
    "--hard",
    "/",
    "~x",
    "/etc/passwd",
    "/etc/shadow",
    ".env",
    "src/main.rs",
    "target",
    "build",
    "-c",
    "print(1)",
    "https://example.com/x",
    "-o",
    "out.txt",
    "install",
    "test",
    "*.rs",
    "-name",
    "-delete",
    "-exec",
    "{}",
    ";",
    "+x",
    "777",
    "if=/dev/zero",
    "of=/dev/sda",
    "run",
    "--privileged",
    "destroy",
    "$HOME",
    "a'b",
    "a\"b",
    "a\\b",
    "",
    "a|b",
    "a;b",
    "..",
    "../../x",
];

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Every way to ask for the same words, but for what a wrapper itself adds.
fn forms(argv: &[String]) -> Vec<(&'static str, RawCall, bool)> {
    let line: String = argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let with = |first: &[&str]| -> Vec<String> {
        first.iter().map(|word| (*word).to_owned()).chain(argv.iter().cloned()).collect()
    };
    let exec = |argv: &[String]| RawCall::new("shell_exec", json!({"argv": argv}));
    let by_shell = |program: &str, flag: &str| {
        let words = [program.to_owned(), flag.to_owned(), line.clone()];
        exec(&words)
    };
    let nested = format!("sh -c {}", quoted(&line));
    vec![
        // name, call, whether an approval of one covers the other
        ("shell", RawCall::new("shell", json!({"command": argv})), true),
        ("shell_command", RawCall::new("shell_command", json!({"command": line})), true),
        ("exec_command", RawCall::new("exec_command", json!({"cmd": line})), true),
        ("Bash", RawCall::command(line.clone()), true),
        ("sh -c", by_shell("sh", "-c"), true),
        ("bash -lc", by_shell("bash", "-lc"), true),
        ("/bin/sh -ec", by_shell("/bin/sh", "-ec"), true),
        ("sh -c in text", RawCall::command(nested), true),
        ("env", exec(&with(&["env"])), false),
        ("/usr/bin/env", exec(&with(&["/usr/bin/env"])), false),
        ("timeout", exec(&with(&["timeout", "5"])), false),
        ("timeout -k", exec(&with(&["timeout", "-k", "1", "5s"])), false),
        ("nice", exec(&with(&["nice", "-n", "5"])), false),
        ("nohup", exec(&with(&["nohup"])), false),
        ("setsid", exec(&with(&["setsid"])), false),
        ("stdbuf", exec(&with(&["stdbuf", "-oL"])), false),
        ("command in text", RawCall::command(format!("command {line}")), true),
        ("exec in text", RawCall::command(format!("exec {line}")), false),
    ]
}

fn compare(gate: &Gate, argv: &[String]) -> usize {
    let plain = gate.judge(RawCall::new("shell_exec", json!({"argv": argv}))).expect("a well-formed call");
    let key = gate.approval_key(&plain);
    assert_eq!(key, gate.request(&plain).approval_key(), "the short way to the key is no other key");
    let mut compared = 0;
    for (name, raw, same_key) in forms(argv) {
        let other = gate.judge(raw).expect("a well-formed call");
        let told = |judgement: &gate::Judgement| {
            (
                judgement.ruling.decision,
                judgement.ruling.step,
                judgement.ruling.rule.id.to_string(),
                judgement.ruling.reason.clone(),
            )
        };
        assert_eq!(told(&other), told(&plain), "{name}: {argv:?}");
        if same_key {
            assert_eq!(gate.approval_key(&other), key, "{name}: the approval key of {argv:?}");
        }
        compared += 1;
    }
    compared
}

#[test]
fn every_tool_and_wrapper_gives_the_same_ruling() {
    let gates = [
        gate(
            "profile: dev\nsafety: {allowlist: [pytest, \"git status\"], denylist: [\"rm -rf\", terraform]}",
        ),
        gate(
            "safety: {mode: ask, allowlist: [ls, pytest], denylist: [sudo, \"git push --force\"], complex_shell: by_part}",
        ),
    ];
    let mut dice = Dice::new();
    let mut compared = 0;
    while compared < 100_000 {
        let mut argv = vec![PROGRAMS[dice.below(PROGRAMS.len())].to_owned()];
        for _ in 0..dice.below(5) {
            argv.push(WORDS[dice.below(WORDS.len())].to_owned());
        }
        compared += compare(&gates[dice.below(gates.len())], &argv);
    }
}

#[test]
fn a_wrapper_that_gives_rights_is_not_transparent() {
    // The control: if wrappers were simply dropped, these would be the same.
    let gate = gate("profile: dev");
    for (plain, wrapped) in
        [("ls", "sudo ls"), ("git status", "env LD_PRELOAD=./x git status"), ("ls", "chroot / ls")]
    {
        let plain = judge(&gate, plain);
        let wrapped = judge(&gate, wrapped);
        assert!(wrapped.ruling.decision > plain.ruling.decision, "{:?}", wrapped.analysis.parts);
        assert_ne!(gate.approval_key(&plain), gate.approval_key(&wrapped));
    }
}
