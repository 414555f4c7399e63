//! What must hold for all commands: wrappers change nothing, joining shelters nothing, nothing panics.

use std::path::Path;

use call::{Intent, Shell};
use effects::{Analysis, Effect, NoFiles, Surroundings, analyse};
use proptest::prelude::*;

fn shell(text: &str) -> Analysis {
    run(Intent::Shell { text: text.to_owned(), shell: Shell::Bash, cwd: None, env_names: Vec::new() })
}

fn run(intent: Intent) -> Analysis {
    let around = Surroundings {
        cwd: Path::new("/work/project"),
        home: Some(Path::new("/home/me")),
        user: Some("me"),
        workspace: Some(Path::new("/work/project")),
        files: &NoFiles,
    };
    analyse(&[intent], &around)
}

fn effects(analysis: &Analysis) -> Vec<String> {
    let mut all: Vec<String> = analysis.parts.iter().flat_map(|part| &part.effects).map(show).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn show(effect: &Effect) -> String {
    format!("{:?} {effect}", effect.class())
}

static COMMANDS: &[&str] = &[
    "ls -la src",
    "cat .env",
    "rm -rf /",
    "rm -rf node_modules",
    "git push --force",
    "git status",
    "curl https://example.com",
    "cp a b",
    "echo hello",
    "sed -i s/a/b/ x.txt",
    "find . -name x -delete",
    "chmod 777 x",
    "make test",
    "./run.sh",
    "kill 1234",
    "tar czf a.tgz src",
    "grep -rn x .",
    "mkfs.ext4 /dev/sda1",
    "unknowntool x",
    "cat ../../x",
    "tee /etc/motd",
    "python3 x.py",
];

/// Wrappers that run a command in the same shell, with the same rights, in the same place.
static WRAPPERS: &[(&str, &str)] = &[
    ("command ", ""),
    ("env ", ""),
    ("env A=1 ", ""),
    ("env -i ", ""),
    ("nohup ", ""),
    ("setsid ", ""),
    ("nice ", ""),
    ("nice -n 5 ", ""),
    ("ionice -c 3 ", ""),
    ("timeout 5 ", ""),
    ("timeout -s KILL 5 ", ""),
    ("stdbuf -oL ", ""),
    ("time ", ""),
    ("busybox ", ""),
    ("exec ", ""),
    ("sh -c '", "'"),
    ("bash -c '", "'"),
    ("bash -lc '", "'"),
    ("bash -xec '", "'"),
    ("eval '", "'"),
    ("eval ", ""),
    ("sh -c \"", "\""),
    ("{ ", "; }"),
    ("( ", " )"),
    ("bash <<< '", "'"),
    ("taskset 1 ", ""),
    ("chrt -b 0 ", ""),
];

static JOINS: &[&str] = &[" && ", " || ", "; ", " | ", " & ", "\n"];

#[test]
fn a_wrapper_changes_neither_effects_nor_the_normal_form() {
    for command in COMMANDS {
        let plain = shell(command);
        for (before, after) in WRAPPERS {
            let text = format!("{before}{command}{after}");
            let wrapped = shell(&text);
            assert_eq!(effects(&wrapped), effects(&plain), "{text}");
            let normal = |analysis: &Analysis| analysis.parts.first().map(|part| part.normal.clone());
            assert_eq!(normal(&wrapped), normal(&plain), "{text}");
        }
    }
}

#[test]
fn privilege_is_added_to_what_the_command_does() {
    for command in COMMANDS {
        let plain = effects(&shell(command));
        let found = effects(&shell(&format!("sudo {command}")));
        assert!(plain.iter().all(|effect| found.contains(effect)), "{command}: {plain:?} {found:?}");
        assert!(found.iter().any(|effect| effect.contains("Privilege")), "{command}");
    }
}

#[test]
fn joining_shelters_nothing() {
    for one in COMMANDS {
        for two in COMMANDS {
            for join in JOINS {
                let text = format!("{one}{join}{two}");
                let found = effects(&shell(&text));
                for part in [one, two] {
                    for effect in effects(&shell(part)) {
                        // What a connection carries may only grow, when something secret flows into it.
                        let carried = effect.contains("connect")
                            && found.iter().any(|found| found.contains("Exfiltrate"));
                        assert!(
                            found.contains(&effect) || carried,
                            "{text}: {effect} is missing in {found:?}"
                        );
                    }
                }
            }
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "rm",
            "git",
            "-rf",
            "--",
            "-c",
            "sh",
            "env",
            "sudo",
            "find",
            "-exec",
            "{}",
            ";",
            "+",
            "xargs",
            "tar",
            "xzf",
            "sed",
            "s/a/b/e",
            "awk",
            "{print > \"x\"}",
            "curl",
            "-d",
            "@x",
            "https://a.b/c",
            "docker",
            "run",
            "-v",
            "/:/x",
            "kubectl",
            "aws",
            "dd",
            "of=/dev/sda",
            "kill",
            "-1",
            "chmod",
            "777",
            "-I",
            "parallel",
            ":::",
            "ssh",
            "a@b",
            "-o",
            "ProxyCommand=x",
            "--output=",
            "-",
            "",
            "~",
            "/",
            "..",
            "A=1",
            "python3",
            "-m",
            "trap",
            "eval",
            "[",
            "]",
            "git",
            "config",
            "-C",
            "+x",
            "busybox",
            "timeout",
            "5",
            "=",
            "é",
            "\u{0}",
            "-é",
            "--é=ü",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,12}",
    ]
}

proptest! {
    #[test]
    fn no_words_panic(argv in prop::collection::vec(word(), 1..12)) {
        let analysis = run(Intent::Argv { argv, cwd: None, env_names: vec!["PATH".into()] });
        prop_assert!(!analysis.parts.is_empty());
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        shell(&text);
    }

    #[test]
    fn no_text_of_words_panics(words in prop::collection::vec(
        prop_oneof![word(), prop::sample::select(vec!["|", "&&", ";", "$(", ")", "<(", ">", "\n", "'", "\"", "$x", "*", "`"]).prop_map(str::to_owned)],
        0..24,
    )) {
        shell(&words.join(" "));
    }

    #[test]
    fn no_path_panics(path in "\\PC{0,60}") {
        for intent in [
            Intent::Read { path: path.clone() },
            Intent::Write { path: path.clone() },
            Intent::Delete { path: path.clone() },
        ] {
            run(intent);
        }
    }
}
