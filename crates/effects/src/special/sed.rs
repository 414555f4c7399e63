//! `sed`: the script, where no option gives one, is the first operand.

use crate::effect::Origin;
use crate::evaluate::Evaluation;
use crate::knowledge::Role;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let given = super::has(line, &["-e", "--expression", "-f", "--file"]);
    let mut files = line.operands.iter();
    if !given && let Some(text) = files.next() {
        if text.written().is_some() {
            evaluation.code("sed", text);
        } else {
            // An unknown script could write or run anything.
            evaluation.doing.code("sed", Origin::Unresolved);
        }
    }
    for file in files {
        evaluation.role(Role::Read, file, line, false);
    }
    evaluation.doing.code_given = true;
    true
}
