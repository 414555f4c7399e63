//! The syntax tree: what was written, before anything is resolved.
//!
//! Every leaf borrows its characters from the text, so nothing is lost and nothing is copied. The tree holds every
//! command that stands anywhere in the text: in words, in here-documents, in arithmetic, in patterns.

use crate::Span;

/// A whole text.
#[derive(Debug, Default)]
pub struct Script<'a> {
    /// What it runs.
    pub body: List<'a>,
    /// The here-documents, in the order in which their operators stand; see [`Target::Document`].
    pub documents: Vec<Document<'a>>,
    /// How many functions are defined: the numbers in [`Function::number`] are below this.
    pub functions: usize,
}

/// Pipelines after each other.
#[derive(Debug, Default)]
pub struct List<'a> {
    /// In the order of the text.
    pub entries: Vec<Entry<'a>>,
}

/// `a && b || c`, perhaps in the background.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The first pipeline.
    pub first: Pipeline<'a>,
    /// The others, with the operator before each.
    pub rest: Vec<(Connector, Pipeline<'a>)>,
    /// It ends with `&`.
    pub background: bool,
}

/// `&&` or `||`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// `! time a | b |& c`
#[derive(Debug)]
pub struct Pipeline<'a> {
    /// An odd number of `!` stands before it.
    pub negated: bool,
    /// At least one command.
    pub stages: Vec<Command<'a>>,
}

/// One stage of a pipeline.
#[derive(Debug)]
pub enum Command<'a> {
    /// Words, assignments and redirections.
    Simple(Simple<'a>),
    /// Anything that contains commands by grammar.
    Compound(Box<Compound<'a>>),
}

/// A simple command.
#[derive(Debug, Default)]
pub struct Simple<'a> {
    /// `NAME=value` before the first word.
    pub assignments: Vec<Assign<'a>>,
    /// The command's name and its arguments.
    pub words: Vec<Word<'a>>,
    /// In the order of the text.
    pub redirects: Vec<Redirect<'a>>,
    /// Where it stands.
    pub span: Span,
}

/// A compound command with the redirections after it.
#[derive(Debug)]
pub struct Compound<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Redirections that hold for everything inside.
    pub redirects: Vec<Redirect<'a>>,
    /// Where it stands.
    pub span: Span,
}

/// The compound commands.
#[derive(Debug)]
pub enum Kind<'a> {
    /// `( list )`
    Subshell(List<'a>),
    /// `{ list; }`
    Group(List<'a>),
    /// `if`, with its conditions and branches, and the last `else`.
    If(Vec<(List<'a>, List<'a>)>, Option<List<'a>>),
    /// `for name in words`, or `select`; no words means the positional parameters.
    For {
        /// The variable.
        name: &'a str,
        /// After `in`.
        words: Option<Vec<Word<'a>>>,
        /// Between `do` and `done`.
        body: List<'a>,
        /// It is `select`: the value comes from a person.
        select: bool,
    },
    /// `for (( a; b; c ))`
    Count(Vec<Arithmetic<'a>>, List<'a>),
    /// `while` and `until`
    While(List<'a>, List<'a>),
    /// `case word in … esac`
    Case(Word<'a>, Vec<Arm<'a>>),
    /// `name() …` or `function name …`
    Function(Function<'a>),
    /// `[[ … ]]`: its operands and operators as words, in order.
    Test(Vec<Word<'a>>),
    /// `(( … ))`
    Arithmetic(Arithmetic<'a>),
}

/// One arm of a `case`.
#[derive(Debug)]
pub struct Arm<'a> {
    /// Between the bars.
    pub patterns: Vec<Word<'a>>,
    /// What it runs.
    pub body: List<'a>,
    /// It ends with `;&` or `;;&`, so that others may run after it.
    pub falls: bool,
}

/// A function's definition.
#[derive(Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its body, with the redirections of the definition.
    pub body: Box<Compound<'a>>,
    /// Its number in the text.
    pub number: usize,
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value`, `NAME=(…)`.
#[derive(Debug)]
pub struct Assign<'a> {
    /// The variable.
    pub name: &'a str,
    /// Between the brackets.
    pub subscript: Option<Vec<Part<'a>>>,
    /// `+=`
    pub appends: bool,
    /// What it is set to.
    pub value: Assigned<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The right side of an assignment.
#[derive(Debug)]
pub enum Assigned<'a> {
    /// One word.
    Word(Word<'a>),
    /// `( … )`: each element, with its subscript where it has one.
    Array(Vec<(Option<Vec<Part<'a>>>, Word<'a>)>),
}

/// A word, before expansion.
#[derive(Debug, Default)]
pub struct Word<'a> {
    /// What it is made of. Empty only for an empty value after `NAME=`.
    pub parts: Vec<Part<'a>>,
    /// Where it stands.
    pub span: Span,
    /// It has an unquoted `{`, so braces may have to be expanded.
    pub braces: bool,
    /// `NAME=( … )` as an argument of `declare` and its kind.
    pub array: Option<Box<Assign<'a>>>,
}

/// A part of a word.
#[derive(Debug)]
pub enum Part<'a> {
    /// Characters without quotes: patterns, braces and a leading tilde are active in it.
    Literal(&'a str),
    /// A character after a backslash, or any text that is taken as it stands.
    Quoted(&'a str),
    /// `$'…'`, between the quotes.
    Ansi(&'a str),
    /// `"…"`; the literals in it are [`Part::Quoted`].
    Double(Vec<Part<'a>>),
    /// `$name`, `$1`, `$@`
    Variable(&'a str),
    /// `${…}`
    Parameter(Box<Parameter<'a>>),
    /// `$( … )` or backticks.
    Command(Box<Substitution<'a>>),
    /// `<( … )` or `>( … )`
    Process(Box<Substitution<'a>>, bool),
    /// `$(( … ))`
    Arithmetic(Box<Arithmetic<'a>>),
}

/// The commands of a substitution.
#[derive(Debug)]
pub struct Substitution<'a> {
    /// What it runs.
    pub body: List<'a>,
    /// Where it stands.
    pub span: Span,
}

/// An arithmetic expression, before its expansions.
#[derive(Debug)]
pub struct Arithmetic<'a> {
    /// Its text and expansions, as in double quotes.
    pub parts: Vec<Part<'a>>,
    /// Where it stands.
    pub span: Span,
}

/// `${…}`
#[derive(Debug)]
pub struct Parameter<'a> {
    /// The variable's name, or a special parameter.
    pub name: &'a str,
    /// `${!name…}`
    pub indirect: bool,
    /// Between the brackets.
    pub subscript: Option<Vec<Part<'a>>>,
    /// What is done with it.
    pub form: Form<'a>,
}

/// What `${…}` does with a variable.
#[derive(Debug)]
pub enum Form<'a> {
    /// `${x}`
    Plain,
    /// `${#x}`
    Length,
    /// `${x-w}`, `${x=w}`, `${x+w}`, `${x?w}`; with a colon, empty counts as unset.
    Default {
        /// One of `-`, `=`, `+`, `?`.
        operator: u8,
        /// With a colon.
        colon: bool,
        /// What stands after the operator.
        word: Vec<Part<'a>>,
    },
    /// `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`
    Strip {
        /// `%` rather than `#`.
        suffix: bool,
        /// Doubled.
        longest: bool,
        /// The pattern.
        pattern: Vec<Part<'a>>,
    },
    /// `${x/p/w}`
    Replace {
        /// `/` for the first, `*` for all, `#` and `%` for anchored.
        mode: u8,
        /// The pattern.
        pattern: Vec<Part<'a>>,
        /// The replacement.
        with: Vec<Part<'a>>,
    },
    /// `${x:o}`, `${x:o:l}`
    Slice {
        /// The offset.
        offset: Vec<Part<'a>>,
        /// The length.
        length: Option<Vec<Part<'a>>>,
    },
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}`, with a pattern or without.
    Case {
        /// `^` rather than `,`.
        upper: bool,
        /// Doubled.
        all: bool,
        /// The pattern.
        pattern: Vec<Part<'a>>,
    },
    /// `${x@Q}` and other transformations, `${!x*}`.
    Other(&'static str),
}

/// A redirection.
#[derive(Debug)]
pub struct Redirect<'a> {
    /// The operator.
    pub operator: Operator,
    /// The number before it.
    pub descriptor: Option<u32>,
    /// `{name}` before it.
    pub variable: Option<&'a str>,
    /// What stands after it.
    pub target: Target<'a>,
    /// Where it stands.
    pub span: Span,
}

/// What stands after a redirection's operator.
#[derive(Debug)]
pub enum Target<'a> {
    /// A word.
    Word(Word<'a>),
    /// The number of a here-document in [`Script::documents`].
    Document(usize),
}

/// The redirection operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateIn,
    /// `>&`
    DuplicateOut,
    /// `&>`
    Both,
    /// `&>>`
    BothAppend,
    /// `<<`, `<<-`
    Document,
    /// `<<<`
    String,
}

/// A here-document's body.
#[derive(Debug, Default)]
pub struct Document<'a> {
    /// Its text and expansions. The literals are [`Part::Quoted`].
    pub parts: Vec<Part<'a>>,
}
