//! `flock FILE COMMAND…`, `flock FILE -c TEXT`, `flock NUMBER`.

use crate::doing::Inner;
use crate::evaluate::Evaluation;
use crate::knowledge::Role;
use crate::options::Line;

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let Some((file, command)) = line.operands.split_first() else { return true };
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if command.is_empty() && file.text().is_some_and(number) {
        // A descriptor that the shell has open already.
        return true;
    }
    evaluation.role(Role::Write, file, line, false);
    match command {
        [] => {}
        [first, rest @ ..] if matches!(first.text(), Some("-c" | "--command")) => match rest {
            [text] => evaluation.doing.inner.push(Inner::Shell("sh", text.clone())),
            _ => evaluation.doing.unknown("`flock -c` takes one text"),
        },
        _ => evaluation.doing.inner.push(Inner::Command(command.to_vec())),
    }
    true
}
