//! AUD-3: when the disk fails, the call is denied or the record is durable; a failed sync ends the journal for the process. AUD-9: a
//! full disk denies, and serves again at once.

use std::collections::BTreeSet;
use std::process::Command;

use journal::simulated::{Machine, Trouble, What};
use journal::{Kind, Sync, Why};

use crate::kills::{Run, clean_counts, run_under_strace, writer};
use crate::stage::{Temporary, event, keys, mark, open, reader, records, settings, verified};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EINTR: i32 = 4;
const EDQUOT: i32 = 122;

type Mark = (u64, String, &'static str);

/// Calls under trouble: what was acknowledged, and why the rest was not.
fn troubled(machine: &Machine, sync: Sync) -> (Vec<Mark>, Vec<Why>) {
    let (mut kept, mut denied) = (Vec::new(), Vec::new());
    // A process that cannot open the journal is started anew by its user.
    for attempt in 0..3 {
        let journal = match open(machine, settings(sync, 3_000)) {
            Ok((journal, _)) => journal,
            Err(unavailable) => {
                denied.push(unavailable.why);
                continue;
            }
        };
        let before = denied.len();
        for number in 0..5 {
            let call = format!("c{attempt}-{number}");
            for kind in [Kind::ToolCallRequested, Kind::ToolCallStarted, Kind::ToolCallFinished] {
                match journal.append(&event(kind, &call)) {
                    Ok(seq) => {
                        assert!(!denied[before..].contains(&Why::Poisoned), "it goes on after a failed sync");
                        kept.push((seq.0, call.clone(), kind.name()));
                    }
                    Err(unavailable) => denied.push(unavailable.why),
                }
            }
        }
        break;
    }
    (kept, denied)
}

#[test]
fn a_failing_disk_denies_or_keeps_and_never_lies() {
    let count = {
        let machine = Machine::new(3);
        machine.expect(None);
        troubled(&machine, Sync::Group);
        machine.operations()
    };
    assert!(count > 40);
    let kinds = [EIO, ENOSPC, EINTR, EDQUOT]
        .into_iter()
        .flat_map(|code| [What::Error(code), What::Half(code), What::Errors(code)])
        .chain([What::Short]);
    for what in kinds {
        for at in 0..count {
            let said = format!("{what:?} at {at}");
            let machine = Machine::new(3);
            let key = keys(&machine).unwrap().public();
            machine.expect(Some(Trouble { at, what }));
            let (kept, _) = troubled(&machine, Sync::Group);
            machine.heal();
            // Whatever the process was told must hold after a power loss.
            machine.lose_power();
            machine.expect(None);
            let (journal, _) =
                open(&machine, settings(Sync::Group, 3_000)).unwrap_or_else(|why| panic!("{said}: {why}"));
            let found: BTreeSet<Mark> = records(&reader(&machine)).iter().map(mark).collect();
            for mark in &kept {
                assert!(found.contains(mark), "{said}: {mark:?} was acknowledged and is lost");
            }
            verified(&reader(&machine), &key).unwrap_or_else(|why| panic!("{said}: {why}"));
            journal.append(&event(Kind::RunStarted, "on")).unwrap();
        }
    }
}

#[test]
fn after_a_failed_sync_nothing_is_tried_again_in_this_process() {
    let machine = Machine::new(5);
    let (journal, _) = open(&machine, settings(Sync::Group, 1 << 20)).unwrap();
    journal.append(&event(Kind::RunStarted, "a")).unwrap();
    // The next operation is the write, the one after it the sync.
    machine.expect(Some(Trouble { at: 1, what: What::Error(EIO) }));
    assert_eq!(journal.append(&event(Kind::RunStarted, "b")).unwrap_err().why, Why::Poisoned);
    machine.heal();
    let before = machine.operations();
    for _ in 0..10 {
        assert_eq!(journal.append(&event(Kind::RunStarted, "c")).unwrap_err().why, Why::Poisoned);
    }
    assert_eq!(machine.operations(), before, "a poisoned journal touches the disk");
    drop(journal);
    machine.start();
    let (journal, _) = open(&machine, settings(Sync::Group, 1 << 20)).unwrap();
    journal.append(&event(Kind::RunStarted, "d")).unwrap();
    let calls: Vec<_> = records(&reader(&machine)).into_iter().filter_map(|record| record.call_id).collect();
    assert_eq!(calls, ["a", "d"], "what was denied is not there");
}

#[test]
fn a_full_simulated_disk_denies_and_serves_again() {
    let machine = Machine::new(9);
    let key = keys(&machine).unwrap().public();
    let (journal, _) = open(&machine, settings(Sync::Group, 1 << 20)).unwrap();
    journal.append(&event(Kind::RunStarted, "before")).unwrap();
    machine.expect(Some(Trouble { at: 0, what: What::Errors(ENOSPC) }));
    for _ in 0..100 {
        assert_eq!(journal.append(&event(Kind::ToolCallStarted, "no")).unwrap_err().why, Why::Full);
    }
    machine.heal();
    journal.append(&event(Kind::RunStarted, "after")).unwrap();
    verified(&reader(&machine), &key).unwrap();
    let calls: Vec<_> = records(&reader(&machine)).into_iter().filter_map(|record| record.call_id).collect();
    assert_eq!(calls, ["before", "after"]);
}

#[test]
fn a_full_disk_of_4_mib_denies_every_call_and_serves_again_within_a_second() {
    let place = Temporary::new();
    let mount = place.at("mount");
    std::fs::create_dir(&mount).unwrap();
    // A file system of its own, in a mount namespace of its own, which goes with the process.
    let script = "mount -t tmpfs -o size=4m,mode=0700 none \"$1\" && exec \"$2\" full \"$1/journal\" \"$3\"";
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(&mount)
        .arg(writer())
        .arg(place.keys())
        .output()
        .expect("unshare, of util-linux");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("good"), "{said}");
}

/// Every write-path system call of a process fails once, in each way.
#[test]
fn a_failing_system_call_denies_or_keeps() {
    let counts = clean_counts(2, "group");
    for (call, count) in counts {
        let errors: &[&str] = match call.as_str() {
            "pwrite64" | "fdatasync" => &["EIO", "ENOSPC", "EINTR", "EDQUOT"],
            "ftruncate" => &["EIO"],
            _ => &["EIO", "ENOSPC"],
        };
        for number in 1..=count {
            // All errors at all points would take minutes: each point has one, in turn, and every error meets every call.
            let error = errors[number % errors.len()];
            let place = Temporary::quick();
            let run =
                run_under_strace(&place, 2, "group", &format!("inject={call}:error={error}:when={number}"));
            let Run { kept, said } = run;
            // Whatever it was told, the next process finds a good journal with all that was acknowledged.
            let opened = place.open(settings(Sync::Group, 60_000));
            let (journal, _) = opened.unwrap_or_else(|why| panic!("{call} {number} {error}: {why}\n{said}"));
            drop(journal);
            let found: BTreeSet<(u64, String)> = records(&place.reader())
                .into_iter()
                .map(|record| (record.seq, record.call_id.unwrap_or_default()))
                .collect();
            for mark in kept {
                assert!(found.contains(&mark), "{call} {number} {error}: {mark:?} is lost\n{said}");
            }
            verified(&place.reader(), &place.public())
                .unwrap_or_else(|why| panic!("{call} {number} {error}: {why}"));
        }
    }
}
