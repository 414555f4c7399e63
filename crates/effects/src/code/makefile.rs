//! A makefile that is written in the call: the recipes that its targets have. Which of them run is for `make` to say, so
//! that a reading is never complete.

use super::{Finding, Reading};

/// Reads rules and their recipes.
pub(super) fn read(text: &str, reading: &mut Reading) {
    reading.incomplete();
    // These change what a recipe is.
    if text.contains(".RECIPEPREFIX") || text.contains("SHELL") {
        return;
    }
    let joined = text.replace("\\\n\t", "").replace("\\\n", "");
    for line in joined.lines() {
        if let Some(text) = line.strip_prefix('\t') {
            recipe(text, reading);
        } else if let Some(text) = after_rule(line) {
            recipe(text, reading);
        }
        asked(line, reading);
    }
}

/// What stands after the `;` of a rule.
fn after_rule(line: &str) -> Option<&str> {
    let (head, text) = line.split_once(';')?;
    let (target, rest) = head.split_once(':')?;
    let assigns =
        target.contains(['=', '#']) || rest.trim_start_matches(':').contains('=') || rest.contains('#');
    (!assigns).then_some(text)
}

/// A line of a recipe, which a shell gets.
fn recipe(text: &str, reading: &mut Reading) {
    let text = text.trim_start().trim_start_matches(['@', '-', '+', ' ']);
    if text.is_empty() {
        return;
    }
    if text.replace("$$", "").contains('$') {
        reading.runs_unknown();
        return;
    }
    reading.found(Finding::RunShell(text.replace("$$", "$")));
}

/// `$(shell …)`, which runs while the makefile is read.
fn asked(line: &str, reading: &mut Reading) {
    for piece in line.split("$(shell ").skip(1) {
        match piece.split_once(')') {
            Some((command, _)) if !command.contains(['(', '$']) => {
                reading.found(Finding::RunShell(command.trim().to_owned()));
            }
            _ => reading.runs_unknown(),
        }
    }
}
