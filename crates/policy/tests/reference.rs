//! POL-6: the real evaluator equals a second one that was written from the documentation alone, over a million generated
//! configurations and calls. `BAILIWICK_SEED` repeats a run, `BAILIWICK_CASES` makes it longer.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of a test may fail as the test itself may"
)]

#[path = "reference/evaluator.rs"]
mod evaluator;
#[path = "reference/generate.rs"]
mod generate;
#[path = "reference/matching.rs"]
mod matching;
#[path = "reference/model.rs"]
mod model;
#[path = "reference/shrink.rs"]
mod shrink;

use std::collections::BTreeMap;

use evaluator::Effective;
use generate::Dice;
use model::{Asked, File};

const CASES: usize = 1_000_000;
const QUESTIONS_OF_ONE_CONFIGURATION: usize = 100;
/// Of each kind of difference one is made small and printed, but no more kinds than these.
const SHOWN: usize = 12;

#[test]
fn the_order_of_evaluation_equals_the_reference_in_a_million_cases() {
    let mut dice = Dice::new(generate::seed());
    let cases = generate::cases(CASES);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut different: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..cases / QUESTIONS_OF_ONE_CONFIGURATION {
        let files = generate::files(&mut dice);
        let config = model::load(&files);
        let reference = Effective::of(&files);
        for _ in 0..QUESTIONS_OF_ONE_CONFIGURATION {
            let asked = generate::asked(&mut dice);
            let ruling = config.rule(&asked.question());
            let (expected, real) = (reference.rule(&asked), (ruling.decision, ruling.step));
            *seen.entry(format!("{expected:?}")).or_default() += 1;
            if real == expected {
                continue;
            }
            let kinds = different.len();
            let count = different.entry(format!("reference {expected:?}, real {real:?}")).or_default();
            *count += 1;
            if *count == 1 && kinds < SHOWN {
                show(&files, &asked);
            }
        }
    }
    println!("{cases} cases, decided as follows: {seen:#?}");
    assert!(different.is_empty(), "{different:#?}");
    // Every way to decide has been met often enough to mean something.
    for way in [
        "(Deny, ReadOnly)",
        "(Deny, DenyRules)",
        "(Deny, Paths)",
        "(Deny, Commands)",
        "(Deny, ModeDeny)",
        "(Deny, Engine)",
        "(Ask, Engine)",
        "(Ask, Escalation)",
        "(Ask, Boundary)",
        "(Ask, Unknown)",
        "(Ask, AskRules)",
        "(Allow, AllowRules)",
        "(Allow, ModeAllow)",
        "(Ask, Otherwise)",
    ] {
        assert!(seen.get(way).is_some_and(|count| *count >= cases / 1_000), "{way}: {:?}", seen.get(way));
    }
}

/// Prints a difference, as small as it can be made.
fn show(files: &[File], asked: &Asked) {
    let verdicts = |files: &[File], asked: &Asked| {
        let ruling = model::load(files).rule(&asked.question());
        (Effective::of(files).rule(asked), (ruling.decision, ruling.step))
    };
    let differs = |files: &[File], asked: &Asked| {
        let (expected, real) = verdicts(files, asked);
        expected != real
    };
    let (files, asked) = shrink::shrink(files.to_vec(), asked.clone(), differs);
    for file in &files {
        println!("# {:?}\n{}", file.origin, file.yaml());
    }
    let (expected, real) = verdicts(&files, &asked);
    let reason = model::load(&files).rule(&asked.question()).reason;
    println!("{asked:?}\nreference {expected:?}\nreal {real:?}: {reason}\n");
}
