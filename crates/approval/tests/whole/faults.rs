//! APR-2: silence, a crash, a panic, a disconnect, a full queue, a shutdown: a no.

use std::sync::Arc;
use std::time::{Duration, Instant};

use approval::{
    Answer, Approver, Asked, Callback, Cause, Coordinator, Decision, Limits, Provider, Queue, Reply,
    SystemClock, Wait,
};

use crate::asking::{Random, TestClock, again, asked, asked_in};

/// A provider that fails in one of the ways that providers fail.
struct Failing {
    way: u64,
    clock: Arc<TestClock>,
    coordinator: Coordinator,
}

impl Provider for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply {
        match self.way {
            0 => Reply::Failed("crashed".into()),
            1 => Reply::Pass,
            2 => {
                // Silent until it is over, and then a yes.
                self.clock.pass(wait.left());
                Reply::Answer(Answer::new(Decision::Approved, "late"))
            }
            3 => {
                self.coordinator.shutdown();
                Reply::Answer(Answer::new(Decision::Approved, "after the shutdown"))
            }
            4 => {
                let _ = self.coordinator.cancel(asked.id, "disconnected");
                Reply::Answer(Answer::new(Decision::ApprovedForSession, "after the end"))
            }
            5 => {
                self.clock.pass(wait.left());
                Reply::Held
            }
            6 => Reply::Answer(Answer::new(Decision::Denied, "somebody")),
            7 => Reply::Otherwise(Answer::new(Decision::Abort, "somebody")),
            8 => {
                self.clock.change(|times| times.date_ms = 0);
                Reply::Failed("odd".into())
            }
            _ => {
                let mut other = asked.key.as_str().to_owned();
                other.replace_range(..1, if other.starts_with('0') { "1" } else { "0" });
                let key = call::ApprovalKey::from_hex(&other).expect("a key");
                Reply::Answer(Answer::new(Decision::Approved, "to another call").to(&key))
            }
        }
    }
}

#[test]
fn a_hundred_thousand_fault_schedules_allow_nothing() {
    // APR-2
    let question = asked("git push");
    for seed in 0..100_000_u64 {
        let mut random = Random(seed);
        let clock = TestClock::new();
        let coordinator = Coordinator::new(clock.clone(), Limits { pending: 1, pending_of_session: 1 });
        let mut approver = Approver::new(coordinator.clone(), Duration::from_secs(60));
        for _ in 0..random.below(4) {
            let (clock, coordinator) = (Arc::clone(&clock), coordinator.clone());
            approver = approver.with(Box::new(Failing { way: random.below(10), clock, coordinator }));
        }
        let _full = (random.below(8) == 0).then(|| {
            coordinator.open(Arc::new(again(&question)), Duration::from_secs(600)).expect("a place")
        });
        let verdict = approver.decide(Arc::new(again(&question)));
        assert!(!verdict.outcome().is_yes(), "seed {seed}: {:?}", verdict.outcome());
        assert!(verdict.into_consent().is_err());
    }
}

#[test]
fn the_faults_are_what_stops_the_yes() {
    // The control: the same question with a provider that does its work is approved.
    let coordinator = Coordinator::new(TestClock::new(), Limits::default());
    let approver = Approver::new(coordinator, Duration::from_secs(60))
        .with(Box::new(Callback::new(|_| Reply::Answer(Answer::new(Decision::Approved, "ann")))));
    assert!(approver.decide(Arc::new(asked("git push"))).outcome().is_yes());
}

#[test]
fn a_provider_that_panics_or_hangs_is_a_no_within_a_second_of_the_deadline() {
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    for (function, cause, patience) in [
        (Callback::new(|_| panic!("a bug")), Cause::ProviderFailed, Duration::from_secs(20)),
        (
            Callback::new(|_| {
                std::thread::sleep(Duration::from_secs(3));
                Reply::Answer(Answer::new(Decision::Approved, "too late"))
            }),
            Cause::TimedOut,
            Duration::from_millis(150),
        ),
    ] {
        let approver = Approver::new(coordinator.clone(), patience).with(Box::new(function));
        #[expect(clippy::disallowed_methods, reason = "a test measures how long it really takes")]
        let start = Instant::now();
        let verdict = approver.decide(Arc::new(asked("git push")));
        assert!(start.elapsed() < patience + Duration::from_secs(1));
        assert_eq!((verdict.outcome().decision(), verdict.outcome().cause()), (Decision::Denied, cause));
    }
}

#[test]
fn a_question_that_nobody_answers_is_denied_in_time_and_a_shutdown_denies_all() {
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let silent = Approver::new(coordinator.clone(), Duration::from_millis(50)).with(Box::new(Queue));
    assert_eq!(silent.decide(Arc::new(asked("git push"))).outcome().cause(), Cause::TimedOut);
    let patient = Arc::new(Approver::new(coordinator.clone(), Duration::from_secs(60)).with(Box::new(Queue)));
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let patient = Arc::clone(&patient);
            std::thread::spawn(move || {
                patient.decide(Arc::new(asked_in(&number.to_string(), "git push"))).outcome().cause()
            })
        })
        .collect();
    while coordinator.len() < 4 {
        std::thread::yield_now();
    }
    assert_eq!(coordinator.shutdown(), 4);
    for thread in threads {
        assert_eq!(thread.join().expect("no panic"), Cause::ShutDown);
    }
    assert_eq!(patient.decide(Arc::new(asked("git push"))).outcome().cause(), Cause::ShutDown);
}
