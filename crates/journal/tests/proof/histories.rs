//! AUD-8: every call that started ends exactly once: whoever dies is closed as interrupted by whoever comes next.

use std::collections::BTreeMap;

use journal::simulated::{Machine, Trouble, What};
use journal::{Kind, Record, Sync};

use crate::stage::{Dice, event, open, reader, records, settings};

/// Started and ended, for each call; with how it ended last.
fn balance(all: &[Record]) -> BTreeMap<String, (usize, usize, String)> {
    let mut calls: BTreeMap<String, (usize, usize, String)> = BTreeMap::new();
    for record in all {
        let Some(call) = &record.call_id else { continue };
        let entry = calls.entry(call.clone()).or_default();
        match record.kind {
            Kind::ToolCallStarted => entry.0 += 1,
            Kind::ToolCallFinished => {
                entry.1 += 1;
                entry.2 = record.text("outcome").unwrap_or_default().to_owned();
            }
            _ => {}
        }
    }
    calls
}

/// One random history: lives that end in order, by a kill or by a power loss, with calls under way; then one that looks.
fn history(seed: u64) -> (usize, usize) {
    let mut dice = Dice(seed);
    let machine = Machine::new(seed + 1);
    let mut number = 0;
    for _ in 0..1 + dice.below(3) {
        let what = if dice.below(2) == 0 { What::Stop } else { What::StopBefore };
        machine.expect((dice.below(3) > 0).then(|| Trouble { at: dice.below(40), what }));
        if let Ok((journal, _)) = open(&machine, settings(Sync::Group, 2_500)) {
            let mut under_way = Vec::new();
            for _ in 0..dice.below(6) {
                let (kind, call) = if under_way.is_empty() || dice.below(2) == 0 {
                    number += 1;
                    under_way.push(format!("c{number}"));
                    (Kind::ToolCallStarted, format!("c{number}"))
                } else {
                    let at = dice.below(under_way.len() as u64) as usize;
                    (Kind::ToolCallFinished, under_way.swap_remove(at))
                };
                if journal.append(&event(kind, &call)).is_err() {
                    break;
                }
            }
        }
        let power = dice.below(3) == 0;
        if power { machine.lose_power() } else { machine.start() }
    }
    machine.expect(None);
    drop(open(&machine, settings(Sync::Group, 2_500)).unwrap_or_else(|why| panic!("seed {seed}: {why}")));
    let all = records(&reader(&machine));
    let calls = balance(&all);
    for (call, (started, ended, _)) in &calls {
        assert_eq!((*started, *ended), (1, 1), "seed {seed}: {call}");
    }
    // Looking again changes nothing.
    machine.start();
    let (journal, opened) = open(&machine, settings(Sync::Group, 2_500)).unwrap();
    assert_eq!(opened.interrupted, 0, "seed {seed}");
    drop(journal);
    (calls.len(), calls.values().filter(|(.., outcome)| outcome == "interrupted").count())
}

#[test]
fn every_call_that_started_ends_once() {
    let add = |(calls, interrupted): (usize, usize), (more, cut)| (calls + more, interrupted + cut);
    let (calls, interrupted) = std::thread::scope(|scope| {
        let half = |half: u64| {
            scope.spawn(move || (0..10_000_u64).map(|seed| history(seed * 2 + half)).fold((0, 0), add))
        };
        let halves = [half(0), half(1)];
        halves.into_iter().map(|half| half.join().unwrap()).fold((0, 0), add)
    });
    assert!(
        calls > 20_000 && interrupted > 5_000 && calls - interrupted > 5_000,
        "{calls} calls, {interrupted} interrupted"
    );
}

#[test]
fn a_call_of_a_dead_process_is_closed_as_interrupted_with_its_names() {
    for power in [false, true] {
        let machine = Machine::new(3);
        let (journal, _) = open(&machine, settings(Sync::Group, 1 << 20)).unwrap();
        journal.append(&event(Kind::ToolCallStarted, "a")).unwrap();
        journal.append(&event(Kind::ToolCallStarted, "b")).unwrap();
        journal.append(&event(Kind::ToolCallFinished, "a")).unwrap();
        machine.expect(Some(Trouble { at: 0, what: What::StopBefore }));
        journal.append(&event(Kind::ToolCallStarted, "c")).unwrap_err();
        drop(journal);
        machine.expect(None);
        if power {
            machine.lose_power()
        } else {
            machine.start()
        }
        let (_journal, opened) = open(&machine, settings(Sync::Group, 1 << 20)).unwrap();
        assert_eq!(opened.interrupted, 1);
        let all = records(&reader(&machine));
        let closed = all.iter().find(|record| record.text("outcome") == Some("interrupted")).unwrap();
        assert_eq!((closed.call_id.as_deref(), closed.session_id.as_deref()), (Some("b"), Some("s")));
        assert_eq!(closed.text("tool"), Some("shell_exec"));
        assert_eq!(balance(&all).len(), 2);
    }
}

#[test]
fn a_call_of_a_living_process_is_left_alone() {
    let place = crate::stage::Temporary::quick();
    let (living, _) = place.open(settings(Sync::Group, 1 << 20)).unwrap();
    living.append(&event(Kind::ToolCallStarted, "long")).unwrap();
    let (_other, opened) = place.open(settings(Sync::Group, 1 << 20)).unwrap();
    assert_eq!(opened.interrupted, 0);
    living.append(&event(Kind::ToolCallFinished, "long")).unwrap();
    drop(living);
    assert_eq!(balance(&records(&place.reader()))["long"], (1, 1, "finished".to_owned()));
    assert_eq!(std::fs::read_dir(place.journal().join("running")).unwrap().count(), 0);
}
