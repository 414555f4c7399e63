//! Grants that processes share: forged, damaged, copied, old or foreign records count for nothing and are reported.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use approval::{Extent, GrantKind, Grants, SystemClock};
use call::{DigestKey, Shown};

use crate::asking::{Random, TestClock, again, asked, asked_in, fresh_id};

/// A directory of its own, which goes when the test does.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("approval-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Place(path)
    }

    fn grants(&self, clock: Arc<dyn approval::Clock>) -> Grants {
        Grants::in_directory(self.0.clone(), Arc::new(DigestKey::from_bytes([9; 32])), clock)
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = self.0.read_dir() else { return Vec::new() };
        let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        all.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        all.sort();
        all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[expect(clippy::disallowed_methods, reason = "a test looks at what was written, and tampers with it")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("readable")
}

#[expect(clippy::disallowed_methods, reason = "a test looks at what was written, and tampers with it")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("writable");
}

fn by() -> Shown {
    Shown::of("ann")
}

#[test]
fn another_process_sees_a_grant_and_its_revocation_at_once() {
    // APR-6: revocation within 100 ms.
    let place = Place::new("shared");
    let clock: Arc<dyn approval::Clock> = Arc::new(SystemClock);
    let (one, two) = (place.grants(Arc::clone(&clock)), place.grants(clock));
    let question = asked("git push");
    one.remember(&question, &by()).expect("kept");
    assert!(two.covering(&again(&question)).is_some());
    assert_eq!(place.0.metadata().expect("made").permissions().mode() & 0o777, 0o700);
    assert_eq!(place.files()[0].metadata().expect("made").permissions().mode() & 0o777, 0o600);
    #[expect(clippy::disallowed_methods, reason = "a test measures how long it really takes")]
    let start = Instant::now();
    assert_eq!(one.revoke(question.id), Ok(1));
    assert!(two.covering(&again(&question)).is_none());
    assert!(start.elapsed() < Duration::from_millis(100));
    assert!(place.files().is_empty(), "nothing is left behind");
    assert!(one.complaints().is_empty() && two.complaints().is_empty());
}

#[test]
fn everything_that_can_be_granted_is_read_back_as_it_was() {
    let place = Place::new("kinds");
    let clock = TestClock::new();
    let (one, two) = (place.grants(clock.clone()), place.grants(clock));
    let push = asked("git push");
    one.remember(&push, &by()).expect("kept");
    one.cover(&again(&push), 9, &by()).expect("kept");
    one.auto_approve(fresh_id(), "s1", None, Duration::from_secs(60), &by()).expect("kept");
    one.auto_approve(fresh_id(), "s1", Some("Write"), Duration::from_secs(60), &by()).expect("kept");
    let waiting = asked_in("s2", "git push -f");
    one.defer(&waiting).expect("kept");
    assert_eq!(one.list(None), two.list(None));
    assert_eq!(two.list(None).len(), 5);
    two.approve(waiting.id, Extent::Once, &by(), Some("I confirm")).expect("granted");
    assert_eq!(one.covering(&again(&waiting)).map(|grant| grant.kind), Some(GrantKind::Once));
    assert!(two.covering(&again(&waiting)).is_none(), "used up, for everybody");
}

#[test]
fn a_yes_for_once_is_used_once_by_all_processes_together() {
    let place = Place::new("once");
    let clock: Arc<dyn approval::Clock> = Arc::new(SystemClock);
    let question = asked("git push");
    for _ in 0..20 {
        let question = again(&question);
        let grants = place.grants(Arc::clone(&clock));
        grants.defer(&question).expect("kept");
        grants.approve(question.id, Extent::Once, &by(), None).expect("granted");
        let used: usize = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4)
                .map(|_| {
                    let (grants, question) = (place.grants(Arc::clone(&clock)), again(&question));
                    scope.spawn(move || usize::from(grants.covering(&question).is_some()))
                })
                .collect();
            all.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(used, 1);
    }
}

#[test]
fn a_record_that_was_changed_in_any_byte_is_no_grant_and_is_reported() {
    let place = Place::new("tampered");
    let clock = TestClock::new();
    let grants = place.grants(clock);
    let question = asked("git push");
    grants.remember(&question, &by()).expect("kept");
    let file = place.files().remove(0);
    let text = read(&file);
    assert!(grants.covering(&again(&question)).is_some());
    let mut random = Random(11);
    for _ in 0..2000 {
        let mut bytes = text.clone().into_bytes();
        let at = usize::try_from(random.below(bytes.len() as u64 - 1)).expect("fits");
        let new = u8::try_from(random.below(95) + 32).expect("fits");
        if bytes[at] == new {
            continue;
        }
        bytes[at] = new;
        let changed = String::from_utf8(bytes).expect("ascii");
        // Another way to write the same value is the same record.
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        if same(&changed) == same(&text) {
            continue;
        }
        write(&file, &changed);
        assert!(grants.covering(&again(&question)).is_none(), "{changed}");
        assert!(!grants.complaints().is_empty());
    }
    // The control: put back, it holds.
    write(&file, &text);
    assert!(grants.covering(&again(&question)).is_some());
}

#[test]
fn foreign_files_links_owners_and_keys_count_for_nothing() {
    let place = Place::new("foreign");
    let clock = TestClock::new();
    let grants = place.grants(clock.clone());
    let question = asked("git push");
    grants.remember(&question, &by()).expect("kept");
    let file = place.files().remove(0);
    let text = read(&file);
    let holds = || grants.covering(&again(&question)).is_some();
    let reported = || !grants.complaints().is_empty();
    // Under another key.
    let other =
        Grants::in_directory(place.0.clone(), Arc::new(DigestKey::from_bytes([8; 32])), clock.clone());
    assert!(other.covering(&again(&question)).is_none());
    // Copied into another session's file.
    let elsewhere = asked_in("s2", "git push");
    grants.remember(&elsewhere, &by()).expect("kept");
    let second = place.files().into_iter().find(|path| *path != file).expect("another");
    grants.revoke(elsewhere.id).expect("written");
    write(&second, &text);
    std::fs::set_permissions(&second, PermissionsExt::from_mode(0o600)).expect("ours");
    assert!(grants.covering(&again(&elsewhere)).is_none());
    assert!(reported());
    // Readable by others.
    assert!(holds());
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("ours");
    assert!(!holds() && reported());
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("ours");
    assert!(holds());
    // A link, hard or soft.
    let kept = place.0.join("kept");
    std::fs::hard_link(&file, &kept).expect("linked");
    assert!(!holds() && reported());
    std::fs::remove_file(&file).expect("removed");
    symlink(&kept, &file).expect("linked");
    assert!(!holds() && reported());
    std::fs::remove_file(&file).expect("removed");
    std::fs::rename(&kept, &file).expect("renamed");
    assert!(holds());
    // A directory that others can write.
    std::fs::set_permissions(&place.0, PermissionsExt::from_mode(0o777)).expect("ours");
    assert!(!holds() && reported());
    assert!(grants.remember(&question, &by()).is_err());
    std::fs::set_permissions(&place.0, PermissionsExt::from_mode(0o700)).expect("ours");
    // Nonsense.
    for nonsense in [
        "",
        "\n\n",
        "{}",
        "[]",
        "null",
        "{\"mac\":\"\"}",
        "\u{0}",
        "{\"v\":1,\"kind\":\"auto\",\"mac\":\"00\"}",
    ] {
        write(&file, nonsense);
        assert!(!holds(), "{nonsense}");
    }
}

#[test]
fn neither_a_restart_nor_a_changed_date_makes_a_grant_last_longer() {
    let place = Place::new("clocks");
    let clock = TestClock::new();
    let grants = place.grants(clock.clone()).lasting(Duration::from_secs(100), Duration::from_secs(100));
    let question = asked("git push");
    grants.remember(&question, &by()).expect("kept");
    let holds = || grants.covering(&again(&question)).is_some();
    clock.change(|times| times.date_ms = 0);
    assert!(holds());
    clock.change(|times| times.date_ms = 9_999_999_999_999);
    assert!(holds());
    // Asleep: that counts.
    clock.change(|times| times.since_boot += Duration::from_secs(99));
    assert!(holds());
    clock.change(|times| times.since_boot += Duration::from_secs(1));
    assert!(!holds());
    // Before it was made, in the same start: a clock that lies.
    clock.change(|times| times.since_boot = Duration::from_secs(1));
    assert!(!holds());
    // In the time in which it held, after a restart.
    clock.change(|times| {
        times.boot = "boot-2";
        times.since_boot = Duration::from_secs(5050);
    });
    assert!(!holds());
    clock.change(|times| times.boot = "boot-1");
    assert!(holds(), "the control");
}
