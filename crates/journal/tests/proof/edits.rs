//! AUD-4: any flipped bit is found. AUD-5: edits are found. AUD-6: a torn tail repairs itself.

use call::sha256_hex;
use journal::simulated::Machine;
use journal::{Head, Kind, PublicKey, Report, Sync, Why};
use serde_json::Value;

use crate::stage::{Dice, event, keys, open, reader, records, settings};

const FIRST: &str = "00000001.jsonl";
const SECOND: &str = "00000002.jsonl";

/// A journal of two segments, sealed, with its key, its head, and the bytes of both.
struct Written {
    machine: Machine,
    key: PublicKey,
    head: Head,
    files: [Vec<u8>; 2],
}

fn written(seed: u64, count: usize) -> Written {
    let machine = Machine::new(seed);
    let (journal, _) = open(&machine, settings(Sync::Group, 300 * count as u64)).unwrap();
    for number in 0..count {
        journal.append(&event(Kind::ToolCallRequested, &format!("c{number}"))).unwrap();
    }
    drop(journal);
    let files = [FIRST, SECOND].map(|name| machine.bytes("segments", name).expect("two segments"));
    assert!(machine.bytes("segments", "00000003.jsonl").is_none());
    let head = reader(&machine).head().unwrap().unwrap();
    Written { key: keys(&machine).unwrap().public(), head, files, machine }
}

impl Written {
    fn verify(&self, files: [&[u8]; 2], head: Option<&Head>) -> Report {
        for (name, bytes) in [FIRST, SECOND].into_iter().zip(files) {
            self.machine.overwrite("segments", name, bytes);
        }
        reader(&self.machine).verify(std::slice::from_ref(&self.key), head).unwrap()
    }

    fn lines(&self) -> Vec<Vec<u8>> {
        self.files.iter().flat_map(|file| file.split_inclusive(|b| *b == b'\n')).map(<[u8]>::to_vec).collect()
    }

    /// Verifies other lines in place of these; the first segment keeps its number of lines, as far as there are enough.
    fn verify_lines(&self, lines: &[Vec<u8>], head: Option<&Head>) -> Report {
        let border = lines
            .iter()
            .skip(1)
            .position(|line| text(line).contains("\"type\":\"segment\""))
            .map_or(lines.len(), |at| at + 1);
        let (first, second) = lines.split_at(border);
        self.verify([&first.concat(), &second.concat()], head)
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8(line.to_vec()).unwrap()
}

/// The chain computed anew over changed lines, by somebody who knows the form but not the key.
fn rechained(lines: &[String]) -> Vec<Vec<u8>> {
    let mut prev = "0".repeat(64);
    let mut all = Vec::new();
    for (line, seq) in lines.iter().zip(1..) {
        let end = line.rfind(",\"hash\":\"").unwrap();
        let start = line.find("\",\"sealed\":").unwrap();
        let mut hashed = format!("{{\"seq\":{seq},\"prev\":\"{prev}{}", &line[start..end]);
        if hashed.contains("\"type\":\"checkpoint\"") {
            let value: Value = serde_json::from_str(line).unwrap();
            let old = value["payload"]["head"].as_str().unwrap();
            hashed = hashed.replace(&format!("\"head\":\"{old}\""), &format!("\"head\":\"{prev}\""));
        }
        prev = sha256_hex(hashed.as_bytes());
        all.push(format!("{hashed},\"hash\":\"{prev}\"}}\n").into_bytes());
    }
    all
}

#[test]
fn any_flipped_bit_is_found_and_the_record_is_named() {
    let journal = written(1, 40);
    assert!(journal.verify([&journal.files[0], &journal.files[1]], None).is_good());
    let mut dice = Dice(4);
    let sizes = [journal.files[0].len() as u64, journal.files[1].len() as u64];
    for _ in 0..20_000 {
        let at = dice.below(sizes[0] + sizes[1]);
        let (file, at) = if at < sizes[0] { (0, at as usize) } else { (1, (at - sizes[0]) as usize) };
        let bit = dice.below(8);
        let mut files = journal.files.clone();
        files[file][at] ^= 1 << bit;
        let report = journal.verify([&files[0], &files[1]], None);
        let whole = [&journal.files[0][..], &journal.files[1][..]];
        let before = if file == 0 { 0 } else { whole[0].iter().filter(|b| **b == b'\n').count() };
        let record = (before + whole[file][..at].iter().filter(|b| **b == b'\n').count() + 1) as u64;
        let bad = report.bad.unwrap_or_else(|| panic!("file {file}, byte {at}, bit {bit} is not found"));
        assert_eq!(bad.seq, record, "file {file}, byte {at}, bit {bit}: {bad:?}");
    }
}

#[test]
fn records_that_are_deleted_doubled_or_swapped_are_found() {
    let journal = written(2, 40);
    let lines = journal.lines();
    for at in 0..lines.len() - 1 {
        let mut deleted = lines.clone();
        deleted.remove(at);
        let mut doubled = lines.clone();
        doubled.insert(at, lines[at].clone());
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        for (what, lines) in [("deleted", deleted), ("doubled", doubled), ("swapped", swapped)] {
            assert!(!journal.verify_lines(&lines, None).is_good(), "record {} {what}", at + 1);
        }
    }
    let missing = reader(&journal.machine);
    journal.machine.overwrite("segments", "00000004.jsonl", &journal.files[1]);
    assert!(!missing.verify(std::slice::from_ref(&journal.key), None).unwrap().is_good());
}

#[test]
fn records_from_another_journal_are_found() {
    let (journal, other) = (written(3, 40), written(4, 40));
    let (lines, others) = (journal.lines(), other.lines());
    for at in 0..lines.len() {
        let mut spliced = lines.clone();
        spliced[at] = others[at].clone();
        assert!(!journal.verify_lines(&spliced, None).is_good(), "record {}", at + 1);
        let tail: Vec<_> = lines[..at].iter().chain(&others[at..]).cloned().collect();
        assert!(!journal.verify_lines(&tail, None).is_good(), "from record {}", at + 1);
    }
    assert!(
        other.head.is_signed_by(std::slice::from_ref(&other.key))
            && !other.head.is_signed_by(std::slice::from_ref(&journal.key))
    );
    assert!(!journal.verify_lines(&lines, Some(&other.head)).is_good());
}

#[test]
fn a_chain_that_was_computed_anew_is_found() {
    let journal = written(5, 150);
    let lines: Vec<String> = journal.lines().iter().map(|line| text(line)).collect();
    let honest = rechained(&lines);
    assert_eq!(honest, journal.lines(), "the test knows the form");
    let sealed = lines.iter().rposition(|line| line.contains("\"type\":\"checkpoint\"")).unwrap();
    for at in (1..sealed).step_by(7) {
        if lines[at].contains("\"type\":\"checkpoint\"") || lines[at].contains("\"type\":\"segment\"") {
            continue;
        }
        let mut changed = lines.clone();
        changed[at] = changed[at].replace("shell_exec", "shell_safe");
        let report = journal.verify_lines(&rechained(&changed), None);
        let bad = report.bad.unwrap_or_else(|| panic!("record {} was rewritten", at + 1));
        assert!(bad.why.contains("signature"), "{bad:?}");
        // It names the first signature that does not hold.
        let next =
            lines.iter().skip(at).position(|line| line.contains("\"type\":\"checkpoint\"")).unwrap() + at + 1;
        assert_eq!(bad.seq as usize, next);
    }
}

/// Whoever drops the checkpoints as well leaves too many records unsealed.
#[test]
fn missing_checkpoints_are_found() {
    let journal = written(6, 150);
    let lines: Vec<String> = journal.lines().iter().map(|line| text(line)).collect();
    let without: Vec<String> = lines
        .iter()
        .filter(|line| !line.contains("\"type\":\"checkpoint\""))
        .map(|line| {
            let start = line.find("\"sealed\":").unwrap();
            let end = line.find(",\"kept\":").unwrap();
            format!("{}\"sealed\":0{}", &line[..start], &line[end..])
        })
        .collect();
    let report = journal.verify_lines(&rechained(&without), None);
    assert!(report.bad.is_some_and(|bad| bad.why.contains("checkpoint")));
}

#[test]
fn a_cut_anywhere_is_found_by_the_head_or_said_to_be_unsealed() {
    let journal = written(7, 40);
    let whole = journal.verify([&journal.files[0], &journal.files[1]], Some(&journal.head));
    assert!(whole.is_good() && whole.unsealed == 0, "{whole}");
    let last = journal.files[1].len();
    for at in 0..last {
        let report = journal.verify([&journal.files[0], &journal.files[1][..at]], Some(&journal.head));
        assert!(!report.is_good(), "cut at {at} of {last}");
        let alone = journal.verify([&journal.files[0], &journal.files[1][..at]], None);
        let border = at > 0 && journal.files[1][at - 1] == b'\n';
        if border {
            assert!(alone.is_good() && alone.torn_bytes == 0, "cut at {at}: {alone}");
            let checkpoint =
                text(journal.files[1][..at].split_inclusive(|b| *b == b'\n').next_back().unwrap());
            assert_eq!(
                alone.unsealed == 0,
                checkpoint.contains("\"type\":\"checkpoint\""),
                "cut at {at}: {alone}"
            );
        } else {
            assert!(!alone.is_good() || alone.torn_bytes > 0, "cut at {at}: {alone}");
        }
    }
    for at in 0..journal.files[0].len() {
        assert!(
            !journal.verify([&journal.files[0][..at], &journal.files[1]], None).is_good(),
            "first cut at {at}"
        );
    }
}

#[test]
fn another_key_does_not_pass() {
    let (journal, other) = (written(8, 40), written(9, 40));
    let report = reader(&journal.machine).verify(&[other.key], None).unwrap();
    assert!(report.bad.is_some_and(|bad| bad.why.contains("another key")));
    assert!(reader(&journal.machine).verify(&[], None).unwrap().bad.is_some());
}

#[test]
fn a_tail_that_is_torn_at_any_byte_repairs_itself_and_says_so() {
    let journal = written(10, 40);
    let bytes = &journal.files[1];
    let last = bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    let count = journal.lines().len() as u64;
    for at in last..bytes.len() {
        journal.machine.overwrite("segments", SECOND, &bytes[..at]);
        journal.machine.start();
        let (opened, repaired) = {
            let (reopened, opened) = open(&journal.machine, settings(Sync::Group, 12_000)).unwrap();
            reopened.append(&event(Kind::RunStarted, "on")).unwrap();
            (opened, records(&reader(&journal.machine)))
        };
        let torn = (at - last) as u64;
        assert_eq!(opened.repaired_bytes, torn);
        let said: Vec<_> = repaired.iter().filter(|record| record.kind == Kind::JournalRepaired).collect();
        assert_eq!(said.len(), usize::from(torn > 0), "cut at {at}");
        assert!(said.iter().all(|record| record.number("bytes") == Some(torn as i64)));
        // One record less, and one or two more.
        assert_eq!(repaired.len() as u64, count - 1 + 1 + said.len() as u64);
        assert!(reader(&journal.machine).verify(std::slice::from_ref(&journal.key), None).unwrap().is_good());
    }
}

#[test]
fn anything_worse_than_a_torn_last_line_is_refused() {
    let journal = written(11, 40);
    let bytes = &journal.files[1];
    let last = bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    let changed = |at: usize| {
        let mut other = bytes.clone();
        other[at] ^= 1;
        other
    };
    let table = [
        ("a last line with another byte", changed(last + 40)),
        ("a last line with another end", [&bytes[..bytes.len() - 2], b" \n"].concat()),
        ("text after the last line", [bytes, &b"not a record\n"[..]].concat()),
        ("a torn line before another", [&bytes[..last + 20], b"\n", &bytes[last..]].concat()),
        ("a segment that does not begin", bytes[10..].to_vec()),
        ("an empty segment", Vec::new()),
        ("zeros after a line", [bytes, &[0; 100_000][..]].concat()),
    ];
    for (what, bytes) in table {
        journal.machine.overwrite("segments", SECOND, &bytes);
        journal.machine.start();
        let refused = open(&journal.machine, settings(Sync::Group, 12_000)).map(drop);
        let refused = refused.err().unwrap_or_else(|| panic!("{what}"));
        assert_eq!(refused.why, Why::Damaged, "{what}: {refused}");
        assert!(refused.message.contains("bailiwick journal verify"), "{what}");
        assert_eq!(journal.machine.bytes("segments", SECOND).unwrap(), bytes, "{what}: it was touched");
    }
}

/// After a power loss unsynced records may be anything, but what a later record says was on disk must be there.
#[test]
fn after_a_boot_only_what_was_not_kept_may_be_missing() {
    let journal = written(12, 40);
    let lines: Vec<&[u8]> = journal.files[1].split_inclusive(|b| *b == b'\n').collect();
    let damage = |at: usize| {
        let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        lines[at][100] ^= 1;
        lines.concat()
    };
    let try_open = |bytes: Vec<u8>| {
        journal.machine.overwrite("segments", SECOND, &bytes);
        journal.machine.lose_power();
        open(&journal.machine, settings(Sync::Group, 12_000)).map(|(_, opened)| opened.repaired_bytes)
    };
    // The last line was a checkpoint that nobody waited for.
    assert_eq!(try_open(damage(lines.len() - 1)).unwrap() as usize, lines[lines.len() - 1].len());
    // The one before was acknowledged, and the checkpoint says so.
    assert_eq!(try_open(damage(lines.len() - 2)).unwrap_err().why, Why::Damaged);
    assert_eq!(try_open(damage(3)).unwrap_err().why, Why::Damaged);
}
