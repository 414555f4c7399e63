//! What each fuzz target does with its input. The ordinary tests replay the corpora through the same functions, so
//! this file also compiles inside `crates/gate/tests/replay.rs`.
//!
//! A body panics where something that must always hold does not. It returns whether the input was taken (read, parsed,
//! loaded) rather than refused, so that a corpus of nothing but refusals is noticed.

mod grammar;

use std::path::Path;
use std::sync::LazyLock;

use call::{Call, Descriptors, DigestKey, Intent, RawCall, Seen, Shell};
use effects::{Analysis, Effect, NoFiles, Place, Surroundings, Target};
use policy::{Answer, Base, Config, Consultation, Fence, Layer, Origin, Question};
use shell::{Dialect, Given, Program, Refusal, Span, Value};

/// What a target does with its input, and whether the input was taken.
pub type Body = fn(&[u8]) -> bool;

/// The targets by name.
pub const TARGETS: [(&str, Body); 5] = [
    ("shell_read", shell_read),
    ("fold_words", fold_words),
    ("effects_analyse", effects_analyse),
    ("config_load", config_load),
    ("call_parse", call_parse),
];

const GIVEN: Given<'_> = Given { cwd: Some("/work/project"), home: Some("/home/user"), user: Some("user") };

/// More commands than this, in one text, is more than the shell crate promises to return.
const MAX_COMMANDS: usize = 4096;

/// Any text, in both dialects.
pub fn shell_read(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    [Dialect::Bash, Dialect::Posix].map(|dialect| read(&text, dialect).is_ok()).contains(&true)
}

/// Text that a small grammar makes of the input, so that deep constructs are reached; twice, with the same result.
pub fn fold_words(bytes: &[u8]) -> bool {
    let text = grammar::text(bytes);
    let once = [Dialect::Bash, Dialect::Posix].map(|dialect| read(&text, dialect));
    let twice = [Dialect::Bash, Dialect::Posix].map(|dialect| read(&text, dialect));
    assert_eq!(once, twice, "two readings differ: {text:?}");
    once.iter().any(Result::is_ok)
}

fn read(text: &str, dialect: Dialect) -> Result<Program, Refusal> {
    let result = shell::read(text, dialect, &GIVEN);
    match &result {
        Ok(program) => {
            assert!(shell::parse(text, dialect).is_ok(), "read, but not parsed: {text:?}");
            check_program(text, program);
        }
        Err(refusal) => {
            check_span(text, refusal.span);
            assert!(!refusal.reason.is_empty(), "refused without a reason: {text:?}");
        }
    }
    result
}

fn check_program(text: &str, program: &Program) {
    let count = program.commands.len();
    assert!(count <= MAX_COMMANDS, "{count} commands: {text:?}");
    for command in &program.commands {
        check_span(text, command.span);
        check_value(text, &command.cwd, count);
        for id in &command.feeds {
            check_number(text, *id, count);
        }
        for word in &command.words {
            check_span(text, word.span);
            check_value(text, &word.value, count);
        }
        for assignment in &command.assignments {
            check_span(text, assignment.span);
            check_value(text, &assignment.value, count);
        }
        for redirect in &command.redirects {
            check_span(text, redirect.span);
            check_value(text, &redirect.target, count);
        }
        for source in &command.input {
            match source {
                shell::Source::Pipe(ids) => ids.iter().for_each(|id| check_number(text, *id, count)),
                shell::Source::Text(value) | shell::Source::File(value) => check_value(text, value, count),
            }
        }
    }
}

/// Inside the text, and never in the middle of a character: whoever underlines it slices there.
fn check_span(text: &str, span: Span) {
    let range = span.start as usize..span.end as usize;
    assert!(text.get(range).is_some(), "{span:?} does not lie in the text: {text:?}");
}

fn check_value(text: &str, value: &Value, count: usize) {
    match value {
        Value::Text(_) | Value::Pattern(_) => {}
        Value::OneOf(values) => values.iter().for_each(|value| check_value(text, value, count)),
        Value::Process { commands, .. } => commands.iter().for_each(|id| check_number(text, *id, count)),
        Value::Unknown(unknown) => unknown.from.iter().for_each(|id| check_number(text, *id, count)),
    }
}

fn check_number(text: &str, id: shell::CommandId, count: usize) {
    assert!((id.0 as usize) < count, "there is no command {}: {text:?}", id.0);
}

/// Any text, as bash's, as `/bin/sh`'s and as the words of one command, through the analysis and a ruling.
pub fn effects_analyse(bytes: &[u8]) -> bool {
    static CONFIG: LazyLock<Config> = LazyLock::new(|| merge(Vec::new()).expect("the built-in profile"));
    let text = String::from_utf8_lossy(bytes);
    let shell =
        |shell| Intent::Shell { text: text.clone().into_owned(), shell, cwd: None, env_names: Vec::new() };
    let argv: Vec<String> = text.split([' ', '\n']).map(str::to_owned).collect();
    let argv = Intent::Argv { argv, cwd: None, env_names: Vec::new() };
    let mut taken = false;
    for (intent, own_text) in [(shell(Shell::Bash), true), (shell(Shell::Posix), true), (argv, false)] {
        let analysis = analyse(&[intent]);
        for part in &analysis.parts {
            if let (Some((start, end)), true) = (part.span, own_text) {
                check_span(&text, Span { start, end });
            }
            part.effects.iter().for_each(|effect| check_effect(&text, effect));
        }
        // Whatever could not be found out must not pass, and what would do nothing has no part that does.
        let ruling = CONFIG.rule(&question("Bash", own_text.then_some(&*text), &analysis));
        let unknown = analysis.parts.iter().flat_map(|part| &part.effects);
        if unknown.clone().any(|effect| matches!(effect, Effect::Unknown(_))) {
            assert!(ruling.decision > policy::Decision::Allow, "unknown, but allowed: {text:?}");
        }
        taken |= own_text && analysis.complex != Some("it could not be read");
    }
    taken
}

fn analyse(intents: &[Intent]) -> Analysis {
    let around = Surroundings {
        cwd: Path::new("/work/project"),
        home: Some(Path::new("/home/user")),
        user: Some("user"),
        workspace: Some(Path::new("/work/project")),
        files: &NoFiles,
    };
    effects::analyse(intents, &around)
}

fn check_effect(text: &str, effect: &Effect) {
    let _ = (effect.class(), effect.to_string());
    match effect {
        Effect::Read(target) | Effect::Write(target) | Effect::Delete { target, .. } => {
            check_target(text, target);
        }
        Effect::Connect(_)
        | Effect::Run { .. }
        | Effect::Code { .. }
        | Effect::Privilege(_)
        | Effect::System(_)
        | Effect::History(_)
        | Effect::Environment(_)
        | Effect::Unknown(_) => {}
    }
}

/// A path is absolute, without `.` and `..`; or the part of it that is not known is marked, which only happens where
/// what is known makes it a key's path.
fn check_target(text: &str, target: &Target) {
    let marked = target.path.contains('…') && target.place == Place::Credential;
    let climbs = target.path.split('/').any(|part| matches!(part, "." | ".."));
    let absolute = target.path.starts_with('/') && !climbs;
    assert!(absolute || marked, "{target:?} is not absolute: {text:?}");
}

/// Any configuration: alone from each origin, and as a workspace's file above a user's, which it may only tighten.
/// Before a line of `=====` stands the user's file, after it the workspace's.
pub fn config_load(bytes: &[u8]) -> bool {
    static ANALYSES: LazyLock<Vec<(&str, Analysis)>> = LazyLock::new(|| {
        let texts =
            ["ls -la", "rm -rf src && curl https://example.com", "pytest -q", "cat $x > ../y", "sudo ls"];
        let shell = |text: &str| Intent::Shell {
            text: text.to_owned(),
            shell: Shell::Bash,
            cwd: None,
            env_names: Vec::new(),
        };
        texts.into_iter().map(|text| (text, analyse(&[shell(text)]))).collect()
    });
    let _ = Answer::parse(bytes);
    let text = String::from_utf8_lossy(bytes);
    let (user, workspace) = text.split_once("\n=====\n").unwrap_or(("", &text));
    let mut taken = false;
    for origin in [Origin::Managed, Origin::User, Origin::Workspace, Origin::Given] {
        let merged = layer(origin, workspace).and_then(|layer| merge(vec![layer]));
        if let Some(config) = merged {
            taken = true;
            let _ = (config.shown(), config.cases(), config.files().count());
            for (text, analysis) in &*ANALYSES {
                let question = question("Bash", Some(text), analysis);
                let _ = config.rules().filter(|rule| rule.matches_any(&question)).count();
                let _ = config.rule(&question);
            }
        }
    }
    let below = || layer(Origin::User, user).into_iter().filter(|_| !user.is_empty()).collect::<Vec<_>>();
    let above = layer(Origin::Workspace, workspace).and_then(|layer| {
        let mut layers = below();
        layers.push(layer);
        merge(layers)
    });
    if let (Some(without), Some(with)) = (merge(below()), above) {
        for (command, analysis) in &*ANALYSES {
            let question = question("Bash", Some(command), analysis);
            let (without, with) = (without.rule(&question).decision, with.rule(&question).decision);
            assert!(
                with >= without,
                "`{command}`: {without:?} became {with:?} by a workspace's file: {text}"
            );
        }
    }
    taken
}

fn layer(origin: Origin, text: &str) -> Option<Layer> {
    match Layer::parse(origin, "fuzzed.yaml", text) {
        Ok(layer) => {
            let _ = layer.policies().count();
            Some(layer)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without words");
            None
        }
    }
}

fn merge(layers: Vec<Layer>) -> Option<Config> {
    let base = Base { cwd: "/work/project".into(), home: Some("/home/user".into()) };
    Config::merge(layers, &base).ok()
}

fn question<'a>(tool: &'a str, text: Option<&'a str>, analysis: &'a Analysis) -> Question<'a> {
    static UNFENCED: Fence = Fence::none("there is none here");
    Question {
        arguments: None,
        tool,
        category: call::Category::Exec,
        text,
        analysis,
        sandbox: call::Sandbox::Inherit,
        escalated: false,
        wall_ms: None,
        memory_mb: None,
        fence: &UNFENCED,
        engine: &Consultation::NotConfigured,
    }
}

/// Any bytes as a call, through its descriptor to its key; and as text that is masked and shown.
pub fn call_parse(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    check_shown(&text);
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    assert_eq!(call::mask_argv(&words).len(), words.len(), "a word was lost: {text:?}");
    let Ok(raw) = RawCall::from_json(bytes) else { return false };
    let _ = call::canonical(&call::mask_json(&raw.args));
    let again = raw.clone();
    let (Ok(call), Ok(again)) = (Call::parse(raw), Call::parse(again)) else { return false };
    assert_eq!(key_of(&call), key_of(&again), "the same call has two keys: {text:?}");
    call.justification().into_iter().for_each(check_shown);
    true
}

fn key_of(call: &Call) -> call::ApprovalKey {
    let descriptors = Descriptors::new();
    let descriptor = descriptors.of(call);
    let _ = (descriptor.category(), call.exec(), call.sandbox(), call.sandbox_permissions());
    assert!(!descriptor.intents(call).is_empty(), "a call of `{}` that is about nothing", call.tool());
    let seen = Seen { argv: None, complex: Some("it has a pipe".into()), risk: "low", cwd: "/work".into() };
    let key = DigestKey::from_bytes([7; 32]);
    let _ = serde_json::to_string(&descriptor.sanitize_for_event(call, &seen, &key));
    let request = descriptor.sanitize_for_approval(call, &seen, &key);
    let _ = serde_json::to_string(&request);
    let key = request.bind("plan", "none").approval_key();
    assert_eq!(call::ApprovalKey::from_hex(key.as_str()).as_ref(), Some(&key), "a key that is not one");
    key
}

fn check_shown(text: &str) {
    // A second masking may hide more (what stands before a mask is read otherwise), but it settles.
    let mut masked = call::mask(text).into_owned();
    for _ in 0..8 {
        masked = call::mask(&masked).into_owned();
    }
    assert_eq!(call::mask(&masked), masked, "masking does not settle: {text:?}");
    let shown = call::visible(text);
    assert!(!shown.chars().any(char::is_control), "a control character is shown: {text:?}");
    let lines = call::visible_lines(text);
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!lines.chars().any(control), "a control character is shown: {text:?}");
}
