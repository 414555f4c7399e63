//! A question that somebody in another process answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use approval::{
    Approver, Asked, Cause, Clock, ConsoleLock, Coordinator, Decision, Elsewhere, Extent, GrantKind, Grants,
    Limits, Provider, SystemClock,
};
use call::{DigestKey, Shown};

use crate::asking::asked;

#[expect(clippy::disallowed_methods, reason = "a test waits for a real person's thread, with a limit")]
fn now() -> Instant {
    Instant::now()
}

/// One directory of grants, as each of two processes sees it.
struct Two {
    directory: std::path::PathBuf,
}

impl Two {
    fn new(name: &str) -> Two {
        let directory = std::env::temp_dir().join(format!("elsewhere-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        Two { directory }
    }

    fn grants(&self) -> Arc<Grants> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Arc::new(Grants::in_directory(
            self.directory.clone(),
            Arc::new(DigestKey::from_bytes([9; 32])),
            clock,
        ))
    }

    /// An approver that asks elsewhere, where `there` says whether somebody is.
    fn approver(&self, patience: Duration, there: impl Fn() -> bool + Send + Sync + 'static) -> Approver {
        let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
        let provider: Box<dyn Provider> = Box::new(Elsewhere::new(self.grants(), there));
        Approver::new(coordinator, patience).with_grants(self.grants()).with(provider)
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// What becomes of the question when the other process does this as soon as it sees it.
fn answered(
    name: &str,
    question: Asked,
    act: impl Fn(&Grants, &Asked) + Send + 'static,
) -> (Decision, Cause) {
    let two = Two::new(name);
    let (other, seen) = (two.grants(), question.clone());
    let person = std::thread::spawn(move || {
        let begun = now();
        let waits = |grants: &Grants| {
            grants.list(None).iter().any(|g| g.id == seen.id && matches!(g.kind, GrantKind::Waiting { .. }))
        };
        while !waits(&other) {
            assert!(begun.elapsed() < Duration::from_secs(10), "the question never came");
            std::thread::sleep(Duration::from_millis(5));
        }
        act(&other, &seen);
    });
    let verdict = two.approver(Duration::from_secs(20), || true).decide(Arc::new(question));
    person.join().expect("the person");
    assert!(
        two.grants().list(None).iter().all(|grant| !matches!(grant.kind, GrantKind::Waiting { .. })),
        "nothing waits any more"
    );
    (verdict.outcome().decision(), verdict.outcome().cause())
}

fn ann() -> Shown {
    Shown::of("ann")
}

#[test]
fn an_answer_from_another_process_is_the_answer() {
    let yes = |extent| {
        move |grants: &Grants, asked: &Asked| {
            grants.approve(asked.id, extent, &ann(), None).map(drop).expect("approved");
        }
    };
    assert_eq!(answered("once", asked("git push"), yes(Extent::Once)), (Decision::Approved, Cause::Answered));
    assert_eq!(
        answered("session", asked("git push"), yes(Extent::Session)),
        (Decision::ApprovedForSession, Cause::Answered)
    );
    let no = |grants: &Grants, asked: &Asked| grants.revoke(asked.id).map(drop).expect("denied");
    assert_eq!(answered("no", asked("git push"), no), (Decision::Denied, Cause::Answered));
}

#[test]
fn what_must_be_typed_must_be_typed_there() {
    let mut critical = asked("git push --force");
    critical.confirmation = Some(approval::CONFIRMATION);
    let act = |grants: &Grants, asked: &Asked| {
        assert!(grants.approve(asked.id, Extent::Once, &ann(), None).is_err(), "without the words");
        assert!(grants.approve(asked.id, Extent::Session, &ann(), Some("I confirm")).is_err());
        grants.approve(asked.id, Extent::Once, &ann(), Some("I confirm")).map(drop).expect("typed");
    };
    assert_eq!(answered("typed", critical, act), (Decision::Approved, Cause::Answered));
}

#[test]
fn a_yes_for_once_is_used_up() {
    let two = Two::new("used");
    let question = asked("git push");
    let grants = two.grants();
    grants.defer(&question).expect("kept");
    grants.approve(question.id, Extent::Once, &ann(), None).expect("approved");
    assert!(matches!(grants.deferred(&question), approval::Deferred::Approved(Extent::Once, _)));
    assert_eq!(grants.deferred(&question), approval::Deferred::Gone);
}

#[test]
fn silence_is_a_no_in_time_and_nothing_stays_behind() {
    let two = Two::new("silence");
    let begun = now();
    let verdict = two.approver(Duration::from_millis(300), || true).decide(Arc::new(asked("git push")));
    assert_eq!(verdict.outcome().cause(), Cause::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(two.grants().list(None).is_empty());
}

#[test]
fn nobody_there_is_a_no_at_once_and_somebody_who_leaves_is_not_waited_for() {
    let two = Two::new("nobody");
    let begun = now();
    let verdict = two.approver(Duration::from_secs(60), || false).decide(Arc::new(asked("git push")));
    assert_eq!(verdict.outcome().cause(), Cause::NobodyToAsk);
    assert!(begun.elapsed() < Duration::from_secs(1));

    let there = Arc::new(AtomicBool::new(true));
    let looked = Arc::clone(&there);
    let leaves = move || looked.swap(false, Ordering::AcqRel);
    let verdict = two.approver(Duration::from_secs(60), leaves).decide(Arc::new(asked("git push")));
    assert_eq!(verdict.outcome().cause(), Cause::ProviderFailed);
    assert!(begun.elapsed() < Duration::from_secs(30), "not until the question's own end");
    assert!(two.grants().list(None).is_empty());
}

#[test]
fn presence_is_seen_while_it_is_held() {
    let two = Two::new("presence");
    let path = two.directory.with_extension("lock");
    assert!(!ConsoleLock::is_held(&path), "no file, nobody");
    let held = ConsoleLock::hold(&path).expect("held");
    let also = ConsoleLock::hold(&path).expect("held twice");
    assert!(ConsoleLock::is_held(&path));
    drop(held);
    assert!(ConsoleLock::is_held(&path));
    drop(also);
    assert!(!ConsoleLock::is_held(&path));
    let _ = std::fs::remove_file(&path);
}
