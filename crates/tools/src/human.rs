//! Questions to a person: what is asked, what comes back, and who can be asked.
//!
//! What a person answers goes to the agent that asked and nowhere else: [`Given`] shows how much was typed, never what.

use std::fmt;
use std::time::Duration;

use call::ErrorKind;
use serde_json::{Map, Value, json};

use crate::cancel::Cancel;
use crate::failure::Failure;
use crate::outcome::Outcome;

/// The most questions at once.
pub const MOST_QUESTIONS: usize = 16;
/// The most answers to choose from.
pub const MOST_CHOICES: usize = 64;
/// The longest answer, in bytes.
pub const LONGEST_ANSWER: usize = 64 * 1024;

/// What a person is asked, all at once.
#[derive(Debug, Clone)]
pub struct HumanQuestion {
    /// The questions, at least one, each with its own id.
    pub items: Vec<Item>,
    /// What helps to answer.
    pub context: Map<String, Value>,
    /// Taken back by whoever no longer wants the answer.
    pub cancel: Cancel,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// By which its answer is known.
    pub id: String,
    /// A few words, where there are some.
    pub header: Option<String>,
    /// The question.
    pub question: String,
    /// Answers to choose from; none means that any text answers.
    pub options: Vec<Offered>,
    /// Where there are options: words of one's own answer as well.
    pub own_words: bool,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// The answer.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HumanAnswer {
    /// One for each question.
    Answers(Vec<Given>),
    /// There is nobody who could be asked.
    Nobody,
    /// Nobody answered in time.
    TimedOut,
    /// Whoever was asked went away, or would not answer.
    Closed,
}

/// The answer to one question.
#[derive(Clone, PartialEq, Eq)]
pub struct Given {
    /// Whose answer it is.
    pub id: String,
    /// Which of the options, from 0, if it is one.
    pub choice: Option<usize>,
    /// What was answered: the label of the option, or what was typed.
    pub text: String,
}

impl fmt::Debug for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Given({}, {} bytes)", self.id, self.text.len())
    }
}

impl Item {
    /// Reads what was typed: the number of an option, its label, or words where those answer. `None`: no answer.
    #[must_use]
    pub fn read(&self, typed: &str) -> Option<Given> {
        let typed = typed.trim();
        if typed.is_empty() || typed.len() > LONGEST_ANSWER {
            return None;
        }
        let given = |choice, text: &str| Given { id: self.id.clone(), choice, text: text.to_owned() };
        let by_label = self.options.iter().position(|option| option.label.trim() == typed);
        let numbered = || typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let choice = by_label.or_else(|| numbered().filter(|number| *number < self.options.len()));
        match choice.and_then(|at| Some((at, self.options.get(at)?))) {
            Some((at, option)) => Some(given(Some(at), &option.label)),
            None if self.takes_words() => Some(given(None, typed)),
            None => None,
        }
    }

    /// Whether any text answers.
    #[must_use]
    pub fn takes_words(&self) -> bool {
        self.options.is_empty() || self.own_words
    }

    fn fits(&self, given: &Given) -> bool {
        given.text.len() <= LONGEST_ANSWER
            && match given.choice {
                Some(at) => self.options.get(at).is_some_and(|option| option.label == given.text),
                None => self.takes_words(),
            }
    }
}

/// Somebody who can be asked.
pub trait Human: Send + Sync {
    /// Asks, and comes back when there is an answer, when the time is up, or when the question is taken back.
    fn ask(&self, question: &HumanQuestion, deadline: Duration) -> HumanAnswer;
}

/// Puts a question and answers with the answers by their ids; the tools for people differ in their questions alone.
pub(crate) fn put(
    question: &HumanQuestion,
    human: Option<&dyn Human>,
    deadline: Duration,
) -> Result<Vec<Given>, Failure> {
    check(question)?;
    let nobody = || Failure::new(ErrorKind::HumanRequired, "there is nobody who could be asked");
    let answer = human.ok_or_else(nobody)?.ask(question, deadline);
    if question.cancel.is_cancelled() {
        return Err(Failure::new(ErrorKind::Cancelled, "the question was taken back"));
    }
    match answer {
        HumanAnswer::Answers(given) => in_order(question, given),
        HumanAnswer::Nobody => Err(nobody()),
        HumanAnswer::TimedOut => {
            let message = format!("nobody answered within {} ms", deadline.as_millis());
            Err(Failure::new(ErrorKind::Timeout, &message))
        }
        HumanAnswer::Closed => {
            Err(Failure::new(ErrorKind::HumanRequired, "whoever was asked went away without an answer"))
        }
    }
}

/// The answers for programs: `{"answers": {id: {"answer", "choice"?}}}`.
pub(crate) fn outcome(given: &[Given]) -> Outcome {
    let mut answers = Map::new();
    let mut text = String::new();
    for one in given {
        let mut entry = json!({"answer": one.text});
        if let (Some(choice), Some(entry)) = (one.choice, entry.as_object_mut()) {
            entry.insert("choice".into(), json!(choice + 1));
        }
        answers.insert(one.id.clone(), entry);
        let prefix = if given.len() > 1 { format!("{}: ", one.id) } else { String::new() };
        text.push_str(&format!("{prefix}{}\n", one.text));
    }
    Outcome::success(text, json!({ "answers": answers }))
}

/// What the schemas cannot say.
fn check(question: &HumanQuestion) -> Result<(), Failure> {
    if question.items.is_empty() || question.items.len() > MOST_QUESTIONS {
        return Err(Failure::validation(&format!("expected 1 to {MOST_QUESTIONS} questions")));
    }
    for (at, item) in question.items.iter().enumerate() {
        if question.items.iter().take(at).any(|other| other.id == item.id) {
            return Err(Failure::validation(&format!("two questions have the id `{}`", item.id)));
        }
        if item.question.trim().is_empty() {
            return Err(Failure::validation(&format!("the question `{}` is empty", item.id)));
        }
        if item.options.len() > MOST_CHOICES {
            return Err(Failure::validation(&format!(
                "expected at most {MOST_CHOICES} answers to choose from"
            )));
        }
        for (place, option) in item.options.iter().enumerate() {
            let label = option.label.trim();
            if label.is_empty() {
                return Err(Failure::validation("an answer to choose is empty"));
            }
            if item.options.iter().take(place).any(|other| other.label.trim() == label) {
                return Err(Failure::validation(&format!("the answer `{label}` is offered twice")));
            }
        }
    }
    Ok(())
}

/// FAIL-CLOSED: answers that do not fit what was asked are none.
fn in_order(question: &HumanQuestion, mut given: Vec<Given>) -> Result<Vec<Given>, Failure> {
    let wrong = || Failure::new(ErrorKind::Unknown, "what came back does not answer what was asked");
    let mut ordered = Vec::new();
    for item in &question.items {
        let at = given.iter().position(|one| one.id == item.id).ok_or_else(wrong)?;
        let one = given.swap_remove(at);
        if !item.fits(&one) {
            return Err(wrong());
        }
        ordered.push(one);
    }
    if given.is_empty() { Ok(ordered) } else { Err(wrong()) }
}
