//! What coding agents run all day (`everyday.txt`): ordinary work passes, what needs a person asks, what is beyond doubt Keeps EFF-2.
//! terrible is denied. The profile is dev, and there is no fence.

use std::collections::BTreeMap;

use crate::stage::{gate, judge};
use gate::policy::Decision;

struct Row {
    line: usize,
    label: Decision,
    command: String,
    /// The table and the gate are known to disagree.
    disputed: bool,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut label = None;
    for (index, text) in include_str!("everyday.txt").lines().enumerate() {
        if let Some(heading) = text.strip_prefix("=== ") {
            label = Some(match heading.split_once(':').expect("a label and a heading").0 {
                "allow" => Decision::Allow,
                "ask" => Decision::Ask,
                "deny" => Decision::Deny,
                other => panic!("line {}: `{other}` is no label", index + 1),
            });
            continue;
        }
        // Above the first group stand comments; inside one, only `## ` is a comment: `# x` is a command that agents send.
        let Some(label) = label.filter(|_| !text.is_empty() && !text.starts_with("## ")) else { continue };
        let (disputed, command) = match text.strip_prefix("? ") {
            Some(command) => (true, command),
            None => (false, text),
        };
        rows.push(Row { line: index + 1, label, command: command.replace('⏎', "\n"), disputed });
    }
    rows
}

#[test]
fn every_row_gets_its_decision() {
    let gate = gate("");
    let rows = rows();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<(Decision, Decision), usize> = BTreeMap::new();
    for row in &rows {
        let ruling = judge(&gate, &row.command).ruling;
        *counts.entry((row.label, ruling.decision)).or_default() += 1;
        let told = format!(
            "line {}: {:?} is {} instead of {}: {}",
            row.line, row.command, ruling.decision, row.label, ruling.reason
        );
        match (ruling.decision == row.label, row.disputed) {
            (true, false) => {}
            (true, true) => {
                wrong.push(format!("line {}: the `?` can go: it is {}", row.line, ruling.decision));
            }
            (false, true) => println!("disputed: {told}"),
            (false, false) => wrong.push(told),
        }
    }
    for ((label, decision), count) in counts {
        println!("{label} expected, {decision} given: {count}");
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_is_large_and_hides_little() {
    let rows = rows();
    for (label, least) in [(Decision::Allow, 400), (Decision::Ask, 250), (Decision::Deny, 150)] {
        let count = rows.iter().filter(|row| row.label == label && !row.disputed).count();
        assert!(count >= least, "{label}: {count}");
    }
    let disputed = rows.iter().filter(|row| row.disputed).count();
    assert!(disputed * 100 <= rows.len() * 3, "{disputed} of {} rows are disputed", rows.len());
    let mut commands: Vec<&str> = rows.iter().map(|row| row.command.as_str()).collect();
    commands.sort_unstable();
    let before = commands.len();
    commands.dedup();
    assert_eq!(commands.len(), before, "a row stands there twice");
}
