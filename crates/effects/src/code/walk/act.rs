//! What calling a known thing does.

use std::rc::Rc;

use super::super::Finding;
use super::super::value::Value;
use super::{Action, Given, Walker};

/// What may be given a guarded list: it comes out as text or as a copy.
const COPIES: &[&str] =
    &["len", "list", "sorted", "tuple", "set", "enumerate", "dumps", "pformat", "pprint", "log", "stringify"];
/// Names under which a first argument may be given.
const FIRST: &[&str] =
    &["path", "file", "src", "name", "top", "pathname", "args", "url", "filename", "cmd", "key"];
/// Names under which a second argument may be given.
const SECOND: &[&str] = &["dst", "target", "mode", "value", "filename"];
/// Options of a new process that change neither what runs nor where.
const PROCESS_OPTIONS: &[&str] = &[
    "args",
    "shell",
    "capture_output",
    "text",
    "check",
    "timeout",
    "stdout",
    "stderr",
    "stdin",
    "input",
    "encoding",
    "errors",
    "universal_newlines",
    "bufsize",
    "close_fds",
    "stdio",
    "maxBuffer",
    "windowsHide",
];
/// Arguments of reading and writing that change neither what is touched nor how.
const FILE_OPTIONS: &[&str] = &[
    "path",
    "file",
    "src",
    "name",
    "top",
    "pathname",
    "dst",
    "target",
    "mode",
    "encoding",
    "errors",
    "newline",
    "buffering",
    "parents",
    "exist_ok",
    "missing_ok",
    "recursive",
    "topdown",
    "ignore_errors",
    "data",
    "text",
    "follow_symlinks",
    "dirs_exist_ok",
    "indent",
    "timeout",
    "url",
    "filename",
];

impl Walker<'_> {
    /// Calls what the knowledge names `known`.
    pub(super) fn act(&mut self, known: &str, given: &[Given]) -> Value {
        let action = self.language.action(known);
        match action {
            Action::Pure | Action::Look | Action::Calls(_) | Action::Constant => {
                return self.harmless(known, action, given);
            }
            Action::Join | Action::Same => return self.path_of(action, given),
            Action::Home if self.language.computed_members_are_murky() => return Value::text("~"),
            Action::Home => return Value::path("~"),
            Action::Here => return Value::text("."),
            Action::Load => return self.load(given),
            _ => {}
        }
        for one in given {
            // `env=os.environ` hands on what there is already.
            let is_environment = one.name.as_deref() == Some("env") && self.reads_environment(&one.value);
            if !is_environment {
                self.hold(one.value.clone());
            }
            if one.splat {
                self.reading.incomplete();
            }
        }
        match action {
            Action::Open => return self.open(given, None),
            Action::Read => self.reads(argument(given, 0, FIRST)),
            Action::Parse => {
                self.reads(argument(given, 0, FIRST));
                return Value::Narrow;
            }
            Action::Names | Action::Descend | Action::Glob => return self.listing(action, given),
            Action::Write => self.writes(argument(given, 0, FIRST)),
            Action::Delete => self.deletes(argument(given, 0, FIRST), false),
            Action::DeleteTree => self.deletes(argument(given, 0, FIRST), true),
            Action::DeleteOption => {
                let recursive = self.deletes_recursively(given);
                self.deletes(argument(given, 0, FIRST), recursive);
            }
            Action::Copy => {
                self.reads(argument(given, 0, FIRST));
                self.writes(argument(given, 1, SECOND));
            }
            Action::Move => {
                self.deletes(argument(given, 0, FIRST), true);
                self.writes(argument(given, 1, SECOND));
            }
            Action::NewPath => return self.new_path(given),
            Action::Shell => self.shell(argument(given, 0, FIRST), given),
            Action::Process => self.process(given),
            Action::Spawn => self.spawn(given),
            Action::Connect => self.connects(given),
            Action::Download => {
                self.connects(given.get(..1).unwrap_or(given));
                self.writes(argument(given, 1, SECOND));
            }
            Action::Variable => match argument(given, 0, FIRST).and_then(Value::constant) {
                Some("HOME") => return Value::text("~"),
                Some(_) => {}
                None => self.reading.found(Finding::Read(super::ENVIRONMENT.to_owned())),
            },
            Action::SetVariable => match argument(given, 0, FIRST).and_then(Value::constant) {
                Some(name) => self.reading.found(Finding::Environment(name.to_owned())),
                None => self.reading.incomplete(),
            },
            Action::ExecList => {
                match (argument(given, 0, &["path", "file", "argv"]), argument(given, 1, &["args", "argv"])) {
                    (Some(list @ Value::List(_)), _)
                    | (Some(Value::Text(_)), Some(list @ Value::List(_))) => match list.words() {
                        Some(words) if !words.is_empty() => self.reading.found(Finding::RunArgv(words)),
                        _ => self.reading.runs_unknown(),
                    },
                    _ => self.reading.runs_unknown(),
                }
                self.reading.incomplete();
            }
            Action::ExecWords => {
                let words: Option<Vec<String>> =
                    given.iter().map(|one| one.value.constant().map(str::to_owned)).collect();
                match words {
                    Some(mut words) if words.len() > 1 => {
                        // The first word is the file, the second what the program is told that it is called.
                        words.remove(1);
                        self.reading.found(Finding::RunArgv(words));
                    }
                    _ => self.reading.runs_unknown(),
                }
                self.reading.incomplete();
            }
            Action::LoadNamed => {
                self.reading.incomplete();
                match argument(given, 0, FIRST).and_then(Value::constant) {
                    Some(name) => return Value::known(name),
                    None => self.reading.runs_unknown(),
                }
            }
            Action::System => {
                self.reading.found(Finding::System(known.to_owned()));
            }
            Action::RunsUnknown => self.reading.runs_unknown(),
            _ => self.reading.incomplete(),
        }
        if known_file_action(action) {
            self.check_options(given, FILE_OPTIONS);
        }
        Value::Data
    }

    fn harmless(&mut self, known: &str, action: Action, given: &[Given]) -> Value {
        let short = known.rsplit('.').next().unwrap_or(known);
        for (place, one) in given.iter().enumerate() {
            if self.reads_environment(&one.value) || action == Action::Look {
                continue;
            }
            if self.is_looked_at(&one.value) && COPIES.contains(&short) {
                continue;
            }
            if let Action::Calls(from) = action
                && place >= from
                && (one.splat || may_be_called(&one.value))
            {
                self.reading.incomplete();
            }
            self.hold(one.value.clone());
        }
        // With more than one argument, `type` makes a type.
        if action == Action::Constant || (known == "type" && given.len() != 1) {
            self.reading.incomplete();
        }
        // These give back the elements that they were given.
        match (short, given.first().map(|one| &one.value)) {
            (
                "sorted" | "list" | "tuple" | "set" | "reversed" | "iter",
                Some(value @ (Value::Many(_) | Value::List(_))),
            ) => Value::Many(Rc::new(value.element())),
            ("str" | "fspath" | "String", Some(value @ (Value::Under(_) | Value::Bare | Value::Text(_)))) => {
                value.clone()
            }
            ("str" | "fspath", Some(Value::Path(texts))) => Value::Text(Rc::clone(texts)),
            _ => Value::Data,
        }
    }

    fn path_of(&mut self, action: Action, given: &[Given]) -> Value {
        let mut whole: Option<Value> = None;
        for one in given {
            let value = self.hold(one.value.clone());
            // `path.join("a", "/b")` is `a/b`, unlike `os.path.join`.
            let rooted = action == Action::Join
                && whole.is_some()
                && self.language.computed_members_are_murky()
                && value.texts().is_some_and(|texts| texts.iter().any(|text| text.starts_with('/')));
            if one.splat || rooted {
                return Value::Data;
            }
            whole = Some(match whole {
                None => value,
                Some(before) => before.joined(&value),
            });
        }
        match whole {
            Some(value @ (Value::Text(_) | Value::Under(_) | Value::Path(_))) => value,
            Some(Value::Bare) if action == Action::Same => Value::Under(Rc::from(".")),
            _ => Value::Data,
        }
    }

    /// Opens a file. Where the path object is known, the mode is the first argument.
    pub(crate) fn open(&mut self, given: &[Given], path: Option<&Value>) -> Value {
        let place = usize::from(path.is_none());
        let path = path.or_else(|| argument(given, 0, FIRST));
        let mode = match argument(given, place, &["mode"]) {
            None => Some("r".to_owned()),
            Some(mode) => mode.constant().map(str::to_owned),
        };
        self.check_options(given, FILE_OPTIONS);
        let Some(mode) = mode else {
            self.reading.incomplete();
            return Value::Data;
        };
        let changes = mode.contains(['w', 'a', 'x', '+']);
        if changes {
            self.writes(path);
        }
        if !changes || mode.contains('r') {
            self.reads(path);
        }
        Value::Data
    }

    fn listing(&mut self, action: Action, given: &[Given]) -> Value {
        let here = Value::text(".");
        let at = argument(given, 0, FIRST).unwrap_or(&here);
        self.reads(Some(at));
        self.check_options(given, FILE_OPTIONS);
        let under = match at {
            Value::Text(texts) | Value::Path(texts) if texts.len() == 1 => {
                texts.first().map_or(Value::Data, |text| Value::Under(Rc::from(text.as_str())))
            }
            Value::Under(_) => at.clone(),
            _ => Value::Data,
        };
        let names = Value::Many(Rc::new(Value::Bare));
        match action {
            Action::Names if given.len() > 1 => Value::Data,
            Action::Names => names,
            Action::Descend => Value::Many(Rc::new(Value::List(Rc::new(vec![under, names.clone(), names])))),
            _ => Value::Many(Rc::new(under)),
        }
    }

    fn new_path(&mut self, given: &[Given]) -> Value {
        if given.is_empty() {
            return Value::path(".");
        }
        match self.path_of(Action::Join, given) {
            Value::Text(texts) => Value::Path(texts),
            value @ (Value::Path(_) | Value::Under(_)) => value,
            _ => Value::Data,
        }
    }

    /// Something at this path is read.
    pub(crate) fn reads(&mut self, path: Option<&Value>) {
        match path {
            Some(Value::Text(texts) | Value::Path(texts)) => {
                for text in texts.iter() {
                    self.reading.found(Finding::Read(text.clone()));
                }
            }
            Some(Value::Under(directory)) => self.reading.found(Finding::Read(directory.to_string())),
            Some(Value::Bare) => self.reading.found(Finding::Read(".".to_owned())),
            // A number is a file that is open already.
            Some(Value::Plain(number)) if number.parse::<u8>().is_ok() => {}
            _ => self.reading.incomplete(),
        }
    }

    /// Something at this path is made or changed.
    pub(crate) fn writes(&mut self, path: Option<&Value>) {
        match path {
            Some(Value::Text(texts) | Value::Path(texts)) => {
                for text in texts.iter() {
                    self.reading.found(Finding::Write(text.clone()));
                }
            }
            Some(Value::Plain(number)) if number.parse::<u8>().is_ok() => {}
            _ => self.reading.incomplete(),
        }
    }

    /// What is at this path is deleted.
    pub(crate) fn deletes(&mut self, path: Option<&Value>, recursive: bool) {
        match path.and_then(Value::texts) {
            Some(texts) => {
                for text in texts {
                    self.reading.found(Finding::Delete { path: text.clone(), recursive });
                }
            }
            None => self.reading.incomplete(),
        }
    }

    fn deletes_recursively(&mut self, given: &[Given]) -> bool {
        match argument(given, 1, &[]) {
            Some(Value::Map(entries)) => entries.iter().any(|(name, value)| {
                name == "recursive" && !matches!(value, Value::Plain(word) if &**word == "false")
            }),
            None | Some(Value::Function) => false,
            Some(_) => {
                self.reading.incomplete();
                true
            }
        }
    }

    fn shell(&mut self, text: Option<&Value>, given: &[Given]) {
        match text {
            Some(Value::Text(texts)) => {
                for text in texts.iter() {
                    self.reading.found(Finding::RunShell(text.clone()));
                }
            }
            _ => self.reading.runs_unknown(),
        }
        for one in given.iter().skip(1) {
            self.check_process_options(one);
        }
    }

    fn process(&mut self, given: &[Given]) {
        let words = argument(given, 0, FIRST);
        let shell = given.iter().find(|one| one.name.as_deref() == Some("shell")).map(|one| &one.value);
        let in_shell = match shell {
            None => false,
            Some(Value::Plain(word)) if matches!(&**word, "False" | "None" | "0") => false,
            Some(value) if value.is_true() => true,
            Some(_) => {
                self.reading.runs_unknown();
                return;
            }
        };
        match words {
            Some(Value::Text(texts)) if in_shell => {
                for text in texts.iter() {
                    self.reading.found(Finding::RunShell(text.clone()));
                }
            }
            Some(Value::Text(texts)) => {
                for text in texts.iter() {
                    self.reading.found(Finding::RunArgv(vec![text.clone()]));
                }
            }
            Some(list) if !in_shell => match list.words() {
                Some(words) if !words.is_empty() => self.reading.found(Finding::RunArgv(words)),
                _ => self.reading.runs_unknown(),
            },
            _ => self.reading.runs_unknown(),
        }
        self.check_options(given, PROCESS_OPTIONS);
        if given.iter().filter(|one| one.name.is_none()).count() > 1 {
            self.reading.incomplete();
        }
    }

    fn spawn(&mut self, given: &[Given]) {
        let program = given.first().map(|one| &one.value);
        let mut words = Vec::new();
        let mut options = None;
        let mut certain = true;
        match given.get(1).map(|one| &one.value) {
            None | Some(Value::Function) => {}
            Some(Value::Map(entries)) => options = Some(entries),
            Some(list) => match list.words() {
                Some(list) => words = list,
                None => certain = false,
            },
        }
        for one in given.iter().skip(2) {
            match &one.value {
                Value::Map(entries) if options.is_none() => options = Some(entries),
                Value::Function => {}
                _ => self.reading.incomplete(),
            }
        }
        let mut in_shell = false;
        for (name, value) in options.into_iter().flat_map(|entries| entries.iter()) {
            if name == "shell" {
                in_shell = !matches!(value, Value::Plain(word) if &**word == "false");
                certain &= !in_shell || value.is_true();
            } else if !PROCESS_OPTIONS.contains(&name.as_str()) {
                self.reading.incomplete();
            }
        }
        match program.and_then(Value::constant) {
            Some(program) if certain => {
                words.insert(0, program.to_owned());
                let finding =
                    if in_shell { Finding::RunShell(words.join(" ")) } else { Finding::RunArgv(words) };
                self.reading.found(finding);
            }
            _ => self.reading.runs_unknown(),
        }
    }

    /// Talks to the host of the first argument, and sends nothing but the request.
    fn connects(&mut self, given: &[Given]) {
        match argument(given, 0, FIRST).and_then(Value::constant).map(host_of) {
            Some(Address::File(path)) => self.reading.found(Finding::Read(path)),
            Some(Address::Host(host)) => self.reading.found(Finding::Connect(Some(host))),
            Some(Address::Unclear) | None => {
                self.reading.found(Finding::Connect(None));
                self.reading.incomplete();
            }
        }
        // More than an address may carry something away.
        if given
            .iter()
            .skip(1)
            .any(|one| one.name.as_deref() != Some("timeout") && one.value != Value::Function)
        {
            self.reading.incomplete();
        }
    }

    /// `require(name)`.
    fn load(&mut self, given: &[Given]) -> Value {
        let name = match given {
            [one] => one.value.constant(),
            _ => None,
        };
        let Some(name) = name else {
            self.hold_all(given);
            self.reading.runs_unknown();
            return Value::Data;
        };
        let bare = name.strip_prefix("node:").unwrap_or(name);
        let is_path = bare.starts_with('.') || bare.starts_with('/');
        if is_path && bare.ends_with(".json") {
            self.reading.found(Finding::Read(bare.to_owned()));
            return Value::Data;
        }
        if is_path || self.language.action(bare) == Action::Unlisted {
            self.reading.runs_unknown();
            return if is_path { Value::Data } else { Value::known(bare) };
        }
        Value::known(bare)
    }

    /// A call of a method of the environment.
    pub(super) fn environment_method(&mut self, environment: &Value, name: &str, given: &[Given]) -> Value {
        self.hold_all(given);
        let key = argument(given, 0, FIRST).and_then(Value::constant).map(str::to_owned);
        match (name, key) {
            ("get" | "has", Some(key)) => {
                return if key == "HOME" && given.len() == 1 { Value::text("~") } else { Value::Data };
            }
            ("setdefault" | "pop" | "set" | "delete", Some(key)) => {
                self.reading.found(Finding::Environment(key));
            }
            ("items" | "keys" | "values" | "copy" | "get" | "toObject", _) => {
                self.reads_environment(environment);
            }
            ("update", _) => match given {
                [one] if one.name.is_none() => match &one.value {
                    Value::Map(entries) => {
                        for (name, _) in entries.iter() {
                            self.reading.found(Finding::Environment(name.clone()));
                        }
                    }
                    _ => self.reading.incomplete(),
                },
                _ => {
                    for one in given {
                        match &one.name {
                            Some(name) => self.reading.found(Finding::Environment(name.clone())),
                            None => self.reading.incomplete(),
                        }
                    }
                }
            },
            _ => self.reading.incomplete(),
        }
        Value::Data
    }

    fn check_options(&mut self, given: &[Given], fine: &[&str]) {
        if given.iter().any(|one| one.name.as_deref().is_some_and(|name| !fine.contains(&name))) {
            self.reading.incomplete();
        }
    }

    fn check_process_options(&mut self, one: &Given) {
        match &one.value {
            Value::Map(entries) => {
                if entries
                    .iter()
                    .any(|(name, _)| !PROCESS_OPTIONS.contains(&name.as_str()) || name == "shell")
                {
                    self.reading.incomplete();
                }
            }
            Value::Function => {}
            // `os.popen(command, "r")`
            Value::Text(_) if one.name.is_none() => {}
            _ => self.reading.incomplete(),
        }
    }
}

/// The positional argument at `place`, or the one with one of the names.
pub(crate) fn argument<'a>(given: &'a [Given], place: usize, names: &[&str]) -> Option<&'a Value> {
    if given.iter().any(|one| one.splat) {
        return Some(&Value::Data);
    }
    let positional = given.iter().filter(|one| one.name.is_none()).nth(place);
    positional
        .or_else(|| given.iter().find(|one| one.name.as_deref().is_some_and(|name| names.contains(&name))))
        .map(|one| &one.value)
}

fn known_file_action(action: Action) -> bool {
    matches!(
        action,
        Action::Read
            | Action::Write
            | Action::Delete
            | Action::DeleteTree
            | Action::Copy
            | Action::Move
            | Action::Parse
    )
}

/// Data could hold a function that nobody listed, where computed members are murky.
pub(crate) fn may_be_called(value: &Value) -> bool {
    matches!(value, Value::Data | Value::List(_) | Value::Map(_) | Value::Many(_))
}

/// Where an address points.
enum Address {
    Host(String),
    File(String),
    Unclear,
}

fn host_of(address: &str) -> Address {
    let lower = address.to_ascii_lowercase();
    if lower.starts_with("file:") {
        let path = address.get(5..).unwrap_or_default().trim_start_matches("//");
        return Address::File(path.strip_prefix("localhost").unwrap_or(path).to_owned());
    }
    let rest = match lower.split_once("://") {
        Some(("http" | "https" | "ftp" | "ws" | "wss", rest)) => rest,
        _ => return Address::Unclear,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let fine = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c));
    if fine { Address::Host(host.to_owned()) } else { Address::Unclear }
}
