//! What Perl, Ruby, PHP and Lua have in common here: they are read by their tokens alone.
//!
//! A program is wholly understood if each of its words is listed or its own. A call that does something is found by
//! its name, and its arguments count if they are constant strings.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Finding, Reading, listed};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// `$x`, `@x`, with its mark.
    Variable(String),
    Text(String),
    /// Text with something put into it.
    Mixed,
    /// What a shell is given, if it is constant.
    Command(Option<String>),
    /// A number, a symbol, a regular expression.
    Plain,
    Op(&'static str),
    Line,
}

/// What calling something does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// One text goes to a shell, several are words.
    Shell,
    Read,
    Write,
    Delete,
    Tree,
    Copy,
    Move,
    /// A file and a mode.
    Open,
    Connect,
    System,
    Runs,
    /// Loads code, unless it is on the language's list.
    Load,
}

/// What one language knows, as it is written.
pub(super) struct List {
    /// A name with its owners, dots between them, and what calling it does.
    pub(super) deeds: &'static [(Deed, &'static str)],
    /// Names that may stand at the start.
    pub(super) plain: &'static str,
    /// Names that may stand behind a dot.
    pub(super) members: &'static str,
    /// What may be loaded.
    pub(super) modules: &'static str,
    /// Words after which a name is the program's own.
    pub(super) defining: &'static [&'static str],
    /// Words that join statements and end arguments.
    pub(super) joining: &'static [&'static str],
    /// What is between an owner and a name.
    pub(super) dots: &'static [&'static str],
}

/// What one language knows, as it is looked up.
pub(super) struct Words {
    deeds: HashMap<&'static str, Deed>,
    plain: HashSet<&'static str>,
    members: HashSet<&'static str>,
    modules: HashSet<&'static str>,
    defining: &'static [&'static str],
    joining: &'static [&'static str],
    dots: &'static [&'static str],
}

impl Words {
    pub(super) fn new(list: &List) -> Self {
        Self {
            deeds: listed::map(list.deeds.iter().copied()),
            plain: listed::set(list.plain),
            members: listed::set(list.members),
            modules: listed::set(list.modules),
            defining: list.defining,
            joining: list.joining,
            dots: list.dots,
        }
    }

    pub(super) fn is_deed(&self, name: &str) -> bool {
        self.deeds.contains_key(name)
    }

    pub(super) fn is_member(&self, name: &str) -> bool {
        self.members.contains(name)
    }

    pub(super) fn is_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }
}

/// Operators by which tokenizers go, longest first.
const OPERATORS: &[&str] = &[
    "<=>", "===", "!==", "**=", "...", "&&=", "||=", "??=", "<<=", ">>=", "->", "=>", "::", "==", "!=", "=~",
    "!~", "~=", "<=", ">=", "&&", "||", "??", "..", "++", "--", "+=", "-=", "*=", "/=", ".=", "%=", "|=",
    "&=", "^=", "**", "<<", ">>", "//", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/",
    "%", "^", "!", "~", "?", ":", "=", ".", "|", "&", "#", "@", "$", "\\",
];

/// The operator that the text goes on with.
pub(super) fn operator(cursor: &super::cursor::Cursor) -> Option<&'static str> {
    // No longer one starts with these, and they are most of what there is.
    Some(match cursor.peek()? {
        '(' => "(",
        ')' => ")",
        '[' => "[",
        ']' => "]",
        '{' => "{",
        '}' => "}",
        ';' => ";",
        ',' => ",",
        _ => return cursor.one_of(OPERATORS),
    })
}

/// Is the last token a value, so that `/` divides and `%` is a remainder?
pub(super) fn after_value(tokens: &[Token], words: &[&str]) -> bool {
    match tokens.last() {
        None | Some(Token::Line) => false,
        Some(Token::Op(operator)) => matches!(*operator, ")" | "]" | "}"),
        Some(Token::Word(word)) => !words.contains(&word.as_str()),
        Some(_) => true,
    }
}

/// Goes over all tokens.
pub(super) fn scan(tokens: &[Token], words: &Words, reading: &mut Reading) {
    let own = Own { names: own_names(tokens, words), functions: own_functions(tokens) };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Command(Some(text)) => reading.found(Finding::RunShell(text.clone())),
            Token::Command(None) => reading.runs_unknown(),
            Token::Word(_) => {
                at = chain(tokens, at, words, &own, reading);
                continue;
            }
            // A member of something computed.
            Token::Op(dot) if words.dots.contains(dot) => match tokens.get(at + 1) {
                Some(Token::Word(word)) if words.members.contains(word.as_str()) => at += 1,
                Some(Token::Op("[" | "{")) if *dot == "->" => {}
                Some(Token::Text(_) | Token::Plain | Token::Variable(_) | Token::Mixed) if *dot == "." => {}
                _ => reading.incomplete(),
            },
            _ => {}
        }
        at += 1;
    }
}

/// What the program defines.
struct Own<'a> {
    names: BTreeSet<&'a str>,
    functions: BTreeSet<&'a str>,
}

fn own_functions(tokens: &[Token]) -> BTreeSet<&str> {
    let named = tokens.windows(2).filter_map(|pair| match pair {
        [Token::Word(word), Token::Word(name)] if matches!(word.as_str(), "def" | "function" | "sub") => {
            Some(name.as_str())
        }
        _ => None,
    });
    named.collect()
}

/// Names that the program makes itself.
fn own_names<'a>(tokens: &'a [Token], words: &Words) -> BTreeSet<&'a str> {
    let mut own = BTreeSet::new();
    let mut defining = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if words.defining.contains(&word.as_str()) => defining = true,
            Token::Word(word) if defining || matches!(tokens.get(at + 1), Some(Token::Op("="))) => {
                own.insert(word.as_str());
            }
            // Parameters: `|a, b|`, `(a, b)` after a defining word.
            Token::Op("|")
                if matches!(tokens.get(at.wrapping_sub(1)), Some(Token::Op("{")) | Some(Token::Word(_))) =>
            {
                defining = !defining;
            }
            Token::Op("," | "(") => {}
            _ => defining = false,
        }
    }
    own
}

/// A name with what follows it by dots. Gives the place behind it.
fn chain(tokens: &[Token], start: usize, words: &Words, own: &Own<'_>, reading: &mut Reading) -> usize {
    let Some(Token::Word(first)) = tokens.get(start) else { return start + 1 };
    let mut name = Cow::Borrowed(first.as_str());
    let mut at = start + 1;
    // The longest name with a deed is taken; its members are looked at by the caller.
    let mut deed = deed_of(words, &name).map(|deed| (deed, at));
    let mut known = words.plain.contains(name.as_ref()) || own.names.contains(first.as_str());
    let mut known_end = at;
    for _ in 0..4 {
        match (tokens.get(at), tokens.get(at + 1)) {
            (Some(Token::Op(dot)), Some(Token::Word(member))) if words.dots.contains(dot) => {
                name = Cow::Owned(format!("{name}.{member}"));
                at += 2;
                if let Some(found) = deed_of(words, &name) {
                    deed = Some((found, at));
                }
                if words.plain.contains(name.as_ref()) {
                    known = true;
                    known_end = at;
                }
            }
            _ => break,
        }
    }
    if let Some((deed, end)) = deed {
        let arguments = arguments(tokens, end, words);
        act(deed, first, arguments, words, reading);
        return end;
    }
    if !known {
        reading.incomplete();
    }
    // A variable in front of a value is a call.
    let called = matches!(
        tokens.get(known_end),
        Some(Token::Op("(") | Token::Text(_) | Token::Mixed | Token::Variable(_) | Token::Plain)
    );
    let is_value = own.names.contains(first.as_str())
        && !words.plain.contains(first.as_str())
        && !own.functions.contains(first.as_str());
    if called && is_value {
        reading.incomplete();
    }
    known_end
}

fn deed_of(words: &Words, name: &str) -> Option<Deed> {
    words.deeds.get(name).copied()
}

/// The arguments of a call, if all of them are constant texts.
fn arguments(tokens: &[Token], start: usize, words: &Words) -> Option<Vec<String>> {
    let bracketed = matches!(tokens.get(start), Some(Token::Op("(")));
    let mut at = start + usize::from(bracketed);
    let mut all = Vec::new();
    loop {
        match tokens.get(at)? {
            Token::Text(text) => all.push(text.clone()),
            _ => return None,
        }
        match tokens.get(at + 1) {
            Some(Token::Op(",")) => at += 2,
            Some(Token::Op(")")) => return Some(all),
            _ if bracketed => return None,
            None | Some(Token::Line | Token::Op(";" | "}")) => return Some(all),
            Some(Token::Word(word)) if words.joining.contains(&word.as_str()) => return Some(all),
            _ => return None,
        }
    }
}

fn act(deed: Deed, name: &str, arguments: Option<Vec<String>>, words: &Words, reading: &mut Reading) {
    let mut given = arguments.unwrap_or_default().into_iter();
    let first = given.next();
    match (deed, first) {
        (Deed::System, _) => {
            reading.found(Finding::System(name.to_owned()));
        }
        (Deed::Runs, _) | (Deed::Shell, None) => reading.runs_unknown(),
        (Deed::Connect, address) => {
            let rest = address.as_deref().and_then(|text| text.split_once("://")).map(|(_, rest)| rest);
            let host = rest.and_then(|rest| rest.split(['/', ':', '?']).next());
            let fine = host.filter(|host| !host.is_empty() && !host.contains(['@', '\\']));
            reading.found(Finding::Connect(fine.map(str::to_owned)));
            reading.incomplete();
        }
        (Deed::Load, Some(module)) if words.is_module(&module) => {}
        (Deed::Load, _) => reading.runs_unknown(),
        (_, None) => reading.incomplete(),
        (Deed::Shell, Some(first)) => {
            let mut all = vec![first];
            all.extend(given);
            match all.as_slice() {
                [command] => reading.found(Finding::RunShell(command.clone())),
                _ => reading.found(Finding::RunArgv(all)),
            }
        }
        (Deed::Read, Some(path)) => reading.found(Finding::Read(path)),
        (Deed::Write, Some(path)) => reading.found(Finding::Write(path)),
        (Deed::Delete | Deed::Tree, Some(path)) => {
            let recursive = deed == Deed::Tree;
            reading.found(Finding::Delete { path, recursive });
            for path in given {
                reading.found(Finding::Delete { path, recursive });
            }
        }
        (Deed::Copy | Deed::Move, Some(from)) => {
            reading.found(if deed == Deed::Copy {
                Finding::Read(from)
            } else {
                Finding::Delete { path: from, recursive: true }
            });
            match given.next() {
                Some(to) => reading.found(Finding::Write(to)),
                None => reading.incomplete(),
            }
        }
        (Deed::Open, Some(path)) => open(&path, given.next().as_deref(), given.next(), reading),
    }
}

/// Opens a file, or, where a pipe is spelt, a command.
fn open(path: &str, mode: Option<&str>, third: Option<String>, reading: &mut Reading) {
    if let Some(command) = path.strip_prefix('|').or_else(|| path.strip_suffix('|')) {
        reading.found(Finding::RunShell(command.trim().to_owned()));
        return;
    }
    let path = path.to_owned();
    match mode {
        None => reading.found(Finding::Read(path)),
        Some(mode) if mode.contains(['w', 'a', 'x', '+', 'c']) => reading.found(Finding::Write(path)),
        Some(mode) if mode.starts_with('r') => reading.found(Finding::Read(path)),
        Some(_) => reading.incomplete(),
    }
    if third.is_some() {
        reading.incomplete();
    }
}
