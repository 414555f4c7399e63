//! What is not ours alone is not used.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use journal::{Journal, Keys, Kind, Settings, Sync, Why};

use crate::stage::{Temporary, event, settings};

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn written() -> Temporary {
    let place = Temporary::quick();
    let (journal, _) = place.open(settings(Sync::Os, 1 << 20)).unwrap();
    journal.append(&event(Kind::RunStarted, "a")).unwrap();
    place
}

fn refused(place: &Temporary) -> Why {
    place.open(Settings::default()).map(drop).unwrap_err().why
}

#[test]
fn everything_is_made_for_the_owner_alone() {
    let place = written();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    for directory in [place.journal(), place.journal().join("running"), place.keys()] {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
    }
    for file in [
        place.journal().join("00000001.jsonl"),
        place.keys().join("signing.key"),
        place.keys().join("digest.key"),
    ] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(std::fs::read_dir(place.keys()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn what_others_can_read_is_refused() {
    for name in [
        "journal",
        "journal/running",
        "keys",
        "journal/00000001.jsonl",
        "keys/signing.key",
        "keys/digest.key",
    ] {
        let place = written();
        let path = place.at(name);
        let wide = if path.is_dir() { 0o750 } else { 0o640 };
        mode(&path, wide);
        assert_eq!(refused(&place), Why::Unsafe, "{name}");
    }
}

#[test]
fn what_belongs_to_somebody_else_is_refused() {
    let place = written();
    if std::os::unix::fs::chown(place.journal(), Some(4242), None).is_err() {
        // Only root can give a directory away: nobody else can be shown this.
        return;
    }
    assert_eq!(refused(&place), Why::Unsafe);
}

#[test]
fn a_symbolic_link_or_a_pipe_in_place_of_a_file_is_refused() {
    for name in ["journal", "journal/00000001.jsonl", "keys", "keys/signing.key"] {
        let place = written();
        let path = place.at(name);
        let aside = place.at("aside");
        std::fs::rename(&path, &aside).unwrap();
        symlink(&aside, &path).unwrap();
        assert_eq!(refused(&place), Why::Unsafe, "{name}");
    }
    let place = written();
    let segment = place.journal().join("00000001.jsonl");
    std::fs::remove_file(&segment).unwrap();
    std::fs::create_dir(&segment).unwrap();
    assert!(place.open(Settings::default()).is_err());
}

#[test]
fn a_key_that_is_not_whole_is_refused() {
    for bytes in [&[][..], &[7; 31], &[7; 33], &[0; 32]] {
        let place = written();
        std::fs::write(place.keys().join("signing.key"), bytes).unwrap();
        assert_eq!(Keys::open(&place.keys()).map(drop).unwrap_err().why, Why::Keys, "{} bytes", bytes.len());
    }
}

#[test]
fn keys_that_many_make_at_once_are_the_same() {
    for _ in 0..20 {
        let place = Temporary::quick();
        let made: Vec<String> = std::thread::scope(|scope| {
            let make = || scope.spawn(|| place.public().to_hex());
            let threads: Vec<_> = (0..8).map(|_| make()).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.iter().all(|key| *key == made[0]));
    }
}

#[test]
fn a_directory_that_may_not_be_written_is_refused() {
    // Even root cannot write below /proc.
    let keys = Temporary::quick();
    let journal =
        Journal::open(Path::new("/proc/bailiwick"), Keys::open(&keys.keys()).unwrap(), Settings::default());
    assert!(matches!(journal.map(drop).unwrap_err().why, Why::Io | Why::ReadOnly));
}
