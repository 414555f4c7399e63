//! `awk`: the program, where no option gives one, is the first operand; the others are files or assignments.

use crate::effect::Origin;
use crate::evaluate::Evaluation;
use crate::knowledge::Role;
use crate::options::{self, Line};

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let given = super::has(line, &["-f", "--file", "-e", "--source", "-E", "--exec"]);
    let mut files = line.operands.iter();
    if !given && let Some(text) = files.next() {
        match text.written() {
            Some(program) => {
                evaluation.doing.prints_environment |= program.contains("ENVIRON");
                evaluation.code("awk", text);
            }
            None => evaluation.doing.code("awk", Origin::Unresolved),
        }
    }
    for file in files {
        if !options::is_assignment(file) {
            evaluation.role(Role::Read, file, line, false);
        }
    }
    evaluation.doing.code_given = true;
    true
}
