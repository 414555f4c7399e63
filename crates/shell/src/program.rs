//! What a shell would run: the result of reading a text, with every word resolved as far as that is certain.
//!
//! A [`Program`] is flat: every simple command of the text, in any branch, loop, substitution or function body,
//! stands in one list, and says by number where its input comes from. Whoever judges a program only has to look
//! at each command and at these links; no command can hide in a tree.

use crate::Span;

/// A command's place in [`Program::commands`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u32);

/// Everything that a text would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// Every simple command that could run, in the order of the text (function bodies where they are called).
    pub commands: Vec<Command>,
    /// The constructs that the text uses.
    pub shape: Shape,
}

/// One simple command: assignments, words and redirections, as the shell would have them after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Where it stands in the text.
    pub span: Span,
    /// `NAME=value` before the words, or alone.
    pub assignments: Vec<Assignment>,
    /// The command's name and its arguments. Empty where there are only assignments or redirections.
    pub words: Vec<Word>,
    /// Redirections in order, those of enclosing compound commands after its own.
    pub redirects: Vec<Redirect>,
    /// The directory in which it would run.
    pub cwd: Value,
    /// Where its standard input comes from, the nearest source first. Empty: whatever the caller gave.
    pub input: Vec<Source>,
    /// Whose output this command feeds by a pipe (ids of all commands that may read it).
    pub feeds: Vec<CommandId>,
    /// How it stands in the program.
    pub standing: Standing,
}

/// One word after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What it is.
    pub value: Value,
    /// Where it stands in the text.
    pub span: Span,
}

/// What is known of a text at the time when the shell would use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Exactly this.
    Text(String),
    /// A pathname pattern: the names of existing files that match it, or the pattern itself. Characters that were
    /// quoted are escaped with a backslash.
    Pattern(String),
    /// One of these, and nothing else (a loop over constants, branches that assign different constants).
    OneOf(Vec<Value>),
    /// A name such as `/dev/fd/63` under which the named commands' output is read, or input written.
    Process {
        /// `<( )` reads from the commands, `>( )` writes to them.
        reads: bool,
        /// The commands inside.
        commands: Vec<CommandId>,
    },
    /// Not known. What is certain about its ends is kept.
    Unknown(Unknown),
}

/// What is left to say about a text that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The text certainly starts with this.
    pub prefix: String,
    /// The text certainly ends with this.
    pub suffix: String,
    /// It may become any number of words, or none (an unquoted expansion).
    pub splits: bool,
    /// Why it is not known.
    pub why: Why,
    /// The commands whose output goes into it.
    pub from: Vec<CommandId>,
}

/// Why a text cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A variable that the text does not set to a constant.
    Variable(String),
    /// The output of commands.
    Substitution,
    /// Arithmetic over something that is not constant.
    Arithmetic,
    /// A parameter form that is not evaluated (`${x//a/b}` of something unknown, `${!x}`, arrays).
    Form(&'static str),
    /// Bash and the POSIX shell read it differently.
    Dialect(&'static str),
    /// Expansion would become too large.
    TooLarge,
}

/// `NAME=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// What it is set to. An array is [`Value::Unknown`] with [`Why::Form`].
    pub value: Value,
    /// `NAME+=value`.
    pub appends: bool,
    /// Where it stands.
    pub span: Span,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// Where it points: a path, a descriptor's number or `-` for [`RedirectKind::Duplicate`].
    pub target: Value,
    /// The descriptor that is redirected, where the text says or implies one number.
    pub descriptor: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of redirection that touch something outside the shell, and those that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `< f`
    Read,
    /// `> f`, `>| f`, `&> f`, `>& f` with a file name
    Write,
    /// `>> f`, `&>> f`
    Append,
    /// `<> f`
    ReadWrite,
    /// `2>&1`, `<&3`, `>&-`
    Duplicate,
    /// `<< EOF`, `<<< text`: see [`Source::Text`]
    Text,
}

/// Where standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A pipe from these commands. Where what they print is constant, it follows as a [`Source::Text`].
    Pipe(Vec<CommandId>),
    /// A here-document or here-string.
    Text(Value),
    /// A file.
    File(Value),
}

/// How a command stands in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// It may not run at all, or more than once (branch, loop, after `&&`/`||`, a function's body).
    pub conditional: bool,
    /// It stands in a loop, so that it may run more than once.
    pub repeated: bool,
    /// It runs in the background.
    pub background: bool,
    /// It runs inside `$( )`, backticks or `<( )`.
    pub substituted: bool,
    /// It stands in the body of a function that the text defines but is never seen to call.
    pub uncalled: bool,
}

/// Which constructs a text uses: what makes it a shell program rather than one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// `a | b`
    pub pipes: bool,
    /// `a; b`, `a && b`, `a || b`, newlines, `a &`
    pub chains: bool,
    /// `( )`, `$( )`, backticks, `<( )`
    pub subshells: bool,
    /// A redirection to or from anything but a descriptor
    pub redirects: bool,
    /// `if`, `for`, `while`, `case`, functions, groups, `[[ ]]`, `(( ))`
    pub control: bool,
    /// `$x`, `${x}`, `$(( ))`, globs, braces, tilde
    pub expansions: bool,
}

impl Shape {
    /// What either of them uses.
    #[must_use]
    pub const fn joined(self, other: Shape) -> Shape {
        Shape {
            pipes: self.pipes || other.pipes,
            chains: self.chains || other.chains,
            subshells: self.subshells || other.subshells,
            redirects: self.redirects || other.redirects,
            control: self.control || other.control,
            expansions: self.expansions || other.expansions,
        }
    }
}
