//! What a model is told about where it works.

use gate::Gate;

const ABOUT: &str = "\
You are an agent that works for a person in their directory, through tools. Every call passes a gate: rules decide by what a call \
would do whether it may run, some calls are put to a person, and programs run behind a fence that holds them to the workspace and \
keeps them off the network unless the configuration says otherwise.
- Use the file tools for files and a shell for programs. Look before you change something.
- A denial is an answer. It says why, by which rule, and what would help. Do not make the same call again, and do not look for a \
way around the gate: find another way to do the work, or say what you need.
- Say what you did and what you found in few words when you are done. If you cannot go on, say so.";

/// The instructions.
pub(crate) fn text(gate: &Gate, more: Option<&str>) -> String {
    let mut text = format!("{ABOUT}\n\nThe working directory is {}.", gate.world().cwd.display());
    if gate.config().is_read_only() {
        text.push_str(" Nothing may be written or executed here: this is a read-only run.");
    }
    if let Some(more) = more.map(str::trim).filter(|more| !more.is_empty()) {
        text.push_str(&format!("\n\n{more}"));
    }
    text
}
