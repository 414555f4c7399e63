//! The way in: what a tool says it would touch goes in, what it would do comes out.

use std::borrow::Cow;
use std::path::Path;

use call::{Intent, Shell};
use shell::{Dialect, Shape};

use crate::analysis::{Analysis, Part};
use crate::arg::Arg;
use crate::classify::Purpose;
use crate::doing::{Cwds, Doing};
use crate::effect::{Carries, Connection, Effect, Origin, Peer};
use crate::engine::{At, Context, Engine};
use crate::flow::Flow;
use crate::hosts;
use crate::links::Links;
use crate::normal::Normal;
use crate::place::Surroundings;
use crate::risk;
use crate::transparent;
use crate::variables;

/// Finds out what a call would do.
#[must_use]
pub fn analyse(intents: &[Intent], around: &Surroundings<'_>) -> Analysis {
    let links = Links::over(around.files);
    let around = &Surroundings { files: &links, ..*around };
    let mut engine = Engine::new(around, &links);
    let mut refused = None;
    let mut words = None;
    for intent in intents {
        match intent {
            Intent::Argv { argv, cwd, env_names } => {
                let context = Context { extra: variables_of(env_names), ..Context::default() };
                let cwds = directory(cwd.as_deref(), around);
                let line: Vec<Arg<'_>> = argv.iter().map(|word| Arg::Text(Cow::Borrowed(word))).collect();
                let at = At { scope: None, cwds: &cwds, context: &context };
                engine.words(&line, &at, &Flow::default());
                words = Some(argv.clone());
            }
            Intent::Shell { text, shell, cwd, env_names } => {
                let context = Context { extra: variables_of(env_names), ..Context::default() };
                let cwds = directory(cwd.as_deref(), around);
                let dialect = match shell {
                    Shell::Bash => Dialect::Bash,
                    Shell::Posix => Dialect::Posix,
                };
                match engine.text(text, dialect, &cwds, &context) {
                    Some(program) => words = transparent::words(&program),
                    None => refused = Some("it could not be read"),
                }
            }
            Intent::Read { path } => touch(&mut engine, path, Purpose::Read),
            Intent::Write { path } => touch(&mut engine, path, Purpose::Write),
            Intent::Delete { path } => touch(&mut engine, path, Purpose::Delete),
            Intent::Connect { host, what } => {
                let peer = match host.as_deref().map(hosts::of_url) {
                    Some(hosts::Place::Machine(peer)) => peer,
                    Some(hosts::Place::File(_)) => Peer::Unnamed,
                    None => Peer::Service(what.clone()),
                };
                part(&mut engine, what, vec![Effect::Connect(Connection { peer, carries: Carries::Query })]);
            }
            Intent::Stdin { poll: true, .. } | Intent::Nothing => part(&mut engine, "", Vec::new()),
            Intent::Stdin { poll: false, .. } => {
                let code = Effect::Code { language: "stdin", origin: Origin::Written };
                part(&mut engine, "types into a running program", vec![code]);
            }
            Intent::Agent { what } => part(&mut engine, what, vec![Effect::Run { program: "agent".into() }]),
            Intent::Unknown { why } => part(&mut engine, why, vec![Effect::Unknown(why.clone())]),
        }
    }
    let Engine { parts, shape, unread, .. } = engine;
    let risk = risk::rate(&parts, &shape);
    let complex = refused.or_else(|| why_complex(&shape));
    let words = words.filter(|_| complex.is_none() && intents.len() == 1).map(transparent::unwrapped);
    Analysis { parts, complex, unread, words, risk }
}

/// The directory of a call, absolute.
fn directory<'a>(given: Option<&'a str>, around: &Surroundings<'a>) -> Cwds<'a> {
    let Some(base) = around.cwd.to_str() else { return Cwds::lost() };
    Cwds::at(match given {
        None => Cow::Borrowed(base),
        Some(given) if given.starts_with('/') => Cow::Borrowed(given),
        Some(given) => match (given.strip_prefix('~'), around.home.and_then(Path::to_str)) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                Cow::Owned(format!("{home}{rest}"))
            }
            _ => Cow::Owned(format!("{base}/{given}")),
        },
    })
}

/// Variables that the call sets, without their values.
fn variables_of(names: &[String]) -> Vec<Effect> {
    names
        .iter()
        .filter(|name| variables::matters(name, None))
        .map(|name| Effect::Environment(name.clone()))
        .collect()
}

fn touch(engine: &mut Engine<'_>, path: &str, purpose: Purpose) {
    let mut doing = Doing::default();
    let cwds = directory(None, engine.around);
    if path.is_empty() {
        doing.unknown("a path that is empty");
    }
    doing.path(&Arg::Text(Cow::Borrowed(path)), purpose, &cwds, engine.around);
    part(engine, path, doing.effects);
}

fn part(engine: &mut Engine<'_>, text: &str, effects: Vec<Effect>) {
    engine.parts.push(Part {
        span: None,
        text: text.to_owned(),
        argv: None,
        normal: Normal::default(),
        via: Vec::new(),
        effects,
    });
}

/// Why a text is more than one simple command with literal words.
fn why_complex(shape: &Shape) -> Option<&'static str> {
    [
        (shape.pipes, "it has a pipe"),
        (shape.chains, "it has several commands"),
        (shape.subshells, "it has a subshell"),
        (shape.redirects, "it has a redirection"),
        (shape.control, "it has control structures"),
        (shape.expansions, "it has expansions"),
    ]
    .iter()
    .find(|(given, _)| *given)
    .map(|(_, why)| *why)
}
