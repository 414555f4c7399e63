//! FNC-3: somebody swaps directories and links under the tools without a pause. No operation may reach outside. The control
//! is what is done without thought: look where the path leads, compare, and open the path. It must get out, in the same
//! place, under the same swapping; else nothing was tried and the test fails.
//!
//! `BAILIWICK_RACE_SECONDS` says how long each operation is tried (2), and longer where a busy machine has not come to the fewest
//! tries by then. How many there were is said on standard error.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use tools::{Setting, apply_patch, file_read, file_write, grep_files, list_dir, read_file, view_image};

use crate::support::{Scratch, read};

/// What is only outside.
const OUTSIDE: &str = "OUTSIDE";

/// A workspace in which `parent/…`, `top/parent/…` and the file `final/…/file` change places with links to the outside.
struct Arena {
    scratch: Scratch,
}

/// Directories of the workspace with a `file` in them, each under another kind of swap.
const PLACES: [&str; 3] = ["parent", "top/parent", "last"];

impl Arena {
    fn new() -> Arena {
        let scratch = Scratch::new();
        for place in PLACES {
            scratch.put(&format!("{place}/file"), "inside\n");
        }
        for place in PLACES {
            let path = scratch.outside.join(place);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("file"), format!("{OUTSIDE}\n")).unwrap();
            std::fs::write(path.join(OUTSIDE), format!("{OUTSIDE}\n")).unwrap();
        }
        scratch.link("parent.link", scratch.outside.join("parent"));
        scratch.link("top.link", scratch.outside.join("top"));
        scratch.link("last/link", scratch.outside.join("last/file"));
        Arena { scratch }
    }

    fn swaps(&self) -> [(PathBuf, PathBuf); 3] {
        let path = |name: &str| self.scratch.work.join(name);
        [
            (path("parent"), path("parent.link")),
            (path("top"), path("top.link")),
            (path("last/file"), path("last/link")),
        ]
    }

    /// The link to the file outside may have been replaced or deleted, which is not following it. Then there is another.
    fn link_again(&self) {
        let [_, _, (one, other)] = self.swaps();
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if !is_link(&one) && !is_link(&other) {
            let _ = std::fs::remove_file(&other);
            let _ = std::os::unix::fs::symlink(self.scratch.outside.join("last/file"), &other);
        }
    }

    /// What is outside has changed: names or contents.
    fn is_changed_outside(&self) -> bool {
        PLACES.iter().any(|place| {
            let directory = self.scratch.outside.join(place);
            let text = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
            let names = std::fs::read_dir(&directory).unwrap().count();
            text("file") != format!("{OUTSIDE}\n") || text(OUTSIDE) != format!("{OUTSIDE}\n") || names != 2
        })
    }

    /// Makes the outside as it was.
    fn mend(&self) {
        for place in PLACES {
            let directory = self.scratch.outside.join(place);
            for entry in std::fs::read_dir(&directory).unwrap().flatten() {
                std::fs::remove_file(entry.path()).unwrap();
            }
            std::fs::write(directory.join("file"), format!("{OUTSIDE}\n")).unwrap();
            std::fs::write(directory.join(OUTSIDE), format!("{OUTSIDE}\n")).unwrap();
        }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    tries: u64,
    /// It did what was asked, inside.
    done: u64,
    refused: u64,
    escapes: u64,
}

/// What came of one try.
enum Try {
    Done,
    Refused,
    /// It brought something from outside.
    Brought,
}

fn seconds() -> f64 {
    std::env::var("BAILIWICK_RACE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2.0)
}

/// What must have been tried before anything is concluded: operations, and swaps under them.
const FEWEST_TRIES: u64 = 300;
const FEWEST_SWAPS: u64 = 1_000;
/// However busy the machine is, there is an end.
const LONGEST: Duration = Duration::from_secs(90);

/// Tries one operation again and again while names are swapped, until the time is up and enough was tried, or it is seen to be
/// out so often.
fn under_attack(arena: &Arena, time: Duration, enough: u64, operation: &dyn Fn(&str) -> Try) -> (Count, u64) {
    let stop = AtomicBool::new(false);
    let swapped = AtomicU64::new(0);
    let mut count = Count::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let swaps = arena.swaps();
            while !stop.load(Ordering::Relaxed) {
                for (one, other) in &swaps {
                    if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
                        swapped.fetch_add(1, Ordering::Relaxed);
                    }
                }
                arena.link_again();
            }
        });
        let start = Instant::now();
        for place in PLACES.iter().cycle() {
            let tried = count.tries >= FEWEST_TRIES
                && count.done > 0
                && count.refused > 0
                && swapped.load(Ordering::Relaxed) >= FEWEST_SWAPS;
            let over = start.elapsed() >= time && tried || start.elapsed() >= LONGEST;
            if over || count.escapes >= enough {
                break;
            }
            count.tries += 1;
            match operation(place) {
                Try::Done => count.done += 1,
                Try::Refused => count.refused += 1,
                Try::Brought => count.escapes += 1,
            }
            if arena.is_changed_outside() {
                count.escapes += 1;
                arena.mend();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    (count, swapped.into_inner())
}

/// Looks and then opens, as is done without thought.
fn naive(arena: &Arena, path: &Path, use_it: impl FnOnce(&Path) -> std::io::Result<String>) -> Try {
    // A file that is not there yet is looked for by its directory.
    let looked = path.canonicalize().or_else(|_| path.parent().unwrap().canonicalize());
    match looked {
        Ok(real) if real.starts_with(&arena.scratch.work) => match use_it(path) {
            Ok(text) if text.contains(OUTSIDE) => Try::Brought,
            Ok(_) => Try::Done,
            Err(_) => Try::Refused,
        },
        _ => Try::Refused,
    }
}

fn compare(
    name: &str,
    tool: &dyn Fn(&Arena, &Setting<'_>, &str) -> Try,
    control: &dyn Fn(&Arena, &str) -> Try,
) {
    let time = Duration::from_secs_f64(seconds());
    let arena = Arena::new();
    let area = arena.scratch.area();
    let setting = arena.scratch.setting(&area);
    let (ours, swapped) = under_attack(&arena, time, u64::MAX, &|place| tool(&arena, &setting, place));
    let arena = Arena::new();
    // The control has more time where the machine is busy, and needs only get out once.
    let most = time.max(Duration::from_secs(30));
    let (theirs, _) = under_attack(&arena, most, 1, &|place| control(&arena, place));
    let Count { tries, done, refused, escapes } = ours;
    // Past what the harness captures: the figures are part of the result.
    let _unseen = writeln!(
        std::io::stderr(),
        "FNC-3 {name}: {tries} tries under {swapped} swaps: {done} done, {refused} refused, {escapes} escapes; \
         the control escapes at try {}",
        theirs.tries
    );
    assert_eq!(ours.escapes, 0, "{name}: {ours:?}");
    assert!(
        tries >= FEWEST_TRIES && done > 0 && refused > 0 && swapped >= FEWEST_SWAPS,
        "{name}: {ours:?}, {swapped} swaps: too little was tried"
    );
    assert!(theirs.escapes > 0, "{name}: the control did not get out: {theirs:?}");
}

/// Tells from an answer what came of a try.
fn told(outcome: &tools::Outcome) -> Try {
    let data = outcome.data.as_ref().map(ToString::to_string).unwrap_or_default();
    match outcome.ok {
        _ if outcome.stdout.contains(OUTSIDE) || data.contains(OUTSIDE) => Try::Brought,
        true => Try::Done,
        false => Try::Refused,
    }
}

#[test]
fn reading_stays_inside() {
    compare(
        "read",
        &|_, setting, place| {
            let path = format!("{place}/file");
            let first = told(&file_read::run(&read(json!({"path": path})), setting));
            let second = told(&read_file::run(&read(json!({"file_path": path})), setting));
            if view_image::run(&read(json!({"path": path})), setting).ok || matches!(second, Try::Brought) {
                return Try::Brought;
            }
            first
        },
        &|arena, place| {
            naive(arena, &arena.scratch.work.join(place).join("file"), |path| std::fs::read_to_string(path))
        },
    );
}

#[test]
fn writing_stays_inside() {
    compare(
        "write",
        &|_, setting, place| {
            let arguments = json!({"path": format!("{place}/file"), "content": "inside\n"});
            told(&file_write::run(&read(arguments), setting))
        },
        &|arena, place| {
            let path = arena.scratch.work.join(place).join("file");
            naive(arena, &path, |path| std::fs::write(path, "inside\n").map(|()| String::new()))
        },
    );
}

#[test]
fn creating_stays_inside() {
    compare(
        "create",
        &|arena, setting, place| {
            let arguments = json!({"path": format!("{place}/made/new"), "content": "x"});
            let came = told(&file_write::run(&read(arguments), setting));
            for place in PLACES {
                let _ = std::fs::remove_dir_all(arena.scratch.work.join(place).join("made"));
            }
            came
        },
        &|arena, place| {
            let path = arena.scratch.work.join(place).join("new");
            let came = naive(arena, &path, |path| std::fs::write(path, "x").map(|()| String::new()));
            // Only inside: what was made outside must be seen.
            for name in ["parent", "top/parent", "last"] {
                let inside = arena.scratch.work.join(name).join("new");
                if inside.canonicalize().is_ok_and(|real| real.starts_with(&arena.scratch.work))
                    && !arena.is_changed_outside()
                {
                    let _ = std::fs::remove_file(inside);
                }
            }
            came
        },
    );
}

/// Puts back what an operation takes away, wherever its directory is now.
fn restore(arena: &Arena) {
    for place in ["parent", "parent.link", "top/parent", "top.link/parent", "last"] {
        let directory = arena.scratch.work.join(place);
        let inside = directory.symlink_metadata().is_ok_and(|found| found.is_dir())
            && directory
                .parent()
                .is_some_and(|above| above.symlink_metadata().is_ok_and(|found| found.is_dir()));
        if inside && directory.join("file").symlink_metadata().is_err() {
            // By descriptor, so that the swapping does not lead this test itself astray.
            let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::NOFOLLOW;
            let resolve = rustix::fs::ResolveFlags::NO_SYMLINKS;
            let mode = rustix::fs::Mode::empty();
            let Ok(opened) = rustix::fs::openat2(CWD, &directory, flags, mode, resolve) else { continue };
            let create = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::EXCL | rustix::fs::OFlags::WRONLY;
            if let Ok(file) = rustix::fs::openat(&opened, "file", create, 0o600.into()) {
                let _ = rustix::io::write(&file, b"inside\n");
            }
        }
    }
}

#[test]
fn deleting_stays_inside() {
    compare(
        "delete",
        &|arena, setting, place| {
            let input = format!("*** Begin Patch\n*** Delete File: {place}/file\n*** End Patch");
            let came = told(&apply_patch::run(&read(json!({"input": input})), setting));
            restore(arena);
            came
        },
        &|arena, place| {
            let path = arena.scratch.work.join(place).join("file");
            let came = naive(arena, &path, |path| std::fs::remove_file(path).map(|()| String::new()));
            restore(arena);
            came
        },
    );
}

#[test]
fn moving_stays_inside() {
    compare(
        "rename",
        &|arena, setting, place| {
            let body =
                format!("*** Update File: {place}/file\n*** Move to: {place}/moved\n@@\n-inside\n+inside\n");
            let input = format!("*** Begin Patch\n{body}*** End Patch");
            let came = told(&apply_patch::run(&read(json!({"input": input})), setting));
            if matches!(came, Try::Done) {
                let body = format!("*** Delete File: {place}/moved\n");
                for _ in 0..50 {
                    let input = format!("*** Begin Patch\n{body}*** End Patch");
                    if apply_patch::run(&read(json!({"input": input})), setting).ok {
                        break;
                    }
                }
            }
            restore(arena);
            came
        },
        &|arena, place| {
            let path = arena.scratch.work.join(place).join("file");
            let came = naive(arena, &path, |path| {
                std::fs::rename(path, path.with_file_name("moved")).map(|()| String::new())
            });
            restore(arena);
            came
        },
    );
}

#[test]
fn listing_stays_inside() {
    compare(
        "list",
        &|_, setting, place| told(&list_dir::run(&read(json!({"dir_path": place, "depth": 3})), setting)),
        &|arena, place| {
            naive(arena, &arena.scratch.work.join(place), |path| {
                let names = std::fs::read_dir(path)?.flatten().map(|entry| entry.file_name());
                Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
            })
        },
    );
}

#[test]
fn searching_stays_inside() {
    compare(
        "grep",
        &|_, setting, place| {
            // Once from the top, where links are passed over, and once from where the swapping is.
            let whole = told(&grep_files::run(&read(json!({"pattern": "INSIDE|OUTSIDE"})), setting));
            let part = grep_files::run(&read(json!({"pattern": "inside|OUTSIDE", "path": place})), setting);
            if matches!(whole, Try::Brought) { whole } else { told(&part) }
        },
        &|arena, place| {
            naive(arena, &arena.scratch.work.join(place).join("file"), |path| std::fs::read_to_string(path))
        },
    );
}

#[test]
fn patching_stays_inside() {
    compare(
        "patch",
        &|arena, setting, place| {
            let body = format!("*** Update File: {place}/file\n@@\n-inside\n+inside\n");
            let input = format!("*** Begin Patch\n{body}*** End Patch");
            let came = told(&apply_patch::run(&read(json!({"input": input})), setting));
            restore(arena);
            came
        },
        &|arena, place| {
            naive(arena, &arena.scratch.work.join(place).join("file"), |path| {
                let text = std::fs::read_to_string(path)?;
                std::fs::write(path, text.replace("inside", "changed"))?;
                std::fs::write(path, "inside\n")?;
                Ok(text)
            })
        },
    );
}
