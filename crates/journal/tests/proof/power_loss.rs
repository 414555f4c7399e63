//! AUD-2: nothing acknowledged is lost when the power goes. The disk is simulated: it drops, tears and reorders what was not synced.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use journal::simulated::{Machine, Trouble, What};
use journal::{Kind, PublicKey, Sync, Unavailable};

use crate::stage::{Dice, event, keys, mark, open, reader, records, settings, verified};

type Mark = (u64, String, &'static str);

/// A record that was acknowledged, and how many operations had been done by then.
struct Kept {
    mark: Mark,
    after: u64,
}

const KINDS: [Kind; 3] = [Kind::ToolCallRequested, Kind::ToolCallStarted, Kind::ToolCallFinished];

/// A life of the journal from the first key to the last checkpoint; what was acknowledged is added to `kept`.
fn life(machine: &Machine, sync: Sync, name: &str, kept: &mut Vec<Kept>) -> Result<(), Unavailable> {
    let (journal, _) = open(machine, settings(sync, 3_000))?;
    for number in 0..6 {
        let call = format!("{name}-{number}");
        for kind in KINDS {
            let event = event(kind, &call);
            // Written first and waited for later counts as much as both in one.
            let seq = if number % 2 == 0 {
                journal.append(&event)?
            } else {
                let written = journal.append_soon(std::slice::from_ref(&event))?;
                journal.keep(written[0])?;
                written[0]
            };
            kept.push(Kept { mark: (seq.0, call.clone(), kind.name()), after: machine.operations() });
        }
    }
    let together: Vec<_> =
        (0..4).map(|number| event(Kind::RunStarted, &format!("{name}-t{number}"))).collect();
    for (at, seq) in journal.append_sealed(&together)?.into_iter().enumerate() {
        let mark = (seq.0, format!("{name}-t{at}"), Kind::RunStarted.name());
        kept.push(Kept { mark, after: machine.operations() });
    }
    Ok(())
}

/// After a power loss: it opens, all that was acknowledged is there, the chain holds, and it goes on.
fn check<'a>(
    machine: &Machine,
    key: &PublicKey,
    kept: impl Iterator<Item = &'a Mark>,
    sync: Sync,
    thorough: bool,
) -> Result<(), String> {
    let (journal, _) = open(machine, settings(sync, 3_000)).map_err(|error| error.to_string())?;
    let reader = reader(machine);
    let found = if thorough { records(&reader).iter().map(mark).collect() } else { glimpsed(machine) };
    let mut some = false;
    for mark in kept {
        some = true;
        if sync != Sync::Os && !found.contains(mark) {
            return Err(format!("{mark:?} was acknowledged and is lost"));
        }
    }
    if !thorough {
        // A process that is gone does not seal what it leaves.
        machine.start();
        return Ok(());
    }
    let key = if some { key.clone() } else { keys(machine).map_err(|error| error.to_string())?.public() };
    verified(&reader, &key)?;
    let seq = journal.append(&event(Kind::RunCompleted, "after")).map_err(|error| error.to_string())?;
    let last = records(&reader).pop().map(|record| record.seq);
    if last.is_some_and(|last| last >= seq.0) { Ok(()) } else { Err("it does not go on".into()) }
}

/// The records at a glance: what each line says of itself.
fn glimpsed(machine: &Machine) -> BTreeSet<Mark> {
    let kinds = [KINDS[0], KINDS[1], KINDS[2], Kind::RunStarted].map(Kind::name);
    let between = |line: &str, before: &str, after: char| {
        let rest = &line[line.find(before)? + before.len()..];
        rest.find(after).map(|end| rest[..end].to_owned())
    };
    let mark = |line: &str| {
        let seq = between(line, "\"seq\":", ',')?.parse().ok()?;
        let kind = between(line, "\"type\":\"", '"')?;
        Some((seq, between(line, "\"call_id\":\"", '"')?, *kinds.iter().find(|name| **name == kind)?))
    };
    let segments = (1..).map_while(|number| machine.bytes("segments", &format!("{number:08}.jsonl")));
    segments
        .flat_map(|bytes| String::from_utf8_lossy(&bytes).lines().filter_map(mark).collect::<Vec<_>>())
        .collect()
}

/// A life with a copy of the machine from before each operation.
fn lived(sync: Sync, ignored: Option<&'static str>) -> (Machine, PublicKey, Vec<Kept>) {
    let machine = Machine::new(1);
    machine.ignore_sync(ignored);
    machine.keep_snapshots();
    let mut kept = Vec::new();
    life(&machine, sync, "a", &mut kept).unwrap();
    let key = keys(&machine).unwrap().public();
    (machine, key, kept)
}

fn at_point(
    machine: &Machine,
    key: &PublicKey,
    kept: &[Kept],
    point: usize,
    seed: u64,
    sync: Sync,
) -> Result<(), String> {
    let broken = machine.snapshot(point, seed).expect("a snapshot");
    broken.lose_power();
    let before = kept.iter().filter(|kept| kept.after <= point as u64).map(|kept| &kept.mark);
    // Signatures take most of the time: every eighth is looked at with all that there is.
    check(&broken, key, before, sync, seed.is_multiple_of(8))
        .map_err(|why| format!("point {point}, seed {seed}: {why}"))
}

#[test]
fn nothing_acknowledged_is_lost_wherever_the_power_goes() {
    let done = AtomicU64::new(0);
    for (sync, seeds) in [(Sync::Group, 900), (Sync::Always, 40), (Sync::Os, 40)] {
        let (machine, key, kept) = lived(sync, None);
        assert!(machine.snapshots() > 60, "{}", machine.snapshots());
        std::thread::scope(|scope| {
            for half in 0..2 {
                let (machine, key, kept, done) = (&machine, &key, &kept, &done);
                scope.spawn(move || {
                    for point in (0..machine.snapshots()).filter(|point| point % 2 == half) {
                        for seed in 0..seeds {
                            at_point(machine, key, kept, point, seed, sync).unwrap();
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
    }
    println!("{} points", done.into_inner());
}

/// The control: each sync is needed.
#[test]
fn without_any_one_sync_something_is_lost() {
    for ignored in ["segments/0", "segments/next", "segments/", "keys/signing", "keys/digest", "keys/"] {
        let (machine, key, kept) = lived(Sync::Group, Some(ignored));
        let points = machine.snapshots();
        let found = (0..100_usize).find(|at| {
            let (point, seed) = ((at * 37 + 11) % points, *at as u64 + 1);
            at_point(&machine, &key, &kept, point, seed, Sync::Group).is_err()
        });
        assert!(found.is_some(), "nothing is lost without the sync of `{ignored}`");
    }
}

/// Kills and power losses in any order, in the middle of repairs too.
#[test]
fn nothing_acknowledged_is_lost_by_many_deaths_in_a_row() {
    for seed in 0..400 {
        let mut dice = Dice(seed);
        let machine = Machine::new(seed + 7);
        let mut kept = Vec::new();
        let key = keys(&machine).unwrap().public();
        for round in 0..5 {
            let what = if dice.below(2) == 0 { What::Stop } else { What::StopBefore };
            machine.expect(Some(Trouble { at: dice.below(90), what }));
            let ended = life(&machine, Sync::Group, &format!("r{round}"), &mut kept);
            // What goes wrong while the journal is closed is nobody's trouble.
            assert!(ended.is_ok() || machine.was_troubled(), "seed {seed}: {ended:?}");
            if dice.below(2) == 0 { machine.lose_power() } else { machine.start() }
        }
        machine.expect(None);
        check(&machine, &key, kept.iter().map(|kept| &kept.mark), Sync::Group, true)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}
