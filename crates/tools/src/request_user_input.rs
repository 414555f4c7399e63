//! `request_user_input`: several questions to a person at once, each with its id.

use std::time::Duration;

use call::RequestUserInput;

use crate::cancel::Cancel;
use crate::human::{Human, HumanQuestion, Item, Offered, outcome, put};
use crate::outcome::Outcome;
use crate::setting::timed;

/// Runs `request_user_input`. Options are suggestions: words of one's own answer too.
#[must_use]
pub fn run(
    arguments: &RequestUserInput,
    human: Option<&dyn Human>,
    human_timeout: Duration,
    cancel: &Cancel,
) -> Outcome {
    timed(|| {
        let items = arguments.questions.iter().map(|question| Item {
            id: question.id.clone(),
            header: Some(question.header.clone()),
            question: question.question.clone(),
            options: question
                .options
                .iter()
                .flatten()
                .map(|option| Offered {
                    label: option.label.clone(),
                    description: option.description.clone(),
                })
                .collect(),
            own_words: true,
        });
        let items = items.collect();
        let question = HumanQuestion { items, context: serde_json::Map::new(), cancel: cancel.clone() };
        Ok(outcome(&put(&question, human, human_timeout)?))
    })
}
