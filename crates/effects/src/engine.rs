//! From shell text to parts: every command of a program is looked at once, wrappers are taken off, and what flows
//! between commands is followed.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use shell::{Command, CommandId, Dialect, Given, Program, Shape, Source, Value};

use crate::analysis::{Part, merge};
use crate::arg::{self, Arg};
use crate::classify::Purpose;
use crate::doing::{Cwds, Doing, Inner};
use crate::effect::{Carries, Effect};
use crate::evaluate;
use crate::flow::Flow;
use crate::links::Links;
use crate::normal::Normal;
use crate::output;
use crate::place::Surroundings;
use crate::places;
use crate::redirect;
use crate::refused;
use crate::roles::MODULE;
use crate::variables;

/// How deep wrappers may stand in each other.
const MAX_DEPTH: usize = 16;
/// How many commands are looked at in one call.
const MAX_COMMANDS: usize = 1024;
/// How many words of one command are looked at.
const MAX_WORDS: usize = shell::MAX_WORDS;
/// How many words of all commands together are looked at, inner commands included.
const MAX_ALL_WORDS: usize = 6 * 1024;
/// How many redirections of one command are looked at.
const MAX_REDIRECTS: usize = 64;

/// The state of one analysis.
pub(crate) struct Engine<'e> {
    pub(crate) around: &'e Surroundings<'e>,
    /// Links that the text makes.
    pub(crate) links: &'e Links<'e>,
    pub(crate) parts: Vec<Part>,
    /// The constructs of every shell text that was met, inner ones included.
    pub(crate) shape: Shape,
    /// Why a shell text could not be read, the first that was met.
    pub(crate) unread: Option<String>,
    looked_at: usize,
    /// How many words of commands were looked at, each time that one was.
    words_seen: usize,
    /// Files that the text writes, and what is in them.
    written: HashMap<String, Flow>,
}

/// What holds around a command.
#[derive(Clone, Default)]
pub(crate) struct Context {
    pub(crate) depth: usize,
    /// Wrappers that were taken off.
    pub(crate) via: Vec<String>,
    /// What those do.
    pub(crate) extra: Vec<Effect>,
    /// Where it comes from in the call's own text.
    pub(crate) span: Option<(u32, u32)>,
    /// What the standard input is where the command does not say.
    pub(crate) input: Flow,
    /// It may run more than once.
    pub(crate) repeated: bool,
}

/// One program, and what is known of its commands' output so far.
pub(crate) struct Scope<'p> {
    program: &'p Program,
    flows: RefCell<Vec<State>>,
    context: &'p Context,
}

#[derive(Clone)]
enum State {
    New,
    Open,
    Done(Flow),
}

/// Where one command stands.
pub(crate) struct At<'s, 'p> {
    pub(crate) scope: Option<&'s Scope<'p>>,
    pub(crate) cwds: &'s Cwds<'s>,
    pub(crate) context: &'s Context,
}

impl<'e> Engine<'e> {
    pub(crate) fn new(around: &'e Surroundings<'e>, links: &'e Links<'e>) -> Self {
        Engine {
            around,
            links,
            parts: Vec::new(),
            unread: None,
            shape: Shape::default(),
            looked_at: 0,
            words_seen: 0,
            written: HashMap::new(),
        }
    }

    /// Looks at shell text.
    pub(crate) fn text(
        &mut self,
        text: &str,
        dialect: Dialect,
        cwds: &Cwds<'_>,
        context: &Context,
    ) -> Option<Program> {
        let home = self.around.home.and_then(Path::to_str);
        let given = Given { cwd: None, home, user: self.around.user };
        match shell::read_in(text, dialect, &given, cwds.value()) {
            Ok(program) => {
                if program.commands.is_empty() {
                    // Nothing but comments and blanks.
                    self.push(String::new(), None, Normal::default(), Vec::new(), context);
                }
                self.program(&program, context);
                self.shape = self.shape.joined(program.shape);
                Some(program)
            }
            Err(refusal) => {
                self.unread.get_or_insert_with(|| refusal.reason.clone());
                let mut effects = vec![Effect::Unknown(refusal.reason)];
                refused::scan(text, self.around, &mut effects);
                effects.extend(context.extra.iter().cloned());
                self.parts.push(Part {
                    span: context.span,
                    text: text.to_owned(),
                    argv: None,
                    normal: Normal::default(),
                    via: context.via.clone(),
                    effects,
                });
                None
            }
        }
    }

    /// Looks at every command of a program.
    pub(crate) fn program(&mut self, program: &Program, context: &Context) {
        let scope = Scope { program, flows: RefCell::new(vec![State::New; program.commands.len()]), context };
        for number in 0..program.commands.len() {
            if self.looked_at > MAX_COMMANDS {
                break;
            }
            self.flow_of(&scope, CommandId(u32::try_from(number).unwrap_or(u32::MAX)), 0);
        }
    }

    /// What a command of the program puts out; looks at it if that has not happened yet.
    fn flow_of(&mut self, scope: &Scope<'_>, id: CommandId, depth: usize) -> Flow {
        let place = id.0 as usize;
        let state = scope.flows.borrow().get(place).cloned();
        match state {
            Some(State::Done(flow)) => return flow,
            Some(State::New) if depth <= 80 => {}
            _ => return Flow::some(),
        }
        let Some(command) = scope.program.commands.get(place) else { return Flow::some() };
        if let Some(state) = scope.flows.borrow_mut().get_mut(place) {
            *state = State::Open;
        }
        let flow = self.command(scope, command, depth);
        if let Some(state) = scope.flows.borrow_mut().get_mut(place) {
            *state = State::Done(flow.clone());
        }
        flow
    }

    fn flows_of(&mut self, scope: &Scope<'_>, ids: &[CommandId], depth: usize) -> Flow {
        let mut all = Flow::default();
        for id in ids {
            let flow = self.flow_of(scope, *id, depth + 1);
            all.join(&flow);
        }
        all
    }

    fn command(&mut self, scope: &Scope<'_>, command: &Command, depth: usize) -> Flow {
        let context = scope.context;
        if self.is_spent(context) {
            return Flow::some();
        }
        let cwds = redirect::directories(&command.cwd);
        let input = self.input(scope, command, &cwds, depth);
        // What goes into its words.
        let mut worded = Flow::default();
        for word in &command.words {
            self.value_flow(scope, &word.value, &mut worded, depth);
        }
        let mut own = Doing::default();
        for assignment in command.assignments.iter().take(MAX_REDIRECTS) {
            self.value_flow(scope, &assignment.value, &mut worded, depth);
            let value = Arg::of(&assignment.value);
            if variables::matters(&assignment.name, Some(&value)) {
                own.add(Effect::Environment(assignment.name.clone()));
            }
        }
        if [command.redirects.len(), command.assignments.len(), command.input.len()]
            .iter()
            .any(|count| *count > MAX_REDIRECTS)
        {
            own.unknown("too many redirections or assignments");
        }
        for redirect in command.redirects.iter().take(MAX_REDIRECTS) {
            self.value_flow(scope, &redirect.target, &mut worded, depth);
            redirect::touch(redirect, &cwds, self.around, &mut own);
        }
        let mut extra = own.effects;
        extra.extend(context.extra.iter().cloned());
        let inner = Context {
            depth: context.depth,
            via: context.via.clone(),
            extra,
            span: context.span.or(Some((command.span.start, command.span.end))),
            input: input.clone(),
            repeated: context.repeated || command.standing.repeated,
        };
        let first = self.parts.len();
        if command.words.is_empty() {
            let text: Vec<String> = command.assignments.iter().map(|one| format!("{}=…", one.name)).collect();
            self.push(text.join(" "), None, Normal::default(), Vec::new(), &inner);
        }
        let mut lines = arg::alternatives(command.words.iter().map(|word| &word.value));
        for line in &mut lines {
            self.spell_out_files(scope, line, depth);
        }
        let several = lines.len() > 1;
        self.looked_at += lines.len().saturating_sub(1);
        let mut flow = Flow::some();
        for line in lines.iter().filter(|line| !line.is_empty()) {
            let at = At { scope: Some(scope), cwds: &cwds, context: &inner };
            let out = self.words(line, &at, &worded);
            if several { flow.join(&out) } else { flow = out }
        }
        if several {
            merge(&mut self.parts, first);
        }
        flow.any = true;
        flow.taint(&worded);
        self.beside(scope, command, &mut flow, depth);
        for part in self.parts.get_mut(first..).unwrap_or_default() {
            if worded.secret || input.secret || part.effects.iter().any(is_secret_read) {
                carry_secret(&mut part.effects);
            }
            flow.taint_by(&part.effects);
        }
        self.remember(first, &flow);
        flow
    }

    /// `echo ls | tee >(cat other)`: what runs behind a pipe with a name prints where the command prints.
    fn beside(&mut self, scope: &Scope<'_>, command: &Command, flow: &mut Flow, depth: usize) {
        let words = command.words.iter().map(|word| &word.value);
        let targets = command.redirects.iter().take(MAX_REDIRECTS).map(|redirect| &redirect.target);
        for value in words.chain(targets) {
            if let Value::Process { reads: false, commands } = value {
                let other = self.flows_of(scope, commands, depth);
                flow.taint(&other);
                flow.more = true;
            }
        }
        flow.more |= redirect::shares_output(command);
        if flow.more {
            flow.paths = None;
        }
        // The same text twice in a row may mean something else than once; a list of files does not.
        flow.more |= command.standing.repeated;
    }

    /// `wc -l $(git ls-files)`: a list of files that patterns fit is those patterns.
    fn spell_out_files(&mut self, scope: &Scope<'_>, line: &mut Vec<Arg<'_>>, depth: usize) {
        let listed = |arg: &Arg<'_>| match arg {
            // Something below what is listed is told apart further down.
            Arg::Hazy(hazy) => {
                let below = hazy.suffix.starts_with('/') && !hazy.suffix.contains("..");
                !hazy.from.is_empty() && hazy.prefix.is_empty() && (hazy.suffix.is_empty() || below)
            }
            _ => false,
        };
        if !line.iter().any(listed) {
            return;
        }
        let mut spelt = Vec::with_capacity(line.len());
        for (place, arg) in line.drain(..).enumerate() {
            let paths = match &arg {
                Arg::Hazy(hazy) if place > 0 && listed(&arg) => self.flows_of(scope, hazy.from, depth).paths,
                _ => None,
            };
            let suffix = if let Arg::Hazy(hazy) = &arg { hazy.suffix } else { "" };
            match paths {
                Some(paths) if !suffix.is_empty() => {
                    // Only what was just made is certainly one name.
                    let made = paths.iter().all(|path| path == places::MADE);
                    spelt.push(if made { Arg::owned(format!("{}{suffix}", places::MADE)) } else { arg });
                }
                Some(paths) => spelt.extend(paths.iter().map(|path| Arg::Pattern(Cow::Owned(path.clone())))),
                None => spelt.push(arg),
            }
        }
        *line = spelt;
    }

    /// What a file holds that the text has written.
    pub(crate) fn written_in(&self, path: &str) -> Option<&Flow> {
        self.written.get(path)
    }

    /// Remembers what was written where.
    fn remember(&mut self, first: usize, flow: &Flow) {
        if !(flow.network || flow.secret) {
            return;
        }
        let mut paths = Vec::new();
        for part in self.parts.get(first..).unwrap_or_default() {
            for effect in &part.effects {
                if let Effect::Write(target) = effect {
                    paths.push(target.path.clone());
                }
            }
        }
        for path in paths {
            self.written.entry(path).or_default().join(flow);
        }
    }

    pub(crate) fn remember_fetched(&mut self, path: String) {
        let fetched = Flow { any: true, network: true, ..Flow::default() };
        self.written.entry(path).or_default().join(&fetched);
    }

    fn is_spent(&mut self, context: &Context) -> bool {
        self.looked_at += 1;
        if self.looked_at <= MAX_COMMANDS && context.depth <= MAX_DEPTH {
            return false;
        }
        let why = if context.depth > MAX_DEPTH {
            "commands are nested too deep"
        } else {
            "more commands than are looked at"
        };
        // FAIL-CLOSED: what is not looked at is not known. Once is enough.
        let said = self.parts.last().is_some_and(|part| {
            part.effects.iter().any(|effect| matches!(effect, Effect::Unknown(said) if said == why))
        });
        if !said {
            self.push(String::new(), None, Normal::default(), vec![Effect::Unknown(why.into())], context);
        }
        true
    }

    fn value_flow(&mut self, scope: &Scope<'_>, value: &Value, into: &mut Flow, depth: usize) {
        match value {
            Value::Text(_) | Value::Pattern(_) => {}
            Value::Unknown(unknown) => {
                if !unknown.from.is_empty() {
                    let flow = self.flows_of(scope, &unknown.from, depth);
                    into.taint(&flow);
                }
            }
            Value::Process { reads: true, commands } => {
                let flow = self.flows_of(scope, commands, depth);
                into.taint(&flow);
            }
            Value::Process { reads: false, .. } => {}
            Value::OneOf(values) => {
                for value in values {
                    self.value_flow(scope, value, into, depth + 1);
                }
            }
        }
    }

    fn input(&mut self, scope: &Scope<'_>, command: &Command, cwds: &Cwds<'_>, depth: usize) -> Flow {
        let mut flow = Flow::default();
        // Beyond this a command is not known anyway.
        for (place, source) in command.input.iter().take(MAX_REDIRECTS).enumerate() {
            let one = match source {
                Source::Pipe(ids) => self.flows_of(scope, ids, depth),
                Source::Text(Value::Text(text)) => Flow::constant(text),
                Source::Text(value) => {
                    let mut flow = Flow::some();
                    self.value_flow(scope, value, &mut flow, depth);
                    flow
                }
                Source::File(value) => {
                    let mut flow = Flow::some();
                    self.value_flow(scope, value, &mut flow, depth);
                    let mut read = Doing::default();
                    read.path(&Arg::of(value), Purpose::Read, cwds, self.around);
                    self.taint_by_files(&read.effects, &mut flow);
                    flow.taint_by(&read.effects);
                    flow
                }
            };
            if place == 0 { flow = one } else { flow.taint(&one) }
        }
        if command.input.is_empty() { scope.context.input.clone() } else { flow }
    }

    /// Adds what files hold that the text wrote before.
    fn taint_by_files(&self, effects: &[Effect], flow: &mut Flow) {
        if self.written.is_empty() {
            return;
        }
        for effect in effects {
            if let Effect::Read(target) = effect
                && let Some(held) = self.written_in(&target.path)
            {
                flow.taint(held);
            }
        }
    }

    /// Looks at one command: its words are certain but for those that are [`Arg::Hazy`].
    pub(crate) fn words(&mut self, words: &[Arg<'_>], at: &At<'_, '_>, worded: &Flow) -> Flow {
        let context = at.context;
        let Some((program, rest)) = words.split_first() else {
            self.push(String::new(), None, Normal::default(), Vec::new(), context);
            return Flow::some();
        };
        // FAIL-CLOSED: what was not looked at is not known.
        let room = MAX_WORDS.min(MAX_ALL_WORDS.saturating_sub(self.words_seen));
        let looked_at = rest.get(..room).unwrap_or(rest);
        self.words_seen += words.len();
        let evaluate::Found { name, normal, mut doing } = evaluate::command(self, program, looked_at, at);
        if looked_at.len() < rest.len() {
            doing.unknown("more words than are looked at");
        }
        let words = words.get(..room + 1).unwrap_or(words);
        let rest = looked_at;
        let mut held = Flow::default();
        self.taint_by_files(&doing.effects, &mut held);
        if held.secret || worded.secret || context.input.secret || doing.effects.iter().any(is_secret_read) {
            carry_secret(&mut doing.effects);
        }
        if !doing.fetched.is_empty() {
            self.remember_downloads(&doing);
        }
        let first = self.parts.len();
        let wraps = !doing.inner.is_empty() && doing.effects.iter().all(is_of_a_wrapper);
        let mut inner = Context {
            depth: context.depth + 1,
            via: context.via.clone(),
            extra: Vec::new(),
            span: context.span,
            input: context.input.clone(),
            repeated: context.repeated,
        };
        inner.via.push(name.clone());
        if wraps {
            inner.extra.append(&mut doing.effects);
            inner.extra.extend(context.extra.iter().cloned());
        } else {
            self.push(show(words), certain(words), normal, doing.effects, context);
        }
        let there = At { scope: at.scope, cwds: doing.moved.as_ref().unwrap_or(at.cwds), context };
        for one in doing.inner {
            self.inner(one, &there, &inner, worded);
        }
        if wraps && self.parts.len() == first {
            self.push(show(words), certain(words), Normal::default(), inner.extra, context);
        }
        let mut flow = Flow::some();
        flow.taint(&context.input);
        flow.taint(&held);
        if doing.prints_environment || name == "printenv" {
            flow.secret = true;
        }
        for part in self.parts.get(first..).unwrap_or_default() {
            flow.taint_by(&part.effects);
        }
        flow.paths = doing.lists.map(Rc::from).or_else(|| output::selected(&name, rest, &context.input));
        flow.constant = output::constant(&name, rest, &context.input);
        flow.more = context.input.more;
        flow
    }

    /// What a command would do, without counting it among the parts.
    pub(crate) fn apart(&mut self, words: &[Arg<'_>], at: &At<'_, '_>) -> Vec<Effect> {
        if self.is_spent(at.context) {
            return vec![Effect::Unknown("commands are nested too deep".into())];
        }
        let first = self.parts.len();
        self.words(words, at, &Flow::default());
        self.parts.drain(first..).flat_map(|part| part.effects).collect()
    }

    fn inner(&mut self, inner: Inner<'_>, at: &At<'_, '_>, context: &Context, worded: &Flow) {
        if self.is_spent(context) {
            return;
        }
        match inner {
            Inner::Command(words) => {
                let at = At { scope: at.scope, cwds: at.cwds, context };
                self.words(&words, &at, worded);
            }
            Inner::Shell(language, text) => match text {
                Arg::Text(text) => {
                    let dialect = if language == "bash" { Dialect::Bash } else { Dialect::Posix };
                    self.text(&text, dialect, at.cwds, context);
                }
                Arg::Pattern(_) | Arg::Process { .. } | Arg::Hazy(_) => {
                    let flow = self.arg_flow(&text, at);
                    let mut effects = vec![Effect::Code { language: "shell", origin: flow.origin() }];
                    effects.extend(context.extra.iter().cloned());
                    let mut shown = String::new();
                    text.show(&mut shown);
                    let bare = Context { extra: Vec::new(), ..context.clone() };
                    self.push(shown, None, Normal::default(), effects, &bare);
                }
            },
        }
    }

    /// What goes into one word.
    pub(crate) fn arg_flow(&mut self, arg: &Arg<'_>, at: &At<'_, '_>) -> Flow {
        let ids = match arg {
            Arg::Hazy(hazy) => hazy.from,
            Arg::Process { reads: true, commands } => commands,
            _ => &[],
        };
        let mut flow = match at.scope {
            Some(scope) if !ids.is_empty() => self.flows_of(scope, ids, 0),
            _ => Flow::some(),
        };
        // A word that nobody knows may have been read from standard input: `while read l; do eval "$l"; done`.
        if matches!(arg, Arg::Hazy(_)) {
            flow.taint(&at.context.input);
        }
        flow
    }

    /// A file that is fetched under its own name into a directory.
    fn remember_downloads(&mut self, doing: &Doing<'_>) {
        let mut paths = Vec::new();
        for effect in &doing.effects {
            if let Effect::Write(target) = effect {
                for name in &doing.fetched {
                    paths.push(format!("{}/{name}", target.path.trim_end_matches('/')));
                }
            }
        }
        for path in paths {
            self.remember_fetched(path);
        }
    }

    pub(crate) fn push(
        &mut self,
        text: String,
        argv: Option<Vec<String>>,
        normal: Normal,
        mut effects: Vec<Effect>,
        context: &Context,
    ) {
        for effect in &context.extra {
            if !effects.contains(effect) {
                effects.push(effect.clone());
            }
        }
        self.parts.push(Part { span: context.span, text, argv, normal, via: context.via.clone(), effects });
    }
}

/// The text of a command for people.
fn show(words: &[Arg<'_>]) -> String {
    let mut text = String::new();
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            text.push(' ');
        }
        match word.text().and_then(|text| text.strip_prefix(MODULE)).filter(|_| place == 0) {
            Some(module) => text.push_str(module),
            None => word.show(&mut text),
        }
    }
    text
}

/// The words, where all of them are certain.
fn certain(words: &[Arg<'_>]) -> Option<Vec<String>> {
    let bare = |(place, word): (usize, &Arg<'_>)| {
        let text = word.text()?;
        Some(text.strip_prefix(MODULE).filter(|_| place == 0).unwrap_or(text).to_owned())
    };
    words.iter().enumerate().map(bare).collect()
}

/// What a wrapper does beyond running the command that it wraps.
fn is_of_a_wrapper(effect: &Effect) -> bool {
    matches!(effect, Effect::Privilege(_) | Effect::Environment(_) | Effect::Unknown(_))
}

fn is_secret_read(effect: &Effect) -> bool {
    matches!(effect, Effect::Read(target) if target.place == crate::effect::Place::Credential)
}

fn carry_secret(effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Connect(connection) = effect {
            connection.carries = Carries::Secret;
        }
    }
}
