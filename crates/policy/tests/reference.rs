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

use effects::{Effect, Place};
use evaluator::Effective;
use generate::Dice;
use model::{Asked, File};
use policy::{Decision, Step};

const CASES: usize = 1_000_000;
const QUESTIONS_OF_ONE_CONFIGURATION: usize = 100;
/// Of each kind of difference one is made small and printed, but no more kinds than these.
const SHOWN: usize = 12;

type Verdict = (Decision, Step);

/// Where the real one is known to differ from its documentation. A row that nothing meets any more fails the test: then
/// it is mended, and the row goes.
type Known = (&'static str, fn(&[File], &Asked, Verdict, Verdict) -> bool);

const KNOWN: &[Known] = &[
    ("rules are not held against a call without parts", |files, asked, _, _| {
        asked.analysis.parts.is_empty() && files.iter().any(|file| !file.rules.is_empty())
    }),
    ("`outside_workspace` takes what is not known for certainly outside", |files, asked, _, _| {
        let unknown = |effect: &Effect| matches!(effect, Effect::Unknown(_));
        asked.analysis.parts.iter().any(|part| part.effects.iter().any(unknown))
            && files.iter().any(|file| file.rules.iter().any(|rule| rule.outside_workspace.is_some()))
    }),
    ("`require_sandbox` of a weaker origin's rule is dropped", |files, _, expected, real| {
        expected.0 == Decision::Deny
            && real.0 != Decision::Deny
            && expected.1 == real.1
            && files.len() > 1
            && files.iter().any(|file| file.rules.iter().any(|rule| rule.require_sandbox))
    }),
    ("`read_only` leaves the writing of credentials to step 4", |_, asked, expected, real| {
        let of_credentials = |effect: &Effect| match effect {
            Effect::Write(target) | Effect::Delete { target, .. } => target.place == Place::Credential,
            _ => false,
        };
        expected == (Decision::Deny, Step::ReadOnly)
            && real.0 == Decision::Deny
            && asked.analysis.parts.iter().any(|part| part.effects.iter().any(of_credentials))
    }),
];

#[test]
fn the_order_of_evaluation_equals_the_reference_in_a_million_cases() {
    let mut dice = Dice::new(generate::seed());
    let cases = generate::cases(CASES);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut known = vec![0_usize; KNOWN.len()];
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
            if let Some(row) = KNOWN.iter().position(|(_, is)| is(&files, &asked, expected, real)) {
                known[row] += 1;
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
    println!("{cases} cases, decided as follows: {seen:#?}\nknown differences, row by row: {known:?}");
    assert!(different.is_empty(), "{different:#?}");
    for ((row, _), count) in KNOWN.iter().zip(&known) {
        assert!(*count > 0, "mended, so take the row out: {row}");
    }
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
        expected != real && !KNOWN.iter().any(|(_, is)| is(files, asked, expected, real))
    };
    let (files, asked) = shrink::shrink(files.to_vec(), asked.clone(), differs);
    for file in &files {
        println!("# {:?}\n{}", file.origin, file.yaml());
    }
    let (expected, real) = verdicts(&files, &asked);
    let reason = model::load(&files).rule(&asked.question()).reason;
    println!("{asked:?}\nreference {expected:?}\nreal {real:?}: {reason}\n");
}
