//! AUD-1: nothing acknowledged is lost when a process dies, wherever it dies. AUD-11: many processes append, and at every moment one
//! of them writes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::{Directory, Kind, Sync, Volume as _};

use crate::stage::{Dice, Temporary, event, records, settings, verified};

/// The program that writes for us.
pub(crate) fn writer() -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let path = own.parent().and_then(|deps| deps.parent()).expect("a directory").join("examples/writer");
    assert!(path.exists(), "{} is built with the tests", path.display());
    path
}

/// What a run said.
pub(crate) struct Run {
    pub(crate) kept: Vec<(u64, String)>,
    pub(crate) said: String,
}

fn acknowledged(said: &str) -> Vec<(u64, String)> {
    // A last line without an end was not said.
    let whole = said.rfind('\n').map_or("", |end| &said[..end]);
    let mark = |line: &str| {
        let mut words = line.strip_prefix("kept ")?.split(' ');
        Some((words.next()?.parse().ok()?, words.next()?.to_owned()))
    };
    whole.lines().filter_map(mark).collect()
}

/// Runs the writer with something injected into its system calls.
pub(crate) fn run_under_strace(place: &Temporary, calls: usize, sync: &str, inject: &str) -> Run {
    let output = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "-e", inject])
        .arg(writer())
        .arg("calls")
        .args([place.journal(), place.keys()])
        .args(["n", &calls.to_string(), sync])
        .output()
        .expect("strace");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!wrong.contains("strace:"), "{wrong}");
    Run { kept: acknowledged(&said), said: said + &wrong }
}

/// The system calls by which the writer changes the disk, and how often it makes each.
pub(crate) fn clean_counts(calls: usize, sync: &str) -> Vec<(String, usize)> {
    const CHANGES: &str =
        "pwrite64,fdatasync,fsync,ftruncate,renameat,renameat2,linkat,unlinkat,mkdirat,flock";
    let place = Temporary::quick();
    let trace = place.at("trace");
    let status = Command::new("strace")
        .args(["-qq", "-e", &format!("trace={CHANGES}"), "-o"])
        .arg(&trace)
        .arg(writer())
        .arg("calls")
        .args([place.journal(), place.keys()])
        .args(["n", &calls.to_string(), sync])
        .stdout(Stdio::null())
        .status()
        .expect("strace");
    assert!(status.success());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(&trace).unwrap().lines() {
        if let Some((name, _)) = line.split_once('(') {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    assert!(counts.contains_key("pwrite64") && counts.contains_key("fdatasync"), "{counts:?}");
    counts.into_iter().collect()
}

fn check(place: &Temporary, kept: &[(u64, String)], said: &str) {
    let (journal, _) =
        place.open(settings(Sync::Group, 60_000)).unwrap_or_else(|why| panic!("{said}: {why}"));
    drop(journal);
    let found: BTreeSet<(u64, String)> = records(&place.reader())
        .into_iter()
        .map(|record| (record.seq, record.call_id.unwrap_or_default()))
        .collect();
    for mark in kept {
        assert!(found.contains(mark), "{said}: {mark:?} was acknowledged and is lost");
    }
    verified(&place.reader(), &place.public()).unwrap_or_else(|why| panic!("{said}: {why}"));
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill_at_any_system_call() {
    for (call, count) in clean_counts(20, "group") {
        for number in 1..=count {
            let place = Temporary::quick();
            let run =
                run_under_strace(&place, 20, "group", &format!("inject={call}:signal=KILL:when={number}"));
            check(&place, &run.kept, &format!("{call} {number}"));
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_500_kills_at_random() {
    let place = Temporary::quick();
    let mut dice = Dice(11);
    let mut kept = Vec::new();
    let mut killed = 0;
    for number in 0..500 {
        let mut child = Command::new(writer())
            .arg("calls")
            .args([place.journal(), place.keys()])
            .args([format!("k{number}").as_str(), "1000000", "group"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(600 + dice.below(2_400)));
        child.kill().unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        kept.extend(acknowledged(&said));
        if number % 250 == 249 {
            check(&place, &kept, &format!("kill {number}"));
        }
    }
    assert_eq!(killed, 500);
    assert!(kept.len() > 500, "{} acknowledged", kept.len());
    // Calls that were under way are closed, each once.
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for record in records(&place.reader()) {
        match (record.kind, record.call_id) {
            (Kind::ToolCallStarted, Some(call)) => *ends.entry(call).or_default() += 1,
            (Kind::ToolCallFinished, Some(call)) => *ends.entry(call).or_default() += 100,
            _ => {}
        }
    }
    for (call, count) in &ends {
        assert_eq!(*count, 101, "{call}");
    }
    println!("{} acknowledged, {} calls", kept.len(), ends.len());
}

#[test]
fn the_lock_is_refused_while_another_process_has_it_and_free_when_that_is_killed() {
    let place = Temporary::quick();
    drop(place.open(settings(Sync::Os, 1 << 20)).unwrap());
    let mut child = Command::new(writer())
        .arg("lock")
        .arg(place.journal())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    let directory = Directory::open(&place.journal()).unwrap();
    for _ in 0..1_000 {
        assert!(directory.lock(Duration::ZERO).is_err());
    }
    child.kill().unwrap();
    let start = Instant::now();
    directory.lock(Duration::from_secs(5)).unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
    directory.unlock();
    child.wait().unwrap();
}

#[test]
fn eight_processes_append_without_a_gap() {
    let place = Temporary::quick();
    drop(place.open(settings(Sync::Os, 60_000)).unwrap());
    let children: Vec<_> = (0..8)
        .map(|number| {
            Command::new(writer())
                .arg("calls")
                .args([place.journal(), place.keys()])
                .args([format!("p{number}").as_str(), "167", if number % 2 == 0 { "os" } else { "group" }])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut kept = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("denied"), "{said}");
        kept.extend(acknowledged(&said));
    }
    assert_eq!(kept.len(), 8 * 167 * 3);
    check(&place, &kept, "eight processes");
    let all = records(&place.reader());
    assert!(all.iter().zip(1..).all(|(record, seq)| record.seq == seq));
}

#[test]
fn threads_share_batches_and_each_gets_its_own_number() {
    let place = Temporary::quick();
    let (journal, _) = place.open(settings(Sync::Group, 60_000)).unwrap();
    let mut numbers: Vec<(u64, String)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|thread| {
                let journal = &journal;
                scope.spawn(move || {
                    let one = |number| {
                        let call = format!("t{thread}-{number}");
                        (journal.append(&event(Kind::RunStarted, &call)).unwrap().0, call)
                    };
                    (0..60).map(one).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    drop(journal);
    numbers.sort();
    assert_eq!(numbers.len(), 16 * 60);
    let own: Vec<(u64, String)> = records(&place.reader())
        .into_iter()
        .filter(|record| record.kind == Kind::RunStarted)
        .map(|record| (record.seq, record.call_id.unwrap()))
        .collect();
    assert_eq!(own, numbers);
    verified(&place.reader(), &place.public()).unwrap();
}
