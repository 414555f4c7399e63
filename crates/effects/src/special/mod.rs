//! Arguments that are a language of their own. One file each; the knowledge names them by `special`.

mod awk;
mod chmod;
mod curl;
mod dd;
mod docker_run;
mod env;
mod find;
mod flock;
mod fzf;
mod git;
mod kill;
mod sed;
mod ssh;
pub(crate) mod tar;
mod telnet;
mod vim;
mod xargs;

use crate::arg::Arg;
use crate::doing::Inner;
use crate::evaluate::Evaluation;
use crate::options::Line;

pub(crate) use chmod::modes_as_operands;

/// How many places or words from elsewhere are looked at one by one.
const MOST: usize = 64;

/// Reads the arguments of the special of this name, which stands in the block at this place (0: the program's own).
/// Whether it has dealt with the operands.
pub(crate) fn read<'a>(
    name: &str,
    place: usize,
    evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>,
    line: &Line<'a>,
) -> bool {
    match name {
        "awk" => awk::read(evaluation, line),
        "chmod" => chmod::read(evaluation, line),
        "curl" => curl::read(evaluation, line),
        "dd" => dd::read(evaluation, line),
        "docker-run" => docker_run::read(evaluation, line),
        "env" => env::read(evaluation, line),
        "export" => env::export(evaluation, line),
        "fd" => find::fd(evaluation, line),
        "find" => find::read(evaluation, line),
        "flock" => flock::read(evaluation, line),
        "fzf" => fzf::read(evaluation, line),
        "git" => git::read(evaluation, line, place),
        "git-config" => git::config(evaluation, line),
        "kill" => kill::read(evaluation, line),
        "parallel" => xargs::parallel(evaluation, line),
        "sed" => sed::read(evaluation, line),
        "set" => {
            evaluation.doing.prints_environment = line.words.is_empty();
            evaluation.doing.effects.clear();
            true
        }
        // What SQL does is said by the roles of the knowledge.
        "sql" => false,
        "ssh" => ssh::read(evaluation, line),
        "tar" => tar::read(evaluation, line),
        "telnet" => telnet::read(evaluation),
        "test" => true,
        "trap" => trap(evaluation, line),
        "vim" => vim::read(evaluation, line),
        "xargs" => xargs::read(evaluation, line),
        // FAIL-CLOSED: a special that nobody wrote.
        _ => {
            evaluation.doing.unknown("arguments that are not read yet");
            true
        }
    }
}

/// `trap 'text' SIGNAL…`
fn trap<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    if let [text, _, ..] = line.operands.as_slice()
        && !matches!(text.text(), Some("-" | ""))
    {
        evaluation.doing.inner.push(Inner::Shell("bash", text.clone()));
    }
    evaluation.doing.effects.clear();
    true
}

/// The value of the last option with this canonical name, if it is given.
fn option<'l, 'a>(line: &'l Line<'a>, name: &str) -> Option<Option<&'l Arg<'a>>> {
    line.options.iter().rev().find(|set| set.choice.canonical == name).map(|set| set.value.as_ref())
}

/// Whether one of these options is given, by canonical name.
fn has(line: &Line<'_>, names: &[&str]) -> bool {
    line.options.iter().any(|set| names.contains(&set.choice.canonical))
}
