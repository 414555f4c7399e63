//! `env` and `export`: assignments, and the command that they are for.

use crate::doing::Inner;
use crate::evaluate::Evaluation;
use crate::options::{self, Line};

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    if let Some(directory) = super::option(line, "-C") {
        evaluation.chdir(directory);
    }
    // `env -` empties the environment.
    let mut words = line.operands.as_slice();
    if let Some((first, rest)) = words.split_first()
        && first.text() == Some("-")
    {
        words = rest;
    }
    let count = words.iter().take_while(|word| options::is_assignment(word)).count();
    for word in words.iter().take(count) {
        evaluation.assignment(word);
    }
    let dashes = usize::from(words.get(count).is_some_and(|word| word.text() == Some("--")));
    let command: Vec<_> = words.iter().skip(count + dashes).cloned().collect();
    if command.is_empty() {
        evaluation.doing.prints_environment = evaluation.doing.inner.is_empty();
    } else {
        evaluation.doing.inner.push(Inner::Command(command));
    }
    true
}

pub(super) fn export<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    if line.operands.is_empty() {
        evaluation.doing.prints_environment = true;
    }
    for word in &line.operands {
        evaluation.assignment(word);
    }
    true
}
