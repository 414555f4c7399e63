//! `vim -es`: standard input is commands of the line editor, where otherwise it is keys.

use crate::arg::Arg;
use crate::evaluate::Evaluation;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    if super::has(line, &["-e", "-E", "-es", "-Es"])
        && let Some(text) = evaluation.at.context.input.constant.clone()
    {
        evaluation.code("vim", &Arg::owned(text.as_ref()));
    }
    false
}
