//! `dd if=… of=…`

use crate::arg::Arg;
use crate::classify::Purpose;
use crate::evaluate::Evaluation;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    for word in &line.operands {
        let lead = word.lead();
        let purpose = match lead.split_once('=') {
            Some(("if", _)) => Purpose::Read,
            Some(("of", _)) => Purpose::Write,
            Some((
                "bs" | "ibs" | "obs" | "cbs" | "count" | "skip" | "seek" | "iseek" | "oseek" | "conv"
                | "iflag" | "oflag" | "status" | "files" | "speed",
                _,
            )) => continue,
            _ if matches!(word.text(), Some("--help" | "--version")) => return true,
            _ => {
                evaluation.doing.unknown("an operand of dd that is not known");
                continue;
            }
        };
        let path: Arg<'a> = word.after(3);
        evaluation.doing.path(&path, purpose, &evaluation.cwds, evaluation.engine.around);
    }
    true
}
