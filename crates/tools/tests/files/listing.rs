//! `list_dir`.

use serde_json::json;
use tools::list_dir;

use crate::support::{Scratch, good, read};

fn tree() -> Scratch {
    let scratch = Scratch::new();
    for name in ["b/two", "b/one", "b/deep/er/x", "a", "c.txt", ".env", "secret/key"] {
        scratch.put(name, "");
    }
    scratch.link("link", "b");
    scratch.link("out", "/etc");
    scratch
}

#[test]
fn names_come_in_order_with_their_kinds_and_links_are_not_followed() {
    let scratch = tree();
    let outcome = good(scratch.run(list_dir::run, json!({"dir_path": ".", "depth": 2})));
    let expected = ".env a b/ b/deep/ b/one b/two c.txt link@ out@ secret/ secret/key";
    assert_eq!(outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    let entries = outcome.data.unwrap()["entries"].clone();
    assert_eq!(entries[2], json!({"rel_path": "b", "type": "dir"}));
    assert_eq!(entries[7], json!({"rel_path": "link", "type": "symlink"}));
}

#[test]
fn depth_offset_and_limit_hold() {
    let scratch = tree();
    let got = |arguments| {
        let outcome = good(scratch.run(list_dir::run, arguments));
        (outcome.stdout.lines().map(str::to_owned).collect::<Vec<_>>().join(" "), outcome.truncated)
    };
    let (one, cut) = got(json!({"dir_path": "b", "depth": 1}));
    assert_eq!((one.as_str(), cut), ("deep/ one two", false));
    let (deep, _) = got(json!({"dir_path": "b", "depth": 9}));
    assert_eq!(deep, "deep/ deep/er/ deep/er/x one two");
    let (part, cut) = got(json!({"dir_path": "b", "depth": 9, "offset": 2, "limit": 2}));
    assert_eq!((part.as_str(), cut), ("deep/er/ deep/er/x [… more from offset 4 on …]", true));
    let (last, cut) = got(json!({"dir_path": "b", "depth": 9, "offset": 5, "limit": 2}));
    assert_eq!((last.as_str(), cut), ("two", false));
    let outcome = scratch.run(list_dir::run, json!({"dir_path": "b", "offset": 99}));
    assert!(outcome.stderr.contains("there is no entry 99"), "{}", outcome.stderr);
}

#[test]
fn what_is_hidden_is_not_there() {
    let scratch = tree();
    let area = scratch.area_with(&[".env", "secret"], &[]);
    let arguments = read(json!({"dir_path": ".", "depth": 3}));
    let outcome = good(list_dir::run(&arguments, &scratch.setting(&area)));
    assert!(!outcome.stdout.contains(".env") && !outcome.stdout.contains("secret"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("c.txt"));
}
