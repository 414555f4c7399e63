//! FNC-4: nothing survives. Whatever ends the run (its own end, the time limit, a signal, `kill -9`), no process of it is
//! there two seconds later, also none that forked twice, made a session of its own and ignores every signal.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::everyday::place;
use crate::runner::{Mode, Run, Who, probe, standing, together};
use crate::setting::{Ground, executable};

/// `FENCE_RUNS` makes it more.
fn runs() -> usize {
    std::env::var("FENCE_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

#[derive(Clone, Copy, Debug)]
enum End {
    Itself,
    TimeOut,
    Signal(&'static str),
}

const ENDS: [End; 6] = [
    End::Itself,
    End::TimeOut,
    End::Signal("TERM"),
    End::Signal("INT"),
    End::Signal("KILL"),
    End::Signal("HUP"),
];

#[test]
fn nothing_survives_the_end_of_a_run() {
    let _together = together();
    for who in Who::possible() {
        let ground = place(who);
        let control = left_behind(&ground, Mode::Bare, who, End::Itself, 0);
        assert!(!control.is_empty(), "without a fence the daemon survives");
        for pid in control {
            drop(Command::new("kill").args(["-9", &pid.to_string()]).status());
        }
        let modes: Vec<Mode> = standing(&ground.root, who);
        let each = runs().div_ceil(modes.len() * Who::possible().len());
        let cases: Vec<(usize, Mode, End)> = modes
            .iter()
            .flat_map(|mode| (0..each).map(move |number| (number, *mode, ENDS[number % ENDS.len()])))
            .collect();
        let next = std::sync::atomic::AtomicUsize::new(0);
        let failures = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    while let Some((number, mode, end)) =
                        cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                    {
                        let name = 1 + number + 100_000 * (*mode as usize);
                        let left = left_behind(&ground, *mode, who, *end, name);
                        if !left.is_empty() {
                            failures
                                .lock()
                                .expect("no thread failed")
                                .push(format!("{mode:?} {who:?} {end:?}: {left:?}"));
                        }
                    }
                });
            }
        });
        let failures = failures.into_inner().expect("no thread failed");
        println!("{who:?}: {} runs, {} with survivors", cases.len(), failures.len());
        assert!(failures.is_empty(), "{} of {} runs\n{}", failures.len(), cases.len(), failures.join("\n"));
    }
}

/// The processes that are left two seconds after the end.
fn left_behind(ground: &Ground, mode: Mode, who: Who, end: End, number: usize) -> Vec<u32> {
    let name = format!("runs/{number}");
    let space = ground.root.join(&name);
    std::fs::create_dir_all(&space).expect("a directory");
    std::fs::copy(probe(), space.join("probe")).expect("a copy of the probes");
    executable(&space.join("probe"), 0o755);
    ground.give_below(&name, who);
    let mark = space.join("mark");
    let mark_text = mark.to_str().expect("UTF-8");
    let mut run = Run::new(mode, who, &ground.root, &space);
    run.flags = if matches!(end, End::TimeOut) { vec!["--time", "1"] } else { vec!["--time", "20"] };
    let seconds = if matches!(end, End::Itself) { "0" } else { "15" };
    let mut command = run.command(&["./probe", "witness", "daemon", mark_text, seconds]);
    let said = std::fs::File::create(space.join("said")).expect("a file");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    let mut child = command.spawn().expect("the launcher starts");
    let start = Instant::now();
    if let End::Signal(signal) = end {
        while !mark.exists() && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = || std::fs::read_to_string(space.join("said")).unwrap_or_default();
        assert!(
            mark.exists(),
            "{mode:?} {who:?}: the daemon did not start: {:?} {}",
            child.try_wait(),
            said()
        );
        drop(Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status());
    }
    while child.try_wait().expect("a child of ours").is_none() {
        if start.elapsed() > Duration::from_secs(14) {
            drop(child.kill());
            drop(child.wait());
            return vec![child.id()];
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Without a fence nobody ends the daemon: it needs a moment to be there.
    if mode == Mode::Bare {
        std::thread::sleep(Duration::from_millis(200));
        return processes_of(&mark);
    }
    let ended = Instant::now();
    let mut left = processes_of(&mark);
    while !left.is_empty() && ended.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(20));
        left = processes_of(&mark);
    }
    drop(std::fs::remove_dir_all(&space));
    left
}

/// Every process that has this path among its words, from the host's view.
fn processes_of(mark: &Path) -> Vec<u32> {
    let mark = mark.to_str().expect("UTF-8").as_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let state = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let dead = state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']));
        if !dead && words.windows(mark.len()).any(|window| window == mark) {
            found.push(pid);
        }
    }
    found
}
