//! `ssh` and its family: settings that run something here, and commands that run there.

use crate::arg::Arg;
use crate::doing::Inner;
use crate::effect::Effect;
use crate::evaluate::Evaluation;
use crate::options::Line;

/// Settings whose value is run by a shell on this machine.
static RUN_HERE: &[&str] = &[
    "proxycommand",
    "localcommand",
    "knownhostscommand",
    "match",
    "include",
    "pkcs11provider",
    "securitykeyprovider",
    "xauthlocation",
];

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    for set in line.options.iter().filter(|set| set.choice.canonical == "-o") {
        let Some(value) = &set.value else { continue };
        let lead = value.lead();
        let end = lead.find(['=', ' ']).unwrap_or(lead.len());
        let name = lead.get(..end).unwrap_or_default().to_ascii_lowercase();
        if RUN_HERE.contains(&name.as_str()) {
            let command = value.after(end + 1);
            match command.text() {
                Some("none") => {}
                Some(_) => evaluation.doing.inner.push(Inner::Shell("sh", command)),
                None => evaluation.doing.unknown("a command that is not known"),
            }
        } else if !value.is_certain() {
            evaluation.doing.unknown("a setting that is not known");
        }
    }
    if evaluation.name != "ssh" {
        return false;
    }
    let Some((host, command)) = line.operands.split_first() else { return true };
    let role = crate::knowledge::Role::Host;
    evaluation.role(role, host, line, false);
    if !command.is_empty() {
        let shown = command.iter().filter_map(Arg::text).next().unwrap_or("a command");
        evaluation.doing.add(Effect::Run { program: format!("{shown} on another machine") });
    }
    evaluation.doing.sends = true;
    true
}
