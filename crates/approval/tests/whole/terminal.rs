//! The prompt at a terminal: with one that a test plays, and with a real one.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use approval::{
    Answer, Approver, Asked, Cause, Console, Coordinator, Decision, Limits, Outcome, Reason, Style,
    SystemClock, Terminal, Tty, propose,
};
use call::RawCall;

use crate::asking::{TestClock, again, asked, config, judge};

/// A terminal that a test plays: what is typed, line by line, and what is seen.
#[derive(Clone, Default)]
struct Played {
    typed_before: Arc<Mutex<VecDeque<String>>>,
    typed: Arc<Mutex<VecDeque<String>>>,
    seen: Arc<Mutex<String>>,
    /// Lines are lost this often before they are read.
    forgotten: Arc<Mutex<usize>>,
    clock: Option<Arc<TestClock>>,
}

impl Console for Played {
    fn show(&mut self, text: &str) -> Result<()> {
        self.seen.lock().expect("a lock").push_str(text);
        Ok(())
    }

    fn forget_typed(&mut self) -> Result<()> {
        self.typed_before.lock().expect("a lock").clear();
        *self.forgotten.lock().expect("a lock") += 1;
        Ok(())
    }

    fn line(&mut self, patience: Duration) -> Result<Option<String>> {
        if let Some(line) = self.typed_before.lock().expect("a lock").pop_front() {
            return Ok(Some(line));
        }
        if *self.forgotten.lock().expect("a lock") < 2 {
            return Ok(None);
        }
        match self.typed.lock().expect("a lock").pop_front() {
            Some(line) if line == "<hang up>" => Err(Error::new(ErrorKind::UnexpectedEof, "closed")),
            Some(line) => Ok(Some(line)),
            None => {
                if let Some(clock) = &self.clock {
                    clock.pass(patience);
                }
                Ok(None)
            }
        }
    }

    fn width(&self) -> usize {
        80
    }
}

fn lines_of(lines: &[&str]) -> Arc<Mutex<VecDeque<String>>> {
    Arc::new(Mutex::new(lines.iter().map(|line| (*line).to_owned()).collect()))
}

/// What comes of a question when `before` was typed before it and `lines` after.
fn play(question: &Asked, before: &[&str], lines: &[&str]) -> (Outcome, String) {
    let clock = TestClock::new();
    let played = Played {
        typed_before: lines_of(before),
        typed: lines_of(lines),
        clock: Some(Arc::clone(&clock)),
        ..Played::default()
    };
    let console = played.clone();
    let terminal = Terminal::new(Box::new(move || Some(Box::new(console.clone()))), "ann", Style::Plain);
    let coordinator = Coordinator::new(clock, Limits::default());
    let approver = Approver::new(coordinator, Duration::from_secs(60)).with(Box::new(terminal));
    let verdict = approver.decide(Arc::new(again(question)));
    let seen = played.seen.lock().expect("a lock").clone();
    (verdict.outcome().clone(), seen)
}

#[test]
fn keys_mean_what_the_prompt_says() {
    let push = asked("git push");
    for (lines, expected) in [
        (vec!["y"], Decision::Approved),
        (vec![" YES "], Decision::Approved),
        (vec!["n"], Decision::Denied),
        (vec!["s"], Decision::ApprovedForSession),
        (vec!["q"], Decision::Abort),
        (vec!["e", "y"], Decision::Approved),
        (vec!["", "what?", "yy", "n"], Decision::Denied),
        // Nothing is offered for always here.
        (vec!["a", "n"], Decision::Denied),
    ] {
        let (outcome, seen) = play(&push, &[], &lines);
        assert_eq!(outcome.decision(), expected, "{lines:?}");
        assert_eq!((outcome.reason(), outcome.by().as_str()), (Reason::Provider, "ann"));
        assert!(seen.contains("git push"), "{seen}");
    }
    let (_, seen) = play(&push, &[], &["e", "n"]);
    assert!(seen.contains("What a yes is bound to") && seen.contains(push.key.as_str()));
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let (outcome, _) = play(&asked("git push"), &["y", "y", "y"], &["n"]);
    assert_eq!(outcome.decision(), Decision::Denied);
}

#[test]
fn silence_is_a_time_out_and_a_terminal_that_goes_away_is_a_no() {
    let push = asked("git push");
    let (outcome, seen) = play(&push, &[], &[]);
    assert_eq!((outcome.decision(), outcome.cause()), (Decision::Denied, Cause::TimedOut));
    assert!(seen.contains("the question is over"));
    let (outcome, _) = play(&push, &[], &["<hang up>"]);
    assert_eq!((outcome.decision(), outcome.cause()), (Decision::Denied, Cause::ProviderFailed));
    let (outcome, _) = play(&push, &[], &["x"; 30]);
    assert_eq!(outcome.decision(), Decision::Denied);
}

#[test]
fn a_critical_call_is_approved_by_the_words_alone() {
    let mut push = asked("git push --force");
    push.confirmation = Some(approval::CONFIRMATION);
    for (lines, expected) in [
        (vec!["y", "yes", "s", "a", "i confirm", "I confirm"], Decision::Approved),
        (vec!["y", "n"], Decision::Denied),
        (vec!["q"], Decision::Abort),
    ] {
        let (outcome, _) = play(&push, &[], &lines);
        assert_eq!(outcome.decision(), expected, "{lines:?}");
    }
}

#[test]
fn always_shows_the_rule_before_it_is_saved() {
    let judged = judge(&config("safety: {mode: ask}"), RawCall::command("make test"));
    let mut question = judged.asked;
    question.always = propose(&judged.ruling, &judged.analysis);
    let (outcome, seen) = play(&question, &[], &["a", "y"]);
    assert_eq!(outcome.decision(), Decision::ApprovedAlways);
    assert!(seen.contains("commands: [\"make test\"]"), "{seen}");
    let (outcome, _) = play(&question, &[], &["a", "n", "y"]);
    assert_eq!(outcome.decision(), Decision::Approved);
}

#[test]
fn without_a_terminal_the_next_one_is_asked() {
    let coordinator = Coordinator::new(TestClock::new(), Limits::default());
    let approver = Approver::new(coordinator, Duration::from_secs(60)).with(Box::new(Terminal::new(
        Box::new(|| None),
        "ann",
        Style::Plain,
    )));
    assert_eq!(approver.decide(Arc::new(asked("git push"))).outcome().cause(), Cause::NobodyToAsk);
}

#[test]
fn an_answer_by_another_door_ends_the_prompt() {
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let played = Played::default();
    let console = played.clone();
    let terminal = Terminal::new(Box::new(move || Some(Box::new(console.clone()))), "ann", Style::Plain);
    let approver = Approver::new(coordinator.clone(), Duration::from_secs(60)).with(Box::new(terminal));
    let question = Arc::new(asked("git push"));
    let id = question.id;
    let thread = std::thread::spawn(move || approver.decide(question).outcome().clone());
    while coordinator.get(id).is_none() {
        std::thread::yield_now();
    }
    coordinator.resolve(id, &Answer::new(Decision::Approved, "the console")).expect("valid");
    assert_eq!(thread.join().expect("no panic").by().as_str(), "the console");
}

/// What the test itself is when it is started again behind a terminal.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test that starts this one says so in the environment")]
fn behind_a_real_terminal() {
    if std::env::var_os("APPROVAL_TEST_BEHIND_A_TERMINAL").is_none() {
        return;
    }
    // Time for keys to be typed before the question is there.
    std::thread::sleep(Duration::from_millis(300));
    let coordinator = Coordinator::new(Arc::new(SystemClock), Limits::default());
    let open = || Tty::open().map(|tty| Box::new(tty) as Box<dyn Console>);
    let approver = Approver::new(coordinator, Duration::from_secs(3)).with(Box::new(Terminal::new(
        Box::new(open),
        "ann",
        Style::Plain,
    )));
    let mut question = asked("git push origin main");
    if std::env::var_os("APPROVAL_TEST_CRITICAL").is_some() {
        question.confirmation = Some(approval::CONFIRMATION);
    }
    let verdict = approver.decide(Arc::new(question));
    println!("OUTCOME {} {}", verdict.outcome().decision().name(), verdict.outcome().reason().name());
}

/// Plays a person at a real terminal: types something early, waits for the prompt, types the rest.
const PERSON: &str = r#"
import os, pty, select, sys, time
early, late, argv = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(argv[0], argv)
if early:
    os.write(fd, (early + "\n").encode())
seen, typed, end = b"", False, time.time() + 15
while time.time() < end:
    if not select.select([fd], [], [], 0.1)[0]:
        if not typed and late and b" > " in seen:
            os.write(fd, (late + "\n").encode()); typed = True
        continue
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    seen += data
sys.stdout.write(seen.decode(errors="replace"))
"#;

#[test]
fn a_person_at_a_real_terminal_is_asked() {
    let table = [
        ("", "y", "", "OUTCOME approved provider"),
        ("", "n", "", "OUTCOME denied provider"),
        ("y", "n", "", "OUTCOME denied provider"),
        ("y", "", "", "OUTCOME denied timeout"),
        ("", "y", "critical", "OUTCOME denied timeout"),
        ("", "I confirm", "critical", "OUTCOME approved provider"),
    ];
    let test = std::env::current_exe().expect("the test");
    std::thread::scope(|scope| {
        for (early, late, critical, expected) in table {
            let test = &test;
            scope.spawn(move || {
                #[expect(clippy::disallowed_methods, reason = "a test plays a person at a terminal")]
                let mut command = std::process::Command::new("timeout");
                command.args(["-s", "KILL", "20", "python3", "-c", PERSON, early, late]).arg(test);
                command.args([
                    "--exact",
                    "terminal::behind_a_real_terminal",
                    "--nocapture",
                    "--test-threads=1",
                ]);
                command.env("APPROVAL_TEST_BEHIND_A_TERMINAL", "1");
                if !critical.is_empty() {
                    command.env("APPROVAL_TEST_CRITICAL", "1");
                }
                let output = command.output().expect("python3");
                let seen = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(seen.contains("bailiwick asks"), "{seen}{}", String::from_utf8_lossy(&output.stderr));
                assert!(seen.contains(expected), "{early:?} {late:?}: {seen}");
            });
        }
    });
}
