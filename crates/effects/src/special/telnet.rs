//! `telnet`: what it reads while it is not connected are commands, of which some run a shell.

use crate::arg::Arg;
use crate::doing::Inner;
use crate::evaluate::Evaluation;

pub(super) fn read(evaluation: &mut Evaluation<'_, '_, '_, '_, '_>) -> bool {
    let input = &evaluation.at.context.input;
    if !input.any {
        return false;
    }
    if input.more || input.constant.is_none() {
        evaluation.doing.code("telnet", input.origin());
    }
    let Some(text) = input.constant.clone() else { return false };
    for line in text.lines().take(super::MOST) {
        if let Some(command) = line.trim_start().strip_prefix('!') {
            evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(command)));
        }
    }
    if text.lines().count() > super::MOST {
        evaluation.doing.unknown("more lines than are looked at");
    }
    false
}
