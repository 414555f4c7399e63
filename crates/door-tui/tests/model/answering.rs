//! What answers a question, what does not, and what keys do.

use crate::situations::{Viewer, critical, human, id, question};
use crossterm::event::{KeyCode, KeyModifiers};
use door_agent::Mode;
use door_tui::{Action, Event, Happening};
use gate::approval::Decision;
use gate::tools::HumanAnswer;
use proptest::prelude::*;

fn decisions(actions: &[Action]) -> Vec<(u128, Decision)> {
    let number = |id| (0..100).find(|number| crate::situations::id(*number) == id).unwrap_or(999);
    let decided = actions.iter().filter_map(|action| match action {
        Action::Answer { id, answer } => Some((number(*id), answer.decision)),
        _ => None,
    });
    decided.collect()
}

#[test]
fn each_key_answers_as_at_the_terminal() {
    let table = [
        ("y", vec![(7, Decision::Approved)]),
        ("Y", vec![(7, Decision::Approved)]),
        ("n", vec![(7, Decision::Denied)]),
        ("s", vec![(7, Decision::ApprovedForSession)]),
        ("q", vec![(7, Decision::Abort)]),
        ("x", vec![]),
        ("e", vec![]),
        ("a", vec![]),
    ];
    for (typed, expected) in table {
        let mut viewer = Viewer::new(80, 24);
        viewer.ask(question(7));
        viewer.wait(500);
        assert_eq!(decisions(&viewer.type_text(typed)), expected, "{typed}");
    }
}

// TUI-1
#[test]
fn what_is_typed_too_soon_or_held_down_or_pasted_does_not_answer() {
    let mut viewer = Viewer::new(80, 24);
    // Typed before it appeared, at once, and by a key that is held down.
    let mut actions = viewer.type_text("y");
    viewer.ask(question(7));
    for _ in 0..30 {
        actions.extend(viewer.type_text("y"));
        viewer.wait(100);
    }
    viewer.paste("y\n");
    assert_eq!(decisions(&actions), []);
    viewer.wait(350);
    assert_eq!(decisions(&viewer.type_text("y")), [(7, Decision::Approved)]);
}

#[test]
fn a_question_that_comes_up_after_another_must_be_read_too() {
    let mut viewer = Viewer::new(80, 24);
    viewer.ask(question(7));
    viewer.ask(question(8));
    viewer.wait(500);
    let mut actions = viewer.type_text("yy");
    assert_eq!(decisions(&actions), [(7, Decision::Approved)]);
    viewer.wait(500);
    actions = viewer.type_text("y");
    assert_eq!(decisions(&actions), [(8, Decision::Approved)]);
    // The one in front goes because somebody else answered it.
    viewer.ask(question(9));
    viewer.ask(question(10));
    viewer.wait(500);
    viewer.happen(Happening::AskOver(id(9)));
    assert_eq!(decisions(&viewer.type_text("y")), []);
    // Help covers it meanwhile, or the process was stopped.
    for cover in ["??", ""] {
        viewer.wait(500);
        viewer.type_text(cover);
        if cover.is_empty() {
            viewer.tell(Event::Resumed);
        }
        assert_eq!(decisions(&viewer.type_text("y")), [], "{cover}");
    }
    viewer.wait(500);
    assert_eq!(decisions(&viewer.type_text("y")), [(10, Decision::Approved)]);
}

#[test]
fn always_shows_the_rule_before_it_is_saved() {
    let mut viewer = Viewer::new(80, 24);
    viewer.ask(question(7));
    viewer.wait(500);
    assert_eq!(decisions(&viewer.type_text("a")), []);
    let shown = viewer.text();
    assert!(shown.contains("name: git push") && shown.contains("Of 12 variants"), "{shown}");
    assert_eq!(decisions(&viewer.type_text("y")), [], "it must be read first");
    viewer.wait(500);
    viewer.type_text("n");
    assert!(viewer.text().contains("wants to use"));
    viewer.wait(500);
    viewer.type_text("a");
    viewer.wait(500);
    assert_eq!(decisions(&viewer.type_text("y")), [(7, Decision::ApprovedAlways)]);
}

#[test]
fn what_is_critical_wants_the_typed_words() {
    let mut viewer = Viewer::new(80, 24);
    viewer.ask(critical(7));
    viewer.wait(500);
    for wrong in ["y", "sa", "I confirn"] {
        viewer.type_text(wrong);
        let actions = viewer.key(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(decisions(&actions), [], "{wrong}");
    }
    viewer.paste("I confirm");
    assert_eq!(decisions(&viewer.key(KeyCode::Enter, KeyModifiers::NONE)), []);
    viewer.type_text("I confirm");
    let actions = viewer.key(KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(decisions(&actions), [(7, Decision::Approved)]);
    assert!(
        matches!(&actions[0], Action::Answer { answer, .. } if answer.typed.as_deref() == Some("I confirm"))
    );
    viewer.ask(critical(8));
    viewer.wait(500);
    assert_eq!(decisions(&viewer.type_text("n")), [(8, Decision::Denied)]);
}

#[test]
fn a_command_whose_end_was_not_on_the_screen_is_not_approved() {
    let mut viewer = Viewer::new(20, 5);
    let mut long = question(7);
    long.what = format!("echo {}\nrm -rf build", "harmless ".repeat(100));
    viewer.ask(long);
    viewer.wait(500);
    assert_eq!(decisions(&viewer.type_text("y")), []);
    let mut steps = 0;
    while !viewer.text().contains("build") {
        viewer.key(KeyCode::PageDown, KeyModifiers::NONE);
        steps += 1;
        assert!(steps < 200, "{}", viewer.text());
    }
    viewer.wait(500);
    assert_eq!(decisions(&viewer.type_text("y")), [(7, Decision::Approved)]);
}

#[test]
fn a_question_whose_time_is_up_is_gone() {
    let mut viewer = Viewer::new(80, 24);
    viewer.ask(question(7));
    assert!(viewer.text().contains("300 s"), "{}", viewer.text());
    viewer.wait(299_500);
    assert!(viewer.text().contains(" 1 s"), "{}", viewer.text());
    viewer.wait(600);
    assert!(!viewer.text().contains("bailiwick asks"));
}

#[test]
fn control_c_stops_and_the_second_one_quits() {
    let mut viewer = Viewer::new(80, 24);
    viewer.happen(Happening::Step(1));
    viewer.ask(question(7));
    let actions = viewer.key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(decisions(&actions), [(7, Decision::Denied)]);
    assert!(actions.contains(&Action::Interrupt));
    viewer.wait(1000);
    assert_eq!(viewer.key(KeyCode::Char('c'), KeyModifiers::CONTROL), [Action::Quit]);
    // Too late, the second is a first.
    let mut slow = Viewer::new(80, 24);
    slow.key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    slow.wait(2500);
    assert_eq!(slow.key(KeyCode::Char('c'), KeyModifiers::CONTROL), []);
}

#[test]
fn the_agents_questions_are_answered_by_choice_or_in_words() {
    let ask = || {
        let mut viewer = Viewer::new(80, 24);
        viewer.happen(Happening::HumanAsked { id: 3, question: human(), left: None });
        viewer
    };
    let answered = |actions: Vec<Action>| match actions.as_slice() {
        [Action::Reply { id: 3, answer: HumanAnswer::Answers(given) }] => {
            Some((given[0].choice, given[0].text.clone()))
        }
        _ => None,
    };
    let mut viewer = ask();
    assert_eq!(answered(viewer.key(KeyCode::Enter, KeyModifiers::NONE)), None, "too soon");
    viewer.wait(500);
    viewer.key(KeyCode::Down, KeyModifiers::NONE);
    let chosen = answered(viewer.key(KeyCode::Enter, KeyModifiers::NONE));
    assert_eq!(chosen, Some((Some(1), "Markdown".into())));
    let mut viewer = ask();
    viewer.wait(500);
    viewer.paste("both\n");
    let written = answered(viewer.key(KeyCode::Enter, KeyModifiers::NONE));
    assert_eq!(written, Some((None, "both".into())));
    let mut viewer = ask();
    viewer.wait(500);
    let actions = viewer.key(KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(actions, [Action::Reply { id: 3, answer: HumanAnswer::Closed }]);
}

#[test]
fn lines_that_are_commands_are_not_said() {
    let table = [
        ("/auto", Action::SetMode(Mode::Auto)),
        ("/mode default", Action::SetMode(Mode::Default)),
        ("/quit", Action::Quit),
        ("/grants", Action::ListGrants),
        ("/usr/bin is full", Action::Say("/usr/bin is full".into())),
        ("hello", Action::Say("hello".into())),
    ];
    for (line, expected) in table {
        let mut viewer = Viewer::new(80, 24);
        viewer.type_text(line);
        assert_eq!(viewer.key(KeyCode::Enter, KeyModifiers::NONE), [expected], "{line}");
    }
}

/// Anything that can come, in any order.
fn anything() -> impl Strategy<Value = Event> {
    let key = prop_oneof![
        prop::char::any().prop_map(KeyCode::Char),
        prop::sample::select(vec!['y', 'n', 's', 'a', 'e', 'q', '?', 'o', 'p', 'g', 'c', 't'])
            .prop_map(KeyCode::Char),
        prop::sample::select(vec![
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Tab,
            KeyCode::BackTab,
            KeyCode::Backspace,
            KeyCode::Left,
            KeyCode::Delete,
        ]),
    ];
    let modifiers = prop::sample::select(vec![KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT]);
    let text = "[a-z 文é😀\u{301}\u{1b}\u{202e}\t\r\n]{0,80}";
    let call = prop::sample::select(vec!["a".to_owned(), "b".to_owned()]);
    let tool = || "shell".to_owned();
    prop_oneof![
        4 => (key, modifiers).prop_map(|(code, with)| Event::Key(crossterm::event::KeyEvent::new(code, with))),
        1 => text.prop_map(Event::Paste),
        1 => (-5..5_i32).prop_map(Event::Wheel),
        1 => Just(Event::Resumed),
        1 => Just(Event::Tick),
        1 => text.prop_map(|text| Event::Run(Happening::Text(text))),
        1 => Just(Event::Run(Happening::TextBack)),
        1 => text.prop_map(|text| Event::Run(Happening::Notice(text))),
        2 => (call.clone(), text).prop_map(|(call, text)| Event::Run(Happening::Output { call, text })),
        1 => (call.clone(), text, prop::sample::select(vec!["allow", "ask", "deny"])).prop_map(move |(call, what, decision)| {
            let (reason, rule) = (what.clone(), what.clone());
            Event::Run(Happening::Judged { call, tool: tool(), what, decision, reason, rule })
        }),
        1 => (call.clone(), any::<bool>(), text).prop_map(move |(call, ok, how)| {
            let result = how.clone();
            Event::Run(Happening::Finished { call, tool: tool(), ok, how, result })
        }),
        1 => call.prop_map(move |call| Event::Run(Happening::Running { call, tool: tool() })),
        1 => (1..9_u128, text).prop_map(|(number, what)| {
            let question = door_tui::Question { what: gate::call::visible_lines(&what), ..question(number) };
            Event::Run(Happening::Asked { question: Box::new(question), left: std::time::Duration::from_secs(5) })
        }),
        1 => (1..9_u128).prop_map(|number| Event::Run(Happening::AskOver(id(number)))),
        1 => (1..9_u64).prop_map(|id| Event::Run(Happening::HumanAsked { id, question: human(), left: None })),
        1 => (1..9_u64).prop_map(|id| Event::Run(Happening::HumanOver(id))),
        1 => any::<bool>().prop_map(|interrupted| Event::Run(Happening::TurnEnded { interrupted })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    // TUI-2
    #[test]
    fn nothing_that_comes_at_any_size_breaks_the_screen(
        steps in prop::collection::vec((anything(), 0..600_u64, prop::option::of((0..60_u16, 0..30_u16))), 1..60),
    ) {
        let mut viewer = Viewer::new(40, 12);
        for (event, ms, size) in steps {
            viewer.tell(event);
            viewer.wait(ms);
            if let Some((width, height)) = size {
                viewer.resize(width, height);
            }
            let control = viewer.buffer().content.iter().any(|cell| cell.symbol().chars().any(char::is_control));
            prop_assert!(!control, "a control character reached the screen");
        }
    }

    #[test]
    fn the_end_of_a_command_can_be_reached_at_any_size(
        words in prop::collection::vec("[a-z0-9文]{1,30}", 0..60), width in 20_u16..100, height in 5_u16..40,
    ) {
        let mut viewer = Viewer::new(width, height);
        let mut asked = question(7);
        asked.what = format!("{}\n@the@end@", words.join(" "));
        viewer.ask(asked);
        let mut seen = viewer.text().contains("@the@end@");
        for _ in 0..400 {
            if seen {
                break;
            }
            viewer.press(KeyCode::PageDown, KeyModifiers::NONE);
            seen = viewer.text().contains("@the@end@");
        }
        prop_assert!(seen, "{}", viewer.text());
        // The keys that answer are in sight all the while.
        let text = viewer.text();
        prop_assert!(text.lines().rev().take(2).any(|line| line.contains("y ") && line.contains("n")), "{}", text);
    }
}
