//! How risky a call is: named factors, and a level.

use shell::Shape;

use crate::analysis::{Level, Part, Risk};
use crate::effect::{Class, Effect, Place};

/// Rates a call by what its parts would do and by its shape.
pub(crate) fn rate(parts: &[Part], shape: &Shape) -> Risk {
    let mut factors: Vec<&'static str> = Vec::new();
    let mut real = 0_usize;
    let mut beyond_doubt = false;
    let mut add = |factors: &mut Vec<&'static str>, factor: &'static str, certain: bool| {
        if !factors.contains(&factor) {
            factors.push(factor);
            real += 1;
        }
        beyond_doubt |= certain;
    };
    for effect in parts.iter().flat_map(|part| &part.effects) {
        match effect {
            Effect::Privilege(_) => add(&mut factors, "gains rights", false),
            Effect::System(what) if what.contains("everybody") => {
                add(&mut factors, "opens files to everybody", false)
            }
            Effect::System(_) => add(&mut factors, "changes the machine", true),
            Effect::History(_) => add(&mut factors, "cannot be undone", false),
            Effect::Environment(_) => add(&mut factors, "changes what programs run", false),
            Effect::Delete { target, recursive } => match target.place {
                Place::Vital | Place::System => {
                    add(&mut factors, "deletes what the machine or the work needs", true)
                }
                Place::Nowhere | Place::Generated => {}
                _ if *recursive => add(&mut factors, "deletes directories", false),
                _ => {}
            },
            Effect::Write(target) => match target.place {
                Place::Vital => add(&mut factors, "overwrites a device or a whole directory", true),
                Place::System => add(&mut factors, "writes to the system", false),
                Place::Protected => add(&mut factors, "changes what runs in the workspace", false),
                _ => {}
            },
            _ => {}
        }
        match effect.class() {
            Some(Class::Credentials) => add(&mut factors, "touches keys, tokens or passwords", false),
            Some(Class::Exfiltrate) => add(&mut factors, "sends something secret away", true),
            Some(Class::CodeNetwork) => add(&mut factors, "runs code from the network", true),
            Some(Class::CodeUnresolved) => add(&mut factors, "runs code that is not shown", false),
            _ => {}
        }
        let given = match effect {
            Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => target
                .given
                .as_deref()
                .filter(|_| target.place >= Place::Outside && target.place != Place::Protected),
            _ => None,
        };
        if given.is_some_and(|given| given.contains("../..")) {
            add(&mut factors, "climbs out of the workspace", false);
        }
    }
    let structure: [(bool, &'static str); 5] = [
        (shape.pipes, "a pipe"),
        (shape.chains, "several commands"),
        (shape.subshells, "a subshell"),
        (shape.redirects, "a redirection"),
        (shape.control, "control structures"),
    ];
    let compound = structure.iter().any(|(given, _)| *given);
    factors.extend(structure.iter().filter(|(given, _)| *given).map(|(_, name)| *name));
    let level = match real {
        _ if beyond_doubt => Level::Critical,
        0 if compound => Level::Medium,
        0 => Level::Low,
        1 => Level::High,
        _ => Level::Critical,
    };
    Risk { level, factors }
}
