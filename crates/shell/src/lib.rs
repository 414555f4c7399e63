//! What would a shell run?
//!
//! Shell text goes in, a flat list of simple commands comes out, each with its words, redirections and
//! assignments resolved as far as that is certain. Nothing else: this crate knows no command's meaning, no path
//! and no policy. It accepts only what it models completely; everything else is a [`Refusal`].

mod fold;
mod parse;
mod program;
mod span;
pub mod syntax;

pub use program::{
    Assignment, Command, CommandId, Program, Redirect, RedirectKind, Shape, Source, Standing, Unknown, Value,
    Why, Word,
};
pub use span::Span;

/// Which shell would read the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// GNU bash.
    #[default]
    Bash,
    /// What `/bin/sh` promises. Text that bash and a POSIX shell would read differently is not resolved.
    Posix,
}

/// What is certain before the first command runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// The working directory, absolute.
    pub cwd: Option<&'a str>,
    /// The home directory, absolute: `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// The user's name: `~name` of that user, `$USER`, `$LOGNAME`.
    pub user: Option<&'a str>,
}

/// Why a text was not read. Nothing that was refused may be allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was met, for a person: lowercase, no full stop, input in backticks.
    pub reason: String,
    /// Where.
    pub span: Span,
}

/// The longest text that is read.
pub const MAX_BYTES: usize = 64 * 1024;
/// The deepest nesting that is read.
pub const MAX_DEPTH: usize = 64;
/// The most words of one command that are read, before and after expansion.
pub const MAX_WORDS: usize = 2048;
/// The most redirections of one command that are read.
pub const MAX_REDIRECTS: usize = 256;
/// The most commands of one text that are read, functions and loops counted as often as they are followed.
pub const MAX_COMMANDS: usize = 1024;

/// Reads a text: parses it and resolves what is certain.
///
/// # Errors
/// A [`Refusal`] for text outside the closed grammar, outside the bounds, or that the two dialects parse
/// differently.
pub fn read(text: &str, dialect: Dialect, given: &Given<'_>) -> Result<Program, Refusal> {
    let (script, shape) = parse::script(text, dialect)?;
    fold::program(&script, shape, dialect, given, None, text.len())
}

/// The same for a text that starts in a directory which is not certain: [`Value::OneOf`] several, perhaps with a
/// [`Value::Unknown`] among them.
///
/// # Errors
/// As [`read`].
pub fn read_in(
    text: &str,
    dialect: Dialect,
    given: &Given<'_>,
    directory: Value,
) -> Result<Program, Refusal> {
    let (script, shape) = parse::script(text, dialect)?;
    fold::program(&script, shape, dialect, given, Some(directory), text.len())
}

/// Reads a text into its syntax tree only.
///
/// # Errors
/// A [`Refusal`] for text outside the closed grammar or outside the bounds.
pub fn parse(text: &str, dialect: Dialect) -> Result<syntax::Script<'_>, Refusal> {
    parse::script(text, dialect).map(|(script, _)| script)
}
