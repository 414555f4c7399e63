//! APR-6: grants only narrow. A grant holds for its session, its key and its time, and taking it back counts at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use approval::{
    Answer, Approver, Asked, Begun, Callback, Coordinator, Decision, Extent, GrantKind, Grants, Limits,
    NotGranted, Reason, Reply,
};
use call::{RawCall, Shown};
use serde_json::json;

use crate::asking::{Random, TestClock, again, asked, asked_in, dev, fresh_id, judge};

const HOUR: Duration = Duration::from_secs(3600);

fn by() -> Shown {
    Shown::of("ann")
}

#[test]
fn two_hundred_thousand_cases_agree_with_a_plain_model() {
    // APR-6: the model is a list of what was granted, looked through from one end to the other.
    let sessions = ["a", "b", "c"];
    let commands = ["git push", "git fetch", "npm publish", "make deploy"];
    let questions: Vec<Vec<Asked>> = sessions
        .iter()
        .map(|session| commands.iter().map(|command| asked_in(session, command)).collect())
        .collect();
    let clock = TestClock::new();
    let grants = Grants::in_memory(clock.clone()).lasting(HOUR, HOUR);
    let mut random = Random(6);
    // (session, command) → ends at, in the boot with this number.
    let mut model: BTreeMap<(usize, usize), (u64, Duration)> = BTreeMap::new();
    let mut boot = 0;
    let boots = ["boot-1", "boot-2"];
    let (mut hits, mut misses) = (0, 0);
    for case in 0..200_000 {
        let session = usize::try_from(random.below(3)).expect("fits");
        let command = usize::try_from(random.below(4)).expect("fits");
        let now = clock.state.lock().expect("a lock").since_boot;
        match random.below(20) {
            0..=3 => {
                grants.remember(&again(&questions[session][command]), &by()).expect("kept");
                model.insert((session, command), (boot, now + HOUR));
            }
            4 => {
                grants.revoke_session(sessions[session]).expect("written");
                model.retain(|(known, _), _| *known != session);
            }
            5 => clock.pass(Duration::from_secs(random.below(2400))),
            6 if random.below(50) == 0 => {
                boot = 1 - boot;
                clock.change(|times| {
                    times.boot = boots[usize::try_from(boot).expect("fits")];
                    times.since_boot = Duration::from_secs(random.below(20_000));
                });
                // A record of another start never holds again in this model: starts have names of their own.
                model.clear();
                for session in sessions {
                    grants.revoke_session(session).expect("written");
                }
            }
            7 => clock.change(|times| times.date_ms = random.next() % 4_000_000_000_000),
            _ => {
                let expected =
                    model.get(&(session, command)).is_some_and(|(made, ends)| *made == boot && now < *ends);
                let found = grants.covering(&again(&questions[session][command]));
                assert_eq!(found.is_some(), expected, "case {case}");
                if let Some(found) = found {
                    hits += 1;
                    assert_eq!(found.session, sessions[session]);
                    assert_eq!(found.key.as_ref(), Some(&questions[session][command].key));
                } else {
                    misses += 1;
                }
            }
        }
    }
    assert!(hits > 10_000 && misses > 10_000, "{hits} and {misses}: both must be met");
}

#[test]
fn a_grant_covers_no_other_session_key_plan_directory_environment_or_content() {
    let clock = TestClock::new();
    let grants = Grants::in_memory(clock);
    let config = dev();
    let shell = |command: &[&str], extra: serde_json::Value| {
        let mut args = json!({"argv": command});
        args.as_object_mut().expect("a map").extend(extra.as_object().expect("a map").clone());
        judge(&config, RawCall::new("shell_exec", args)).asked
    };
    let given = shell(&["git", "push"], json!({"cwd": "/work/project", "env": {"A": "1"}}));
    grants.remember(&given, &by()).expect("kept");
    assert!(grants.covering(&again(&given)).is_some());
    let others = [
        shell(&["git", "push", "-f"], json!({"cwd": "/work/project", "env": {"A": "1"}})),
        shell(&["git", "push"], json!({"cwd": "/work/project", "env": {"A": "2"}})),
        shell(&["git", "push"], json!({"cwd": "/work/project"})),
        shell(&["git", "push"], json!({"cwd": "/work/other", "env": {"A": "1"}})),
    ];
    for (index, other) in others.iter().enumerate().filter(|(_, other)| other.key != given.key) {
        assert!(grants.covering(other).is_none(), "{index}");
    }
    assert_ne!(others[0].key, given.key);
    assert_ne!(others[1].key, given.key);
    // Another fence plan.
    let mut plan = again(&given);
    plan.key = plan.request.clone().bind("plan", "another").approval_key();
    assert!(grants.covering(&plan).is_none());
    let mut elsewhere = again(&given);
    elsewhere.session = "s2".into();
    assert!(grants.covering(&elsewhere).is_none());
    // What must be typed is asked again, whatever was granted.
    let mut critical = again(&given);
    critical.confirmation = Some(approval::CONFIRMATION);
    assert!(grants.covering(&critical).is_none());
    assert_eq!(grants.remember(&critical, &by()), Err(NotGranted::OnlyOnce));
}

#[test]
fn approved_for_the_session_skips_the_next_question_and_says_so() {
    let clock = TestClock::new();
    let grants = Arc::new(Grants::in_memory(clock.clone()));
    let approver = Approver::new(Coordinator::new(clock, Limits::default()), HOUR)
        .with_grants(Arc::clone(&grants))
        .with(Box::new(Callback::new(|_| Reply::Answer(Answer::new(Decision::ApprovedForSession, "ann")))));
    let question = asked("git push");
    let Begun::Open(open) = approver.begin(Arc::new(again(&question))) else { panic!("it must be asked") };
    assert_eq!(open.answer().outcome().decision(), Decision::ApprovedForSession);
    let Begun::Settled(cached) = approver.begin(Arc::new(again(&question))) else {
        panic!("it must be cached")
    };
    assert_eq!(
        (cached.outcome().decision(), cached.outcome().reason()),
        (Decision::Approved, Reason::Cached)
    );
    assert_eq!(cached.outcome().by().as_str(), "ann");
    let listed = grants.list(Some("s1"));
    assert_eq!((listed.len(), &listed[0].kind), (1, &GrantKind::Session));
    assert_eq!(grants.revoke(listed[0].id), Ok(1));
    assert!(matches!(approver.begin(Arc::new(again(&question))), Begun::Open(_)));
}

#[test]
fn typing_is_covered_by_the_command_that_was_approved_and_by_no_other() {
    let clock = TestClock::new();
    let grants = Grants::in_memory(clock);
    let config = dev();
    let typing = |exec_session: u64, session: &str| {
        let mut raw = RawCall::new("write_stdin", json!({"session_id": exec_session, "chars": "y\n"}));
        raw.session = Some(session.into());
        judge(&config, raw).asked
    };
    grants.cover(&asked("git push"), 7, &by()).expect("kept");
    assert_eq!(grants.covering(&typing(7, "s1")).map(|grant| grant.kind), Some(GrantKind::Cover(7)));
    assert!(grants.covering(&typing(8, "s1")).is_none());
    assert!(grants.covering(&typing(7, "s2")).is_none());
    assert!(grants.covering(&asked("git push")).is_none(), "the command itself is not covered by it");
    grants.uncover("s1", 7).expect("written");
    assert!(grants.covering(&typing(7, "s1")).is_none());
}

#[test]
fn auto_approve_answers_what_is_asked_until_it_ends_and_nothing_that_must_be_typed() {
    let clock = TestClock::new();
    let grants = Arc::new(Grants::in_memory(clock.clone()).lasting(HOUR, HOUR));
    let approver = Approver::new(Coordinator::new(clock.clone(), Limits::default()), HOUR)
        .with_grants(Arc::clone(&grants));
    let ask = |question: &Asked| approver.decide(Arc::new(again(question))).outcome().reason();
    let push = asked("git push");
    assert_eq!(ask(&push), Reason::NoProvider);
    // One tool.
    grants.auto_approve(fresh_id(), "s1", Some("Write"), HOUR, &by()).expect("kept");
    assert_eq!(ask(&push), Reason::NoProvider);
    grants.auto_approve(fresh_id(), "s1", Some(&push.tool), HOUR, &by()).expect("kept");
    assert_eq!(ask(&push), Reason::AutoApprove);
    assert_eq!(grants.auto_status("s1").tools.len(), 2);
    // All, for longer than is allowed.
    grants.auto_approve(fresh_id(), "s1", None, 100 * HOUR, &by()).expect("kept");
    assert_eq!(grants.auto_status("s1").blanket, Some(HOUR));
    let mut critical = again(&push);
    critical.confirmation = Some(approval::CONFIRMATION);
    assert_eq!(ask(&critical), Reason::NoProvider);
    assert_eq!(ask(&asked_in("s2", "git push")), Reason::NoProvider);
    clock.pass(HOUR);
    assert_eq!(ask(&push), Reason::NoProvider);
    assert_eq!(grants.auto_status("s1"), approval::AutoStatus::default());
    grants.auto_approve(fresh_id(), "s1", None, HOUR, &by()).expect("kept");
    grants.end_auto_approve("s1").expect("written");
    assert_eq!(ask(&push), Reason::NoProvider);
}

#[test]
fn a_question_that_nobody_could_be_asked_can_be_approved_later_once_or_for_the_session() {
    let clock = TestClock::new();
    let grants = Grants::in_memory(clock.clone());
    let push = asked("git push");
    grants.defer(&push).expect("kept");
    assert!(grants.covering(&again(&push)).is_none(), "waiting is no yes");
    assert_eq!(grants.list(None)[0].kind, GrantKind::Waiting { typed: false });
    assert_eq!(grants.approve(fresh_id(), Extent::Once, &by(), None), Err(NotGranted::Unknown));
    grants.approve(push.id, Extent::Once, &by(), None).expect("granted");
    assert_eq!(grants.approve(push.id, Extent::Once, &by(), None), Err(NotGranted::Unknown), "once");
    assert!(grants.covering(&asked_in("s2", "git push")).is_none());
    assert!(grants.covering(&asked("git fetch")).is_none());
    assert_eq!(grants.covering(&again(&push)).map(|grant| grant.kind), Some(GrantKind::Once));
    assert!(grants.covering(&again(&push)).is_none(), "it is used up");
    // For the session.
    let push = again(&push);
    grants.defer(&push).expect("kept");
    grants.approve(push.id, Extent::Session, &by(), None).expect("granted");
    assert!(grants.covering(&again(&push)).is_some() && grants.covering(&again(&push)).is_some());
    // What must be typed, once, with the words.
    let mut critical = asked("git push --force");
    critical.confirmation = Some(approval::CONFIRMATION);
    grants.defer(&critical).expect("kept");
    let not_typed = Err(NotGranted::NotTyped("I confirm"));
    assert_eq!(grants.approve(critical.id, Extent::Once, &by(), None), not_typed);
    assert_eq!(
        grants.approve(critical.id, Extent::Session, &by(), Some("I confirm")),
        Err(NotGranted::OnlyOnce)
    );
    grants.approve(critical.id, Extent::Once, &by(), Some("I confirm")).expect("granted");
    assert!(grants.covering(&again(&critical)).is_some());
    assert!(grants.covering(&again(&critical)).is_none());
    // Too old.
    let late = asked("npm publish");
    grants.defer(&late).expect("kept");
    clock.pass(HOUR);
    assert_eq!(grants.approve(late.id, Extent::Once, &by(), None), Err(NotGranted::Unknown));
}

#[test]
fn a_question_that_is_asked_again_keeps_its_name() {
    let clock = TestClock::new();
    let grants = Grants::in_memory(clock.clone());
    let push = asked("git push");
    assert_eq!(grants.defer(&push), Ok(push.id));
    assert_eq!(grants.defer(&again(&push)), Ok(push.id));
    let other = asked("git push --tags");
    assert_eq!(grants.defer(&other), Ok(other.id));
    let elsewhere = asked_in("s2", "git push");
    assert_eq!(grants.defer(&elsewhere), Ok(elsewhere.id));
    assert_eq!(grants.list(Some("s1")).len(), 2);
    grants.approve(push.id, Extent::Once, &by(), None).expect("granted");
    assert!(grants.covering(&again(&push)).is_some());
    // The next one is another question.
    let next = again(&push);
    assert_eq!(grants.defer(&next), Ok(next.id));
}

#[test]
fn what_waits_is_shown_whole() {
    let grants = Grants::in_memory(TestClock::new());
    for command in [
        "echo pwn > .git/hooks/pre-commit",
        "HOME=/tmp/x git push",
        "cat > .git/hooks/x <<E\nrm -rf build\nE",
    ] {
        let question = asked(command);
        grants.defer(&question).expect("kept");
        let waiting = grants.list(None).into_iter().find(|grant| grant.id == question.id).expect("it waits");
        assert_eq!(waiting.shown.as_str(), command);
        assert!(!waiting.about.effects.is_empty() && waiting.about.risk.is_some(), "{waiting:?}");
        assert!(waiting.about.directory.is_some(), "{waiting:?}");
    }
    assert_ne!(asked("echo pwn").key, asked("echo pwn > x").key);
    assert_ne!(asked("git push").key, asked("HOME=/tmp/x git push").key);
}

#[test]
fn waiting_questions_are_bounded() {
    let grants = Grants::in_memory(TestClock::new());
    let questions: Vec<Asked> = (0..100).map(|number| asked(&format!("git push r{number}"))).collect();
    for question in &questions {
        grants.defer(question).expect("kept");
        grants.defer(question).expect("the same again is the same");
    }
    let waiting = grants.list(Some("s1"));
    assert_eq!(waiting.len(), 64);
    assert_eq!(waiting.last().map(|grant| grant.id), questions.last().map(|question| question.id));
}
