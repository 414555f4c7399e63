//! `fzf --bind`: keys and events bound to actions, some of which run shell text.

use crate::arg::Arg;
use crate::doing::Inner;
use crate::evaluate::Evaluation;
use crate::options::Line;

/// Actions whose argument is run by a shell.
static RUN: &[&str] = &[
    "execute",
    "execute-silent",
    "execute-multi",
    "become",
    "reload",
    "reload-sync",
    "preview",
    "refresh-preview",
];

/// Actions whose argument is something else, or nothing.
static SHOW: &[&str] = &[
    "change-",
    "toggle",
    "pos",
    "put",
    "search",
    "rebind",
    "unbind",
    "print",
    "show-",
    "hide-",
    "jump",
    "track",
    "untrack",
    "exclude",
    "trigger",
    "up",
    "down",
    "page-",
    "half-page-",
    "offset-",
    "first",
    "last",
    "best",
    "top",
    "bottom",
    "accept",
    "abort",
    "cancel",
    "clear-",
    "close",
    "select",
    "deselect",
    "backward-",
    "forward-",
    "beginning-",
    "end-of-",
    "delete-char",
    "kill-",
    "unix-",
    "yank",
    "ignore",
    "prev-",
    "next-",
    "preview-",
    "refresh-preview",
    "enable-",
    "disable-",
    "bell",
    "replace-query",
    "double-click",
    "every",
    "wait",
    "void",
    "raw",
];

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    for set in line.options.iter().filter(|set| set.choice.canonical == "--bind") {
        match set.value.as_ref().and_then(Arg::text) {
            Some(bindings) => bound(evaluation, bindings),
            None => evaluation.doing.unknown("keys may be bound to commands"),
        }
    }
    false
}

/// `key:action+action(argument),key:action:argument to the end`
fn bound(evaluation: &mut Evaluation<'_, '_, '_, '_, '_>, bindings: &str) {
    let mut rest = bindings;
    // A key comes first; after that, a `+` goes on with actions and a `,` with the next key.
    let mut key = true;
    while !rest.is_empty() {
        if key {
            let Some((_, after)) = rest.split_once(':') else {
                return evaluation.doing.unknown("a key that is bound to nothing");
            };
            rest = after;
        }
        let end = rest
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'))
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (argument, after) = argument(after);
        let runs = RUN.contains(&name) || name.starts_with("transform") || name.starts_with("bg-");
        match argument {
            Some(text) if runs => run(evaluation, text),
            _ if !runs && SHOW.iter().any(|known| name.starts_with(known)) => {}
            None if runs && matches!(name, "preview" | "refresh-preview" | "bg-cancel") => {}
            _ => evaluation.doing.unknown(format!("`fzf` with the action `{name}`")),
        }
        key = match after.chars().next() {
            None => return,
            Some('+') => false,
            Some(',') => true,
            Some(_) => return evaluation.doing.unknown("a key that is bound to something that is not known"),
        };
        rest = after.get(1..).unwrap_or_default();
    }
}

/// What stands in brackets after an action, or after a colon to the end.
fn argument(text: &str) -> (Option<&str>, &str) {
    let Some(open) = text.chars().next() else { return (None, "") };
    let close = match open {
        ':' => return (text.get(1..), ""),
        '+' | ',' => return (None, text),
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        mark => mark,
    };
    let inside = text.get(open.len_utf8()..).unwrap_or_default();
    let ends = |at: usize| {
        let after = inside.get(at + close.len_utf8()..).unwrap_or_default();
        after.is_empty() || after.starts_with(['+', ','])
    };
    // The argument ends where the bracket is followed by another action, another key or nothing.
    match inside.match_indices(close).map(|(at, _)| at).find(|at| ends(*at)) {
        Some(at) => (inside.get(..at), inside.get(at + close.len_utf8()..).unwrap_or_default()),
        None => (Some(inside), ""),
    }
}

/// Shell text in which `{…}` stands for lines that somebody chose.
fn run(evaluation: &mut Evaluation<'_, '_, '_, '_, '_>, text: &str) {
    if text.contains('{') {
        if text.contains(['\'', '"', '\\', '`', '$']) {
            evaluation.doing.unknown("a command that is put together from chosen lines");
            return;
        }
        let mut filled = String::with_capacity(text.len());
        for (place, piece) in text.split('{').enumerate() {
            match piece.split_once('}') {
                Some((_, after)) if place > 0 => {
                    filled.push_str("\"$chosen\"");
                    filled.push_str(after);
                }
                _ => filled.push_str(piece),
            }
        }
        evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(filled)));
    } else {
        evaluation.doing.inner.push(Inner::Shell("sh", Arg::owned(text)));
    }
}
