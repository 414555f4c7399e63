//! Questions to a function.

use std::time::{Duration, Instant};

use call::{AskHuman, ErrorKind};
use serde_json::json;
use tools::{Callback, Cancel, Given, HumanAnswer, Outcome, ask_human};

const LONG: Duration = Duration::from_secs(10);

fn arguments() -> AskHuman {
    serde_json::from_value(json!({"question": "Which?", "choices": ["red", "green"]})).unwrap()
}

fn given(id: &str, choice: Option<usize>, text: &str) -> Given {
    Given { id: id.into(), choice, text: text.into() }
}

fn answered(answer: HumanAnswer) -> Outcome {
    let human = Callback::new(move |_, _| answer.clone());
    ask_human::run(&arguments(), Some(&human), LONG, &Cancel::new())
}

#[test]
fn a_function_answers_and_what_does_not_fit_the_question_is_no_answer() {
    let good = answered(HumanAnswer::Answers(vec![given("answer", Some(1), "green")]));
    assert_eq!(good.data, Some(json!({"answers": {"answer": {"answer": "green", "choice": 2}}})));
    for wrong in [
        vec![],
        vec![given("other", Some(1), "green")],
        vec![given("answer", Some(0), "green")],
        vec![given("answer", Some(2), "blue")],
        vec![given("answer", None, "words")],
        vec![given("answer", Some(1), "green"), given("answer", Some(1), "green")],
    ] {
        let outcome = answered(HumanAnswer::Answers(wrong.clone()));
        assert_eq!(outcome.error_kind, Some(ErrorKind::Unknown), "{wrong:?}");
    }
    for (answer, kind) in [
        (HumanAnswer::Nobody, ErrorKind::HumanRequired),
        (HumanAnswer::Closed, ErrorKind::HumanRequired),
        (HumanAnswer::TimedOut, ErrorKind::Timeout),
    ] {
        assert_eq!(answered(answer).error_kind, Some(kind));
    }
}

#[test]
fn what_was_typed_does_not_show_when_an_answer_is_written_to_a_log() {
    let answer = HumanAnswer::Answers(vec![given("answer", None, "hunter2")]);
    let shown = format!("{answer:?}");
    assert!(!shown.contains("hunter2") && shown.contains("7 bytes"), "{shown}");
}

#[test]
fn a_function_that_hangs_or_panics_holds_nobody_up() {
    let human = Callback::new(|_, _| {
        std::thread::sleep(Duration::from_secs(3));
        HumanAnswer::Nobody
    });
    let start = Instant::now();
    let short = Duration::from_millis(50);
    let mut kinds = Vec::new();
    for _ in 0..20 {
        kinds.push(ask_human::run(&arguments(), Some(&human), short, &Cancel::new()).error_kind);
    }
    // So many threads hang, and no more.
    let late = kinds.iter().filter(|kind| **kind == Some(ErrorKind::Timeout)).count();
    let nobody = kinds.iter().filter(|kind| **kind == Some(ErrorKind::HumanRequired)).count();
    assert_eq!((late, nobody), (16, 4));
    assert!(start.elapsed() < Duration::from_secs(3));

    let panics = Callback::new(|_, _| panic!("as it should in this test"));
    let start = Instant::now();
    let outcome = ask_human::run(&arguments(), Some(&panics), LONG, &Cancel::new());
    assert_eq!(outcome.error_kind, Some(ErrorKind::HumanRequired));
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_question_that_is_taken_back_does_not_wait_for_the_function() {
    let human = Callback::new(|_, deadline| {
        std::thread::sleep(deadline.min(Duration::from_secs(3)));
        HumanAnswer::TimedOut
    });
    let cancel = Cancel::new();
    let start = Instant::now();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            cancel.cancel();
        });
        ask_human::run(&arguments(), Some(&human), LONG, &cancel)
    });
    assert_eq!(outcome.error_kind, Some(ErrorKind::Cancelled));
    assert!(start.elapsed() < Duration::from_secs(2));
}
