//! `docker run` and its kin: what of this machine the container sees, and that it runs an image's program.

use crate::arg::Arg;
use crate::classify::Purpose;
use crate::effect::{Effect, Place};
use crate::evaluate::Evaluation;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    for set in &line.options {
        let Some(value) = &set.value else { continue };
        match set.choice.canonical {
            "-v" | "--volume" => volume(evaluation, value),
            "--mount" => mount(evaluation, value),
            "--device" => {
                evaluation.doing.add(Effect::Privilege("a device of this machine in a container".into()))
            }
            "--pid" | "--ipc" | "--uts" | "--userns" | "--network" | "--net" | "--cgroupns"
                if value.text().is_none_or(|text| text == "host") =>
            {
                if matches!(set.choice.canonical, "--network" | "--net") {
                    evaluation.doing.unknown("a container in the network of this machine");
                } else {
                    evaluation
                        .doing
                        .add(Effect::Privilege("a container in the namespaces of this machine".into()));
                }
            }
            "--cap-add" | "--security-opt" => {
                evaluation.doing.add(Effect::Privilege("a container with more rights".into()));
            }
            _ => {}
        }
    }
    let image = line.operands.first().and_then(Arg::text).unwrap_or("a container");
    evaluation.doing.add(Effect::Run { program: image.to_owned() });
    true
}

/// `host:container:options`
fn volume<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, value: &Arg<'a>) {
    let Some(text) = value.text() else {
        // `$PWD:/x` that is not known.
        evaluation.doing.unknown("a directory that is not known in a container");
        return;
    };
    let mut parts = text.split(':');
    let source = parts.next().unwrap_or_default();
    if !(source.starts_with('/') || source.starts_with('.') || source.starts_with('~')) {
        return;
    }
    let read_only = parts.skip(1).any(|options| options.split(',').any(|option| option == "ro"));
    seen(evaluation, source, read_only);
}

/// `type=bind,source=…,target=…,readonly`
fn mount<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, value: &Arg<'a>) {
    let Some(text) = value.text() else {
        evaluation.doing.unknown("a directory that is not known in a container");
        return;
    };
    let fields = || text.split(',');
    if !fields().any(|field| field == "type=bind") {
        return;
    }
    let read_only = fields().any(|field| matches!(field, "readonly" | "ro" | "readonly=true" | "ro=true"));
    if let Some(source) =
        fields().find_map(|field| field.strip_prefix("source=").or_else(|| field.strip_prefix("src=")))
    {
        seen(evaluation, source, read_only);
    }
}

/// A directory of this machine that a container sees.
fn seen(evaluation: &mut Evaluation<'_, '_, '_, '_, '_>, source: &str, read_only: bool) {
    let purpose = if read_only { Purpose::Read } else { Purpose::Write };
    let before = evaluation.doing.effects.len();
    let recursive = std::mem::replace(&mut evaluation.doing.recursive, true);
    evaluation.doing.path(&Arg::owned(source), purpose, &evaluation.cwds, evaluation.engine.around);
    evaluation.doing.recursive = recursive;
    let risky = evaluation.doing.effects.iter().skip(before).any(|effect| {
        matches!(effect, Effect::Write(target) | Effect::Read(target) if matches!(target.place, Place::Vital | Place::System)
            && (!read_only || target.path == "/" || target.path.ends_with(".sock")))
    });
    if risky {
        evaluation.doing.add(Effect::Privilege("a container that sees the system's files".into()));
    }
}
