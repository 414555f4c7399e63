//! `kill`: which processes a signal goes to.

use crate::arg::Arg;
use crate::effect::Effect;
use crate::evaluate::Evaluation;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    // Signals look like options and groups of processes too: the words are read as they stand.
    evaluation.doing.effects.clear();
    let mut words = line.words.iter();
    let mut signalled = false;
    let mut harmless = false;
    while let Some(word) = words.next() {
        let Some(text) = word.text() else {
            evaluation.doing.unknown("ends a process that is not known");
            continue;
        };
        match text {
            "-l" | "-L" | "--list" | "--table" => return true,
            "-s" | "-n" | "--signal" if !signalled => {
                signalled = true;
                harmless = words.next().and_then(Arg::text) == Some("0");
            }
            "--" => signalled = true,
            _ if text.starts_with('-') && !signalled => {
                signalled = true;
                harmless = text == "-0";
                if text == "-1" && line.words.len() == 1 {
                    everything(evaluation);
                }
            }
            _ if harmless => {}
            "-1" | "1" => everything(evaluation),
            // Its own group: what the same text has started.
            "0" => {}
            _ if text.starts_with('%') => {}
            _ => evaluation.doing.unknown("ends another process"),
        }
    }
    true
}

fn everything(evaluation: &mut Evaluation<'_, '_, '_, '_, '_>) {
    evaluation.doing.add(Effect::System("ends every process".into()));
}
