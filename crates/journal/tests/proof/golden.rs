//! AUD-12: journals of every form that was ever released stay readable.

use journal::simulated::Machine;
use journal::{Colour, Head, PublicKey, Reader, timeline};

use crate::stage::{reader, records};

const FORMAT_1: &str = include_str!("../golden/format-1.jsonl");
const FORMAT_1_KEY: &str = include_str!("../golden/format-1.key");
const FORMAT_1_HEAD: &str = include_str!("../golden/format-1.head");

fn journal(text: &str) -> Reader {
    let machine = Machine::new(1);
    machine.overwrite("segments", "00000001.jsonl", text.as_bytes());
    reader(&machine)
}

#[test]
fn a_journal_of_format_1_verifies() {
    let key = PublicKey::from_hex(FORMAT_1_KEY).unwrap();
    let head = Head::from_json(FORMAT_1_HEAD).unwrap();
    let report = journal(FORMAT_1).verify(&[key], Some(&head)).unwrap();
    assert!(report.is_good() && report.unsealed == 0, "{report}");
    assert_eq!(report.records, FORMAT_1.lines().count() as u64);
    assert_eq!(head.to_json(), FORMAT_1_HEAD.trim());
}

#[test]
fn a_journal_of_format_1_reads_as_it_did() {
    let lines: Vec<String> =
        records(&journal(FORMAT_1)).iter().map(|record| timeline(record, Colour::Off)).collect();
    assert_eq!(lines.join("\n"), include_str!("../golden/format-1.timeline").trim_end());
}
