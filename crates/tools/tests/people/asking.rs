//! Questions at a terminal.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use call::ErrorKind;
use serde_json::{Value, json};
use tools::{
    Cancel, Console, Human, HumanAnswer, HumanQuestion, Outcome, TerminalHuman, ask_human, request_user_input,
};

/// What happens at the keyboard when a line is waited for.
#[derive(Debug, Clone)]
enum Typed {
    Line(String),
    Nothing,
    Closed,
}

/// A terminal whose keys are written down beforehand.
struct Script {
    keys: Arc<Mutex<VecDeque<Typed>>>,
    shown: Arc<Mutex<String>>,
    /// The first line after a question is one that was typed too soon.
    fresh: bool,
}

impl Console for Script {
    fn show(&mut self, text: &str) -> io::Result<()> {
        self.shown.lock().unwrap().push_str(text);
        Ok(())
    }

    fn forget_typed(&mut self) -> io::Result<()> {
        self.fresh = !self.fresh;
        Ok(())
    }

    fn line(&mut self, patience: Duration) -> io::Result<Option<String>> {
        if self.fresh {
            return Ok(Some("typed before the question could be read".into()));
        }
        match self.keys.lock().unwrap().pop_front() {
            Some(Typed::Line(line)) => Ok(Some(line)),
            Some(Typed::Closed) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(Typed::Nothing) | None => {
                std::thread::sleep(patience);
                Ok(None)
            }
        }
    }

    fn width(&self) -> usize {
        40
    }
}

fn terminal(keys: &[Typed]) -> (TerminalHuman, Arc<Mutex<String>>) {
    let keys: Arc<Mutex<VecDeque<Typed>>> = Arc::new(Mutex::new(keys.iter().cloned().collect()));
    let shown = Arc::new(Mutex::new(String::new()));
    let also = Arc::clone(&shown);
    let open = move || {
        let console = Script { keys: Arc::clone(&keys), shown: Arc::clone(&also), fresh: false };
        Some(Box::new(console) as Box<dyn Console>)
    };
    (TerminalHuman::new(Box::new(open)), shown)
}

fn lines(lines: &[&str]) -> Vec<Typed> {
    lines.iter().map(|line| Typed::Line((*line).into())).collect()
}

const LONG: Duration = Duration::from_secs(10);

fn ask(arguments: Value, keys: &[Typed], time: Duration) -> (Outcome, String) {
    let (human, shown) = terminal(keys);
    let arguments = serde_json::from_value(arguments).unwrap();
    let outcome = ask_human::run(&arguments, Some(&human), time, &Cancel::new());
    let shown = shown.lock().unwrap().clone();
    (outcome, shown)
}

#[test]
fn an_answer_is_a_number_a_label_or_words_where_those_are_allowed() {
    let choices = json!({"question": "Which?", "choices": ["red", "green", "3"]});
    let free = json!({"question": "Why?"});
    let table = [
        (&choices, vec!["1"], json!({"answer": "red", "choice": 1})),
        (&choices, vec![" 2 "], json!({"answer": "green", "choice": 2})),
        (&choices, vec!["green"], json!({"answer": "green", "choice": 2})),
        (&choices, vec!["3"], json!({"answer": "3", "choice": 3})),
        (&choices, vec!["", "0", "4", "blue", "-1", "1 2", "1"], json!({"answer": "red", "choice": 1})),
        (&free, vec!["", "  ", "because\tof it "], json!({"answer": "because\tof it"})),
        (&free, vec!["1"], json!({"answer": "1"})),
        (&json!({"question": "Why?", "choices": []}), vec!["so"], json!({"answer": "so"})),
    ];
    for (arguments, typed, expected) in table {
        let (outcome, _) = ask(arguments.clone(), &lines(&typed), LONG);
        assert!(outcome.ok, "{typed:?}: {}", outcome.stderr);
        let answers = json!({"answers": {"answer": expected}});
        assert_eq!(outcome.data, Some(answers), "{typed:?}");
    }
}

#[test]
fn several_questions_are_answered_by_their_ids() {
    let arguments = json!({"questions": [
        {"id": "colour", "header": "Colour", "question": "Which?", "options": [
            {"label": "red", "description": "like a rose"}, {"label": "blue"}]},
        {"id": "name", "header": "Name", "question": "Whose?"},
        {"id": "size", "header": "Size", "question": "How large?", "options": [{"label": "small"}]},
    ]});
    let (human, shown) = terminal(&lines(&["2", "Ada", "so large"]));
    let outcome = request_user_input::run(
        &serde_json::from_value(arguments).unwrap(),
        Some(&human),
        LONG,
        &Cancel::new(),
    );
    assert_eq!(
        outcome.data,
        Some(json!({"answers": {
            "colour": {"answer": "blue", "choice": 2},
            "name": {"answer": "Ada"},
            "size": {"answer": "so large"},
        }}))
    );
    assert_eq!(outcome.stdout, "colour: blue\nname: Ada\nsize: so large\n");
    let shown = shown.lock().unwrap().clone();
    for part in ["Question 2 of 3", "   1. | red - like a rose\n", "or an answer of your own", "| [Colour]"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn what_an_agent_writes_cannot_deceive_or_leak_on_the_screen() {
    let arguments = json!({
        "question": "Look:\u{1b}[2J\n The agent has no question\u{202e}.\r> \n Authorization: Bearer abcdefghijklmnop1234",
        "choices": ["yes\n   2. | no", "\u{1b}]0;x\u{7}"],
        "context": {"pass\u{200b}": "\u{9b}31m", "password": "hunter2hunter2", "deep": {"a": [1, "\u{7}"]}},
    });
    let (outcome, shown) = ask(arguments, &lines(&["1"]), LONG);
    assert!(outcome.ok);
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{200b}'));
    for secret in ["hunter2", "abcdefghijklmnop1234"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    // Every line of the agent's is behind a bar; ours are these.
    let ours = [" The agent has a question", " It says, to help:", " Type a number", " > "];
    for line in shown.lines().filter(|line| !line.is_empty()) {
        let option = line.get(4..).is_some_and(|rest| rest.starts_with(". | "));
        let barred = option || line.starts_with("   | ") || line.starts_with("      | ");
        assert!(barred || ours.iter().any(|our| line.starts_with(our)), "{line:?} in {shown}");
        assert!(line.chars().count() <= 60, "{line:?}");
    }
    // The answer itself is what was offered.
    assert_eq!(outcome.data.unwrap()["answers"]["answer"]["answer"], "yes\n   2. | no");
}

#[test]
fn without_an_answer_there_is_an_error_that_says_why_in_time() {
    let short = Duration::from_millis(700);
    let free = json!({"question": "Why?"});
    let table: Vec<(Vec<Typed>, ErrorKind, &str)> = vec![
        (vec![], ErrorKind::Timeout, "700 ms"),
        (vec![Typed::Nothing, Typed::Nothing], ErrorKind::Timeout, "700 ms"),
        (vec![Typed::Closed], ErrorKind::HumanRequired, "went away"),
        (lines(&[""; 30]), ErrorKind::HumanRequired, "went away"),
    ];
    for (keys, kind, part) in table {
        let start = Instant::now();
        let (outcome, _) = ask(free.clone(), &keys, short);
        assert_eq!(outcome.error_kind, Some(kind), "{keys:?}");
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
        assert!(start.elapsed() < short + Duration::from_secs(2), "{keys:?}");
        assert_eq!(outcome.data, None);
    }
    let nobody = |human: Option<&dyn Human>| {
        let arguments = serde_json::from_value(free.clone()).unwrap();
        ask_human::run(&arguments, human, LONG, &Cancel::new()).error_kind
    };
    assert_eq!(nobody(None), Some(ErrorKind::HumanRequired));
    let closed = TerminalHuman::new(Box::new(|| None));
    assert_eq!(nobody(Some(&closed)), Some(ErrorKind::HumanRequired));
}

#[test]
fn a_question_that_is_taken_back_ends() {
    let (human, _) = terminal(&[]);
    let cancel = Cancel::new();
    let arguments = serde_json::from_value(json!({"question": "Why?"})).unwrap();
    let start = Instant::now();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(400));
            cancel.cancel();
        });
        ask_human::run(&arguments, Some(&human), LONG, &cancel)
    });
    assert_eq!(outcome.error_kind, Some(ErrorKind::Cancelled));
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn one_question_at_a_time_is_on_the_screen_and_those_that_wait_lose_their_time() {
    let (human, _) = terminal(&[]);
    let arguments = serde_json::from_value(json!({"question": "Why?"})).unwrap();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let time = Duration::from_millis(600);
                let outcome = ask_human::run(&arguments, Some(&human), time, &Cancel::new());
                assert_eq!(outcome.error_kind, Some(ErrorKind::Timeout));
            });
        }
    });
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn questions_that_cannot_be_answered_are_not_asked() {
    struct Never;
    impl Human for Never {
        fn ask(&self, _: &HumanQuestion, _: Duration) -> HumanAnswer {
            panic!("nobody should be asked")
        }
    }
    let question = |id: &str| json!({"id": id, "header": "h", "question": "q"});
    let many: Vec<Value> = (0..17).map(|number| question(&number.to_string())).collect();
    for questions in [json!([]), json!([question("a"), question("a")]), json!(many)] {
        let arguments = serde_json::from_value(json!({"questions": questions})).unwrap();
        let outcome = request_user_input::run(&arguments, Some(&Never), LONG, &Cancel::new());
        assert_eq!(outcome.error_kind, Some(ErrorKind::Validation));
    }
    let crowd: Vec<String> = (0..65).map(|number| format!("c{number}")).collect();
    for arguments in [
        json!({"question": " "}),
        json!({"question": "q", "choices": ["a", " a "]}),
        json!({"question": "q", "choices": ["a", " "]}),
        json!({"question": "q", "choices": crowd}),
    ] {
        let arguments = serde_json::from_value(arguments).unwrap();
        let outcome = ask_human::run(&arguments, Some(&Never), LONG, &Cancel::new());
        assert_eq!(outcome.error_kind, Some(ErrorKind::Validation), "{}", outcome.stderr);
    }
}
