//! What the file tools refuse, with the kind and the words of each refusal; and that none of it blocks.

use std::os::unix::net::UnixListener;

use fence::rooted::{Area, Listed, Right};
use rustix::fs::{CWD, FileType};
use serde_json::{Value, json};
use tools::{
    Outcome, Setting, apply_patch, file_read, file_write, grep_files, list_dir, read_file, view_image,
};

use crate::support::{Scratch, read};

fn run(tool: &str, path: &str, setting: &Setting<'_>) -> Outcome {
    let patch = |body: String| -> Value { json!({"input": format!("*** Begin Patch\n{body}*** End Patch")}) };
    match tool {
        "file_read" => file_read::run(&read(json!({"path": path})), setting),
        "read_file" => read_file::run(&read(json!({"file_path": path})), setting),
        "view_image" => view_image::run(&read(json!({"path": path})), setting),
        "file_write" => file_write::run(&read(json!({"path": path, "content": "new"})), setting),
        "list_dir" => list_dir::run(&read(json!({"dir_path": path})), setting),
        "grep_files" => grep_files::run(&read(json!({"pattern": "secret", "path": path})), setting),
        "add" => apply_patch::run(&read(patch(format!("*** Add File: {path}\n+new\n"))), setting),
        "update" => {
            apply_patch::run(&read(patch(format!("*** Update File: {path}\n@@\n-secret\n+new\n"))), setting)
        }
        "delete" => apply_patch::run(&read(patch(format!("*** Delete File: {path}\n"))), setting),
        "move" => {
            let body = format!("*** Update File: {path}\n*** Move to: moved\n@@\n-secret\n+new\n");
            apply_patch::run(&read(patch(body)), setting)
        }
        "move_to" => {
            let body = format!("*** Update File: plain\n*** Move to: {path}\n@@\n-secret\n+new\n");
            apply_patch::run(&read(patch(body)), setting)
        }
        other => panic!("{other}"),
    }
}

const READERS: &[&str] = &["file_read", "read_file", "view_image", "grep_files"];
const WRITERS: &[&str] = &["file_write", "add", "move_to"];
const CHANGERS: &[&str] = &["update", "delete", "move"];

#[test]
fn every_refusal_has_its_kind_and_says_why() {
    let scratch = Scratch::new();
    let outside = scratch.outside.display().to_string();
    std::fs::write(scratch.outside.join("file"), "secret\n").unwrap();
    scratch.put("plain", "secret\n");
    scratch.put("present", "secret\n");
    scratch.put(".env", "secret\n");
    scratch.put("keys/id", "secret\n");
    scratch.put(".git/hooks/pre-commit", "secret\n");
    std::fs::hard_link(scratch.work.join(".env"), scratch.work.join("alias")).unwrap();
    scratch.link("to_file", scratch.outside.join("file"));
    scratch.link("to_directory", &scratch.outside);
    scratch.link("dangling_out", scratch.outside.join("new"));
    scratch.link("up", "../outside/file");
    scratch.link("to_env", ".env");
    scratch.link("to_keys", "keys");
    scratch.link("to_hooks", ".git/hooks");
    scratch.link("round", "round");
    scratch.link("magic", "/proc/self/root/etc/hostname");
    rustix::fs::mknodat(CWD, scratch.work.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    let _listener = UnixListener::bind(scratch.work.join("socket")).unwrap();
    let guard = Listed {
        hidden: vec![scratch.work.join(".env"), scratch.work.join("keys")],
        protected: vec![scratch.work.join(".git/hooks")],
    };
    let roots = [
        (scratch.work.clone(), Right::Write),
        ("/proc".into(), Right::Read),
        ("/dev/null".into(), Right::Write),
        ("/etc".into(), Right::Read),
    ];
    let area = Area::new(roots, Box::new(guard)).unwrap();
    let setting = scratch.setting(&area);
    let out_file = format!("{outside}/file");

    let led = "is a link to";
    let table: &[(&[&str], &[&str], &str, &str)] = &[
        (
            &[READERS, WRITERS, CHANGERS, &["list_dir"]].concat(),
            &[&out_file, "../outside/file"],
            "permission",
            "is outside",
        ),
        (&[READERS, WRITERS, CHANGERS].concat(), &["to_directory/file"], "permission", led),
        (&[READERS, WRITERS, &["update"]].concat(), &["to_file", "up"], "permission", led),
        (&["list_dir", "grep_files"], &["to_directory"], "permission", led),
        (WRITERS, &["dangling_out", "to_directory/new"], "permission", led),
        (
            &[READERS, WRITERS, CHANGERS].concat(),
            &[".env", ".ENV", "keys/id", "keys/new", "to_keys/id", "to_keys/new"],
            "permission",
            "is hidden: it may hold credentials",
        ),
        (&[READERS, &["file_write", "update"]].concat(), &["to_env"], "permission", "is hidden"),
        (&["list_dir"], &["keys", "to_keys"], "permission", "is hidden"),
        (READERS, &["alias"], "permission", "is another name of"),
        (
            &[WRITERS, CHANGERS].concat(),
            &[".git/hooks/pre-commit", ".git/hooks/new", "to_hooks/pre-commit", ".git/HOOKS/new"],
            "permission",
            "is protected: changing it needs an approval",
        ),
        (
            &["file_write"],
            &["/etc/bailiwick-test", "/proc/version"],
            "permission",
            "may be read but not changed",
        ),
        (
            &[READERS, &["update", "delete", "file_write"]].concat(),
            &["pipe"],
            "validation",
            "is a named pipe, not a file",
        ),
        (&["file_read", "delete", "file_write"], &["socket"], "validation", "is a socket, not a file"),
        (
            &["file_read", "view_image", "read_file", "file_write"],
            &["/dev/null"],
            "validation",
            "is a device, not a file",
        ),
        (
            &["file_read", "read_file", "view_image", "file_write", "delete"],
            &[".git"],
            "validation",
            "is a directory, not a file",
        ),
        (&["file_write"], &[".", &scratch.work.display().to_string()], "validation", "is a directory"),
        (&["list_dir"], &["plain"], "validation", "is a file, not a directory"),
        (&["file_write", "add"], &["plain/below"], "validation", "is a file, not a directory"),
        (
            &[READERS, &["list_dir", "update", "delete"]].concat(),
            &["missing", "no/such/file"],
            "not_found",
            "there is no",
        ),
        (&["add", "move_to"], &["present", ".git/x/../../present"], "validation", "already"),
        (&["file_read", "file_write", "update"], &["round"], "validation", "too many links"),
        (
            &["file_read", "list_dir"],
            &["magic", "/proc/self/root", "/proc/self/exe", "/proc/self/fd/0"],
            "permission",
            "link of the kernel's",
        ),
        (&["file_read"], &["C:\\x", "\\\\server\\share\\x"], "validation", "is a path of Windows"),
        (&["file_read"], &["a\\b"], "validation", "write `/`"),
        (&["file_read"], &["~/x"], "validation", "home directory, which is not known"),
        (&["file_write"], &["directory/"], "validation", "is the name of a directory"),
    ];
    let mut wrong = Vec::new();
    for (tools, paths, kind, reason) in table {
        for (tool, path) in tools.iter().flat_map(|tool| paths.iter().map(move |path| (tool, path))) {
            let outcome = run(tool, path, &setting);
            let got = outcome.error_kind.map_or("ok", |kind| kind.name());
            if got != *kind || !outcome.stderr.contains(reason) || outcome.stdout.contains("secret") {
                wrong.push(format!("{tool} {path}: {got}: {}", outcome.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(std::fs::read_to_string(scratch.outside.join("file")).unwrap(), "secret\n");
    assert_eq!(std::fs::read_dir(&scratch.outside).unwrap().count(), 1);
    assert_eq!(scratch.text("plain"), "secret\n");
    assert_eq!(scratch.text(".env"), "secret\n");
    assert!(scratch.leftovers().is_empty());
}

#[test]
fn a_link_into_another_root_is_followed() {
    let scratch = Scratch::new();
    std::fs::write(scratch.outside.join("file"), "in the second root").unwrap();
    scratch.link("over", &scratch.outside);
    scratch.link("odd", "over/../outside/./file");
    let roots = [(scratch.work.clone(), Right::Write), (scratch.outside.clone(), Right::Read)];
    let area = Area::new(roots, Box::new(Listed::default())).unwrap();
    let setting = scratch.setting(&area);
    for path in ["over/file", "odd"] {
        assert_eq!(run("file_read", path, &setting).stdout, "in the second root", "{path}");
        let outcome = run("file_write", path, &setting);
        assert!(outcome.stderr.contains("may be read but not changed"), "{}", outcome.stderr);
    }
}

#[test]
fn a_root_must_be_its_own_path() {
    let scratch = Scratch::new();
    scratch.link("link", &scratch.outside);
    let made = |path| Area::new([(path, Right::Read)], Box::new(Listed::default()));
    assert!(made(scratch.work.join("link")).unwrap_err().to_string().contains("is a link to"));
    assert!(made(scratch.work.join("missing")).unwrap_err().to_string().contains("there is no"));
    assert!(made("relative".into()).is_err());
}

#[test]
fn a_root_that_is_a_file_opens_that_file_alone() {
    let scratch = Scratch::new();
    let path = scratch.put("one", "secret");
    scratch.put("two", "secret");
    let area = Area::new([(path, Right::Write)], Box::new(Listed::default())).unwrap();
    let setting = scratch.setting(&area);
    assert!(run("file_read", "one", &setting).ok);
    assert!(run("file_write", "one", &setting).ok);
    for path in ["two", ".", "new"] {
        assert!(!run("file_read", path, &setting).ok && !run("file_write", path, &setting).ok, "{path}");
    }
    assert_eq!(scratch.text("one"), "new");
}
