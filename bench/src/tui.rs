//! The screen with ten thousand lines of output: how long a frame takes while more comes, while somebody scrolls, and when the
//! terminal gets another size.

use std::time::Duration;

use door_tui::{Event, Happening, Screen, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

const LINES: usize = 10_000;
const GOAL: &str = "≤ 33 ms";

/// What happens before a frame is drawn: to the screen, to the terminal, for the how-manieth time.
type Change = Box<dyn FnMut(&mut Screen, &mut Terminal<TestBackend>, usize)>;

/// Prints a line for each.
pub(crate) fn compare() -> Result<(), String> {
    let mut screen = Screen::new(Theme::Coloured, "bench");
    let mut now = Duration::from_secs(1);
    let output = |number: usize| {
        let text = format!(
            "{number:>6} test reader::tests::a_line_of_ordinary_output_文件 ... ok, in 0.0{} s\n",
            number % 10
        );
        Event::Run(Happening::Output { call: "c".into(), text })
    };
    let press = |code, with| Event::Key(KeyEvent::new(code, with));
    screen.update(Event::Run(Happening::Running { call: "c".into(), tool: "shell".into() }), now);
    for number in 0..LINES {
        screen.update(output(number), now);
    }
    screen.update(press(KeyCode::Char('o'), KeyModifiers::CONTROL), now);
    let mut terminal = Terminal::new(TestBackend::new(160, 50)).map_err(|error| error.to_string())?;
    let mut number = LINES;
    let mut row = |what: &str, mut change: Change| {
        let time = crate::median(101, || {
            number += 1;
            now += Duration::from_millis(16);
            screen.update(Event::Tick, now);
            change(&mut screen, &mut terminal, number);
            let _drawn = terminal.draw(|frame| screen.draw(frame));
        });
        let frames = 1.0 / time.as_secs_f64();
        println!("{what:<58} {:>12} {frames:>7.0} /s {GOAL:>12}", crate::shown(time));
    };
    let at = Duration::from_secs(9);
    row(
        "a frame of 160×50 over 10,000 lines, one more line each",
        Box::new(move |screen, _, number| drop(screen.update(output(number), at))),
    );
    row(
        "  100 more lines each",
        Box::new(move |screen, _, number| {
            (0..100).for_each(|more| drop(screen.update(output(number + more), at)))
        }),
    );
    row(
        "  scrolled up a page each",
        Box::new(move |screen, _, _| drop(screen.update(press(KeyCode::PageUp, KeyModifiers::NONE), at))),
    );
    row(
        "  at another width each",
        Box::new(|_, terminal, number| {
            let width = if number % 2 == 0 { 160 } else { 70 };
            terminal.backend_mut().resize(width, 50);
        }),
    );
    Ok(())
}
