//! Makes a case that differs as small as it can be while it still differs, so that a person can read it.

use super::model::{Asked, File};
use policy::Consultation;

/// Takes things away until nothing more can be taken away.
pub(crate) fn shrink(
    mut files: Vec<File>,
    mut asked: Asked,
    differs: impl Fn(&[File], &Asked) -> bool,
) -> (Vec<File>, Asked) {
    while let Some((smaller_files, smaller_asked)) =
        smaller(&files, &asked).into_iter().find(|(files, asked)| differs(files, asked))
    {
        files = smaller_files;
        asked = smaller_asked;
    }
    (files, asked)
}

fn smaller(files: &[File], asked: &Asked) -> Vec<(Vec<File>, Asked)> {
    let mut made = Vec::new();
    for index in 0..files.len() {
        let mut fewer = files.to_vec();
        fewer.remove(index);
        made.push((fewer, asked.clone()));
        for change in CHANGES {
            let mut less = files.to_vec();
            if change(&mut less[index]) {
                made.push((less, asked.clone()));
            }
        }
    }
    let parts = &asked.analysis.parts;
    for index in 0..parts.len() {
        // A call without parts is another kind of call.
        if parts.len() > 1 {
            let mut fewer = asked.clone();
            fewer.analysis.parts.remove(index);
            made.push((files.to_vec(), fewer));
        }
        for effect in 0..parts[index].effects.len() {
            let mut fewer = asked.clone();
            fewer.analysis.parts[index].effects.remove(effect);
            made.push((files.to_vec(), fewer));
        }
    }
    if asked.engine != Consultation::NotConfigured {
        let engine = Consultation::NotConfigured;
        made.push((files.to_vec(), Asked { engine, ..asked.clone() }));
    }
    if asked.escalated {
        made.push((files.to_vec(), Asked { escalated: false, ..asked.clone() }));
    }
    made
}

/// Takes one thing out of a file; false where there is nothing to take.
const CHANGES: &[fn(&mut File) -> bool] = &[
    |file| file.profile.take().is_some(),
    |file| file.mode.take().is_some(),
    |file| file.allowlist.pop().is_some(),
    |file| file.denylist.pop().is_some(),
    |file| file.denied_commands.pop().is_some(),
    |file| file.tool_allowlist.pop().is_some(),
    |file| file.tool_denylist.pop().is_some(),
    |file| file.read_only.take().is_some(),
    |file| file.allowed_paths.take().is_some(),
    |file| file.denied_paths.pop().is_some(),
    |file| first(&mut file.path_rules),
    |file| file.path_rules.pop().is_some(),
    |file| first(&mut file.command_rules),
    |file| file.command_rules.pop().is_some(),
    |file| file.writes_ask.take().is_some(),
    |file| file.execute_asks.take().is_some(),
    |file| file.complex_asks.take().is_some(),
    |file| first(&mut file.effects),
    |file| file.effects.pop().is_some(),
    |file| first(&mut file.rules),
    |file| file.rules.pop().is_some(),
    |file| file.restricted.take().is_some(),
    |file| file.hosts.pop().is_some(),
];

fn first<T>(list: &mut Vec<T>) -> bool {
    let any = !list.is_empty();
    list.drain(..usize::from(any));
    any
}
