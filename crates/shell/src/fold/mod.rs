//! From syntax tree to program: walks the text in the order in which a shell would run it, keeps what is certain
//! of variables, functions and directory, and writes down every command that could run.

mod ansi;
mod arithmetic;
mod brace;
mod builtin;
mod control;
mod directory;
mod draft;
mod expand;
mod output;
mod parameter;
mod pattern;
mod simple;
mod state;

pub(crate) use ansi::ansi;

use crate::parse::Read;
use crate::syntax::{Command, Connector, Entry, Function, List, Pipeline, Script};
use crate::{
    CommandId, Dialect, Given, Program, Redirect, Refusal, Shape, Source, Span, Standing, Value, Why,
};
use state::{Binding, Key, State, unknown};

/// How many simple commands are followed, counting each call of a function and each second look at a loop. A command
/// of many words counts as several, and so does a word that braces make many of. Four times what a text may have at all:
/// loops in loops, each of which is looked at until nothing changes, would multiply without an end, and one step costs a
/// microsecond.
const MAX_STEPS: usize = 4_096;
/// How many links between commands a program may have.
const MAX_LINKS: usize = 65_536;

/// Resolves a syntax tree.
pub(crate) fn program<'t, 'a>(
    script: &'t Script<'a>,
    shape: Shape,
    dialect: Dialect,
    given: &'t Given<'a>,
    directory: Option<Value>,
    length: usize,
) -> Read<Program> {
    let mut folder = Folder {
        script,
        dialect,
        given,
        program: Program { commands: Vec::new(), shape },
        state: State::default(),
        standing: Standing::default(),
        redirects: Vec::new(),
        inputs: Vec::new(),
        direct: Vec::new(),
        calls: Vec::new(),
        locals: Vec::new(),
        called: vec![false; script.functions],
        defined: Vec::new(),
        aliases: Vec::new(),
        readonly: Vec::new(),
        odd: Vec::new(),
        failed: None,
        returned: false,
        last_output: None,
        loops: 0,
        branches: 0,
        steps: 0,
        links: 0,
        room: 16 * length + 64 * 1024,
    };
    if let Some(directory) = directory {
        folder.state.set(Key::Directory, Binding::Set(directory));
    }
    folder.list(&script.body)?;
    if script.functions > 0 {
        folder.uncalled()?;
    }
    Ok(folder.program)
}

struct Folder<'t, 'a> {
    script: &'t Script<'a>,
    dialect: Dialect,
    given: &'t Given<'a>,
    program: Program,
    state: State<'t, 'a>,
    standing: Standing,
    /// Redirections of the compound commands around, the outermost first.
    redirects: Vec<Redirect>,
    /// Sources of standard input around, the nearest last.
    inputs: Vec<Source>,
    /// The commands whose output goes where the present list's output goes.
    direct: Vec<CommandId>,
    /// The functions whose bodies are being followed, by number.
    calls: Vec<usize>,
    /// What local variables hid, for each function that is being followed.
    locals: Vec<Vec<(String, Option<Binding<'t, 'a>>)>>,
    called: Vec<bool>,
    defined: Vec<&'t Function<'a>>,
    aliases: Vec<String>,
    readonly: Vec<String>,
    /// Variables with attributes that change what is assigned to them.
    odd: Vec<String>,
    /// After a `cd`: the directory where it failed.
    failed: Option<Binding<'t, 'a>>,
    /// A `return` was met in the function that is being followed.
    returned: bool,
    /// What the last pipeline of a substitution prints, where that is certain.
    last_output: Option<String>,
    loops: usize,
    branches: usize,
    steps: usize,
    links: usize,
    /// How many more bytes of text may be made.
    room: usize,
}

/// Whether what follows can still run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// It can.
    On,
    /// The shell has ended.
    Exits,
    /// The loop or function has been left.
    Leaves,
}

fn refuse<T>(span: Span, reason: impl Into<String>) -> Read<T> {
    Err(Refusal { reason: reason.into(), span })
}

impl<'t, 'a> Folder<'t, 'a> {
    fn bash(&self) -> bool {
        self.dialect == Dialect::Bash
    }

    /// Follows a list. Background parts run in a shell of their own.
    fn list(&mut self, list: &'t List<'a>) -> Read<Flow> {
        let mut flow = Flow::On;
        for entry in &list.entries {
            let went = if entry.background {
                let mark = self.state.mark();
                let before = self.standing;
                self.standing.background = true;
                self.apart(|folder| folder.entry(entry))?;
                self.standing = before;
                self.state.rollback(mark);
                Flow::On
            } else {
                self.entry(entry)?
            };
            if flow == Flow::On {
                flow = went;
            }
        }
        Ok(flow)
    }

    /// Runs something in a shell of its own: loops and functions around it cannot be left from inside.
    fn apart<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let loops = std::mem::take(&mut self.loops);
        let result = inner(self);
        self.loops = loops;
        self.failed = None;
        result
    }

    /// `a && b || c`: what may have failed is joined where it matters.
    fn entry(&mut self, entry: &'t Entry<'a>) -> Read<Flow> {
        self.failed = None;
        let flow = self.pipeline(&entry.first)?;
        if entry.rest.is_empty() {
            // A failing command would have ended the shell.
            let ended = self.branches == 0
                && !self.standing.conditional
                && matches!(self.state.get(&Key::Exits), Binding::Set(_));
            if let Some(before) = self.failed.take()
                && (!ended || entry.first.negated)
            {
                self.either_directory(before);
            }
            return Ok(flow);
        }
        let conditional = self.standing.conditional;
        self.standing.conditional = true;
        self.branches += 1;
        let mut mark = self.state.mark();
        let mut failures: Vec<Binding<'t, 'a>> = self.failed.take().into_iter().collect();
        let rest = entry.rest.iter().peekable();
        for (connector, pipeline) in rest {
            match connector {
                Connector::And => {
                    self.pipeline(pipeline)?;
                    failures.extend(self.failed.take());
                }
                Connector::Or => {
                    let before = self.state.mark();
                    // What stands here runs where something before it failed.
                    self.state.maybe(mark);
                    for directory in &failures {
                        self.either_directory(directory.clone());
                    }
                    let inside = self.state.mark();
                    let flow = self.pipeline(pipeline)?;
                    let last_failure = self.failed.take();
                    let clean = !self.state.changed(inside);
                    if flow == Flow::Exits || (flow == Flow::Leaves && clean) {
                        self.state.rollback(before);
                        failures.clear();
                        // Whatever is known now is certain: nothing before may have failed.
                        mark = self.state.mark();
                    } else {
                        self.state.maybe(before);
                        failures.clear();
                        failures.extend(last_failure);
                    }
                }
            }
        }
        self.state.maybe(mark);
        for directory in failures {
            self.either_directory(directory);
        }
        self.branches -= 1;
        self.standing.conditional = conditional;
        Ok(Flow::On)
    }

    fn pipeline(&mut self, pipeline: &'t Pipeline<'a>) -> Read<Flow> {
        if let [only] = pipeline.stages.as_slice() {
            let flow = self.command(only)?;
            if pipeline.negated {
                // `! cd x && y` runs `y` where it failed.
                if let Some(before) = self.failed.take() {
                    self.either_directory(before);
                }
            }
            return Ok(flow);
        }
        let outer = std::mem::take(&mut self.direct);
        let mut text: Option<String> = None;
        let last = pipeline.stages.len() - 1;
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let mark = self.state.mark();
            let depth = self.inputs.len();
            let feeding = std::mem::take(&mut self.direct);
            let start = self.program.commands.len();
            if index > 0 {
                if let Some(text) = &text {
                    self.inputs.push(Source::Text(Value::Text(text.clone())));
                }
                self.inputs.push(Source::Pipe(feeding.clone()));
            }
            self.apart(|folder| folder.command(stage))?;
            self.inputs.truncate(depth);
            self.state.rollback(mark);
            if index > 0 {
                self.feed(&feeding, start, stage_span(stage))?;
            }
            text = match (stage, self.direct.as_slice()) {
                (Command::Simple(simple), [id]) if index < last || self.standing.substituted => {
                    self.exact_output(*id, simple.span, text.as_deref())
                }
                _ => None,
            };
        }
        self.last_output = text;
        let ids = std::mem::replace(&mut self.direct, outer);
        self.direct.extend(ids);
        Ok(Flow::On)
    }

    /// Notes that the commands since `start` read what `feeding` write.
    fn feed(&mut self, feeding: &[CommandId], start: usize, span: Span) -> Read<()> {
        let reading: Vec<CommandId> = (start..self.program.commands.len()).map(command_id).collect();
        self.links(feeding.len().saturating_mul(reading.len()), span)?;
        for &CommandId(id) in feeding {
            if let Some(command) = self.program.commands.get_mut(id as usize) {
                command.feeds.extend_from_slice(&reading);
            }
        }
        Ok(())
    }

    fn links(&mut self, more: usize, span: Span) -> Read<()> {
        self.links = self.links.saturating_add(more);
        if self.links > MAX_LINKS {
            return refuse(span, "too many commands that are joined to each other");
        }
        Ok(())
    }

    /// Follows commands in a subshell whose output goes into a word, and returns them.
    fn substituted(&mut self, body: &'t List<'a>) -> Read<Vec<CommandId>> {
        let mark = self.state.mark();
        let standing = self.standing;
        self.standing.substituted = true;
        let outer = std::mem::take(&mut self.direct);
        // The redirections of what is around hold inside too, but its output goes into the word.
        self.apart(|folder| folder.list(body))?;
        let ids = std::mem::replace(&mut self.direct, outer);
        self.standing = standing;
        self.state.rollback(mark);
        Ok(ids)
    }

    fn command(&mut self, command: &'t Command<'a>) -> Read<Flow> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => self.compound(compound),
        }
    }

    /// The directory may be this one too.
    fn either_directory(&mut self, other: Binding<'t, 'a>) {
        let present = Binding::Set(self.directory());
        self.state.set(Key::Directory, present.join_directory(other));
        self.state.set(Key::Previous, Binding::Lost);
    }

    /// The directory in which a command would run now.
    fn directory(&self) -> Value {
        match self.state.get(&Key::Directory) {
            Binding::Set(value) => value.clone(),
            Binding::Outside => match self.given.cwd {
                Some(cwd) => Value::Text(cwd.to_owned()),
                None => unknown(Why::Variable("PWD".into())),
            },
            _ => unknown(Why::Variable("PWD".into())),
        }
    }

    /// Takes from the room for text that is made.
    fn made(&mut self, size: usize, span: Span) -> Read<()> {
        match self.room.checked_sub(size) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => refuse(span, "expansions that grow too large"),
        }
    }
}

fn stage_span(stage: &Command<'_>) -> Span {
    match stage {
        Command::Simple(simple) => simple.span,
        Command::Compound(compound) => compound.span,
    }
}

fn command_id(index: usize) -> CommandId {
    CommandId(u32::try_from(index).unwrap_or(u32::MAX))
}
