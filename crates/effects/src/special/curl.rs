//! `curl`: what the method says, and files that are named inside values.

use crate::effect::{Carries, Effect};
use crate::evaluate::Evaluation;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    if let Some(method) = super::option(line, "-X") {
        let looks = method.and_then(|method| method.text()).is_some_and(|method| {
            ["GET", "HEAD", "OPTIONS", "TRACE"].iter().any(|known| method.eq_ignore_ascii_case(known))
        });
        evaluation.doing.sends |= !looks;
        // These put fields into the question where the method says so.
        let from_files = line.options.iter().any(|set| {
            set.choice.canonical == "--input"
                || set.value.as_ref().is_some_and(|value| value.lead().contains('@'))
        });
        if looks && matches!(evaluation.name, "gh" | "glab") && !from_files {
            evaluation.doing.sends = false;
            for effect in &mut evaluation.doing.effects {
                if let Effect::Connect(connection) = effect {
                    connection.carries = Carries::Query;
                }
            }
        }
    }
    for set in &line.options {
        if !matches!(set.choice.canonical, "-H" | "-w" | "--proxy-header") {
            continue;
        }
        match &set.value {
            Some(value) if value.lead().starts_with('@') => evaluation.data(value),
            Some(value) if value.lead().contains("%output{") => {
                evaluation.doing.unknown("writes to a file that a format names");
            }
            // A header may carry what a command printed.
            Some(value) if !value.is_certain() => evaluation.doing.sends = true,
            _ => {}
        }
    }
    false
}
