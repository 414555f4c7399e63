//! What somebody says yes to works, and nothing else does. The question is put at a terminal; what is named in it is open in the
//! fence of that one run.

#![expect(clippy::disallowed_methods, reason = "a test has files")]

use crate::home::Home;

const YES: &[(&str, &str)] = &[("> ", "y\\n")];

/// A command, a path below the home and what stands there after a yes (nothing: it is gone).
const OPENED: &[(&str, &str, Option<&str>)] = &[
    ("cp .git/HEAD ../other/copy", "other/copy", Some("ref: refs/heads/main\n")),
    ("echo x > ../other/kept", "other/kept", Some("x\n")),
    ("rm ../other/old", "other/old", None),
    ("echo x > .git/hooks/post-commit", "work/.git/hooks/post-commit", Some("x\n")),
    ("echo x > .envrc", "work/.envrc", Some("x\n")),
    ("git config a.b c", "work/.git/config", Some("[a]\n\tb = c\n")),
];

fn home() -> Home {
    let home = Home::new();
    let file = |path: &str, text: &str| {
        let path = home.0.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    };
    for (path, text) in [
        ("other/kept", "as it was\n"),
        ("other/old", "as it was\n"),
        ("third/file", "as it was\n"),
        ("work/.git/HEAD", "ref: refs/heads/main\n"),
        ("work/.git/config", ""),
        ("work/.git/objects/keep", ""),
        ("work/.git/refs/keep", ""),
        ("work/.git/hooks/pre-commit", "as it was\n"),
    ] {
        file(path, text);
    }
    home
}

#[test]
fn a_yes_opens_what_was_asked_about() {
    for (command, path, text) in OPENED {
        let home = home();
        let ran = home.at_terminal(YES, &["exec", "--", "sh", "-c", command]);
        assert!(ran.out.contains("bailiwick asks"), "{command}: {}", ran.out);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.out);
        let now = std::fs::read_to_string(home.0.join(path)).ok();
        assert_eq!(now.as_deref(), *text, "{command}: {}", ran.out);
    }
}

#[test]
fn a_yes_opens_nothing_beside_it() {
    let home = home();
    std::fs::write(
        home.0.join("work/more.sh"),
        "echo x > ../third/file; echo x > .git/hooks/pre-commit; echo x > .git/config\n",
    )
    .expect("a script");
    let script = "echo x > ../other/kept; echo x > .git/hooks/post-commit; sh more.sh";
    let ran = home.at_terminal(YES, &["exec", "--", "sh", "-c", script]);
    let text = |path: &str| std::fs::read_to_string(home.0.join(path)).unwrap_or_default();
    // The control: what was asked about was done.
    assert_eq!(text("other/kept"), "x\n", "{}", ran.out);
    assert_eq!(text("third/file"), "as it was\n", "{}", ran.out);
    assert_eq!(text("work/.git/config"), "", "{}", ran.out);
}

#[test]
fn what_a_profile_denies_is_asked_by_nobody_and_opened_by_nothing() {
    let home = home();
    let ran =
        home.at_terminal(&[], &["exec", "--profile", "prod", "--", "sh", "-c", "echo x > ../other/kept"]);
    assert_eq!(ran.code, Some(126), "{}", ran.out);
    assert_eq!(std::fs::read_to_string(home.0.join("other/kept")).expect("a file"), "as it was\n");
}

#[test]
fn what_would_be_written_and_lost_is_refused() {
    let home = home();
    let ran = home.at_terminal(YES, &["exec", "--", "sh", "-c", "echo x > ~/new"]);
    assert_eq!(ran.code, Some(126), "{ran:?}");
    assert!(ran.out.contains("cannot be written without opening all of"), "{}", ran.out);
    // The control: beside it, in a directory of its own, it is written.
    let ran = home.at_terminal(YES, &["exec", "--", "sh", "-c", "echo x > ~/other/new"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(home.0.join("other/new").exists(), "{ran:?}");
}
