//! Simple commands: words are expanded first, then redirections, then assignments, as the shell does it.

use super::state::{Binding, Key, unknown};
use super::{Flow, Folder, MAX_STEPS, command_id, refuse};
use crate::parse::{DECLARES, Read};
use crate::syntax::{self, Assigned, Operator, Simple, Target};
use crate::{
    Assignment, Command, CommandId, MAX_COMMANDS, MAX_WORDS, Redirect, RedirectKind, Source, Span, Unknown,
    Value, Why, Word,
};

/// Redirections, and what they make of standard input, the nearest first.
#[derive(Debug, Default)]
pub(super) struct Redirected {
    pub(super) redirects: Vec<Redirect>,
    pub(super) inputs: Vec<Source>,
}

impl<'t, 'a> Folder<'t, 'a> {
    pub(super) fn simple(&mut self, simple: &'t Simple<'a>) -> Read<Flow> {
        self.failed = None;
        self.step(1, simple.span)?;
        if !self.aliases.is_empty() {
            self.no_alias_used(simple)?;
        }
        let mut words = Vec::with_capacity(simple.words.len());
        let declares = matches!(simple.words.first().map(|word| word.parts.as_slice()),
            Some([syntax::Part::Literal(name)]) if DECLARES.contains(name));
        let mut arrays = Vec::new();
        for (index, word) in simple.words.iter().enumerate() {
            if let Some(assign) = &word.array {
                let value = self.assigned(assign)?;
                arrays.push((assign.name, value));
                let value = Value::Unknown(Unknown {
                    prefix: format!("{}=", assign.name),
                    suffix: String::new(),
                    splits: false,
                    why: Why::Form("an array"),
                    from: Vec::new(),
                });
                words.push(Word { value, span: word.span });
            } else if declares && index > 0 {
                self.declared(word, &mut words)?;
            } else {
                self.expand(word, &mut words)?;
            }
        }
        self.step(words.len() / 8, simple.span)?;
        let redirected =
            if simple.redirects.is_empty() { None } else { Some(self.redirected(&simple.redirects)?) };
        let temporary = !words.is_empty();
        let before = self.state.mark();
        let mut assignments = Vec::with_capacity(simple.assignments.len());
        for assign in &simple.assignments {
            let binding = self.assigned(assign)?;
            assignments.push(Assignment {
                name: assign.name.to_owned(),
                value: shown(&binding, assign),
                appends: assign.appends,
                span: assign.span,
            });
            self.assignable(assign.name, assign.span)?;
            self.bind_checked(assign, binding)?;
        }
        if self.state.full {
            return refuse(simple.span, "more variables and functions than are followed");
        }
        if !temporary {
            self.emit(simple.span, assignments, words, redirected)?;
            return Ok(Flow::On);
        }
        if let Some(function) = self.function_called(&words, simple.span)? {
            return self.call(simple, function, words, redirected);
        }
        self.state.rollback(before);
        let id = self.emit(simple.span, assignments, words, redirected)?;
        self.builtin(id, simple, arrays)
    }

    /// Counts work; refuses where there is too much of it.
    pub(super) fn step(&mut self, steps: usize, span: Span) -> Read<()> {
        self.steps += steps;
        if self.steps > MAX_STEPS { refuse(span, "too many commands") } else { Ok(()) }
    }

    /// The function of the text that a command's name stands for.
    fn function_called(&self, words: &[Word], span: Span) -> Read<Option<&'t syntax::Function<'a>>> {
        if !self.state.has_functions() {
            return Ok(None);
        }
        match words.first().map(|word| &word.value) {
            Some(Value::Text(name)) => match self.state.function(name) {
                Binding::Function(function) => Ok(Some(function)),
                Binding::Outside | Binding::Unset => Ok(None),
                Binding::Lost | Binding::Set(_) | Binding::Array(_) => {
                    refuse(span, format!("`{name}` may or may not be a function here"))
                }
            },
            Some(Value::OneOf(members)) => {
                for member in members {
                    if let Value::Text(name) = member
                        && !matches!(self.state.function(name), Binding::Outside | Binding::Unset)
                    {
                        return refuse(
                            span,
                            format!("`{name}` may be called, which the text defines as a function"),
                        );
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Follows the body of a function that is called.
    fn call(
        &mut self,
        simple: &'t Simple<'a>,
        function: &'t syntax::Function<'a>,
        words: Vec<Word>,
        redirected: Option<Redirected>,
    ) -> Read<Flow> {
        if self.calls.contains(&function.number) {
            return refuse(simple.span, format!("a function that calls itself: `{}`", function.name));
        }
        if self.calls.len() >= 16 {
            return refuse(simple.span, "functions that call each other too deep");
        }
        if let Some(called) = self.called.get_mut(function.number) {
            *called = true;
        }
        let outer = self.state.get(&Key::Arguments).clone();
        let certain =
            words.iter().all(|word| !matches!(&word.value, Value::Unknown(unknown) if unknown.splits));
        let arguments = if certain {
            Binding::Array(words.into_iter().skip(1).map(|word| word.value).collect())
        } else {
            Binding::Lost
        };
        self.state.set(Key::Arguments, arguments);
        self.calls.push(function.number);
        self.locals.push(Vec::new());
        let loops = std::mem::take(&mut self.loops);
        let standing = self.standing;
        self.standing.conditional = true;
        let branches = std::mem::take(&mut self.branches);
        let start = self.state.mark();
        let returned = std::mem::take(&mut self.returned);
        let flow = self.around(redirected, |folder| folder.compound(&function.body))?;
        if std::mem::replace(&mut self.returned, returned) {
            self.state.maybe(start);
        }
        self.branches = branches;
        self.standing = standing;
        self.loops = loops;
        self.calls.pop();
        for (name, old) in self.locals.pop().unwrap_or_default().into_iter().rev() {
            self.state.set(Key::Variable(name.into()), old.unwrap_or(Binding::Lost));
        }
        self.state.set(Key::Arguments, outer);
        for assign in &simple.assignments {
            self.bind(assign.name, Binding::Lost);
        }
        self.failed = None;
        Ok(if flow == Flow::Exits { Flow::Exits } else { Flow::On })
    }

    /// Writes a command down.
    pub(super) fn emit(
        &mut self,
        span: Span,
        assignments: Vec<Assignment>,
        words: Vec<Word>,
        own: Option<Redirected>,
    ) -> Read<CommandId> {
        let id = command_id(self.program.commands.len());
        if self.program.commands.len() >= MAX_COMMANDS {
            return refuse(span, "more commands than are looked at");
        }
        if words.len() > MAX_WORDS {
            return refuse(span, "more words than are looked at");
        }
        let own = own.unwrap_or_default();
        let mut links = self.redirects.len();
        let mut redirects = own.redirects;
        redirects.extend(self.redirects.iter().rev().cloned());
        let mut input = own.inputs;
        for source in self.inputs.iter().rev() {
            links += match source {
                Source::Pipe(ids) => 1 + ids.len(),
                Source::Text(Value::Text(text)) => 1 + text.len() / 64,
                Source::Text(_) | Source::File(_) => 1,
            };
            input.push(source.clone());
        }
        self.links(links, span)?;
        let cwd = self.directory();
        let size = weight(&cwd)
            + self.redirects.iter().map(|redirect| weight(&redirect.target)).sum::<usize>()
            + self.inputs.iter().map(source_weight).sum::<usize>();
        self.made(size, span)?;
        self.program.commands.push(Command {
            span,
            assignments,
            words,
            redirects,
            cwd,
            input,
            feeds: Vec::new(),
            standing: self.standing,
        });
        self.direct.push(id);
        Ok(id)
    }

    /// Resolves redirections.
    pub(super) fn redirected(&mut self, redirects: &'t [syntax::Redirect<'a>]) -> Read<Redirected> {
        let mut result = Redirected::default();
        for redirect in redirects {
            let default = match redirect.operator {
                Operator::Read
                | Operator::ReadWrite
                | Operator::DuplicateIn
                | Operator::Document
                | Operator::String => 0,
                Operator::Write | Operator::Clobber | Operator::Append | Operator::DuplicateOut => 1,
                Operator::Both | Operator::BothAppend => 1,
            };
            let descriptor = match redirect.variable {
                Some(name) => {
                    self.assignable(name, redirect.span)?;
                    self.bind(name, Binding::Lost);
                    None
                }
                None => Some(redirect.descriptor.unwrap_or(default)),
            };
            let target = match &redirect.target {
                Target::Document(number) => {
                    let script = self.script;
                    match script.documents.get(*number) {
                        Some(document) => self.quoted(&document.parts, redirect.span)?,
                        None => unknown(Why::Form("a here-document")),
                    }
                }
                Target::Word(word) if redirect.operator == Operator::String => {
                    let value = self.single(word)?;
                    match value {
                        Value::Text(mut text) => {
                            text.push('\n');
                            Value::Text(text)
                        }
                        other => other,
                    }
                }
                Target::Word(word) => self.target(word)?,
            };
            let kind = match redirect.operator {
                Operator::Read => RedirectKind::Read,
                Operator::Write | Operator::Clobber | Operator::Both => RedirectKind::Write,
                Operator::Append | Operator::BothAppend => RedirectKind::Append,
                Operator::ReadWrite => RedirectKind::ReadWrite,
                Operator::Document | Operator::String => RedirectKind::Text,
                Operator::DuplicateIn => RedirectKind::Duplicate,
                Operator::DuplicateOut => self.duplicates(redirect, &target)?,
            };
            if descriptor == Some(0) {
                let source = match kind {
                    RedirectKind::Text => Some(Source::Text(target.clone())),
                    RedirectKind::Read | RedirectKind::ReadWrite => Some(Source::File(target.clone())),
                    RedirectKind::Duplicate if target == Value::Text("-".into()) => None,
                    RedirectKind::Duplicate => Some(Source::File(unknown(Why::Form("another descriptor")))),
                    RedirectKind::Write | RedirectKind::Append => None,
                };
                // The last one counts.
                if let Some(source) = source {
                    result.inputs.insert(0, source);
                }
            }
            result.redirects.push(Redirect { kind, target, descriptor, span: redirect.span });
        }
        Ok(result)
    }

    /// `>&1` duplicates, `>& file` writes.
    fn duplicates(&self, redirect: &syntax::Redirect<'a>, target: &Value) -> Read<RedirectKind> {
        let is_descriptor = matches!(target, Value::Text(text)
            if text == "-" || text.strip_suffix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit()));
        if is_descriptor {
            return Ok(RedirectKind::Duplicate);
        }
        if !self.bash() {
            return refuse(
                redirect.span,
                "`>&` with a name is read differently by bash and by a POSIX shell",
            );
        }
        Ok(RedirectKind::Write)
    }

    /// The target of a redirection: one word, or the shell reports an error.
    fn target(&mut self, word: &'t syntax::Word<'a>) -> Read<Value> {
        let mut words = Vec::new();
        self.expand(word, &mut words)?;
        match (words.len(), words.pop()) {
            (1, Some(word)) => Ok(match word.value {
                // A POSIX shell takes a pattern here as it stands, bash looks for a file.
                Value::Pattern(_) if !self.bash() => {
                    unknown(Why::Dialect("a pattern as a redirection's target"))
                }
                value => value,
            }),
            _ => Ok(unknown(Why::Form("a redirection to several words"))),
        }
    }

    /// What an assignment would set its variable to.
    fn assigned(&mut self, assign: &'t syntax::Assign<'a>) -> Read<Binding<'t, 'a>> {
        if let Some(subscript) = &assign.subscript {
            self.subscript(subscript, assign.span)?;
        }
        match &assign.value {
            Assigned::Array(elements) => {
                let mut values = Vec::new();
                let mut certain = !assign.appends;
                for (subscript, word) in elements {
                    match subscript {
                        Some(subscript) => {
                            self.subscript(subscript, assign.span)?;
                            self.single(word)?;
                            certain = false;
                        }
                        None => self.expand(word, &mut values)?,
                    }
                }
                let values: Vec<Value> = values.into_iter().map(|word| word.value).collect();
                let plain = values.iter().all(|value| matches!(value, Value::Text(_)));
                Ok(if certain && plain { Binding::Array(values) } else { Binding::Lost })
            }
            Assigned::Word(word) => {
                let value = self.assignment_value(word)?;
                if assign.subscript.is_some() {
                    return Ok(Binding::Lost);
                }
                if !assign.appends {
                    return Ok(Binding::Set(value));
                }
                Ok(match (self.state.variable(assign.name), value) {
                    (Binding::Set(Value::Text(old)), Value::Text(more)) => {
                        let whole = format!("{old}{more}");
                        self.made(whole.len(), assign.span)?;
                        Binding::Set(Value::Text(whole))
                    }
                    (Binding::Unset, value) => Binding::Set(value),
                    _ => Binding::Lost,
                })
            }
        }
    }

    fn bind_checked(&mut self, assign: &'t syntax::Assign<'a>, binding: Binding<'t, 'a>) -> Read<()> {
        if self.odd.iter().any(|name| name == assign.name) {
            if let Binding::Set(Value::Text(text)) = &binding
                && text.contains('[')
            {
                return refuse(assign.span, "a subscript that the shell would evaluate");
            }
            self.bind(assign.name, Binding::Lost);
            return Ok(());
        }
        self.bind(assign.name, binding);
        Ok(())
    }

    /// Sets a variable.
    pub(super) fn bind(&mut self, name: &str, binding: Binding<'t, 'a>) {
        let binding = if DYNAMIC.contains(&name) { Binding::Lost } else { binding };
        self.state.set(Key::Variable(name.to_owned().into()), binding);
    }

    /// Refuses assignments that the shell would reject or that would not stay.
    pub(super) fn assignable(&self, name: &str, span: Span) -> Read<()> {
        if FIXED.contains(&name) || self.readonly.iter().any(|known| known == name) {
            return refuse(span, format!("an assignment to `{name}`, which the shell may reject"));
        }
        Ok(())
    }

    /// Refuses the use of a name that the text has made an alias, anywhere in a command.
    fn no_alias_used(&self, simple: &Simple<'_>) -> Read<()> {
        for word in &simple.words {
            if let [syntax::Part::Literal(text)] = word.parts.as_slice()
                && self.aliases.iter().any(|alias| alias == text)
            {
                return refuse(word.span, format!("`{text}`, which the text makes an alias"));
            }
        }
        Ok(())
    }
}

/// About how many bytes it takes to write a value down once more.
fn weight(value: &Value) -> usize {
    match value {
        Value::Text(text) | Value::Pattern(text) => text.len(),
        Value::OneOf(members) => 16 + members.iter().map(weight).sum::<usize>(),
        Value::Process { commands, .. } => commands.len() * 4,
        Value::Unknown(unknown) => unknown.prefix.len() + unknown.suffix.len() + unknown.from.len() * 4,
    }
}

fn source_weight(source: &Source) -> usize {
    match source {
        Source::Pipe(ids) => ids.len() * 4,
        Source::Text(value) | Source::File(value) => weight(value),
    }
}

fn shown(binding: &Binding<'_, '_>, assign: &syntax::Assign<'_>) -> Value {
    match binding {
        Binding::Set(value) => value.clone(),
        Binding::Array(_) => unknown(Why::Form("an array")),
        _ if matches!(assign.value, Assigned::Array(_)) || assign.subscript.is_some() => {
            unknown(Why::Form("an array"))
        }
        _ => unknown(Why::Variable(assign.name.to_owned())),
    }
}

/// Variables that the shell itself changes, or that assignments do not bind.
const DYNAMIC: [&str; 24] = [
    "_",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "BASHPID",
    "BASH_COMMAND",
    "FUNCNAME",
    "GROUPS",
    "DIRSTACK",
    "HISTCMD",
    "PIPESTATUS",
    "OPTARG",
    "OPTIND",
    "REPLY",
    "MAPFILE",
    "BASH_REMATCH",
    "BASH_ARGV0",
    "COLUMNS",
    "LINES",
    "BASH_SUBSHELL",
    "COMP_WORDBREAKS",
];

/// Variables that cannot be assigned, or whose assignment changes the shell itself.
const FIXED: [&str; 12] = [
    "UID",
    "EUID",
    "PPID",
    "BASHOPTS",
    "SHELLOPTS",
    "BASH_VERSINFO",
    "PWD",
    "OLDPWD",
    "POSIXLY_CORRECT",
    "BASH_COMPAT",
    "GLOBIGNORE",
    "EXECIGNORE",
];
