//! AUD-9: what cannot be written down does not run.

use crate::home::Home;

#[test]
#[expect(clippy::disallowed_methods, reason = "the faults of this test")]
fn a_call_that_cannot_be_written_down_does_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let make = ["exec", "--", "touch", "it-ran"];
    let home = Home::new();
    let ran = home.0.join("work/it-ran");
    assert_eq!(home.run(&make).code, Some(0), "the control: with a journal it runs");
    assert!(ran.exists());
    type Fault = fn(&std::path::Path);
    let faults: [(&str, Fault); 5] = [
        ("the directory is a file", |journal| {
            std::fs::remove_dir_all(journal).expect("gone");
            std::fs::write(journal, "").expect("a file");
        }),
        ("the directory is a link", |journal| {
            std::fs::remove_dir_all(journal).expect("gone");
            std::os::unix::fs::symlink("/tmp", journal).expect("a link");
        }),
        ("others can write it", |journal| {
            std::fs::set_permissions(journal, std::fs::Permissions::from_mode(0o777)).expect("a mode");
        }),
        ("it does not hang together", |journal| {
            std::fs::write(journal.join("00000001.jsonl"), "{}\n{}\n{}\n").expect("nonsense");
        }),
        ("its file is a device", |journal| {
            let path = journal.join("00000001.jsonl");
            std::fs::remove_file(&path).expect("gone");
            std::os::unix::fs::symlink("/dev/full", path).expect("a link");
        }),
    ];
    for (name, fault) in faults {
        let home = Home::new();
        assert_eq!(home.run(&["exec", "--", "true"]).code, Some(0), "{name}");
        fault(&home.journal());
        let stopped = home.run(&make);
        assert_eq!(stopped.code, Some(125), "{name}: {stopped:?}");
        assert!(stopped.err.contains("journal_unavailable"), "{name}: {}", stopped.err);
        assert!(!home.0.join("work/it-ran").exists(), "{name}: it ran");
    }
}
