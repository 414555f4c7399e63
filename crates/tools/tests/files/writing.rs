//! `file_write`.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::json;
use tools::file_write;

use crate::support::{Scratch, good};

#[test]
fn a_file_is_created_with_its_directories_or_replaced() {
    let scratch = Scratch::new();
    let outcome = good(scratch.run(file_write::run, json!({"path": "a/b/c.txt", "content": "one"})));
    assert_eq!(outcome.data.unwrap()["created"], true);
    assert_eq!(scratch.text("a/b/c.txt"), "one");
    let outcome = good(scratch.run(file_write::run, json!({"path": "a/b/c.txt", "content": "two"})));
    assert_eq!(outcome.data.unwrap()["created"], false);
    assert_eq!(scratch.text("a/b/c.txt"), "two");
    let arguments = json!({"path": "x/y.txt", "content": "", "create_dirs": false});
    let outcome = scratch.run(file_write::run, arguments);
    assert_eq!(outcome.error_kind.unwrap().name(), "not_found");
    assert!(!scratch.work.join("x").exists());
    assert!(scratch.leftovers().is_empty());
}

#[test]
fn mode_and_owner_stay_but_for_set_id_bits() {
    let scratch = Scratch::new();
    let path = scratch.put("script", "old");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o4751)).unwrap();
    // Only root can give files away; whoever is not root has nothing but its own here.
    let _ = std::os::unix::fs::chown(&path, Some(1234), Some(4321));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o4751)).unwrap();
    let before = path.metadata().unwrap();
    good(scratch.run(file_write::run, json!({"path": "script", "content": "new"})));
    let after = path.metadata().unwrap();
    assert_eq!(after.mode() & 0o7777, 0o751);
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino(), "it is another file with the same name");
}

#[test]
fn other_names_of_a_file_keep_their_content() {
    let scratch = Scratch::new();
    let path = scratch.put("one", "shared");
    std::fs::hard_link(&path, scratch.outside.join("two")).unwrap();
    good(scratch.run(file_write::run, json!({"path": "one", "content": "changed"})));
    assert_eq!(scratch.text("one"), "changed");
    assert_eq!(std::fs::read_to_string(scratch.outside.join("two")).unwrap(), "shared");
}

#[test]
fn a_link_inside_is_written_through_and_stays_a_link() {
    let scratch = Scratch::new();
    scratch.put("real/file", "old");
    let link = scratch.link("link", "real/file");
    let dangling = scratch.link("deep/dangling", "../real/new");
    scratch.link("directory", scratch.work.join("real"));
    good(scratch.run(file_write::run, json!({"path": "link", "content": "new"})));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(scratch.text("real/file"), "new");
    good(scratch.run(file_write::run, json!({"path": "deep/dangling", "content": "made"})));
    assert!(dangling.symlink_metadata().unwrap().is_symlink());
    assert_eq!(scratch.text("real/new"), "made");
    good(scratch.run(file_write::run, json!({"path": "directory/third", "content": "through"})));
    assert_eq!(scratch.text("real/third"), "through");
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let scratch = Scratch::new();
    scratch.put("file", "x");
    scratch.link("out", &scratch.outside);
    for path in ["file/below", "out/new", "out/deep/new", "made/for/nothing/../../../out/x"] {
        let outcome = scratch.run(file_write::run, json!({"path": path, "content": "y"}));
        assert!(!outcome.ok, "{path}");
    }
    // The directories are made before it turns out that the name is one of a directory.
    std::fs::create_dir_all(scratch.work.join("taken")).unwrap();
    assert!(!scratch.run(file_write::run, json!({"path": "taken", "content": "y"})).ok);
    assert!(std::fs::read_dir(&scratch.outside).unwrap().next().is_none());
    assert!(scratch.leftovers().is_empty());
    let names = std::fs::read_dir(&scratch.work).unwrap().count();
    assert_eq!(names, 3);
}
