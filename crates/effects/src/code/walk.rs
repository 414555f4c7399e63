//! Walks a syntax tree and keeps track of power.
//!
//! A module, a function that has effects, the environment: whoever holds such a value can do something. The walk
//! follows each of them by name to the place where it is used. One that gets away (into a list, a parameter, a result)
//! makes the reading incomplete. So in a program that is wholly understood everything else is plain data, and a
//! method of plain data is harmless if its name is on the language's list.
//!
//! The order of statements is ignored: a name is all that is ever bound to it. The walk is repeated until what the
//! names are does not change; only that last walk counts.

mod act;

pub(crate) use act::{argument, may_be_called};

use std::collections::BTreeMap;
use std::rc::Rc;

use super::tree::{Arg, Expr, Key, Program};
use super::value::Value;
use super::{Finding, Reading};

/// Where a process keeps its whole environment.
const ENVIRONMENT: &str = "/proc/self/environ";
/// Walks until the names stop changing, at most.
const MOST_WALKS: usize = 4;

/// What one language knows.
pub(crate) trait Language {
    /// A name that the text does not bind.
    fn global(&self, name: &str) -> Option<Value>;
    /// What a known thing is.
    fn action(&self, known: &str) -> Action;
    /// A call of a member of a value that is not a known thing.
    fn method(&self, walker: &mut Walker<'_>, receiver: &Value, name: &str, given: &[Given]) -> Value;
    /// Is a member of this name of plain data plain data?
    fn is_plain_member(&self, name: &str) -> bool;
    /// May computed members be functions that nobody listed?
    fn computed_members_are_murky(&self) -> bool;
    /// Is the global of this name so harmless that another thing of its name is not a doubt?
    fn may_be_shadowed(&self, name: &str) -> bool;
}

/// What a known thing is, or what calling it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Not in the knowledge.
    Unlisted,
    Module,
    Constant,
    /// Harmless with any data.
    Pure,
    /// Harmless with anything at all: `dir(os)`.
    Look,
    /// Harmless if what it is given from this argument on is a function of the text, or nothing that can be called.
    Calls(usize),
    /// The environment of the process.
    Environ,
    /// Gives one variable of the environment.
    Variable,
    SetVariable,
    /// A list that decides what is loaded: may be looked at.
    Guarded,
    Open,
    Read,
    /// Gives the names in a directory; the working directory if none is given.
    Names,
    /// Gives directories with their names, all the way down.
    Descend,
    Glob,
    Write,
    Delete,
    DeleteTree,
    /// Deletes, with everything below if an option says so.
    DeleteOption,
    Copy,
    Move,
    /// `os.path.join`.
    Join,
    /// Gives back the path that it is given.
    Same,
    Home,
    Here,
    NewPath,
    Shell,
    /// `subprocess.run`.
    Process,
    /// `spawn(program, words, options)`.
    Spawn,
    /// Becomes another program: `execv(file, words)`.
    ExecList,
    /// Becomes another program: `execl(file, word, …)`.
    ExecWords,
    Connect,
    /// Fetches an address into a file.
    Download,
    /// `require`.
    Load,
    /// Loads a module by its name: `__import__`.
    LoadNamed,
    System,
    /// Runs what cannot be seen.
    RunsUnknown,
    /// Parses a file into an object with few understood members.
    Parse,
}

/// An argument that was evaluated.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) name: Option<String>,
    pub(crate) value: Value,
    /// It stands for any number of arguments.
    pub(crate) splat: bool,
}

/// Walks `program` and adds what it does to `reading`.
pub(crate) fn walk(language: &dyn Language, program: &Program, reading: &mut Reading) {
    let mut names = BTreeMap::new();
    for round in 1..=MOST_WALKS {
        let mut walker = Walker {
            language,
            names,
            bound: BTreeMap::new(),
            reading: Reading { complete: program.whole, findings: Vec::new() },
            murky: false,
            changes_data: false,
        };
        for statement in &program.statements {
            walker.run(statement);
        }
        let stable = walker.names == walker.bound;
        if stable || round == MOST_WALKS {
            if !stable || (walker.murky && walker.changes_data && !walker.reading.findings.is_empty()) {
                // A computed member that is changed could be what all objects share.
                walker.reading.incomplete();
            }
            if !walker.reading.complete {
                reading.incomplete();
            }
            for finding in walker.reading.findings {
                reading.found(finding);
            }
            return;
        }
        names = walker.bound;
    }
}

/// One walk.
pub(crate) struct Walker<'a> {
    language: &'a dyn Language,
    /// What the names were at the end of the walk before.
    names: BTreeMap<String, Value>,
    /// What they are bound to in this one.
    bound: BTreeMap<String, Value>,
    pub(crate) reading: Reading,
    murky: bool,
    changes_data: bool,
}

impl Walker<'_> {
    fn eval(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Text(text) => Value::text(text),
            Expr::Plain(word) => Value::plain(word),
            Expr::Opaque => Value::Data,
            Expr::Name(name) => self.name(name),
            Expr::Member(base, name) => {
                let base = self.eval(base);
                self.member(&base, name)
            }
            Expr::Index(base, index) => self.index(base, index),
            Expr::Call(callee, args) => self.call(callee, args),
            Expr::List(items) => self.list(items),
            Expr::Map(entries) => self.map(entries),
            Expr::Sum(parts) => self.fold(parts, Value::plus),
            Expr::Divide(parts) => {
                let whole = self.fold(parts, Value::joined);
                // `/` joins only path objects; everything else is arithmetic.
                if matches!(whole, Value::Path(_) | Value::Under(_)) { whole } else { Value::Data }
            }
            Expr::Within(item, whole) => {
                let item = self.eval(item);
                self.hold(item);
                let whole = self.eval(whole);
                if !self.is_looked_at(&whole) {
                    self.hold(whole);
                }
                Value::Data
            }
            Expr::Mix(parts) => {
                for part in parts {
                    let value = self.eval(part);
                    self.hold(value);
                }
                Value::Data
            }
            Expr::Function(parameters, body) => {
                for parameter in parameters {
                    self.bind(parameter, &Value::Data);
                }
                for statement in body {
                    self.run(statement);
                }
                Value::Function
            }
            Expr::Sequence(parts) => {
                let mut last = Value::Data;
                for part in parts {
                    let value = self.eval(part);
                    last = self.hold(value);
                }
                last
            }
            Expr::Assign(target, value) => {
                let value = self.eval(value);
                self.bind(target, &value);
                value
            }
            Expr::Receive(target) => {
                self.bind(target, &Value::Data);
                Value::Data
            }
            Expr::Iterate(target, value) | Expr::Keys(target, value) => {
                let value = self.eval(value);
                let element = if self.reads_environment(&value) || self.is_looked_at(&value) {
                    Value::Data
                } else {
                    let value = self.hold(value);
                    if matches!(expr, Expr::Keys(..)) { Value::Data } else { value.element() }
                };
                self.bind(target, &element);
                Value::Data
            }
            Expr::Remove(target) => {
                self.remove(target);
                Value::Data
            }
            Expr::Splat(value) | Expr::Escape(value) => {
                let value = self.eval(value);
                self.hold(value);
                Value::Data
            }
            Expr::Import(name, known) => {
                if matches!(self.language.action(known), Action::Unlisted | Action::RunsUnknown) {
                    self.reading.incomplete();
                }
                self.bind(&Expr::Name(name.clone()), &Value::known(known));
                Value::Data
            }
        }
    }

    /// A statement: its value goes nowhere.
    fn run(&mut self, statement: &Expr) {
        let value = self.eval(statement);
        if !matches!(statement, Expr::Assign(..)) {
            self.hold(value);
        }
    }

    fn name(&mut self, name: &str) -> Value {
        if let Some(value) = self.names.get(name) {
            return value.clone();
        }
        if let Some(value) = self.language.global(name) {
            return value;
        }
        self.reading.incomplete();
        Value::Data
    }

    fn member(&mut self, base: &Value, name: &str) -> Value {
        if let Value::Known(known) = base {
            let whole = format!("{known}.{name}");
            return match self.language.action(&whole) {
                _ if self.language.action(known) == Action::Environ => {
                    if self.language.is_plain_member(name) {
                        return home_or_data(name);
                    }
                    self.reading.incomplete();
                    Value::Data
                }
                Action::Constant => Value::Data,
                Action::Unlisted => {
                    self.reading.incomplete();
                    Value::known(&whole)
                }
                _ => Value::known(&whole),
            };
        }
        if *base == Value::Narrow || !self.language.is_plain_member(name) {
            self.reading.incomplete();
        }
        Value::Data
    }

    fn index(&mut self, base: &Expr, index: &Expr) -> Value {
        let base = self.eval(base);
        if let Expr::Splat(parts) = index {
            // A part of a list is a list.
            self.eval(parts);
            return if matches!(base, Value::Many(_)) { base } else { self.hold(base).sliced() };
        }
        let key = self.eval(index);
        let key = self.hold(key);
        if let Value::Known(known) = &base {
            return match self.language.action(known) {
                Action::Environ => match key.constant() {
                    Some(name) => home_or_data(name),
                    None => {
                        self.reads_environment(&base);
                        Value::Data
                    }
                },
                Action::Guarded => Value::Data,
                _ => {
                    // A known thing under a computed name: `process["binding"]`.
                    self.reading.incomplete();
                    match key.constant() {
                        Some(name) => self.member(&base, name),
                        None => Value::Data,
                    }
                }
            };
        }
        if self.language.computed_members_are_murky() {
            match &key {
                Value::Text(names) => {
                    if !names.iter().all(|name| self.language.is_plain_member(name)) {
                        self.reading.incomplete();
                    }
                }
                Value::Plain(_) => {}
                _ => self.murky = true,
            }
        }
        if let (Value::List(items), Value::Plain(number)) = (&base, &key)
            && let Some(item) = number.parse::<usize>().ok().and_then(|at| items.get(at))
        {
            return item.clone();
        }
        if matches!(base, Value::List(_) | Value::Many(_)) { base.element() } else { Value::Data }
    }

    fn list(&mut self, items: &[Expr]) -> Value {
        let mut values = Vec::with_capacity(items.len());
        let mut constant = true;
        for item in items {
            constant &= !matches!(item, Expr::Splat(_) | Expr::Iterate(..));
            let value = self.eval(item);
            values.push(self.hold(value));
        }
        if constant { Value::List(Rc::new(values)) } else { Value::Data }
    }

    fn map(&mut self, entries: &[(Key, Expr)]) -> Value {
        let mut values = Vec::with_capacity(entries.len());
        let mut constant = true;
        for (key, value) in entries {
            let value = self.eval(value);
            match key {
                Key::Constant(key) => {
                    if self.language.computed_members_are_murky() && !self.language.is_plain_member(key) {
                        self.reading.incomplete();
                    }
                    let value = self.hold(value);
                    values.push((key.clone(), value));
                }
                Key::Computed(key) => {
                    let key = self.eval(key);
                    self.hold(key);
                    self.hold(value);
                    constant = false;
                }
                Key::Spread => {
                    if !self.reads_environment(&value) {
                        self.hold(value);
                    }
                    constant = false;
                }
            }
        }
        if constant { Value::Map(Rc::new(values)) } else { Value::Data }
    }

    fn fold(&mut self, parts: &[Expr], join: impl Fn(&Value, &Value) -> Value) -> Value {
        let mut whole: Option<Value> = None;
        for part in parts {
            let value = self.eval(part);
            let value = if self.reads_environment(&value) { Value::Data } else { self.hold(value) };
            whole = Some(match whole {
                None => value,
                Some(before) => join(&before, &value),
            });
        }
        whole.unwrap_or(Value::Data)
    }

    fn call(&mut self, callee: &Expr, args: &[Arg]) -> Value {
        if let Expr::Member(base, name) = callee {
            let receiver = self.eval(base);
            if matches!(receiver, Value::Known(_)) {
                if let Value::Known(known) = &receiver
                    && self.language.action(known) == Action::Environ
                {
                    let given = self.arguments(args);
                    return self.environment_method(&receiver, name, &given);
                }
                let callee = self.member(&receiver, name);
                let given = self.arguments(args);
                return self.call_value(&callee, &given);
            }
            let given = self.arguments(args);
            let language = self.language;
            return language.method(self, &receiver, name, &given);
        }
        let callee = self.eval(callee);
        let given = self.arguments(args);
        self.call_value(&callee, &given)
    }

    fn call_value(&mut self, callee: &Value, given: &[Given]) -> Value {
        match callee {
            Value::Known(known) => self.act(known, given),
            Value::Function => {
                self.hold_all(given);
                Value::Data
            }
            _ => {
                self.hold_all(given);
                self.reading.incomplete();
                Value::Data
            }
        }
    }

    fn arguments(&mut self, args: &[Arg]) -> Vec<Given> {
        args.iter()
            .map(|arg| {
                let splat = matches!(arg.value, Expr::Splat(_));
                Given { name: arg.name.clone(), value: self.eval(&arg.value), splat }
            })
            .collect()
    }

    /// Binds what a target names.
    fn bind(&mut self, target: &Expr, value: &Value) {
        match target {
            Expr::Name(name) => self.bind_name(name, value),
            Expr::List(targets) => {
                if matches!(value, Value::Known(_)) {
                    self.reading.incomplete();
                }
                let pairs = match value {
                    Value::List(items) if items.len() == targets.len() => Some(items),
                    _ => None,
                };
                for (place, target) in targets.iter().enumerate() {
                    match pairs.and_then(|items| items.get(place)) {
                        Some(item) if !matches!(target, Expr::Splat(_)) => self.bind(target, &item.clone()),
                        _ => self.bind(target, &value.element()),
                    }
                }
            }
            Expr::Map(entries) => {
                for (key, target) in entries {
                    let member = match (key, value) {
                        (Key::Constant(name), Value::Known(_)) => self.member(value, name),
                        (_, Value::Known(_)) => {
                            self.reading.incomplete();
                            Value::Data
                        }
                        (Key::Constant(name), _) => self.member(value, name),
                        _ => {
                            self.murky = true;
                            Value::Data
                        }
                    };
                    self.bind(target, &member);
                }
            }
            Expr::Splat(target) => self.bind(target, &Value::Data),
            Expr::Assign(target, default) => {
                let default = self.eval(default);
                self.hold(default);
                let value = self.hold(value.clone());
                self.bind(target, &value.either(&Value::Data));
            }
            Expr::Member(base, name) => {
                let base = self.eval(base);
                self.store(&base, Some(name), value);
            }
            Expr::Index(base, key) => {
                let base = self.eval(base);
                let key = self.eval(key);
                let key = self.hold(key);
                if key.constant().is_none() && !key.is_plain() && self.language.computed_members_are_murky() {
                    self.murky = true;
                }
                self.store(&base, key.constant(), value);
            }
            _ => self.reading.incomplete(),
        }
    }

    fn store(&mut self, base: &Value, name: Option<&str>, value: &Value) {
        self.hold(value.clone());
        if let Value::Known(known) = base {
            if self.language.action(known) == Action::Environ
                && let Some(name) = name
            {
                self.reading.found(Finding::Environment(name.to_owned()));
                return;
            }
            self.reading.incomplete();
            return;
        }
        self.changes_data = true;
        if self.language.computed_members_are_murky()
            && name.is_some_and(|name| !self.language.is_plain_member(name))
        {
            self.reading.incomplete();
        }
    }

    fn remove(&mut self, target: &Expr) {
        match target {
            Expr::Name(_) => {}
            Expr::Member(..) | Expr::Index(..) => self.bind(target, &Value::Data),
            Expr::List(targets) if targets.iter().all(|target| matches!(target, Expr::Name(_))) => {}
            _ => self.reading.incomplete(),
        }
    }

    fn bind_name(&mut self, name: &str, value: &Value) {
        let mut all = match self.language.global(name) {
            Some(global) if global != *value && !self.language.may_be_shadowed(name) => {
                self.either(&global, value)
            }
            _ => value.clone(),
        };
        match self.bound.get(name) {
            Some(before) if *before == all => return,
            Some(before) => {
                let before = before.clone();
                all = self.either(&before, &all);
            }
            None => {}
        }
        self.bound.insert(name.to_owned(), all);
    }

    /// One of two values. Where one of them gives power and they differ, nobody knows which is meant.
    fn either(&mut self, one: &Value, two: &Value) -> Value {
        if one == two {
            return one.clone();
        }
        let (one_is_power, two_is_power) = (self.is_power(one), self.is_power(two));
        if one_is_power || two_is_power {
            self.reading.incomplete();
            // FAIL-CLOSED: the reading is incomplete; the power is kept so that what it certainly does is found.
            return if two_is_power { two.clone() } else { one.clone() };
        }
        one.either(two)
    }

    fn is_power(&self, value: &Value) -> bool {
        match value {
            Value::Known(known) => {
                !matches!(self.language.action(known), Action::Pure | Action::Look | Action::Constant)
            }
            Value::Narrow => true,
            _ => false,
        }
    }

    /// The value goes where it cannot be followed. What remains of it is data.
    pub(crate) fn hold(&mut self, value: Value) -> Value {
        if self.is_power(&value) {
            self.reads_environment(&value);
            self.reading.incomplete();
        }
        if matches!(value, Value::Known(_) | Value::Narrow) { Value::Data } else { value }
    }

    pub(crate) fn hold_all(&mut self, given: &[Given]) {
        for one in given {
            self.hold(one.value.clone());
        }
    }

    /// Is it the whole environment? Then it is read.
    pub(crate) fn reads_environment(&mut self, value: &Value) -> bool {
        let Value::Known(known) = value else { return false };
        let whole = self.language.action(known) == Action::Environ;
        if whole {
            self.reading.found(Finding::Read(ENVIRONMENT.to_owned()));
        }
        whole
    }

    /// Is it something that may be looked at but not changed?
    pub(crate) fn is_looked_at(&self, value: &Value) -> bool {
        let Value::Known(known) = value else { return false };
        matches!(self.language.action(known), Action::Guarded | Action::Environ)
    }
}

impl Value {
    /// A part of it, if it is a list.
    fn sliced(self) -> Self {
        match self {
            Self::List(_) => Self::Many(Rc::new(self.element())),
            _ => Self::Data,
        }
    }
}

/// The home directory keeps its usual short name.
fn home_or_data(variable: &str) -> Value {
    if variable == "HOME" { Value::text("~") } else { Value::Data }
}
