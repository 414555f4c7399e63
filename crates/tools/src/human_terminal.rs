//! Questions to whoever sits at the terminal.
//!
//! The agent's words are masked, made visible, and set off with a bar at the left, so that no line of them can pass for a line of
//! ours. What was typed before a question could be read does not answer it.

use std::fmt;
use std::io;
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use call::{mask, mask_json, visible, visible_lines};
use serde_json::Value;

use crate::clock::now;
use crate::human::{Given, Human, HumanAnswer, HumanQuestion, Item};

/// How long after a question appears lines still count as typed before it.
const TOO_SOON: Duration = Duration::from_millis(250);
/// How long one look at the keyboard takes before it is seen whether the question still stands.
const SLICE: Duration = Duration::from_millis(100);
/// How many lines that are no answer are heard for one question.
const PATIENCE: usize = 20;
/// Lines that are shown of one text of the agent's.
const MOST_LINES: usize = 60;
/// The narrowest and the widest terminal that is laid out for.
const WIDTHS: (usize, usize) = (24, 100);

/// A terminal, as far as questions need one.
pub trait Console: Send {
    /// Shows text.
    ///
    /// # Errors
    /// The terminal is gone.
    fn show(&mut self, text: &str) -> io::Result<()>;

    /// Forgets what was typed and not read.
    ///
    /// # Errors
    /// The terminal is gone.
    fn forget_typed(&mut self) -> io::Result<()>;

    /// The next line that is typed, without its end, if one comes in this time.
    ///
    /// # Errors
    /// The terminal is gone, or its input is closed.
    fn line(&mut self, patience: Duration) -> io::Result<Option<String>>;

    /// How many columns it has.
    fn width(&self) -> usize;
}

/// Opens the terminal for one question, if there is one that can be asked at now.
pub type OpenConsole = Box<dyn Fn() -> Option<Box<dyn Console>> + Send + Sync>;

/// Asks at a terminal, one question after the other.
pub struct TerminalHuman {
    open: OpenConsole,
    busy: Mutex<()>,
}

impl TerminalHuman {
    /// Asks at the terminal that `open` opens.
    #[must_use]
    pub fn new(open: OpenConsole) -> TerminalHuman {
        TerminalHuman { open, busy: Mutex::new(()) }
    }
}

impl fmt::Debug for TerminalHuman {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TerminalHuman").finish_non_exhaustive()
    }
}

impl Human for TerminalHuman {
    fn ask(&self, question: &HumanQuestion, deadline: Duration) -> HumanAnswer {
        let wait = Wait { question, start: now(), deadline };
        // One question at a time: others wait their turn, and their time runs.
        let _turn = loop {
            match self.busy.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(turn)) => break turn.into_inner(),
                Err(TryLockError::WouldBlock) => match wait.over() {
                    Some(over) => return over,
                    None => std::thread::sleep(Duration::from_millis(20).min(wait.left())),
                },
            }
        };
        let Some(mut console) = (self.open)() else { return HumanAnswer::Nobody };
        // FAIL-CLOSED: nobody is at a terminal that is gone.
        converse(console.as_mut(), &wait).unwrap_or(HumanAnswer::Closed)
    }
}

/// How long a question stands.
struct Wait<'a> {
    question: &'a HumanQuestion,
    start: Instant,
    deadline: Duration,
}

impl Wait<'_> {
    fn left(&self) -> Duration {
        self.deadline.saturating_sub(now().saturating_duration_since(self.start))
    }

    fn over(&self) -> Option<HumanAnswer> {
        if self.question.cancel.is_cancelled() {
            Some(HumanAnswer::Closed)
        } else if self.left().is_zero() {
            Some(HumanAnswer::TimedOut)
        } else {
            None
        }
    }
}

/// All questions, from their appearance to the last answer.
fn converse(console: &mut dyn Console, wait: &Wait<'_>) -> io::Result<HumanAnswer> {
    let width = console.width().clamp(WIDTHS.0, WIDTHS.1);
    let count = wait.question.items.len();
    let seconds = wait.left().as_secs();
    let number = if count == 1 { "a question".into() } else { format!("{count} questions") };
    console.show(&format!("\n The agent has {number} ({seconds} s to answer):\n"))?;
    let context = context(wait.question);
    if !context.is_empty() {
        console.show(&format!(" It says, to help:\n{}", barred(&context, width)))?;
    }
    let mut answers = Vec::new();
    for (at, item) in wait.question.items.iter().enumerate() {
        console.show(&shown(item, at + 1, count, width))?;
        // INVARIANT: nothing typed before the question could be read answers it.
        console.forget_typed()?;
        let _too_soon = console.line(TOO_SOON.min(wait.left()))?;
        console.forget_typed()?;
        match hear(console, item, wait)? {
            Ok(given) => answers.push(given),
            Err(over) => {
                console.show("\n the question is over\n")?;
                return Ok(over);
            }
        }
    }
    Ok(HumanAnswer::Answers(answers))
}

/// Lines, until one of them answers.
fn hear(console: &mut dyn Console, item: &Item, wait: &Wait<'_>) -> io::Result<Result<Given, HumanAnswer>> {
    for _ in 0..PATIENCE {
        console.show(" > ")?;
        let line = loop {
            if let Some(over) = wait.over() {
                return Ok(Err(over));
            }
            if let Some(line) = console.line(wait.left().min(SLICE))? {
                break line;
            }
        };
        match item.read(&line) {
            Some(given) => return Ok(Ok(given)),
            None if item.takes_words() => console.show(" an answer, and Enter\n")?,
            None => console.show(&format!(" a number from 1 to {}, and Enter\n", item.options.len()))?,
        }
    }
    Ok(Err(HumanAnswer::Closed))
}

/// One question as text.
fn shown(item: &Item, number: usize, count: usize, width: usize) -> String {
    let mut out = String::from("\n");
    if count > 1 {
        out.push_str(&format!(" Question {number} of {count}\n"));
    }
    if let Some(header) = &item.header {
        out.push_str(&barred(&format!("[{}]", visible(&mask(header))), width));
    }
    out.push_str(&barred(&visible_lines(&mask(&item.question)), width));
    for (at, option) in item.options.iter().enumerate() {
        let mut text = visible(&mask(&option.label));
        if let Some(description) = &option.description {
            text.push_str(&format!(" - {}", visible(&mask(description))));
        }
        let mut lines = wrapped(&text, width.saturating_sub(8)).into_iter();
        out.push_str(&format!(" {:>3}. | {}\n", at + 1, lines.next().unwrap_or_default()));
        lines.take(MOST_LINES).for_each(|line| out.push_str(&format!("      | {line}\n")));
    }
    out.push_str(match (item.options.is_empty(), item.own_words) {
        (true, _) => " Type an answer, and Enter.\n",
        (false, true) => " Type a number, or an answer of your own, and Enter.\n",
        (false, false) => " Type a number, and Enter.\n",
    });
    out
}

fn context(question: &HumanQuestion) -> String {
    let mut out = String::new();
    // Whole, since the name of a key may be what tells that its value is secret.
    if let Value::Object(entries) = mask_json(&Value::Object(question.context.clone())) {
        for (name, value) in entries {
            let text = match value {
                Value::String(text) => visible_lines(&text),
                other => visible(&other.to_string()),
            };
            out.push_str(&format!("{}: {text}\n", visible(&name)));
        }
    }
    out
}

/// Text that is not ours, with a bar at its left. Of a very long one the middle is left out, never an end.
fn barred(text: &str, width: usize) -> String {
    let room = width.saturating_sub(5);
    let lines: Vec<String> = text.trim_end().split('\n').flat_map(|line| wrapped(line, room)).collect();
    let left_out = lines.len().saturating_sub(MOST_LINES);
    let half = MOST_LINES / 2;
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if left_out > 0 && at == half {
            out.push_str(&format!("   ... {left_out} lines left out here ...\n"));
        }
        if left_out == 0 || at < half || at >= half + left_out {
            out.push_str(&format!("   | {line}\n"));
        }
    }
    out
}

/// Pieces of at most so many characters.
fn wrapped(line: &str, room: usize) -> Vec<String> {
    let room = room.max(8);
    let characters: Vec<char> = line.replace('\t', "    ").chars().collect();
    if characters.is_empty() {
        return vec![String::new()];
    }
    let mut pieces = Vec::new();
    let mut rest = characters.as_slice();
    while !rest.is_empty() {
        let most = rest.get(..room).unwrap_or(rest);
        // At a space where there is one in the second half; in the middle of a word otherwise.
        let space = most.iter().rposition(|character| *character == ' ').filter(|at| *at > room / 2);
        let end = if most.len() == rest.len() { rest.len() } else { space.map_or(most.len(), |at| at + 1) };
        let (piece, more) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        pieces.push(piece.iter().collect::<String>().trim_end().to_owned());
        rest = more;
    }
    pieces
}
