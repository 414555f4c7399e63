//! Answers by whoever sits at the terminal.
//!
//! What was typed before the question could be read does not answer it. Somebody at another door may answer meanwhile; then the
//! prompt says so and goes. A terminal that goes away is a no.

use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use crate::asked::Asked;
use crate::outcome::{Answer, Decision};
use crate::prompt;
use crate::provider::{Provider, Reply, Wait};
use crate::style::Style;

/// How long after the question appears keys still count as typed before it.
const TOO_SOON: Duration = Duration::from_millis(250);
/// How long one look at the keyboard takes before it is seen whether the question is still open.
const SLICE: Duration = Duration::from_millis(250);
/// How many lines that are no answer are heard.
const PATIENCE: usize = 20;

/// A terminal, as far as a prompt needs one.
pub trait Console: Send {
    /// Shows text.
    ///
    /// # Errors
    /// The terminal is gone.
    fn show(&mut self, text: &str) -> std::io::Result<()>;

    /// Forgets what was typed and not read.
    ///
    /// # Errors
    /// The terminal is gone.
    fn forget_typed(&mut self) -> std::io::Result<()>;

    /// The next line that is typed, without its end, if one comes in this time.
    ///
    /// # Errors
    /// The terminal is gone, or its input is closed.
    fn line(&mut self, patience: Duration) -> std::io::Result<Option<String>>;

    /// How many columns it has.
    fn width(&self) -> usize;
}

/// Opens the terminal for one question, if there is one that can be asked at now.
pub type OpenConsole = Box<dyn Fn() -> Option<Box<dyn Console>> + Send + Sync>;

/// Asks at a terminal, one question after the other.
pub struct Terminal {
    open: OpenConsole,
    busy: Mutex<()>,
    who: String,
    style: Style,
}

impl Terminal {
    /// Asks `who` at the terminal that `open` opens.
    #[must_use]
    pub fn new(open: OpenConsole, who: &str, style: Style) -> Self {
        Terminal { open, busy: Mutex::new(()), who: who.to_owned(), style }
    }

    /// One question, from its appearance to its answer.
    fn converse(&self, console: &mut dyn Console, asked: &Asked, wait: &Wait<'_>) -> std::io::Result<Reply> {
        let width = console.width();
        console.show(&format!("\n{}", prompt::prompt(asked, width, self.style, wait.left())))?;
        // INVARIANT: nothing typed before the question could be read answers it.
        console.forget_typed()?;
        let _too_soon = console.line(TOO_SOON.min(wait.left()))?;
        console.forget_typed()?;
        let mut saving = false;
        for _ in 0..PATIENCE {
            console.show(" > ")?;
            let Some(line) = self.next_line(console, wait)? else {
                console.show("\n the question is over\n")?;
                return Ok(Reply::Held);
            };
            let answer = |decision| Ok(Reply::Answer(Answer::new(decision, &self.who).to(&asked.key)));
            match (key(&line), saving) {
                (Some(Key::Yes), true) => return answer(Decision::ApprovedAlways),
                (Some(Key::No), true) => {
                    saving = false;
                    console.show(&prompt::prompt(asked, width, self.style, wait.left()))?;
                }
                (_, true) => console.show(" y or n\n")?,
                (Some(Key::No), false) => return answer(Decision::Denied),
                (Some(Key::Abort), false) => return answer(Decision::Abort),
                (Some(Key::Explain), false) => {
                    console.show(&prompt::explanation(asked, width, self.style))?
                }
                (_, false) if asked.confirmation.is_some() => {
                    if asked.confirmation == Some(line.trim()) {
                        let answer =
                            Answer::new(Decision::Approved, &self.who).typing(line.trim()).to(&asked.key);
                        return Ok(Reply::Answer(answer));
                    }
                    console.show(" only the typed words approve this; n is no\n")?;
                }
                (Some(Key::Yes), false) => return answer(Decision::Approved),
                (Some(Key::Session), false) if asked.may_grant_session() => {
                    return answer(Decision::ApprovedForSession);
                }
                (Some(Key::Always), false) if asked.always.is_some() => {
                    saving = true;
                    console.show(&prompt::always_prompt(asked, width, self.style))?;
                }
                (Some(Key::Session | Key::Always), false) => {
                    console.show(" that is not offered for this call\n")?
                }
                (None, false) => console.show(" y, n, s, a, e or q, and Enter\n")?,
            }
        }
        Ok(Reply::Failed("nothing that was typed is an answer".into()))
    }

    /// The next line, or `None` when the question is over.
    fn next_line(&self, console: &mut dyn Console, wait: &Wait<'_>) -> std::io::Result<Option<String>> {
        while !wait.is_over() {
            if let Some(line) = console.line(wait.left().min(SLICE))? {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

impl Provider for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply {
        // One question at a time: others wait their turn, and their time runs.
        let _turn = loop {
            match self.busy.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(turn)) => break turn.into_inner(),
                Err(TryLockError::WouldBlock) if wait.is_over() => return Reply::Held,
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_millis(50).min(wait.left()))
                }
            }
        };
        let Some(mut console) = (self.open)() else { return Reply::Pass };
        match self.converse(console.as_mut(), asked, wait) {
            Ok(reply) => reply,
            // FAIL-CLOSED: nobody is at a terminal that is gone.
            Err(error) => Reply::Failed(format!("the terminal went away: {error}")),
        }
    }
}

/// What can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Yes,
    No,
    Session,
    Always,
    Explain,
    Abort,
}

fn key(line: &str) -> Option<Key> {
    Some(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Key::Yes,
        "n" | "no" => Key::No,
        "s" | "session" => Key::Session,
        "a" | "always" => Key::Always,
        "e" | "explain" => Key::Explain,
        "q" | "quit" | "abort" => Key::Abort,
        _ => return None,
    })
}
