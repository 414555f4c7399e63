//! What it means that an operand or an option's value has a role.

use crate::arg::Arg;
use crate::classify::{self, Purpose};
use crate::code::{self, Finding};
use crate::doing::{Doing, Inner};
use crate::effect::{Carries, Effect, Origin, Peer, Place, Target};
use crate::evaluate::Evaluation;
use crate::hosts;
use crate::knowledge::{self, Role};
use crate::options::{self, Line};
use crate::variables;

/// What stands before the name of a module that Python runs.
pub(crate) const MODULE: &str = "python-m:";

impl<'a> Evaluation<'_, '_, '_, '_, 'a> {
    /// A word in a role. `option`: it is an option's value.
    pub(crate) fn role(&mut self, role: Role<'static>, word: &Arg<'a>, line: &Line<'a>, option: bool) {
        match role {
            Role::Text | Role::Assign => {}
            Role::Read | Role::Write | Role::Delete | Role::DeleteTree | Role::ReadWrite | Role::WriteDir => {
                self.path_role(role, word);
            }
            Role::UnpackDir => self.unpack(word),
            Role::Database => self.database(word),
            Role::Host => self.host(word),
            Role::Url => self.url(word, Carries::Query),
            Role::UrlSend => self.url(word, Carries::Data),
            Role::RemoteRead => self.remote(word, Carries::Query),
            Role::RemoteWrite => self.remote(word, Carries::Data),
            Role::Command => {
                self.doing.code_given = true;
                let mut words = vec![word.clone()];
                if option {
                    words.extend(line.tail.iter().cloned());
                }
                self.doing.inner.push(Inner::Command(words));
            }
            Role::Elsewhere => {
                let mut words = vec![word.clone()];
                if option {
                    words.extend(line.tail.iter().cloned());
                }
                self.elsewhere(&words);
            }
            Role::Shell | Role::Shells => {
                self.doing.code_given = true;
                self.doing.inner.push(Inner::Shell(self.shell_language(), word.clone()));
            }
            Role::Program => match word.written() {
                Some(program) => self.doing.add(Effect::Run { program: program.into_owned() }),
                None => self.doing.unknown("which program runs is not known"),
            },
            Role::Script(language) => self.script(language, word),
            Role::Code(language) => {
                self.doing.code_given = true;
                self.code(language, word);
            }
            Role::Env => self.assignment(word),
            Role::Variable => self.variable(word),
            Role::Output => self.output(word),
            Role::Suffix => self.suffix(word),
            Role::Filter => self.filter(word, line),
            Role::Data => self.data(word),
            Role::Module => self.module(word, line.tail.clone()),
        }
    }

    /// A path and what is done with it.
    fn path_role(&mut self, role: Role<'static>, word: &Arg<'a>) {
        if word.text() == Some("-") {
            return;
        }
        if role == Role::WriteDir {
            self.doing.directories.push(word.clone());
        }
        let purposes: &[Purpose] = match role {
            Role::Read if self.doing.in_place => &[Purpose::Read, Purpose::Write],
            Role::Write | Role::WriteDir => &[Purpose::Write],
            Role::ReadWrite => &[Purpose::Read, Purpose::Write],
            Role::Delete | Role::DeleteTree => &[Purpose::Delete],
            _ => &[Purpose::Read],
        };
        let recursive = self.doing.recursive;
        self.doing.recursive |= role == Role::DeleteTree;
        self.doing.recursive &= !(purposes == [Purpose::Delete] && self.is_plainly_a_file(word));
        for purpose in purposes {
            self.doing.path(word, *purpose, &self.cwds, self.engine.around);
        }
        self.doing.recursive = recursive;
    }

    /// An archive is unpacked into a directory. What its members are called is not known: into the top of the
    /// workspace they may bring what decides what runs there.
    pub(crate) fn unpack(&mut self, word: &Arg<'a>) {
        self.doing.unpacked = true;
        let mut into = Doing::default();
        into.path(word, Purpose::Write, &self.cwds, self.engine.around);
        let root = self
            .engine
            .around
            .workspace
            .and_then(|root| root.to_str())
            .map(|root| root.trim_end_matches('/'));
        let holds = |root: &str| {
            into.effects.iter().any(|effect| {
                matches!(effect, Effect::Write(target) if classify::below(root, target.path.trim_end_matches('/')).is_some())
            })
        };
        if let Some(root) = root.filter(|root| holds(root)) {
            let path = format!("{root}/.git/hooks");
            into.add(Effect::Write(Target { path, given: None, place: Place::Protected }));
        }
        for effect in into.effects {
            self.doing.add(effect);
        }
    }

    /// A database's name, a URI, or a connection string such as `host=… dbname=…`.
    fn database(&mut self, word: &Arg<'a>) {
        let Some(text) = word.written() else {
            self.doing.connect(Peer::Unnamed, Carries::Query);
            return;
        };
        let mut settings: Vec<(String, String)> = Vec::new();
        if let Some((_, rest)) = text.split_once("://") {
            let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
            let hosts = place.split('/').next().unwrap_or_default();
            let hosts = hosts.rsplit_once('@').map_or(hosts, |(_, hosts)| hosts);
            settings.push(("host".into(), hosts.to_owned()));
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            settings.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        } else if text.contains('=') {
            settings = conninfo(&text);
        }
        for (name, value) in settings {
            match name.as_str() {
                "host" | "hostaddr" => {
                    for host in value.split(',').filter(|host| !host.is_empty()) {
                        // A directory or an abstract name is a socket of this machine.
                        if host.contains('%') {
                            self.doing.connect(Peer::Unnamed, Carries::Query);
                        } else if !host.starts_with(['/', '@']) {
                            self.doing.connect(hosts::of_host(host), Carries::Query);
                        }
                    }
                }
                "service" | "servicefile" => self.doing.connect(Peer::Unnamed, Carries::Query),
                "passfile" | "sslkey" | "sslcert" | "sslrootcert" => {
                    self.doing.path(&Arg::owned(value), Purpose::Read, &self.cwds, self.engine.around);
                }
                _ => {}
            }
        }
    }

    fn host(&mut self, word: &Arg<'a>) {
        let peer = match word.written() {
            Some(host) => match hosts::of_url(&host) {
                hosts::Place::Machine(peer) => peer,
                hosts::Place::File(_) => Peer::Unnamed,
            },
            None => Peer::Unnamed,
        };
        self.doing.connect(peer, Carries::Query);
    }

    pub(crate) fn url(&mut self, word: &Arg<'a>, carries: Carries) {
        let text = match word {
            Arg::Hazy(hazy) if hosts::complete(&hazy.prefix) && !hazy.splits => {
                hazy.prefix.as_ref().to_owned()
            }
            _ => match word.written() {
                Some(text) => text.into_owned(),
                None => {
                    self.doing.connect(Peer::Unnamed, carries);
                    return;
                }
            },
        };
        match hosts::of_url(&text) {
            hosts::Place::Machine(peer) => {
                let path = text.split(['?', '#']).next().unwrap_or_default();
                let name = path.rsplit('/').next().unwrap_or_default();
                if !name.is_empty() && word.is_certain() {
                    self.doing.fetched.push(name.to_owned());
                }
                self.doing.connect(peer, carries);
            }
            hosts::Place::File(path) => {
                self.doing.path(&Arg::owned(path), Purpose::Read, &self.cwds, self.engine.around);
            }
        }
    }

    fn remote(&mut self, word: &Arg<'a>, carries: Carries) {
        let purpose = if carries == Carries::Query { Purpose::Read } else { Purpose::Write };
        match word.written() {
            Some(text) => match hosts::of_remote(&text) {
                Some(peer) => self.doing.connect(peer, carries),
                None => self.doing.path(word, purpose, &self.cwds, self.engine.around),
            },
            None => {
                self.doing.connect(Peer::Unnamed, carries);
                self.doing.path(word, purpose, &self.cwds, self.engine.around);
            }
        }
    }

    /// A file with code that is run.
    fn script(&mut self, language: &'static str, word: &Arg<'a>) {
        match word {
            Arg::Text(path) if self.is_input(path) => self.doing.input_code = Some(language),
            Arg::Text(path) if is_descriptor(path) => {
                self.doing.code_given = true;
                self.doing.code(language, Origin::Unresolved);
            }
            Arg::Text(path) => {
                self.doing.code_given = true;
                let before = self.doing.effects.len();
                self.doing.path(word, Purpose::Read, &self.cwds, self.engine.around);
                let fetched = self.doing.effects.iter().skip(before).any(|effect| match effect {
                    Effect::Read(target) => {
                        self.engine.written_in(&target.path).is_some_and(|flow| flow.network)
                    }
                    _ => false,
                });
                if fetched {
                    self.doing.code(language, Origin::Network);
                }
                self.doing.add(Effect::Run { program: path.clone().into_owned() });
            }
            Arg::Pattern(_) | Arg::Process { .. } | Arg::Hazy(_) => {
                self.doing.code_given = true;
                let flow = self.engine.arg_flow(word, self.at);
                match flow.constant.as_ref().filter(|_| matches!(word, Arg::Process { .. })) {
                    Some(text) => self.code(language, &Arg::owned(text.as_ref())),
                    None => self.doing.code(language, flow.origin()),
                }
                if flow.more {
                    self.doing.code(language, flow.origin());
                }
            }
        }
    }

    /// Whether a script of this name is standard input.
    fn is_input(&self, path: &str) -> bool {
        match path {
            // To these a dash is the name of a file.
            "-" => !matches!(self.name, "source" | "."),
            _ => matches!(
                classify::tidy(path).as_ref(),
                "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0"
            ),
        }
    }

    /// Code that is run.
    pub(crate) fn code(&mut self, language: &'static str, word: &Arg<'a>) {
        let Some(text) = word.written() else {
            let flow = self.engine.arg_flow(word, self.at);
            self.doing.code(language, flow.origin());
            return;
        };
        if matches!(language, "shell" | "bash" | "sh") {
            self.doing.inner.push(Inner::Shell(if language == "sh" { "sh" } else { "bash" }, word.clone()));
            return;
        }
        let reading = code::read(language, &text);
        if !reading.complete {
            self.doing.code(language, Origin::Written);
        }
        for finding in reading.findings {
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: Finding) {
        let around = self.engine.around;
        match finding {
            Finding::Read(path) => self.doing.path(&Arg::owned(path), Purpose::Read, &self.cwds, around),
            Finding::Write(path) => self.doing.path(&Arg::owned(path), Purpose::Write, &self.cwds, around),
            Finding::Delete { path, recursive } => {
                let before = std::mem::replace(&mut self.doing.recursive, recursive);
                self.doing.path(&Arg::owned(path), Purpose::Delete, &self.cwds, around);
                self.doing.recursive = before;
            }
            Finding::Connect(Some(host)) => {
                let peer = match hosts::of_url(&host) {
                    hosts::Place::Machine(peer) => peer,
                    hosts::Place::File(_) => Peer::Unnamed,
                };
                self.doing.connect(peer, Carries::Data);
            }
            Finding::Connect(None) => self.doing.connect(Peer::Unnamed, Carries::Data),
            Finding::RunShell(text) => self.doing.inner.push(Inner::Shell("sh", Arg::owned(text))),
            Finding::RunArgv(words) => {
                self.doing.inner.push(Inner::Command(words.into_iter().map(Arg::owned).collect()));
            }
            Finding::RunUnknown => self.doing.unknown("code runs a program that is not known"),
            Finding::Environment(name) => {
                if variables::matters(&name, None) {
                    self.doing.add(Effect::Environment(name));
                }
            }
            Finding::History(what) => self.doing.add(Effect::History(what)),
            Finding::System(what) => self.doing.add(Effect::System(what)),
            // These have no server: the database is the file that the first operand names.
            Finding::Data(_) if matches!(self.name, "sqlite3" | "sqlite" | "duckdb") => {
                self.doing.keeps = true
            }
            Finding::Data(_) => self.doing.connect(Peer::Service("a database".into()), Carries::Data),
        }
    }

    /// `NAME=value` for what is run.
    pub(crate) fn assignment(&mut self, word: &Arg<'a>) {
        if options::is_assignment(word)
            && let Some(at) = word.lead().find('=')
        {
            let name = word.lead().get(..at).unwrap_or_default().trim_end_matches('+').to_owned();
            let value = word.after(at + 1);
            if variables::matters(&name, Some(&value)) {
                self.doing.add(Effect::Environment(name));
            }
        } else if !word.is_certain() {
            self.doing.unknown("a variable that is not known is set");
        }
    }

    /// The name of a variable that the shell sets to what it reads or makes.
    fn variable(&mut self, word: &Arg<'a>) {
        match word.text() {
            Some(text) => {
                let name = text.split('[').next().unwrap_or_default();
                if variables::matters(name, None) {
                    self.doing.add(Effect::Environment(name.to_owned()));
                }
            }
            None => self.doing.unknown("a variable that is not known is set"),
        }
    }

    /// What is sent along: `text`, `@file`, `name=@file`, `name@file`.
    pub(crate) fn data(&mut self, word: &Arg<'a>) {
        self.doing.sends = true;
        let lead = word.lead();
        let file = lead.strip_prefix('@').or_else(|| {
            let (name, path) =
                lead.split_once("=@").or_else(|| lead.split_once("=<")).or_else(|| lead.split_once('@'))?;
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte)).then_some(path)
        });
        let Some(file) = file else { return };
        let path = file.split(';').next().unwrap_or(file);
        if word.is_certain() {
            if path != "-" && !path.is_empty() {
                self.doing.path(&Arg::owned(path), Purpose::Read, &self.cwds, self.engine.around);
            }
        } else {
            self.doing.unknown("sends a file that is not known");
        }
    }

    fn runs_modules(&self) -> bool {
        ["python", "pypy", "ipython", "bpython", "ptpython", "uv", "coverage"]
            .iter()
            .any(|interpreter| self.name.starts_with(interpreter))
    }

    /// A module that is run by name, with its words.
    pub(crate) fn module(&mut self, word: &Arg<'a>, rest: Vec<Arg<'a>>) {
        self.doing.code_given = true;
        match word.text() {
            // Only Python runs modules as if they were programs; elsewhere a name is that of a library.
            Some(name) if self.runs_modules() && knowledge::program(&format!("{MODULE}{name}")).is_some() => {
                let mut words = vec![Arg::owned(format!("{MODULE}{name}"))];
                words.extend(rest);
                self.doing.inner.push(Inner::Command(words));
            }
            Some(name) => self.doing.add(Effect::Run { program: name.to_owned() }),
            None => self.doing.unknown("which module runs is not known"),
        }
    }
}

/// Something that the shell has opened, such as `3<<< 'text'`.
fn is_descriptor(path: &str) -> bool {
    let path = classify::tidy(path);
    let opened = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];
    opened.iter().any(|directory| path.starts_with(directory))
}

/// `name=value name='quoted \\' value'`, as libpq reads it.
fn conninfo(text: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        let mut name = String::new();
        while let Some(letter) = letters.next_if(|letter| *letter != '=') {
            if !letter.is_whitespace() {
                name.push(letter.to_ascii_lowercase());
            }
        }
        if letters.next().is_none() {
            return settings;
        }
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        let quoted = letters.next_if_eq(&'\'').is_some();
        let mut value = String::new();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => value.extend(letters.next()),
                '\'' if quoted => break,
                _ if !quoted && letter.is_whitespace() => break,
                _ => value.push(letter),
            }
        }
        settings.push((name, value));
    }
}
