//! `chmod`: modes that open a file to everybody or let it run with other rights.

use crate::arg::Arg;
use crate::classify::Purpose;
use crate::effect::Effect;
use crate::evaluate::Evaluation;
use crate::options::Line;

/// `-x`, `-w` are modes, not options.
pub(crate) fn modes_as_operands<'a>(words: &[Arg<'a>]) -> Vec<Arg<'a>> {
    words
        .iter()
        .map(|word| match word.text().and_then(|text| text.strip_prefix('-')) {
            Some(letters) if !letters.is_empty() && letters.bytes().all(|byte| b"rwxXst".contains(&byte)) => {
                Arg::owned(format!("a-{letters}"))
            }
            _ => word.clone(),
        })
        .collect()
}

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    if line.options.iter().any(|set| set.choice.canonical == "--reference") {
        return false;
    }
    evaluation.doing.recursive |= super::has(line, &["-R", "--recursive"]);
    let Some((mode, files)) = line.operands.split_first() else { return true };
    match mode.text() {
        Some(mode) => {
            if opens(mode) {
                evaluation.doing.add(Effect::System("lets everybody write to a file".into()));
            }
            if lends_rights(mode) {
                evaluation.doing.add(Effect::Privilege("a file that runs with its owner's rights".into()));
            }
        }
        None => evaluation.doing.unknown("a mode that is not known"),
    }
    for file in files {
        evaluation.doing.path(file, Purpose::Write, &evaluation.cwds, evaluation.engine.around);
    }
    true
}

/// Whether others get the right to write.
fn opens(mode: &str) -> bool {
    if let Some(digit) = octal(mode) {
        return digit.last().is_some_and(|last| last & 2 != 0)
            && digit.get(digit.len().wrapping_sub(4)).is_none_or(|first| first & 1 == 0);
    }
    clauses(mode).any(|(who, what, rights)| {
        what != '-' && rights.contains('w') && (who.contains('o') || who.contains('a'))
    })
}

/// Whether the setuid or setgid bit is set.
fn lends_rights(mode: &str) -> bool {
    if let Some(digits) = octal(mode) {
        return digits.len() >= 4 && digits.get(digits.len() - 4).is_some_and(|first| first & 6 != 0);
    }
    clauses(mode).any(|(_, what, rights)| what != '-' && rights.contains('s'))
}

fn octal(mode: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = mode.bytes().map(|byte| byte.wrapping_sub(b'0')).collect();
    (!digits.is_empty() && digits.iter().all(|digit| *digit < 8)).then_some(digits)
}

/// `u+x,go-w` as (who, what, rights).
fn clauses(mode: &str) -> impl Iterator<Item = (&str, char, &str)> {
    mode.split(',').filter_map(|clause| {
        let at = clause.find(['+', '-', '='])?;
        let (who, rest) = clause.split_at_checked(at)?;
        let what = rest.chars().next()?;
        Some((who, what, rest.get(1..)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_open_a_file_to_everybody() {
        for mode in ["777", "0777", "666", "o+w", "a+w", "a=rwx", "u+x,o+w", "002"] {
            assert!(opens(mode), "{mode}");
        }
        for mode in ["755", "644", "+x", "u+w", "o-w", "g+w", "1777", "+w"] {
            assert!(!opens(mode), "{mode}");
        }
        for mode in ["4755", "2755", "u+s", "6755"] {
            assert!(lends_rights(mode), "{mode}");
        }
        for mode in ["0755", "u-s", "1777"] {
            assert!(!lends_rights(mode), "{mode}");
        }
    }
}
