//! What one command was found to do, while it is being looked at.

use std::borrow::Cow;

use shell::Value;

use crate::arg::{Arg, Hazy};
use crate::classify::{self, Named, Purpose};
use crate::effect::{Carries, Connection, Effect, Origin, Peer, Place};
use crate::place::Surroundings;
use crate::places;

/// What a command does itself, and what it makes others do.
#[derive(Debug, Default)]
pub(crate) struct Doing<'a> {
    pub(crate) effects: Vec<Effect>,
    pub(crate) inner: Vec<Inner<'a>>,
    /// What is deleted goes with everything below.
    pub(crate) recursive: bool,
    /// What is read is read with everything below.
    pub(crate) deep: bool,
    /// Nothing is asked before deleting.
    pub(crate) forced: bool,
    /// What is read is written too.
    pub(crate) in_place: bool,
    /// Connections carry data away.
    pub(crate) sends: bool,
    /// Code was given by an operand or an option, so standard input is data.
    pub(crate) code_given: bool,
    /// Standard input is code of this language, as an operand or an option says.
    pub(crate) input_code: Option<&'static str>,
    /// The last parts of the URLs that are fetched.
    pub(crate) fetched: Vec<String>,
    /// Directories in which files are written under names of their own.
    pub(crate) directories: Vec<Arg<'a>>,
    /// Its output is a list of files that these patterns fit.
    pub(crate) lists: Option<Vec<String>>,
    /// What it makes run runs in these directories.
    pub(crate) moved: Option<Cwds<'static>>,
    /// An archive was unpacked into a directory that the call names.
    pub(crate) unpacked: bool,
    /// A database that is a file is changed.
    pub(crate) keeps: bool,
    /// Its output holds the environment.
    pub(crate) prints_environment: bool,
}

/// Something that a command makes run.
#[derive(Debug)]
pub(crate) enum Inner<'a> {
    /// A command.
    Command(Vec<Arg<'a>>),
    /// Shell text: the language's name, and the text.
    Shell(&'static str, Arg<'a>),
}

/// Where relative paths are measured from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cwds<'a> {
    /// One of these.
    pub(crate) known: Vec<Cow<'a, str>>,
    /// Or somewhere that is not known.
    pub(crate) open: bool,
}

impl<'a> Cwds<'a> {
    pub(crate) fn at(directory: impl Into<Cow<'a, str>>) -> Self {
        Cwds { known: vec![directory.into()], open: false }
    }

    /// Nothing is known.
    pub(crate) fn lost() -> Self {
        Cwds { known: Vec::new(), open: true }
    }

    pub(crate) fn owned(&self) -> Cwds<'static> {
        let known = self.known.iter().map(|one| Cow::Owned(one.clone().into_owned())).collect();
        Cwds { known, open: self.open }
    }

    /// As the shell crate has it.
    pub(crate) fn value(&self) -> Value {
        let mut values: Vec<Value> =
            self.known.iter().map(|one| Value::Text(one.clone().into_owned())).collect();
        if self.open {
            values.push(Value::Unknown(shell::Unknown {
                prefix: String::new(),
                suffix: String::new(),
                splits: false,
                why: shell::Why::Variable("PWD".into()),
                from: Vec::new(),
            }));
        }
        match (values.len(), values.pop()) {
            (1, Some(only)) => only,
            (_, last) => {
                values.extend(last);
                Value::OneOf(values)
            }
        }
    }
}

impl<'a> Doing<'a> {
    pub(crate) fn add(&mut self, effect: Effect) {
        // Beyond this, looking for doubles would cost more than they do.
        if self.effects.len() > 64 || !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    pub(crate) fn unknown(&mut self, why: impl Into<String>) {
        self.add(Effect::Unknown(why.into()));
    }

    pub(crate) fn connect(&mut self, peer: Peer, carries: Carries) {
        self.add(Effect::Connect(Connection { peer, carries }));
    }

    pub(crate) fn code(&mut self, language: &'static str, origin: Origin) {
        self.add(Effect::Code { language, origin });
    }

    /// A path that is touched.
    pub(crate) fn path(
        &mut self,
        arg: &Arg<'_>,
        purpose: Purpose,
        cwds: &Cwds<'_>,
        around: &Surroundings<'_>,
    ) {
        let (text, pattern) = match arg {
            Arg::Text(text) => (text.as_ref(), false),
            Arg::Pattern(text) => (text.as_ref(), true),
            Arg::Process { .. } => return,
            Arg::Hazy(hazy) if hazy.absent && purpose == Purpose::Read => return,
            Arg::Hazy(hazy) => {
                self.secret_whatever(hazy, purpose, around);
                if purpose == Purpose::Delete && self.recursive {
                    self.swept_whatever(&format!("{}…{}", hazy.prefix, hazy.suffix), cwds, around);
                }
                self.unknown(match purpose {
                    Purpose::Read => "reads a path that is not known",
                    Purpose::Write => "writes to a path that is not known",
                    Purpose::Delete => "deletes a path that is not known",
                });
                return;
            }
        };
        if text.is_empty() {
            return;
        }
        self.named(text, pattern, purpose, cwds, around);
    }

    /// Whatever a word that is not known turns out to be, its ends may already make it a key's path.
    fn secret_whatever(&mut self, hazy: &Hazy<'_>, purpose: Purpose, around: &Surroundings<'_>) {
        if hazy.prefix.is_empty() && !hazy.suffix.contains('/') {
            return;
        }
        let sample = format!("{}x{}", hazy.prefix, hazy.suffix);
        let named = Named { text: &sample, pattern: false, cwd: "/" };
        let (mut target, recursive) = classify::target(named, purpose, self.recursive, around);
        if target.place != Place::Credential {
            return;
        }
        target.path = format!("{}…{}", hazy.prefix, hazy.suffix);
        target.given = None;
        self.add(match purpose {
            Purpose::Read => Effect::Read(target),
            Purpose::Write => Effect::Write(target),
            Purpose::Delete => Effect::Delete { target, recursive },
        });
    }

    /// A directory goes, with all that is in it, and which one is not known: no fence keeps the workspace's own from that.
    fn swept_whatever(&mut self, shown: &str, cwds: &Cwds<'_>, around: &Surroundings<'_>) {
        let workspace = around.workspace.and_then(std::path::Path::to_str);
        let Some(cwd) = cwds.known.first().map(|cwd| cwd.as_ref()).or(workspace) else { return };
        let named = Named { text: shown, pattern: false, cwd };
        let (target, recursive) = classify::target(named, Purpose::Delete, true, around);
        self.add(Effect::Delete { target, recursive });
    }

    /// A path that is touched, by its text.
    pub(crate) fn named(
        &mut self,
        text: &str,
        pattern: bool,
        purpose: Purpose,
        cwds: &Cwds<'_>,
        around: &Surroundings<'_>,
    ) {
        let free = text.starts_with('/') || text == "~" || text.starts_with("~/");
        if cwds.open && !free {
            self.unknown("a path below a directory that is not known");
            if purpose == Purpose::Delete && self.recursive {
                self.swept_whatever(&format!("…/{text}"), cwds, around);
            }
        }
        let nowhere = [Cow::Borrowed("/")];
        let bases: &[Cow<'_, str>] = if free && cwds.known.len() != 1 { &nowhere } else { &cwds.known };
        // A pattern over all directories takes what lies below them too.
        let deep = match purpose {
            Purpose::Read => self.deep,
            Purpose::Write => false,
            Purpose::Delete => pattern && text.split('/').any(|part| part == "**"),
        };
        for cwd in bases {
            let (mut target, recursive) =
                classify::target(Named { text, pattern, cwd }, purpose, self.recursive || deep, around);
            if classify::is_of_a_process(&target.path) || classify::is_of_a_process(text) {
                self.unknown("a path below the directory of a process");
            }
            match purpose {
                Purpose::Read => self.add(Effect::Read(target)),
                Purpose::Write => self.add(Effect::Write(target)),
                Purpose::Delete => {
                    // A temporary directory is shared: what is swept away there may be somebody else's.
                    let own = classify::below(&target.path, places::MADE).is_some();
                    if target.place == Place::Temporary && (recursive || self.forced) && !own {
                        target.place = Place::Outside;
                    }
                    let repository =
                        target.path.split('/').any(|part| part == ".git") && target.place != Place::Temporary;
                    self.add(Effect::Delete { target, recursive });
                    if repository {
                        self.add(Effect::History("deletes what the repository remembers".into()));
                    }
                }
            }
        }
    }

    /// Keeps only what looks. What options make run, they make run all the same; who calls this adds it again.
    pub(crate) fn only_looks(&mut self) {
        self.inner.clear();
        self.effects.retain(|effect| match effect {
            Effect::Read(_) | Effect::Unknown(_) => true,
            Effect::Connect(connection) => connection.carries == Carries::Query,
            _ => false,
        });
    }

    /// Marks every connection as one that carries this.
    pub(crate) fn carry(&mut self, what: Carries) {
        for effect in &mut self.effects {
            if let Effect::Connect(connection) = effect {
                connection.carries = connection.carries.max(what);
            }
        }
    }
}
