//! A program of the user's that answers: well-formed in time, or a no.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use approval::{Approver, Asked, Cause, Coordinator, Decision, Limits, Program, SystemClock};

use crate::asking::{again, asked};

fn decide(script: &str, question: &Asked, patience: Duration) -> approval::Verdict {
    let words = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let environment = [("PATH", "/usr/bin:/bin"), ("SECRET_TOKEN", "canary"), ("LANG", "C")]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let approver = Approver::new(coordinator, Duration::from_secs(20)).with(Box::new(Program::new(
        words,
        environment,
        patience,
    )));
    approver.decide(Arc::new(again(question)))
}

#[test]
fn answers_are_read_strictly() {
    let question = asked("git push");
    let long = Duration::from_secs(10);
    let key = question.key.to_string();
    let table = [
        (r#"echo '{"decision":"approved"}'"#.to_owned(), Decision::Approved),
        (r#"cat >/dev/null; printf '{"decision":"denied","note":"no","by":"bot"}'"#.into(), Decision::Denied),
        (r#"echo '{"decision":"abort"}'"#.into(), Decision::Abort),
        (r#"echo '{"decision":"approved_for_session"}'"#.into(), Decision::ApprovedForSession),
        (format!(r#"echo '{{"decision":"approved","approval_key":"{key}"}}'"#), Decision::Approved),
        // The question comes in on its input, with its id.
        (r#"id=$(sed 's/.*"confirmationId":"\([0-9a-f]*\)".*/\1/'); echo "{\"decision\":\"approved\",\"confirmationId\":\"$id\"}""#.into(), Decision::Approved),
        // Its environment is scrubbed, and it stands outside the workspace.
        (r#"test -z "$SECRET_TOKEN" && test "$LANG" = C && test "$(pwd)" = / && echo '{"decision":"approved"}'"#.into(), Decision::Approved),
    ];
    for (script, expected) in table {
        assert_eq!(decide(&script, &question, long).outcome().decision(), expected, "{script}");
    }
    for script in [
        "true",
        "false",
        "echo approved",
        "echo '{\"decision\":\"yes\"}'",
        "echo '{\"decision\":\"approved\",\"extra\":1}'",
        "echo '{\"decision\":\"denied\",\"decision\":\"approved\"}'",
        "echo '{\"decision\":\"approved\"}{\"decision\":\"approved\"}'",
        "echo '{\"decision\":\"approved\"}'; exit 3",
        "echo '{\"decision\":\"approved\"}'; kill -9 $$",
        "echo '{\"decision\":\"approved\",\"confirmationId\":\"00000000000000000000000000000000\"}'",
        "echo '{\"decision\":\"approved\",\"approval_key\":\"00\"}'",
        "head -c 200000 /dev/zero",
        "exec /nonexistent/program",
    ] {
        let verdict = decide(script, &question, long);
        assert_eq!(
            (verdict.outcome().decision(), verdict.outcome().cause()),
            (Decision::Denied, Cause::ProviderFailed),
            "{script}: {:?}",
            verdict.outcome().note()
        );
    }
}

#[test]
fn a_program_that_takes_too_long_is_ended_with_everything_that_it_started() {
    let question = asked("git push");
    let mark = format!("86400.{}", std::process::id());
    for script in [
        format!("sleep {mark} & sleep {mark}"),
        // Its output stays open, though it has ended.
        format!("sleep {mark} & echo '{{\"decision\":\"approved\"}}'"),
        format!("trap '' TERM; sleep {mark}; echo '{{\"decision\":\"approved\"}}'"),
    ] {
        #[expect(clippy::disallowed_methods, reason = "a test measures how long it really takes")]
        let start = Instant::now();
        let verdict = decide(&script, &question, Duration::from_millis(300));
        assert!(!verdict.outcome().is_yes(), "{script}");
        assert!(start.elapsed() < Duration::from_secs(2), "{script}");
    }
    // What was killed needs a moment to be gone.
    let left = || {
        #[expect(clippy::disallowed_methods, reason = "a test looks for what is left running")]
        let listed = std::process::Command::new("ps").args(["-eo", "args"]).output().expect("ps");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        listed.lines().any(|line| line.starts_with("sleep") && line.contains(&mark))
    };
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !left()
    });
    assert!(gone, "something is left running");
}

#[test]
fn the_typed_words_are_wanted_of_a_program_too() {
    let mut question = asked("git push --force");
    question.confirmation = Some(approval::CONFIRMATION);
    let long = Duration::from_secs(10);
    assert!(!decide(r#"echo '{"decision":"approved"}'"#, &question, long).outcome().is_yes());
    assert!(
        decide(r#"echo '{"decision":"approved","typed":"I confirm"}'"#, &question, long).outcome().is_yes()
    );
}

#[test]
fn a_program_must_be_named_by_its_whole_path() {
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let program = Program::new(vec!["true".into()], [], Duration::from_secs(5));
    let approver = Approver::new(coordinator, Duration::from_secs(5)).with(Box::new(program));
    assert_eq!(approver.decide(Arc::new(asked("git push"))).outcome().cause(), Cause::ProviderFailed);
}
