//! `ask_human`: one question to a person, with answers to choose from or without.

use std::time::Duration;

use call::AskHuman;

use crate::cancel::Cancel;
use crate::human::{Human, HumanQuestion, Item, Offered, outcome, put};
use crate::outcome::Outcome;
use crate::setting::timed;

/// The id of the one question.
pub const ID: &str = "answer";

/// Runs `ask_human`. Where choices are given, one of them is the answer.
#[must_use]
pub fn run(
    arguments: &AskHuman,
    human: Option<&dyn Human>,
    human_timeout: Duration,
    cancel: &Cancel,
) -> Outcome {
    timed(|| {
        let choices = arguments.choices.iter().flatten();
        let options = choices.map(|label| Offered { label: label.clone(), description: None }).collect();
        let item = Item {
            id: ID.into(),
            header: None,
            question: arguments.question.clone(),
            options,
            own_words: false,
        };
        let question = HumanQuestion {
            items: vec![item],
            context: arguments.context.clone().unwrap_or_default(),
            cancel: cancel.clone(),
        };
        Ok(outcome(&put(&question, human, human_timeout)?))
    })
}
