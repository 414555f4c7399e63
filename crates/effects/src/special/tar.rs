//! `tar`: the mode decides what is read and what is written.

use crate::arg::Arg;
use crate::classify::Purpose;
use crate::doing::Inner;
use crate::evaluate::Evaluation;
use crate::options::Line;

/// `tar xzf a.tgz` in its modern spelling: the letters' values follow in order.
pub(crate) fn modern<'a>(words: &[Arg<'a>]) -> Vec<Arg<'a>> {
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let Some(letters) = first.text().filter(|text| {
        !text.starts_with('-') && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }) else {
        return words.to_vec();
    };
    let mut modern = Vec::with_capacity(words.len() + letters.len());
    let mut rest = rest.iter();
    for letter in letters.chars() {
        modern.push(Arg::owned(format!("-{letter}")));
        if "fbCTXIgKNVFLHs".contains(letter) && letter != 's' {
            modern.extend(rest.next().cloned());
        }
    }
    modern.extend(rest.cloned());
    modern
}

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let around = evaluation.engine.around;
    let directory =
        ["-C", "--directory", "--cd"].iter().find_map(|name| super::option(line, name)).flatten().cloned();
    let archive = super::option(line, "-f").flatten().cloned();
    let extracts = super::has(line, &["-x", "--get", "--extract"]);
    let lists = super::has(line, &["-t", "-d", "--compare", "--test-label"]);
    let changes = super::has(line, &["-c", "-r", "-u", "-A", "--delete", "--catenate", "--concatenate"]);
    for set in line.options.iter().filter(|set| set.choice.canonical == "--checkpoint-action") {
        match set.value.as_ref().map(|value| (value.lead().strip_prefix("exec=").is_some(), value)) {
            Some((true, value)) => evaluation.doing.inner.push(Inner::Shell("sh", value.after(5))),
            Some((false, value)) if value.is_certain() => {
                let harmless = matches!(
                    value.lead().split(['=', ':']).next(),
                    Some("echo" | "dot" | "." | "bell" | "ttyout" | "sleep" | "totals")
                );
                if harmless {
                    evaluation.doing.effects.retain(|effect| !matches!(effect, crate::effect::Effect::Unknown(why) if why.contains("checkpoint")));
                }
            }
            _ => {}
        }
    }
    if let Some(archive) = &archive
        && archive.text() != Some("-")
    {
        match archive.text().and_then(crate::hosts::of_remote) {
            Some(peer) => evaluation.doing.connect(peer, crate::effect::Carries::Data),
            None => {
                let purpose = if changes { Purpose::Write } else { Purpose::Read };
                evaluation.doing.path(archive, purpose, &evaluation.cwds, around);
            }
        }
    }
    if directory.is_some() {
        evaluation.chdir(directory.as_ref());
    }
    if extracts {
        if super::has(line, &["-O", "--to-stdout", "--to-command"]) {
            return true;
        }
        if super::has(line, &["-P", "--absolute-names"]) {
            evaluation.doing.unknown("an archive may write anywhere");
        }
        let one = super::option(line, "--one-top-level");
        let into = one.flatten().cloned().unwrap_or_else(|| Arg::owned("."));
        let renamed = super::has(line, &["--strip-components", "--transform", "--xform", "-s"]);
        if one.is_some() {
            // A directory of its own, named after the archive.
            evaluation.doing.path(&into, Purpose::Write, &evaluation.cwds, around);
        } else if renamed || line.operands.is_empty() || super::has(line, &["-T"]) {
            evaluation.unpack(&into);
        } else {
            for member in &line.operands {
                match member.text() {
                    Some(name) if !name.contains(['*', '?', '[']) => {
                        evaluation.unpack(&Arg::owned(format!("./{name}")));
                    }
                    _ => evaluation.unpack(&into),
                }
            }
        }
        if super::has(line, &["--recursive-unlink", "--unlink-first", "-U"]) {
            evaluation.doing.recursive = true;
            evaluation.doing.path(&into, Purpose::Delete, &evaluation.cwds, around);
        }
    } else if changes {
        evaluation.doing.deep = true;
        for member in &line.operands {
            if member.lead().starts_with('@') {
                evaluation.doing.path(&member.after(1), Purpose::Read, &evaluation.cwds, around);
            } else {
                evaluation.doing.path(member, Purpose::Read, &evaluation.cwds, around);
                if super::has(line, &["--remove-files"]) {
                    evaluation.doing.recursive = true;
                    evaluation.doing.path(member, Purpose::Delete, &evaluation.cwds, around);
                }
            }
        }
    } else if !lists && !line.operands.is_empty() {
        evaluation.doing.unknown("tar without a mode");
    }
    true
}
