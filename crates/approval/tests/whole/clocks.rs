//! APR-4: only the monotonic clock counts, whatever happens to the date.

use std::sync::Arc;
use std::time::Duration;

use approval::{Answer, Cause, Coordinator, Decision, Limits};

use crate::asking::{Random, TestClock, again, asked};

#[test]
fn ten_thousand_schedules_of_a_date_that_jumps_settle_none_early_and_none_late() {
    let question = asked("git push");
    let year_ms: u64 = 365 * 86_400_000;
    for seed in 0..10_000 {
        let mut random = Random(seed);
        let clock = TestClock::new();
        let coordinator = Coordinator::new(clock.clone(), Limits::default());
        let patience = 1 + random.below(100_000);
        let question = Arc::new(again(&question));
        let ticket =
            coordinator.open(Arc::clone(&question), Duration::from_millis(patience)).expect("a place");
        let mut passed = 0;
        while passed < patience {
            assert_eq!(ticket.outcome(), None, "seed {seed}: early at {passed} of {patience}");
            match random.below(4) {
                0 => clock.change(|times| times.date_ms += year_ms),
                1 => clock.change(|times| times.date_ms = times.date_ms.saturating_sub(2 * year_ms)),
                // Asleep: the time since the start goes on, the monotonic clock does not.
                2 => clock.change(|times| times.since_boot += Duration::from_secs(3600)),
                _ => {
                    let step = (1 + random.below(patience)).min(patience - passed);
                    passed += step;
                    clock.pass(Duration::from_millis(step));
                }
            }
        }
        if seed % 2 == 0 {
            assert!(
                coordinator.resolve(question.id, &Answer::new(Decision::Approved, "late")).is_err(),
                "seed {seed}"
            );
        }
        assert_eq!(ticket.outcome().map(|outcome| outcome.cause()), Some(Cause::TimedOut), "seed {seed}");
    }
}
