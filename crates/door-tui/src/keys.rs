//! The keys of the present state, in as many words as there is room for.

use crate::wrap::columns;

/// A key and what it does.
pub(crate) type Keys = Vec<(&'static str, &'static str)>;

/// The rows of keys, at most so many: with words if they fit, else the keys alone. No key is left out while it fits at all.
pub(crate) fn rows(keys: &[(&'static str, &'static str)], width: usize, most: usize) -> Vec<String> {
    let with_words: Vec<String> = keys.iter().map(|(key, word)| format!("{key} {word}")).collect();
    let bare: Vec<String> = keys.iter().map(|(key, _)| (*key).to_owned()).collect();
    for (labels, gap) in [(&with_words, "  "), (&bare, " ")] {
        let rows = filled(labels, gap, width);
        if rows.len() <= most && rows.iter().all(|row| columns(row) <= width) {
            return rows;
        }
    }
    filled(&bare, " ", width).into_iter().take(most).collect()
}

fn filled(labels: &[String], gap: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for label in labels {
        let Some(row) = rows.last_mut() else { break };
        if row.is_empty() {
            row.push_str(label);
        } else if columns(row) + columns(gap) + columns(label) <= width {
            row.push_str(gap);
            row.push_str(label);
        } else {
            rows.push(label.clone());
        }
    }
    rows
}

/// All keys, for help.
pub(crate) const HELP: &[(&str, &str)] = &[
    ("", "Writing"),
    ("Enter", "send"),
    ("Alt-Enter, ^J", "another line"),
    ("Up, Down", "what was sent before"),
    ("^A ^E ^U ^K ^W", "move and cut as in a shell"),
    ("", "Looking"),
    ("PgUp, PgDn, wheel", "scroll; ^End follows the end again"),
    ("Tab, Shift-Tab", "select a call"),
    ("^O", "open or fold the selected call, or the last"),
    ("^P", "the plan"),
    ("^G", "what is granted; r takes one back"),
    ("", "Running"),
    ("^C", "stop what is under way; twice: quit"),
    ("^D", "quit, where nothing is written"),
    ("^T", "mode: default, or edit (files may be written)"),
    ("/auto", "mode: everything that would be asked is approved"),
    ("/edit /default", "the other modes"),
    ("/plan /grants /help /quit", "the same as keys"),
    ("^Z", "back to the shell for a while"),
    ("^L", "draw everything anew"),
    ("", "A question whether a call may run"),
    ("y", "yes, once"),
    ("n", "no"),
    ("s", "yes, and the same again in this session"),
    ("a", "yes, and a rule for the future, shown first"),
    ("e", "everything about it"),
    ("q", "no, and the run ends"),
    ("I confirm", "typed, for what is critical"),
    ("", "Keys count once a question was to be read for 0.4 s."),
    ("", "A paste answers nothing."),
];
