//! `xargs` and `parallel`: a command, and the words that come to it from elsewhere.

use std::borrow::Cow;

use crate::arg::{Arg, Hazy};
use crate::doing::Inner;
use crate::evaluate::Evaluation;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    if line.operands.is_empty() {
        // Without a command it is `echo`.
        return true;
    }
    let from_file = super::has(line, &["-a", "--arg-file"]);
    let fed = if from_file { vec![not_known()] } else { words_from_input(evaluation) };
    let replaced =
        ["-I", "-i", "--replace", "-J"].iter().find_map(|name| super::option(line, name)).map(|value| {
            match value.and_then(|value| value.text()) {
                Some(text) if !text.is_empty() => text.to_owned(),
                _ => "{}".to_owned(),
            }
        });
    match replaced {
        None => {
            let mut words = line.operands.clone();
            words.extend(fed);
            evaluation.doing.inner.push(Inner::Command(words));
        }
        Some(mark) => replace_and_run(evaluation, &line.operands, &mark, &fed),
    }
    true
}

/// `parallel command ::: words`
pub(super) fn parallel<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let marks = [":::", "::::", ":::+", "::::+"];
    let count = line
        .operands
        .iter()
        .position(|word| word.text().is_some_and(|text| marks.contains(&text)))
        .unwrap_or(line.operands.len());
    let command: Vec<Arg<'a>> = line.operands.iter().take(count).cloned().collect();
    let given: Vec<Arg<'a>> = match line.operands.get(count).and_then(Arg::text) {
        Some(":::") => line
            .operands
            .iter()
            .skip(count + 1)
            .map(|word| {
                if word.text().is_some_and(|text| marks.contains(&text)) { not_known() } else { word.clone() }
            })
            .collect(),
        Some(_) => vec![not_known()],
        None => words_from_input(evaluation),
    };
    if given.len() > super::MOST {
        evaluation.doing.unknown("too many words from elsewhere");
    }
    let given: Vec<Arg<'a>> = given.into_iter().take(super::MOST).collect();
    if command.is_empty() {
        // Each word is a command of its own.
        for word in given {
            evaluation.doing.inner.push(Inner::Shell("sh", word));
        }
        return true;
    }
    // The command is shell text: one word with blanks in it is a program with its arguments.
    let shelly = command.iter().any(|word| {
        word.text().is_none_or(|text| text.contains([' ', ';', '|', '&', '$', '`', '>', '<', '\n', '(']))
    });
    if shelly {
        let text = crate::evaluate::join(command.iter());
        match text.text() {
            Some(text) if text.contains('{') => {
                for word in &given {
                    match word.text() {
                        Some(value) => {
                            let filled = text.replace("{}", value);
                            if filled.contains('{') {
                                evaluation.doing.unknown("a command that is put together from pieces");
                            }
                            evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(filled)));
                        }
                        None => evaluation.doing.inner.push(Inner::Shell("sh", not_known())),
                    }
                }
            }
            Some(_) if given.iter().all(|word| word.text().is_some()) => {
                for word in &given {
                    let filled = crate::evaluate::join([&text, word].into_iter());
                    evaluation.doing.inner.push(Inner::Shell("sh", filled));
                }
            }
            _ => evaluation.doing.inner.push(Inner::Shell("sh", not_known())),
        }
        return true;
    }
    if command.iter().any(|word| word.lead().contains('{')) {
        replace_and_run(evaluation, &command, "{}", &given);
    } else {
        let mut words = command;
        words.extend(given);
        evaluation.doing.inner.push(Inner::Command(words));
    }
    true
}

/// Runs the command with the mark replaced by each word.
fn replace_and_run<'a>(
    evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>,
    command: &[Arg<'a>],
    mark: &str,
    fed: &[Arg<'a>],
) {
    if fed.len() > super::MOST {
        evaluation.doing.unknown("too many words from elsewhere");
    }
    for word in fed.iter().take(super::MOST) {
        let words = command.iter().map(|one| replace(one, mark, word)).collect();
        evaluation.doing.inner.push(Inner::Command(words));
    }
}

/// A word with the mark in it replaced.
pub(super) fn replace<'a>(word: &Arg<'a>, mark: &str, by: &Arg<'a>) -> Arg<'a> {
    let Some(text) = word.text() else { return word.clone() };
    if !text.contains(mark) {
        return word.clone();
    }
    if text == mark {
        return match by {
            // One word, however many blanks are in it.
            Arg::Hazy(hazy) => Arg::Hazy(Hazy { splits: false, ..hazy.clone() }),
            _ => by.clone(),
        };
    }
    match by {
        Arg::Text(value) => Arg::owned(text.replace(mark, value)),
        Arg::Pattern(pattern) if !text.contains([' ', ';', '$', '`', '\'', '"']) => {
            Arg::Pattern(Cow::Owned(text.replace(mark, pattern)))
        }
        _ => {
            let prefix = text.split(mark).next().unwrap_or_default().to_owned();
            Arg::Hazy(Hazy { prefix: Cow::Owned(prefix), ..Hazy::default() })
        }
    }
}

/// The words that standard input gives.
fn words_from_input<'a>(evaluation: &Evaluation<'_, '_, '_, '_, 'a>) -> Vec<Arg<'a>> {
    let input = &evaluation.at.context.input;
    if let Some(text) = &input.constant
        && !text.contains(['\'', '"', '\\'])
    {
        let mut words: Vec<Arg<'a>> = text.split_whitespace().map(Arg::owned).collect();
        if input.more {
            words.push(not_known());
        }
        return words;
    }
    match &input.paths {
        Some(paths) => paths.iter().map(|path| Arg::Pattern(Cow::Owned(path.clone()))).collect(),
        None => vec![Arg::Hazy(Hazy { splits: true, absent: !input.any, ..Hazy::default() })],
    }
}

fn not_known<'a>() -> Arg<'a> {
    Arg::Hazy(Hazy { splits: true, ..Hazy::default() })
}
