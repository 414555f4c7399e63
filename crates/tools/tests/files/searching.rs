//! `grep_files`, held against `rg` where it is installed.

use serde_json::json;
use tools::grep_files;

use crate::support::{Scratch, good, read};

fn tree() -> Scratch {
    let scratch = Scratch::new();
    scratch.put("src/a.rs", "fn needle() {}\nother\nneedle again\n");
    scratch.put("src/b.rs", "nothing\n");
    scratch.put("src/deep/c.py", "x = 'needle'\r\n");
    scratch.put("docs/d.md", "a Needle in a haystack\nneedle\n");
    scratch.put("binary", b"needle\0needle");
    scratch.put(".hidden/e", "needle");
    scratch.put(".env", "needle=1");
    scratch.put("target/out.rs", "needle");
    scratch.put("skipped.log", "needle");
    scratch.put("kept.log", "needle");
    scratch.put("ours.txt", "needle");
    scratch.put("excluded.txt", "needle");
    scratch.put(".gitignore", "target/\n*.log\n!kept.log\n");
    scratch.put(".ignore", "ours.txt\n");
    scratch.put("src/.gitignore", "/b.rs\n/deep/gone.rs\n");
    scratch.put("src/deep/gone.rs", "needle");
    scratch.put(".git/info/exclude", "excluded.txt\n");
    scratch.put("nested/.git/HEAD", "");
    scratch.put("nested/again.log", "needle: another repository, other rules");
    scratch.link("link.rs", "src/a.rs");
    scratch
}

fn found(scratch: &Scratch, arguments: serde_json::Value) -> Vec<String> {
    let outcome = good(scratch.run(grep_files::run, arguments));
    outcome.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn matches_come_in_order_and_ignored_binary_and_dotted_files_are_passed_over() {
    let scratch = tree();
    let expected = [
        "docs/d.md:2:needle",
        "kept.log:1:needle",
        "nested/again.log:1:needle: another repository, other rules",
        "src/a.rs:1:fn needle() {}",
        "src/a.rs:3:needle again",
        "src/deep/c.py:1:x = 'needle'",
    ];
    for _ in 0..20 {
        assert_eq!(found(&scratch, json!({"pattern": "needle"})), expected);
    }
    // The rules of directories above hold below.
    assert_eq!(found(&scratch, json!({"pattern": "needle", "path": "src/deep"})), expected[5..]);
    // A file that is named is searched whatever the rules say.
    assert_eq!(
        found(&scratch, json!({"pattern": "needle", "path": "skipped.log"})),
        ["skipped.log:1:needle"]
    );
    assert_eq!(found(&scratch, json!({"pattern": "(?i)^a needle"})), ["docs/d.md:1:a Needle in a haystack"]);
    assert!(found(&scratch, json!({"pattern": "not there"})).is_empty());
}

#[test]
fn ripgrep_finds_the_same() {
    let scratch = tree();
    let mut command = std::process::Command::new("rg");
    let command = command.args(["--sort", "path", "-n", "--no-heading", "needle", "."]);
    let Ok(output) = command.current_dir(&scratch.work).env_clear().env("PATH", "/usr/bin:/bin").output()
    else {
        assert!(std::env::var_os("CI").is_none(), "`rg` is needed to compare with");
        return;
    };
    let theirs = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n").replace("./", "");
    assert_eq!(found(&scratch, json!({"pattern": "needle"})), theirs.lines().collect::<Vec<_>>());
}

#[test]
fn a_limit_cuts_in_the_order_of_names() {
    let scratch = Scratch::new();
    for number in 0..300 {
        scratch.put(&format!("d{}/f{number:03}", number % 7), "needle\nneedle\n");
    }
    let all = found(&scratch, json!({"pattern": "needle", "limit": 1000}));
    assert_eq!(all.len(), 600);
    for limit in [1, 2, 99, 599, 600] {
        let outcome = good(scratch.run(grep_files::run, json!({"pattern": "needle", "limit": limit})));
        assert_eq!(outcome.stdout.lines().collect::<Vec<_>>(), all[..limit]);
        assert_eq!(outcome.truncated, limit < 600, "{limit}");
    }
}

#[test]
fn only_files_that_the_glob_means_are_searched() {
    let scratch = tree();
    assert_eq!(
        found(&scratch, json!({"pattern": "needle", "include": "*.py"})),
        ["src/deep/c.py:1:x = 'needle'"]
    );
    assert_eq!(found(&scratch, json!({"pattern": "needle", "include": "*.{md,py}"})).len(), 2);
    assert_eq!(
        found(&scratch, json!({"pattern": "again", "include": "src/**"})),
        ["src/a.rs:3:needle again"]
    );
    assert!(found(&scratch, json!({"pattern": "needle", "include": "target/**"})).is_empty());
}

#[test]
fn what_is_hidden_is_never_searched() {
    let scratch = tree();
    let area = scratch.area_with(&[".env", "src", "docs/d.md"], &[]);
    std::fs::hard_link(scratch.work.join("docs/d.md"), scratch.work.join("docs/alias.md")).unwrap();
    for include in ["*", ".env", "*.md"] {
        let arguments = read(json!({"pattern": "needle", "include": include}));
        let outcome = good(grep_files::run(&arguments, &scratch.setting(&area)));
        let text = outcome.stdout + &outcome.data.unwrap().to_string();
        assert!(!text.contains(".env") && !text.contains("src/") && !text.contains(".md"), "{text}");
    }
}

#[test]
fn a_pipe_called_gitignore_blocks_nobody() {
    let scratch = Scratch::new();
    scratch.put(".git/HEAD", "");
    scratch.put("a", "needle");
    for name in [".gitignore", ".ignore", "pipe", ".git/info"] {
        let path = scratch.work.join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    }
    assert_eq!(found(&scratch, json!({"pattern": "needle"})), ["a:1:needle"]);
}

#[test]
fn wrong_patterns_are_said_to_be_wrong() {
    let scratch = tree();
    for (arguments, reason) in [
        (json!({"pattern": "("}), "`pattern`: "),
        (json!({"pattern": "a\\nb"}), "`pattern`: "),
        (json!({"pattern": "x", "include": "a{"}), "`include`: "),
        (json!({"pattern": "x", "path": "missing"}), "there is no"),
    ] {
        let outcome = scratch.run(grep_files::run, arguments);
        assert!(!outcome.ok && outcome.stderr.contains(reason), "{}", outcome.stderr);
    }
}

#[test]
fn a_search_that_nobody_wants_any_more_ends() {
    let scratch = tree();
    let area = scratch.area();
    let stop = std::sync::atomic::AtomicBool::new(true);
    let setting = tools::Setting { stop: Some(&stop), ..scratch.setting(&area) };
    let outcome = grep_files::run(&read(json!({"pattern": "needle"})), &setting);
    assert_eq!(outcome.error_kind.unwrap().name(), "cancelled");
}
