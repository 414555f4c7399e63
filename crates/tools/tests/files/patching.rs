//! `apply_patch`: every form, context that is not quite the file's, all files or none.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use serde_json::json;
use tools::{Outcome, apply_patch};

use crate::support::{Scratch, good};

fn patch(scratch: &Scratch, body: &str) -> Outcome {
    scratch.run(apply_patch::run, json!({"input": format!("*** Begin Patch\n{body}*** End Patch\n")}))
}

#[test]
fn files_are_added_changed_moved_and_deleted_together() {
    let scratch = Scratch::new();
    scratch.put("change", "one\ntwo\nthree\n");
    let old = scratch.put("old/name", "alpha\nbeta\n");
    std::fs::set_permissions(&old, PermissionsExt::from_mode(0o755)).unwrap();
    scratch.put("gone", "x\n");
    let link = scratch.link("link", "change");
    let outcome = good(patch(
        &scratch,
        "*** Add File: new/deep/file\n+first\n+\n+third\n*** Update File: change\n@@\n one\n-two\n+2\n three\n\
         *** Update File: old/name\n*** Move to: other/name\n@@\n alpha\n-beta\n+gamma\n*** Delete File: gone\n\
         *** Delete File: link\n*** Add File: empty\n",
    ));
    assert_eq!(
        outcome.stdout,
        "A new/deep/file\nM change\nR old/name -> other/name\nD gone\nD link\nA empty\n"
    );
    assert_eq!(scratch.text("new/deep/file"), "first\n\nthird\n");
    assert_eq!(scratch.text("change"), "one\n2\nthree\n");
    assert_eq!(scratch.text("other/name"), "alpha\ngamma\n");
    assert_eq!(scratch.text("empty"), "");
    let mode = scratch.work.join("other/name").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "a moved file keeps its mode");
    assert!(!old.exists() && !scratch.work.join("gone").exists());
    assert!(link.symlink_metadata().is_err(), "a link is deleted itself");
    assert!(scratch.leftovers().is_empty());
}

#[test]
fn later_parts_of_a_patch_build_on_earlier_ones() {
    let scratch = Scratch::new();
    scratch.put("a", "1\n");
    good(patch(
        &scratch,
        "*** Update File: a\n@@\n-1\n+2\n*** Update File: a\n*** Move to: b\n@@\n-2\n+3\n*** Add File: a\n+again\n\
         *** Update File: b\n*** Move to: c\n@@\n-3\n+4\n*** Delete File: a\n*** Add File: a\n+at last\n",
    ));
    assert_eq!((scratch.text("a").as_str(), scratch.text("c").as_str()), ("at last\n", "4\n"));
    assert!(!scratch.work.join("b").exists());
    // A move to where it is already is a change.
    good(patch(&scratch, "*** Update File: a\n*** Move to: ./a\n@@\n-at last\n+here\n"));
    assert_eq!(scratch.text("a"), "here\n");
}

#[test]
fn hunks_fit_as_coding_agents_expect() {
    let code =
        "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n";
    let table: &[(&str, &str, &str, &str)] = &[
        ("exact", "a\nb\nc\n", "@@\n a\n-b\n+B\n c\n", "a\nB\nc\n"),
        ("no @@", "a\nb\n", "-b\n+B\n", "a\nB\n"),
        ("spaces at the end", "a  \nb\t\nc\n", "@@\n a\n-b\n+B\n c\n", "a  \nB\nc\n"),
        ("spaces at both ends", "    a\n\tb\nc\n", "@@\n a\n-  b\n+    B\n c\n", "    a\n    B\nc\n"),
        (
            "typography",
            "say “hi” – it’s\u{a0}me\nx\n",
            "@@\n say \"hi\" - it's me\n-x\n+y\n",
            "say “hi” – it’s\u{a0}me\ny\n",
        ),
        ("exact before loose", "b \nb\n", "@@\n-b\n+B\n", "b \nB\n"),
        (
            "header",
            code,
            "@@ class B:\n@@ def f(self):\n-        return 1\n+        return 2\n",
            &code.replace("B:\n    def f(self):\n        return 1", "B:\n    def f(self):\n        return 2"),
        ),
        (
            "part of a header",
            code,
            "@@ class B\n     def f(self):\n-        return 1\n+        return 2\n",
            &code.replace("B:\n    def f(self):\n        return 1", "B:\n    def f(self):\n        return 2"),
        ),
        (
            "header repeated",
            code,
            "@@ class B:\n class B:\n-    def f(self):\n+    def g(self):\n",
            &code.replace("B:\n    def f", "B:\n    def g"),
        ),
        ("numbers of a diff", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc\n"),
        ("two hunks", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D\n", "A\nb\nc\nD\n"),
        ("the second of two", "x\na\nx\nb\n", "@@\n a\n-x\n+y\n b\n", "x\na\ny\nb\n"),
        ("at the end", "x\na\nx\na\n", "@@\n-a\n+b\n*** End of File\n", "x\na\nx\nb\n"),
        ("only added", "a\n", "@@\n+b\n", "a\nb\n"),
        ("only added, stray blank line", "a\n\nc\n", "@@\n+b\n\n", "a\n\nc\nb\n"),
        ("added under a header", "a\nb\nc\n", "@@ a\n+x\n", "a\nx\nb\nc\n"),
        ("a blank line replaced", "a\n\nc\n", "@@\n-\n+b\n", "a\nb\nc\n"),
        ("added behind a blank line", "a\n\nc\n", "@@\n \n+b\n", "a\n\nb\nc\n"),
        ("only removed", "a\nb\nc\n", "@@\n-b\n", "a\nc\n"),
        ("all removed", "a\n", "@@\n-a\n", ""),
        ("stray blank line at the end", "a\nb\n", "@@\n a\n-b\n+c\n\n", "a\nc\n"),
        ("into an empty file", "", "@@\n+a\n", "a\n"),
        ("no final newline", "a\nb", "@@\n-b\n+c\n", "a\nc"),
        ("no final newline, untouched", "a\nb", "@@\n-a\n+c\n", "c\nb"),
        ("added behind no final newline", "a\nb", "@@\n b\n+c\n", "a\nb\nc"),
        ("CRLF", "a\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n+BB\n c\n", "a\r\nB\r\nBB\r\nc\r\n"),
        ("CRLF in both", "a\r\nb\r\n", "@@\n-b\r\n+B\r\n", "a\r\nB\r\n"),
        ("mixed", "a\nb\r\nc\n", "@@\n a\n b\n-c\n+C\n", "a\nb\r\nC\n"),
    ];
    for (name, before, hunks, after) in table {
        let scratch = Scratch::new();
        scratch.put("file", before);
        let outcome = patch(&scratch, &format!("*** Update File: file\n{hunks}"));
        assert!(outcome.ok, "{name}: {}", outcome.stderr);
        assert_eq!(scratch.text("file"), *after, "{name}");
    }
}

#[test]
fn a_hunk_that_does_not_fit_is_shown_beside_the_nearest_lines() {
    let scratch = Scratch::new();
    let text: String = (1..=50).map(|number| format!("line {number}\n")).collect();
    scratch.put("file", &text);
    let outcome =
        patch(&scratch, "*** Update File: file\n@@\n-line 2\n+x\n@@\n line 40\n-line 41b\n+y\n line 42\n");
    let expected = "`file`: hunk 2 of 2 does not fit: these lines are not in the file from line 3 on\n\
                    the hunk:\n     line 40\n    -line 41b\n    +y\n     line 42\n\
                    the nearest lines of the file:\n    38 line 38\n    39 line 39\n    40 line 40\n    41 line 41\n    \
                    42 line 42\n    43 line 43\n    44 line 44\nnothing was changed";
    assert_eq!(outcome.stderr, expected);
    assert_eq!(outcome.error_kind.unwrap().name(), "validation");
    assert_eq!(scratch.text("file"), text);
    for (hunks, reason) in [
        ("@@ fn missing\n-line 2\n", "there is no line `fn missing` for its `@@`"),
        ("@@\n-line 2\n*** End of File\n", "these lines are not at the end of the file"),
        ("@@\n-line 3\n+x\n@@\n-line 2\n+y\n", "not in the file from line 4 on"),
    ] {
        let outcome = patch(&scratch, &format!("*** Update File: file\n{hunks}"));
        assert!(outcome.stderr.contains(reason), "{}", outcome.stderr);
    }
}

#[test]
fn a_patch_of_which_one_part_fails_changes_nothing() {
    let start = "*** Add File: made/new\n+x\n*** Update File: a\n@@\n-a\n+b\n*** Delete File: gone\n";
    for (name, last) in [
        ("no such file", "*** Update File: missing\n@@\n-a\n+b\n"),
        ("no fit", "*** Update File: b\n@@\n-no\n+b\n"),
        ("there already", "*** Add File: b\n+x\n"),
        ("moved onto another", "*** Update File: c\n*** Move to: b\n"),
        ("to a directory", "*** Add File: directory\n+x\n"),
        ("below a file", "*** Add File: b/below\n+x\n"),
        ("out", "*** Add File: ../outside/x\n+x\n"),
        ("delete a directory", "*** Delete File: directory\n"),
        ("deleted twice", "*** Delete File: gone\n"),
        ("no text", "*** Update File: binary\n@@\n-a\n+b\n"),
        ("the name is too long", &format!("*** Add File: made/{}\n+x\n", "n".repeat(300))),
    ] {
        let scratch = Scratch::new();
        for file in ["a", "gone", "b", "c", "directory/x"] {
            scratch.put(file, "a\n");
        }
        scratch.put("binary", b"a\n\xff\xfe");
        let outcome = patch(&scratch, &format!("{start}{last}"));
        assert!(!outcome.ok, "{name}");
        assert_eq!((scratch.text("a").as_str(), scratch.text("gone").as_str()), ("a\n", "a\n"), "{name}");
        assert!(!scratch.work.join("made").exists(), "{name}");
        assert!(scratch.leftovers().is_empty(), "{name}");
        assert_eq!(std::fs::read_dir(&scratch.outside).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn many_small_hunks_and_lines_that_are_all_the_same_take_little_time() {
    let scratch = Scratch::new();
    scratch.put("same", "\n".repeat(400_000));
    let wanted = " \n".repeat(100_000);
    let start = std::time::Instant::now();
    let outcome = patch(&scratch, &format!("*** Update File: same\n@@\n{wanted}-x\n+y\n"));
    assert!(!outcome.ok);
    scratch.put("many", "a \n".repeat(200_000));
    let hunks = "@@\n-a\n+b\n".repeat(50_000);
    let _ = patch(&scratch, &format!("*** Update File: many\n{hunks}"));
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// A file, some of its lines changed, and a patch that says so.
fn changed() -> impl Strategy<Value = (Vec<String>, Vec<String>, String)> {
    let line = prop_oneof![3 => "[a-c ]{0,3}", 1 => "[x-z“–]{1,4}"];
    let edits = proptest::collection::vec((0..4_u8, "[a-d]{0,3}"), 1..30);
    (proptest::collection::vec(line, 1..30), edits).prop_map(|(before, edits)| {
        let mut after = Vec::new();
        let mut hunk = String::new();
        for (at, line) in before.iter().enumerate() {
            match edits.get(at) {
                Some((1, new)) => {
                    hunk.push_str(&format!("-{line}\n+{new}\n"));
                    after.push(new.clone());
                }
                Some((2, _)) => hunk.push_str(&format!("-{line}\n")),
                Some((3, new)) => {
                    hunk.push_str(&format!(" {line}\n+{new}\n"));
                    after.extend([line.clone(), new.clone()]);
                }
                _ => {
                    hunk.push_str(&format!(" {line}\n"));
                    after.push(line.clone());
                }
            }
        }
        (before, after, hunk)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A patch of the whole file gives the new file, with either line end, with and without the last one.
    #[test]
    fn a_whole_patch_makes_the_new_file(
        (before, after, hunk) in changed(), returns in any::<bool>(), last in any::<bool>(),
    ) {
        let end = if returns { "\r\n" } else { "\n" };
        let joined = |lines: &[String], last: bool| {
            let text = lines.join(end);
            if last && !lines.is_empty() { text + end } else { text }
        };
        // Without a final line end an empty last line is none.
        prop_assume!(last || before.last().is_some_and(|line| !line.is_empty()));
        let scratch = Scratch::new();
        scratch.put("file", joined(&before, last));
        let outcome = patch(&scratch, &format!("*** Update File: file\n@@\n{hunk}"));
        prop_assert!(outcome.ok, "{}", outcome.stderr);
        let got = scratch.text("file");
        let lines: Vec<&str> = got.split_inclusive('\n').map(|line| line.trim_end_matches(['\r', '\n'])).collect();
        let expected: Vec<&str> = after.iter().map(String::as_str).collect();
        // An added line that is empty, at the end of a file without a final line end, cannot be told from none.
        let trailing = !last && expected.last() == Some(&"");
        prop_assert!(lines == expected || trailing, "{lines:?} {expected:?}");
        // A file of one line without an end does not say how its lines end.
        if returns && (last || before.len() > 1) {
            prop_assert_eq!(got.matches('\n').count(), got.matches("\r\n").count());
        }
        if last && !got.is_empty() {
            prop_assert!(got.ends_with(end));
        }
    }

    /// Whatever a patch says, it is applied wholly or not at all, and nothing is left behind.
    #[test]
    fn any_patch_is_applied_wholly_or_not_at_all(
        parts in proptest::collection::vec((0..4_u8, 0..3_u8, 0..3_u8, "[ab]{1}", "[ab]{1}"), 1..6),
    ) {
        let scratch = Scratch::new();
        scratch.put("f0", "a\nb\n");
        scratch.put("f1", "b\na\n");
        let state = |scratch: &Scratch| (0..3).map(|name| scratch.text(&format!("f{name}"))).collect::<Vec<_>>();
        let before = state(&scratch);
        let mut body = String::new();
        for (what, from, to, old, new) in parts {
            body.push_str(&match what {
                0 => format!("*** Add File: f{from}\n+{new}\n"),
                1 => format!("*** Delete File: f{from}\n"),
                2 => format!("*** Update File: f{from}\n@@\n-{old}\n+{new}\n"),
                _ => format!("*** Update File: f{from}\n*** Move to: f{to}\n@@\n-{old}\n+{new}\n"),
            });
        }
        let outcome = patch(&scratch, &body);
        if !outcome.ok {
            prop_assert_eq!(state(&scratch), before);
        }
        prop_assert!(scratch.leftovers().is_empty());
    }
}
