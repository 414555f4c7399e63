//! `file_read`, `read_file` and `view_image`.

use std::io::{Seek, Write};

use proptest::prelude::*;
use serde_json::json;
use tools::{file_read, read_file, view_image};

use crate::support::{Scratch, good, read};

#[test]
fn a_file_is_read_as_a_whole() {
    let scratch = Scratch::new();
    let path = scratch.put("a/b.txt", "grün\n漢字");
    for named in ["a/b.txt", "./a/../a/b.txt", path.to_str().unwrap()] {
        let outcome = good(scratch.run(file_read::run, json!({"path": named})));
        assert_eq!(outcome.stdout, "grün\n漢字");
        assert!(!outcome.truncated);
        assert_eq!(outcome.data.unwrap()["left_out"], 0);
    }
    scratch.put("empty", "");
    assert_eq!(good(scratch.run(file_read::run, json!({"path": "empty"}))).stdout, "");
}

#[test]
fn of_a_long_file_head_and_tail_are_kept_and_the_rest_is_counted() {
    let scratch = Scratch::new();
    scratch.put("long", format!("{}{}{}", "a".repeat(100), "x".repeat(1000), "z".repeat(100)));
    let outcome = good(scratch.run(file_read::run, json!({"path": "long", "max_bytes": 200})));
    let expected = format!("{}\n[… 1000 bytes are left out …]\n{}", "a".repeat(100), "z".repeat(100));
    assert_eq!(outcome.stdout, expected);
    assert!(outcome.truncated);
    assert_eq!(outcome.data.unwrap()["left_out"], 1000);
}

#[test]
fn binary_is_said_and_not_dumped() {
    let scratch = Scratch::new();
    scratch.put("program", b"\x7fELF\0\0\x01");
    scratch.put("latin", b"caf\xe9 au lait\n");
    for tool in [
        |scratch: &Scratch, name: &str| scratch.run(file_read::run, json!({"path": name})),
        |scratch: &Scratch, name: &str| scratch.run(read_file::run, json!({"file_path": name})),
    ] {
        let outcome = good(tool(&scratch, "program"));
        assert_eq!(outcome.stdout, "[binary, 7 bytes, not shown]\n");
        assert_eq!(outcome.data.unwrap()["binary"], true);
        assert!(good(tool(&scratch, "latin")).stdout.contains("caf\u{fffd} au lait"));
    }
    // Without a NUL, so much that is no text is nothing to read either.
    scratch.put("noise", b"\xff\xfe\xff\xfe\xff");
    assert!(good(scratch.run(file_read::run, json!({"path": "noise"}))).stdout.starts_with("[binary"));
}

#[test]
fn a_file_in_many_pieces_is_whole() {
    let scratch = Scratch::new();
    // Characters of three bytes fall on the border of every piece.
    for (front, back) in [("", ""), ("x", ""), ("xy", "ü"), ("xyz", "漢")] {
        let count = if front.len() == 1 { 1_600_000 } else { 400_000 };
        let text = format!("{front}{}{back}", "漢".repeat(count));
        scratch.put("pieces", &text);
        let outcome = good(scratch.run(file_read::run, json!({"path": "pieces", "max_bytes": 9_000_000})));
        assert!(outcome.stdout == text, "{front}");
        assert_eq!(outcome.data.unwrap()["lossy"], false);
    }
    // In a large file too, a NUL far behind makes it binary, and more than is kept is left out.
    let mut large = vec![b'x'; 6_000_000];
    scratch.put("large", &large);
    assert!(
        good(scratch.run(file_read::run, json!({"path": "large", "max_bytes": 6_000_000}))).stdout.len()
            == 6_000_000
    );
    large[5_900_000] = 0;
    scratch.put("large", &large);
    let outcome = good(scratch.run(file_read::run, json!({"path": "large", "max_bytes": 6_000_000})));
    assert!(outcome.stdout.starts_with("[binary"));
    scratch.put("cut", [&b"x".repeat(300_000)[..], &[0xe6, 0xbc]].concat());
    let outcome = good(scratch.run(file_read::run, json!({"path": "cut", "max_bytes": 9_000_000})));
    assert!(outcome.stdout.ends_with("x\u{fffd}"));
    // What the kernel makes up as it is read has no size.
    let area = fence::rooted::Area::new(
        [("/proc/version".into(), fence::rooted::Right::Read)],
        Box::new(fence::rooted::Listed::default()),
    );
    let area = area.unwrap();
    let got = |most: u64| {
        let arguments = read(json!({"path": "/proc/version", "max_bytes": most}));
        good(file_read::run(&arguments, &scratch.setting(&area)))
    };
    assert!(got(5).stdout == "Linux" && got(5).truncated && !got(1000).truncated);
}

#[test]
fn huge_and_sparse_files_take_little_time_and_memory() {
    let scratch = Scratch::new();
    let path = scratch.put("sparse", "first line\nsecond\n");
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    file.seek(std::io::SeekFrom::End(0)).unwrap();
    file.write_all(b"last").unwrap();
    drop(file);
    let start = std::time::Instant::now();
    let outcome = good(scratch.run(file_read::run, json!({"path": "sparse"})));
    assert!(outcome.stdout.starts_with("[binary, 1099511627780 bytes"), "{}", outcome.stdout);
    let outcome = good(scratch.run(read_file::run, json!({"file_path": "sparse"})));
    assert!(outcome.stdout.starts_with("[binary"));
    assert!(!scratch.run(view_image::run, json!({"path": "sparse"})).ok);
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn lines_are_numbered_and_a_range_of_them_can_be_asked_for() {
    let scratch = Scratch::new();
    let text: String = (1..=10).map(|number| format!("line {number}\n")).collect();
    scratch.put("lines", &text);
    let got = |arguments| good(scratch.run(read_file::run, arguments));
    let outcome = got(json!({"file_path": "lines", "offset": 3, "limit": 2}));
    assert_eq!(outcome.stdout, "L3: line 3\nL4: line 4\n");
    assert!(outcome.truncated, "more lines follow");
    let outcome = got(json!({"file_path": "lines", "offset": 9, "limit": 2}));
    assert_eq!(outcome.stdout, "L9: line 9\nL10: line 10\n");
    assert!(!outcome.truncated);
    scratch.put("crlf", "a\r\n\r\nb");
    assert_eq!(got(json!({"file_path": "crlf"})).stdout, "L1: a\nL2: \nL3: b\n");
    scratch.put("empty", "");
    assert_eq!(got(json!({"file_path": "empty"})).stdout, "");
    let outcome = scratch.run(read_file::run, json!({"file_path": "lines", "offset": 11}));
    assert!(outcome.stderr.contains("has 10 lines; there is no line 11"), "{}", outcome.stderr);
}

#[test]
fn a_long_line_is_cut_with_a_mark() {
    let scratch = Scratch::new();
    scratch.put("long", format!("{}ü{}\nnext\n", "x".repeat(1999), "y".repeat(600_000)));
    let outcome = good(scratch.run(read_file::run, json!({"file_path": "long"})));
    let expected = format!("L1: {} [… 600002 more bytes]\nL2: next\n", "x".repeat(1999));
    assert_eq!(outcome.stdout, expected);
}

#[test]
fn the_block_around_a_line_is_given() {
    let scratch = Scratch::new();
    scratch.put("code.py", "import os\n\nclass A:\n    # says\n    def f(self):\n        if x:\n            y()\n\n    def g(self):\n        pass\n");
    let got = |indentation| {
        let arguments = json!({"file_path": "code.py", "mode": "indentation", "indentation": indentation});
        let outcome = scratch.run(read_file::run, arguments);
        if outcome.ok { outcome.stdout } else { outcome.stderr }
    };
    assert_eq!(got(json!({"anchor_line": 7, "max_levels": 1})), "L6:         if x:\nL7:             y()\n");
    let method = "L4:     # says\nL5:     def f(self):\nL6:         if x:\nL7:             y()\n";
    assert_eq!(got(json!({"anchor_line": 7, "max_levels": 2, "include_header": true})), method);
    assert!(got(json!({"anchor_line": 7})).starts_with("L3: class A:"));
    assert_eq!(got(json!({"anchor_line": 7, "max_lines": 1})), "L7:             y()\n");
    assert!(got(json!({"anchor_line": 99})).contains("has 10 lines"));
}

#[test]
fn images_are_told_by_their_bytes_and_given_as_base64() {
    let scratch = Scratch::new();
    scratch.put("picture.txt", b"GIF89a\x0a\0\x14\0");
    scratch.put("text.png", "no image");
    let outcome = good(scratch.run(view_image::run, json!({"path": "picture.txt"})));
    let data = outcome.data.unwrap();
    assert_eq!(
        (&data["media_type"], &data["width"], &data["height"]),
        (&json!("image/gif"), &json!(10), &json!(20))
    );
    assert_eq!(data["base64"], "R0lGODlhCgAUAA==");
    let outcome = scratch.run(view_image::run, json!({"path": "text.png"}));
    assert!(outcome.stderr.contains("no PNG, JPEG, GIF or WebP"));
    let mut large = b"GIF89a".to_vec();
    large.resize(5 * 1024 * 1024, 1);
    scratch.put("large", &large);
    assert!(scratch.run(view_image::run, json!({"path": "large"})).ok, "5 MiB is not too large");
    large.push(1);
    scratch.put("large", &large);
    let outcome = scratch.run(view_image::run, json!({"path": "large"}));
    assert!(outcome.stderr.contains("larger than 5 MiB"), "{}", outcome.stderr);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is cut, what is kept is the file's own head and tail in whole characters, and the count is right.
    #[test]
    fn head_and_tail_of_any_text_are_its_own(text in "[a-zü漢🦀\n]{1,200}", most in 1..100_u64) {
        let scratch = Scratch::new();
        scratch.put("text", &text);
        let area = scratch.area();
        let arguments = read(json!({"path": "text", "max_bytes": most}));
        let outcome = good(file_read::run(&arguments, &scratch.setting(&area)));
        if text.len() as u64 <= most {
            prop_assert_eq!(outcome.stdout, text);
            prop_assert!(!outcome.truncated);
        } else {
            let left_out = outcome.data.unwrap()["left_out"].as_u64().unwrap();
            let mark = format!("\n[… {left_out} bytes are left out …]\n");
            let (head, tail) = outcome.stdout.split_once(&mark).unwrap();
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            prop_assert_eq!(head.len() as u64 + tail.len() as u64 + left_out, text.len() as u64);
            prop_assert!((head.len() + tail.len()) as u64 <= most);
            prop_assert!((head.len() + tail.len()) as u64 + 6 >= most);
            prop_assert!(outcome.truncated);
        }
    }
}
