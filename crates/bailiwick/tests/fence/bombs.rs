//! FNC-5: what eats a machine is stopped at the limits, and those outside go on working. The bombs are small enough to
//! go off unfenced.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::everyday::{place, told};
use crate::runner::{Mode, Outcome, Run, Who, alone, probe, standing};
use crate::setting::{Ground, executable};

struct Bomb {
    words: &'static [&'static str],
    flags: &'static [&'static str],
    /// How far it comes unfenced: behind the fence it must not.
    full: u64,
    /// Only root can be sure of it: others depend on a control group that was handed to them.
    hard_for_root_only: bool,
}

const BOMBS: &[Bomb] = &[
    Bomb { words: &["fork", "600"], flags: &[], full: 600, hard_for_root_only: false },
    Bomb { words: &["memory", "704"], flags: &["--memory", "256"], full: 704, hard_for_root_only: false },
    Bomb {
        words: &["thread-memory", "704"],
        flags: &["--memory", "256"],
        full: 704,
        hard_for_root_only: true,
    },
    Bomb { words: &["files", "2300", "/tmp"], flags: &[], full: 2300, hard_for_root_only: false },
    Bomb { words: &["files", "2300", "/dev/shm"], flags: &[], full: 2300, hard_for_root_only: false },
    Bomb { words: &["descriptors", "16000"], flags: &[], full: 16000, hard_for_root_only: false },
];

#[test]
fn bombs_are_stopped_and_the_machine_stays_responsive() {
    let _alone = alone();
    let mut failures = Vec::new();
    let mut unfenced = BTreeMap::new();
    for who in Who::possible() {
        let ground = prepared(who);
        for bomb in BOMBS {
            // Unfenced it goes as far for anybody: once is enough.
            let came = *unfenced
                .entry(bomb.words)
                .or_insert_with(|| reached(&gone_off(&ground, Mode::Bare, who, bomb.words, bomb.flags)));
            if came < bomb.full {
                println!(
                    "{:?}: comes to {came} unfenced here, not to {}: nothing to stop",
                    bomb.words, bomb.full
                );
                continue;
            }
            for mode in standing(&ground.root, who) {
                let stop = AtomicBool::new(false);
                let (outcome, slow) = std::thread::scope(|scope| {
                    let others = scope.spawn(|| slowest(&stop));
                    let outcome = gone_off(&ground, mode, who, bomb.words, bomb.flags);
                    stop.store(true, Ordering::Relaxed);
                    (outcome, others.join().expect("a thread of ours"))
                });
                let came = reached(&outcome);
                println!(
                    "{:?} {mode:?} {who:?}: {came} of {}, others waited {slow:?}, code {}",
                    bomb.words,
                    bomb.full,
                    outcome.code()
                );
                if [125, 126].contains(&outcome.code()) {
                    failures.push(format!(
                        "{:?} {mode:?} {who:?} did not run: {}",
                        bomb.words,
                        told(&outcome)
                    ));
                } else if came >= bomb.full && !(bomb.hard_for_root_only && who == Who::Ordinary) {
                    failures.push(format!("{:?} {mode:?} {who:?}: went off whole", bomb.words));
                }
                if slow > Duration::from_millis(500) {
                    failures.push(format!("{:?} {mode:?} {who:?}: others waited {slow:?}", bomb.words));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}\n", failures.len(), failures.join("\n"));
}

#[test]
fn the_time_limit_ends_what_spins_and_what_floods() {
    let _alone = alone();
    for who in Who::possible() {
        let ground = prepared(who);
        for mode in standing(&ground.root, who) {
            for words in [["spin", "30"], ["output", "163840"]] {
                let outcome = gone_off(&ground, mode, who, &words, &["--time", "1"]);
                assert!(
                    outcome.took < Duration::from_secs(4),
                    "{words:?} {mode:?} {who:?} took {:?}",
                    outcome.took
                );
                assert!(
                    outcome.took > Duration::from_millis(800),
                    "{words:?} {mode:?} {who:?}: {}",
                    told(&outcome)
                );
                assert_ne!(outcome.code(), 0, "{words:?} {mode:?} {who:?}: a time-out is not a success");
            }
        }
    }
}

fn prepared(who: Who) -> Ground {
    let ground = place(who);
    std::fs::create_dir_all(ground.root.join("work")).expect("a directory");
    std::fs::copy(probe(), ground.root.join("work/probe")).expect("a copy of the probes");
    executable(&ground.root.join("work/probe"), 0o755);
    ground.give(who);
    ground
}

fn gone_off(ground: &Ground, mode: Mode, who: Who, words: &[&str], flags: &[&'static str]) -> Outcome {
    let space = ground.root.join("work");
    let mut run = Run::new(mode, who, &ground.root, &space);
    run.flags = flags.to_vec();
    run.longest = Duration::from_secs(30);
    let mut all = vec!["./probe", "bomb"];
    all.extend(words);
    run.run(&all)
}

/// The last number that it printed.
fn reached(outcome: &Outcome) -> u64 {
    outcome.out().lines().rev().find_map(|line| line.trim().parse().ok()).unwrap_or(0)
}

/// How long somebody else waits for a process meanwhile: the slowest but one in twenty.
fn slowest(stop: &AtomicBool) -> Duration {
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        drop(Command::new("/bin/true").status());
        times.push(start.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
    times.sort();
    times.get(times.len().saturating_sub(1 + times.len() / 20)).copied().unwrap_or_default()
}
