//! The one syntax tree that Python and JavaScript are read into.
//!
//! It keeps what can happen and drops when: branches, loops and bodies are taken as if all of them ran. The parsers
//! bound its depth, so that walking and dropping it need little stack.

/// An expression, or a statement as one.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
    /// A constant string.
    Text(String),
    /// A number, `None`, `true`, …: its spelling.
    Plain(String),
    /// Data with no parts that matter: a regular expression, bytes.
    Opaque,
    Name(String),
    Member(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Arg>),
    /// A list, a tuple, a set; as a target, a pattern.
    List(Vec<Expr>),
    /// A mapping, with constant or computed keys.
    Map(Vec<(Key, Expr)>),
    /// Joined by `+`, or parts of an interpolated string.
    Sum(Vec<Expr>),
    /// Joined by `/`.
    Divide(Vec<Expr>),
    /// Looks whether the first is inside the second.
    Within(Box<Expr>, Box<Expr>),
    /// Anything else that evaluates its parts to plain data.
    Mix(Vec<Expr>),
    /// A function: its parameters as targets, and its body.
    Function(Vec<Expr>, Vec<Expr>),
    /// Several in a row, worth the last.
    Sequence(Vec<Expr>),
    /// Binds the target to the value.
    Assign(Box<Expr>, Box<Expr>),
    /// Binds the target to something computed that is data.
    Receive(Box<Expr>),
    /// Binds the target to each element of the value.
    Iterate(Box<Expr>, Box<Expr>),
    /// The keys of the value, one after another.
    Keys(Box<Expr>, Box<Expr>),
    /// Takes the target away.
    Remove(Box<Expr>),
    /// All elements of the value.
    Splat(Box<Expr>),
    /// Binds a name to something that the language's knowledge names.
    Import(String, String),
    /// The value leaves the place where it can be followed: `return x`.
    Escape(Box<Expr>),
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub(crate) struct Arg {
    pub(crate) name: Option<String>,
    pub(crate) value: Expr,
}

/// The key of an entry of a mapping.
#[derive(Debug, Clone)]
pub(crate) enum Key {
    Constant(String),
    Computed(Expr),
    /// All entries of another mapping.
    Spread,
}

/// What a parser hands over.
pub(crate) struct Program {
    pub(crate) statements: Vec<Expr>,
    /// Everything was understood.
    pub(crate) whole: bool,
}
