//! Every input that fuzzing found interesting, and every one that once failed, goes through the fuzz targets' own code
//! again: no panic, and what must always hold does.
//!
//! To add one, put the file into `fuzz/regressions/TARGET/` under a name that says what it shows.

#![expect(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

#[expect(unreachable_pub, reason = "a library of its own where it is fuzzed")]
#[path = "../../../fuzz/src/lib.rs"]
mod bodies;

#[test]
fn every_input_that_fuzzing_kept_is_survived() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut replayed = 0;
    let mut failed = Vec::new();
    for (target, body) in bodies::TARGETS {
        let (mut count, mut taken) = (0, 0);
        for kind in ["corpus", "regressions"] {
            for file in files(&fuzz.join(kind).join(target)) {
                let bytes = bytes(&file);
                count += 1;
                match catch_unwind(|| body(&bytes)) {
                    Ok(true) => taken += 1,
                    Ok(false) => {}
                    Err(_) => failed.push(file.display().to_string()),
                }
            }
        }
        println!("{target}: {count} files, {taken} of them taken");
        assert!(taken * 10 >= count, "{target}: of {count} files only {taken} were not refused");
        replayed += count;
    }
    assert!(failed.is_empty(), "{} of {replayed} files failed:\n{}", failed.len(), failed.join("\n"));
    assert!(replayed >= 500, "only {replayed} files were replayed");
}

/// The files of a directory, in order; none where there is no such directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable directory").path()).collect();
    files.sort();
    files
}

#[expect(clippy::disallowed_methods, reason = "a test reads its own inputs")]
fn bytes(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
