//! `denied_paths` for what a command reads by itself: places and patterns are not there behind the fence.

use crate::home::Home;

const DENIED: [&str; 6] =
    ["top.secret", "sub/deep/x.secret", "[id]/y.secret", "vault/a/b", "conf/x.pem", "conf/y.key"];
const FREE: [&str; 4] = ["conf/z.txt", "[id]/page.txt", "vaults", "sub/x.secrets"];

#[expect(clippy::disallowed_methods, reason = "a test has files")]
fn home(yaml: &str) -> Home {
    let home = Home::new();
    home.configure(yaml);
    for name in DENIED.iter().chain(&FREE) {
        let path = home.0.join("work").join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, format!("canary in {name}\n")).expect("a file");
    }
    let reader = "import pathlib\nfor path in pathlib.Path('.').rglob('*'):\n    try: print(path.read_text())\n    except (OSError, UnicodeDecodeError): pass\n";
    std::fs::write(home.0.join("work/reader.py"), reader).expect("a program");
    home
}

#[test]
fn what_patterns_mean_is_not_there_for_commands() {
    let patterns =
        "profile: dev\nsafety: {denied_paths: ['**/*.secret', '**/vault/**', 'conf/*.{pem,key}']}\n";
    for words in [&["grep", "-rh", "canary", "."][..], &["python3", "reader.py"]] {
        let all: Vec<&str> = ["exec", "--"].iter().chain(words).copied().collect();
        for (yaml, hidden) in [("profile: dev\n", false), (patterns, true)] {
            let ran = home(yaml).run(&all);
            for name in FREE {
                assert!(ran.out.contains(&format!("canary in {name}\n")), "{words:?} {name}: {ran:?}");
            }
            for name in DENIED {
                let seen = ran.out.contains(&format!("canary in {name}\n"));
                assert_eq!(seen, !hidden, "{words:?} {name}: {ran:?}");
            }
        }
    }
}

/// Named in a command, they are refused before anything runs.
#[test]
fn what_patterns_mean_is_refused_by_name() {
    let home = home("profile: dev\nsafety: {denied_paths: ['**/*.secret', '**/vault/**']}\n");
    for name in ["top.secret", "sub/deep/../deep/x.secret", "vault/a/b", "vault"] {
        let ran = home.run(&["exec", "--", "cat", name]);
        assert_eq!(ran.code, Some(126), "{name}: {ran:?}");
    }
}
