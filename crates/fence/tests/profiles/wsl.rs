//! The command line into a Linux distribution inside Windows, and paths on both sides.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fence::wsl::{Settings, command, to_linux, to_windows};
use fence::{Access, Host, Network, Plan};
use proptest::prelude::*;

use super::plan;

fn settings() -> Settings {
    Settings {
        distro: "Ubuntu-24.04".into(),
        mounts: "/mnt".into(),
        launcher: "/usr/local/bin/bailiwick".into(),
        workspace: Some("C:\\Users\\me\\ws".into()),
    }
}

fn typical() -> Plan {
    let mut plan = plan(&[
        ("C:\\Users\\me\\ws", Access::Write),
        ("C:\\Users\\me\\ws\\.git", Access::Write),
        ("C:\\Users\\me\\ws\\.git\\hooks", Access::Protected),
        ("C:\\Users\\me\\ws\\.env", Access::Hidden),
        ("C:\\Users\\me\\.ssh", Access::Hidden),
        ("D:/data", Access::Read),
        ("\\\\wsl$\\ubuntu-24.04\\srv\\out", Access::Write),
        ("/usr", Access::Read),
        ("/tmp", Access::Scratch),
    ]);
    plan.forbidden = vec!["C:\\Users\\me\\ws\\.vscode".into()];
    plan
}

fn words(plan: &Plan, program: &str, arguments: &[&str]) -> Vec<String> {
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    let words = command(plan, &settings(), Path::new(program), &arguments).unwrap();
    words.into_iter().map(|word| word.into_string().unwrap()).collect()
}

#[test]
fn the_command_line_runs_the_fence_inside() {
    let expected = [
        "wsl.exe",
        "-d",
        "Ubuntu-24.04",
        "--cd",
        "/mnt/c/Users/me/ws",
        "--exec",
        "/usr/bin/env",
        "TERM=xterm",
        "/usr/local/bin/bailiwick",
        "exec",
        "--workspace",
        "/mnt/c/Users/me/ws",
        "--read",
        "/mnt/d/data",
        "--write",
        "/srv/out",
        "--net",
        "off",
        "--memory",
        "2048M",
        "--time",
        "1500ms",
        "--",
        "git",
        "commit",
        "-m",
        "a \"b\" $c",
    ];
    assert_eq!(words(&typical(), "git", &["commit", "-m", "a \"b\" $c"]), expected);
    let hosts = ["example.org", "*.b.org:8443"].map(|host| Host::parse(host).unwrap());
    for (network, expected) in [
        (Network::Open, "open"),
        (Network::Allow(Vec::new()), "off"),
        (Network::Allow(hosts.into()), "example.org,*.b.org:8443"),
    ] {
        let words = words(&Plan { network, ..typical() }, "x", &[]);
        let at = words.iter().position(|word| word == "--net").unwrap();
        assert_eq!(words[at + 1], expected);
    }
    for (program, expected) in [
        ("C:\\tools\\x", "/mnt/c/tools/x"),
        ("./run.sh", "./run.sh"),
        ("/bin/sh", "/bin/sh"),
        ("make", "make"),
    ] {
        assert_eq!(words(&typical(), program, &[]).last().unwrap(), expected);
    }
}

#[test]
fn what_cannot_be_carried_over_is_refused() {
    let refused = |plan: &Plan, settings: &Settings, program: &str, arguments: &[OsString]| {
        command(plan, settings, Path::new(program), arguments).is_err()
    };
    for program in ["", "-x", "a\\b", "C:x", "\\\\server\\share\\x", "\\\\.\\pipe\\x", "C:\\nul", "a\nb"] {
        assert!(refused(&typical(), &settings(), program, &[]), "{program:?}");
    }
    for distro in ["", "-d", "a b", "a;b", "a\"b", "Übuntu", "../x"] {
        assert!(
            refused(&typical(), &Settings { distro: distro.into(), ..settings() }, "x", &[]),
            "{distro:?}"
        );
    }
    for argument in ["a\0b".to_owned(), "x".repeat(20_000)] {
        assert!(refused(&typical(), &settings(), "x", &[argument.into()]));
    }
    assert!(refused(&typical(), &Settings { launcher: "bailiwick".into(), ..settings() }, "x", &[]));
    assert!(refused(&typical(), &Settings { workspace: None, ..settings() }, "x", &[]));
    let places = [
        ("D:/data/secret", Access::Hidden),
        ("C:\\Users\\me\\ws\\mine", Access::Protected),
        ("c:\\Users\\me\\ws", Access::Read),
        ("C:\\Users\\me\\ws\\part", Access::Read),
        ("relative", Access::Read),
    ];
    for (path, access) in places {
        let mut plan = typical();
        plan.places.insert(path.into(), access);
        assert!(refused(&plan, &settings(), "x", &[]), "{path}");
    }
    let mut own = typical();
    own.forbidden.push("C:\\Users\\me\\ws\\mine".into());
    assert!(refused(&own, &settings(), "x", &[]));
    for (name, carried) in [("C:\\Users\\me\\ws\\.git", true), ("C:\\Users\\me\\ws\\a\\.git", false)] {
        let plan = Plan { fresh: vec![name.into()], ..typical() };
        assert_eq!(refused(&plan, &settings(), "x", &[]), !carried, "{name}");
    }
    let mut variable = typical();
    variable.environment.insert("MINE".into(), "1".into());
    assert!(refused(&variable, &settings(), "x", &[]));
    assert!(refused(&Plan { execute_scratch: false, ..typical() }, &settings(), "x", &[]));
    assert!(refused(&Plan { cwd: "/a\"b".into(), ..typical() }, &settings(), "x", &[]));
}

#[test]
fn paths_of_windows_are_found_inside() {
    let rows = [
        ("C:\\Users\\x", "/mnt/c/Users/x"),
        ("c:\\Users\\x\\", "/mnt/c/Users/x"),
        ("c:/Users\\x", "/mnt/c/Users/x"),
        ("C:\\", "/mnt/c"),
        ("Z:\\a b\\ü", "/mnt/z/a b/ü"),
        ("\\\\?\\C:\\Users\\x", "/mnt/c/Users/x"),
        ("C:\\a\\..\\b\\.\\c", "/mnt/c/b/c"),
        ("\\\\wsl$\\Ubuntu-24.04\\home\\x", "/home/x"),
        ("\\\\wsl.localhost\\ubuntu-24.04\\home\\x", "/home/x"),
        ("\\\\WSL.LocalHost\\UBUNTU-24.04/home/x", "/home/x"),
        ("//wsl$/Ubuntu-24.04/home/x", "/home/x"),
        ("\\\\?\\UNC\\wsl.localhost\\Ubuntu-24.04\\home\\x", "/home/x"),
        ("\\\\wsl$\\Ubuntu-24.04", "/"),
        ("\\\\wsl$\\Ubuntu-24.04\\a\\..\\b", "/b"),
        ("/home/x", "/home/x"),
        ("/home//x/./y/", "/home/x/y"),
    ];
    for (path, expected) in rows {
        assert_eq!(to_linux(path, &settings()), Ok(PathBuf::from(expected)), "{path}");
    }
    for path in [
        "",
        "x",
        ".\\x",
        "..\\x",
        "C:x",
        "\\x",
        "\\\\server\\share\\x",
        "\\\\wsl$",
        "\\\\wsl$\\Debian\\x",
        "\\\\wsl$\\Ubuntu-24.04\\..\\Debian",
        "\\\\wsl$evil\\Ubuntu-24.04\\x",
        "\\\\wsl.localhost.evil.org\\Ubuntu-24.04\\x",
        "\\\\?\\UNC\\wsl$\\Ubuntu-24.04\\a\\..\\b",
        "\\\\?\\UNC\\server\\share",
        "\\\\.\\C:\\x",
        "C:\\con",
        "C:\\a\\com1.txt",
        "\\\\wsl$\\Ubuntu-24.04\\nul",
        "C:\\..\\x",
        "C:\\a:b",
        "C:\\a.",
        "/a/../b",
        "/a\nb",
        "//server/share",
    ] {
        assert!(to_linux(path, &settings()).is_err(), "{path:?}");
    }
}

#[test]
fn paths_inside_are_found_from_windows() {
    let rows = [
        ("/mnt/c/Users/x", "C:\\Users\\x"),
        ("/mnt/c", "C:\\"),
        ("/mnt/z/a b/ü", "Z:\\a b\\ü"),
        ("/mnt/c//x/./y", "C:\\x\\y"),
        ("/home/x", "\\\\wsl.localhost\\Ubuntu-24.04\\home\\x"),
        ("/", "\\\\wsl.localhost\\Ubuntu-24.04\\"),
        // No drive: a directory whose name has another case, or more letters.
        ("/mnt/C/x", "\\\\wsl.localhost\\Ubuntu-24.04\\mnt\\C\\x"),
        ("/mnt/wsl/x", "\\\\wsl.localhost\\Ubuntu-24.04\\mnt\\wsl\\x"),
        ("/mnt", "\\\\wsl.localhost\\Ubuntu-24.04\\mnt"),
        ("/mntx/c/x", "\\\\wsl.localhost\\Ubuntu-24.04\\mntx\\c\\x"),
    ];
    for (path, expected) in rows {
        assert_eq!(to_windows(Path::new(path), &settings()).as_deref(), Ok(expected), "{path}");
    }
    for path in [
        "",
        "x",
        "./x",
        "/a/../b",
        "/a\\b",
        "/a:b",
        "/a\"",
        "/a*",
        "/a.",
        "/a ",
        "/nul",
        "/mnt/c/com1",
        "/a\nb",
    ] {
        assert!(to_windows(Path::new(path), &settings()).is_err(), "{path:?}");
    }
    let elsewhere = Settings { mounts: "/".into(), ..settings() };
    assert_eq!(to_windows(Path::new("/c/x"), &elsewhere).as_deref(), Ok("C:\\x"));
    assert_eq!(to_linux("C:\\x", &elsewhere), Ok("/c/x".into()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_path_comes_back_from_the_other_side(
        letter in proptest::char::range('a', 'z'),
        names in proptest::collection::vec("[a-zA-Z0-9 ._~é$-]{1,10}", 0..5),
        inside in any::<bool>(),
    ) {
        let path = if inside { format!("/{letter}x/{}", names.join("/")) } else { format!("/mnt/{letter}/{}", names.join("/")) };
        if let Ok(windows) = to_windows(Path::new(&path), &settings()) {
            let back = to_linux(&windows, &settings()).unwrap();
            prop_assert_eq!(&back, &Path::new(&path).components().collect::<PathBuf>());
            prop_assert_eq!(to_windows(&back, &settings()).unwrap(), windows);
        }
    }

    #[test]
    fn no_text_leads_out_of_a_drive_or_a_share(text in "(C:|c:|\\\\\\\\wsl\\$\\\\Ubuntu-24.04|\\\\\\\\\\?\\\\C:)?([\\\\/](\\.|\\.\\.|a|B|con|a\\.|x:y| ){0,2}){0,6}") {
        if let Ok(path) = to_linux(&text, &settings()) {
            prop_assert!(path.is_absolute());
            prop_assert!(!path.components().any(|part| part == std::path::Component::ParentDir));
            if text.to_ascii_lowercase().contains("c:") {
                prop_assert!(path.starts_with("/mnt/c"), "{} is {:?}", text, path);
            }
        }
    }
}
