//! APR-1: one outcome for each question, the same for everybody; APR-3: a late yes does nothing, and a yes for one call is none
//! for another.

use std::future::Future;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use approval::{
    Answer, Approver, Begun, Callback, Cause, Coordinator, Decision, Invalid, Limits, Queue, Reason, Reply,
    RunGuard, RunState, SystemClock, Unresolved,
};

use crate::asking::{Random, TestClock, again, asked, asked_in};

const MINUTE: Duration = Duration::from_secs(60);

fn coordinator(clock: &Arc<TestClock>) -> Coordinator {
    Coordinator::new(clock.clone(), Limits::default())
}

#[test]
fn the_first_valid_answer_wins_and_later_ones_learn_who_won() {
    let coordinator = coordinator(&TestClock::new());
    let question = Arc::new(asked("git push"));
    let ticket = coordinator.open(Arc::clone(&question), MINUTE).expect("a place");
    assert_eq!(coordinator.len(), 1);
    let won = coordinator.resolve(question.id, &Answer::new(Decision::Approved, "ann")).expect("wins");
    let late = coordinator.resolve(question.id, &Answer::new(Decision::Denied, "bob"));
    assert_eq!(late, Err(Unresolved::Settled(Box::new(won.clone()))));
    assert_eq!(coordinator.cancel(question.id, "x"), Err(Unresolved::Settled(Box::new(won.clone()))));
    let verdict = ticket.wait();
    assert_eq!(verdict.outcome(), &won);
    assert_eq!(
        (won.decision(), won.reason(), won.by().as_str()),
        (Decision::Approved, Reason::Provider, "ann")
    );
    assert!(coordinator.is_empty());
    let consent = verdict.into_consent().expect("a yes");
    assert!(consent.spend(&question.key).is_ok());
}

#[test]
fn eight_threads_settle_each_question_once_and_agree() {
    // APR-1: resolvers, cancel, time-out and shutdown at once, a thousand times.
    for round in 0..1000_u64 {
        let clock = TestClock::new();
        let coordinator = coordinator(&clock);
        let question = Arc::new(asked_in("s", "git push"));
        let ticket = coordinator.open(Arc::clone(&question), MINUTE).expect("a place");
        let barrier = Arc::new(Barrier::new(8));
        let threads: Vec<_> = (0..8_u64)
            .map(|number| {
                let (coordinator, question, barrier, clock) =
                    (coordinator.clone(), Arc::clone(&question), Arc::clone(&barrier), Arc::clone(&clock));
                std::thread::spawn(move || {
                    barrier.wait();
                    let decision = Decision::ALL[usize::try_from((round + number) % 5).expect("fits")];
                    match number {
                        5 => coordinator.cancel(question.id, "not wanted"),
                        6 if round % 3 == 0 => {
                            clock.pass(MINUTE);
                            coordinator.expire();
                            coordinator.cancel(question.id, "late")
                        }
                        7 if round % 4 == 0 => {
                            coordinator.shutdown();
                            coordinator.cancel(question.id, "late")
                        }
                        _ => coordinator.resolve(question.id, &Answer::new(decision, &number.to_string())),
                    }
                })
            })
            .collect();
        let outcome = ticket.wait().outcome().clone();
        let mut winners = 0;
        for thread in threads {
            match thread.join().expect("no panic") {
                Ok(own) => {
                    winners += 1;
                    assert_eq!(own, outcome);
                }
                Err(Unresolved::Settled(winner)) => assert_eq!(*winner, outcome),
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(winners <= 1, "{winners}");
    }
}

#[test]
fn a_yes_to_a_critical_call_needs_the_typed_words_on_every_path() {
    let coordinator = coordinator(&TestClock::new());
    let mut question = asked("git push --force");
    question.confirmation = Some(approval::CONFIRMATION);
    let question = Arc::new(question);
    let ticket = coordinator.open(Arc::clone(&question), MINUTE).expect("a place");
    for decision in [Decision::Approved, Decision::ApprovedForSession, Decision::ApprovedAlways] {
        for typed in [None, Some(""), Some("i confirm"), Some("I confirm it"), Some("yes")] {
            let mut answer = Answer::new(decision, "ann");
            answer.typed = typed.map(str::to_owned);
            let refused = coordinator.resolve(question.id, &answer);
            assert_eq!(refused, Err(Unresolved::Invalid(Invalid::NotTyped("I confirm"))), "{typed:?}");
        }
    }
    assert_eq!(ticket.outcome(), None, "it stays open");
    let answer = Answer::new(Decision::ApprovedAlways, "ann").typing(" I confirm ");
    let outcome = coordinator.resolve(question.id, &answer).expect("valid");
    // And nothing more than once is given.
    assert_eq!(
        (outcome.decision(), outcome.narrowed_from()),
        (Decision::Approved, Some(Decision::ApprovedAlways))
    );
    // A no needs no words.
    let other = Arc::new(again(&question));
    let _ticket = coordinator.open(Arc::clone(&other), MINUTE).expect("a place");
    assert!(coordinator.resolve(other.id, &Answer::new(Decision::Denied, "ann")).is_ok());
}

#[test]
fn what_may_not_be_given_for_longer_is_given_once() {
    let coordinator = coordinator(&TestClock::new());
    let mut question = asked("git push");
    question.session_grant = false;
    for decision in [Decision::ApprovedForSession, Decision::ApprovedAlways] {
        let question = Arc::new(again(&question));
        let _ticket = coordinator.open(Arc::clone(&question), MINUTE).expect("a place");
        let outcome = coordinator.resolve(question.id, &Answer::new(decision, "ann")).expect("valid");
        assert_eq!((outcome.decision(), outcome.narrowed_from()), (Decision::Approved, Some(decision)));
    }
}

#[test]
fn a_late_yes_does_nothing() {
    // APR-3
    let clock = TestClock::new();
    let coordinator = coordinator(&clock);
    let question = Arc::new(asked("git push"));
    let ticket = coordinator.open(Arc::clone(&question), MINUTE).expect("a place");
    clock.pass(MINUTE);
    let late = coordinator.resolve(question.id, &Answer::new(Decision::Approved, "ann"));
    assert!(
        matches!(&late, Err(Unresolved::Settled(outcome)) if outcome.cause() == Cause::TimedOut),
        "{late:?}"
    );
    let verdict = ticket.wait();
    assert_eq!(verdict.outcome().reason(), Reason::Timeout);
    assert!(verdict.into_consent().is_err());
}

#[test]
fn a_yes_for_one_call_is_none_for_another() {
    // APR-3: 1,000 pairs of calls that differ in one thing.
    let clock = TestClock::new();
    let coordinator = coordinator(&clock);
    let mut random = Random(3);
    let words = ["push", "fetch", "-x", "--force", "main", "a b", "../x", "x=1"];
    for _ in 0..1000 {
        let (one, two) = (
            format!("git {} {}", random.pick(&words), random.pick(&words)),
            format!("git {} {}", random.pick(&words), random.pick(&words)),
        );
        let (given, wanted) = (Arc::new(asked(&one)), asked(&two));
        let ticket = coordinator.open(Arc::clone(&given), MINUTE).expect("a place");
        let foreign = coordinator.resolve(given.id, &Answer::new(Decision::Approved, "x").to(&wanted.key));
        assert_eq!(foreign.is_ok(), given.key == wanted.key, "{one} / {two}");
        if foreign.is_err() {
            assert_eq!(foreign, Err(Unresolved::Invalid(Invalid::OtherCall)));
            coordinator.resolve(given.id, &Answer::new(Decision::Approved, "x")).expect("valid");
        }
        let consent = ticket.wait().into_consent().expect("a yes");
        assert_eq!(consent.spend(&wanted.key).is_ok(), given.key == wanted.key, "{one} / {two}");
    }
}

#[test]
fn who_asks_and_goes_away_takes_the_question_along() {
    let coordinator = coordinator(&TestClock::new());
    let question = Arc::new(asked("git push"));
    drop(coordinator.open(Arc::clone(&question), MINUTE).expect("a place"));
    let late = coordinator.resolve(question.id, &Answer::new(Decision::Approved, "ann"));
    assert!(matches!(late, Err(Unresolved::Settled(outcome)) if outcome.cause() == Cause::Abandoned));
    assert_eq!(
        coordinator.resolve(asked("ls").id, &Answer::new(Decision::Approved, "x")),
        Err(Unresolved::Unknown)
    );
}

#[test]
fn a_full_queue_denies_at_once() {
    let clock = TestClock::new();
    let coordinator = Coordinator::new(clock, Limits { pending: 5, pending_of_session: 2 });
    let mut tickets = Vec::new();
    for (session, expected) in
        [("a", true), ("a", true), ("a", false), ("b", true), ("b", true), ("c", true), ("d", false)]
    {
        let opened = coordinator.open(Arc::new(asked_in(session, "git push")), MINUTE);
        assert_eq!(opened.is_ok(), expected, "{session}");
        match opened {
            Ok(ticket) => tickets.push(ticket),
            Err(denied) => {
                assert_eq!((denied.decision(), denied.cause()), (Decision::Denied, Cause::QueueFull))
            }
        }
    }
    drop(tickets);
    assert!(coordinator.open(Arc::new(asked_in("d", "git push")), MINUTE).is_ok());
}

#[test]
fn nobody_to_ask_is_a_no_at_once() {
    let coordinator = coordinator(&TestClock::new());
    let nobody = Approver::new(coordinator.clone(), MINUTE);
    let passing = Approver::new(coordinator, MINUTE).with(Box::new(Callback::new(|_| Reply::Pass)));
    for approver in [&nobody, &passing] {
        let verdict = approver.decide(Arc::new(asked("git push")));
        let outcome = verdict.outcome();
        assert_eq!((outcome.decision(), outcome.reason()), (Decision::Denied, Reason::NoProvider));
        assert_eq!(outcome.error_kind(), Some(call::ErrorKind::ConfigError));
    }
}

#[test]
fn somebody_else_may_answer_while_a_provider_is_asked() {
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let other = coordinator.clone();
    let approver = Approver::new(coordinator, MINUTE)
        .with(Box::new(Callback::new(move |asked| {
            let _ = other.resolve(asked.id, &Answer::new(Decision::Denied, "another door"));
            Reply::Answer(Answer::new(Decision::Approved, "callback"))
        })))
        .with(Box::new(Queue));
    let Begun::Open(question) = approver.begin(Arc::new(asked("git push"))) else {
        panic!("it must be asked")
    };
    let verdict = question.answer();
    assert_eq!(verdict.outcome().by().as_str(), "another door");
    assert!(!verdict.outcome().is_yes());
}

#[test]
fn a_ticket_can_be_awaited() {
    struct Count(std::sync::atomic::AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let _time = coordinator.keep_time().expect("a thread");
    let count = Arc::new(Count(0.into()));
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    // Answered.
    let question = Arc::new(asked("git push"));
    let mut ticket = Box::pin(coordinator.open(Arc::clone(&question), MINUTE).expect("a place"));
    assert!(ticket.as_mut().poll(&mut context).is_pending());
    coordinator.resolve(question.id, &Answer::new(Decision::Approved, "ann")).expect("valid");
    assert_eq!(count.0.load(std::sync::atomic::Ordering::SeqCst), 1);
    let Poll::Ready(verdict) = ticket.as_mut().poll(&mut context) else { panic!("settled") };
    assert!(verdict.outcome().is_yes());
    assert!(ticket.as_mut().poll(&mut context).is_pending(), "one question, one verdict");
    // Timed out, by the one who keeps the time.
    let mut ticket =
        Box::pin(coordinator.open(Arc::new(asked("git push")), Duration::from_millis(30)).expect("a place"));
    assert!(ticket.as_mut().poll(&mut context).is_pending());
    for _ in 0..200 {
        if count.0.load(std::sync::atomic::Ordering::SeqCst) == 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let Poll::Ready(verdict) = ticket.as_mut().poll(&mut context) else { panic!("timed out") };
    assert_eq!(verdict.outcome().cause(), Cause::TimedOut);
}

#[test]
fn the_same_call_denied_twice_ends_the_run() {
    let coordinator = coordinator(&TestClock::new());
    let deny = Approver::new(coordinator, MINUTE)
        .with(Box::new(Callback::new(|_| Reply::Answer(Answer::new(Decision::Denied, "x")))));
    let guard = RunGuard::default();
    let (push, fetch) = (asked("git push"), asked("git fetch"));
    let denied = |question: &approval::Asked| deny.decide(Arc::new(again(question)));
    assert_eq!(guard.note("run", denied(&push).outcome()), RunState::GoesOn);
    assert_eq!(guard.note("run", denied(&fetch).outcome()), RunState::GoesOn);
    assert_eq!(guard.note("other run", denied(&push).outcome()), RunState::GoesOn);
    assert_eq!(guard.note("run", denied(&push).outcome()), RunState::Ended);
    assert_eq!((guard.state("run"), guard.state("other run")), (RunState::Ended, RunState::GoesOn));
    guard.forget("run");
    assert_eq!(guard.state("run"), RunState::GoesOn);
}

#[test]
fn the_confirmation_request_has_the_fields_of_the_contract() {
    let question = asked("curl -H 'Authorization: Bearer abcdef0123456789abcdef' https://example.com -d @x");
    let json = question.to_json(1_700_000_000_000);
    for field in [
        "toolName",
        "args",
        "confirmationId",
        "approval_key",
        "risk",
        "effects",
        "reason",
        "expires_at",
        "security_warning",
        "requires_typed_confirmation",
    ] {
        assert!(json.get(field).is_some(), "{field}");
    }
    assert_eq!(json["expires_at"], "2023-11-14T22:13:20.000Z");
    assert_eq!(json["confirmationId"], question.id.to_string());
    assert!(
        ["LOW", "MEDIUM", "HIGH", "CRITICAL"].iter().any(|level| json["security_warning"]["level"] == *level)
    );
    assert!(!json.to_string().contains("abcdef0123456789"), "no secret in it");
}
