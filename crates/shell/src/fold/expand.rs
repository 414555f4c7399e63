//! Words after expansion: tilde, variables, substitutions, arithmetic, splitting, patterns, quote removal.

use super::brace::{self, Atom, Braces};
use super::draft::{Fields, unknown_splitting};
use super::state::{Binding, Key, unknown};
use super::{Folder, refuse};
use crate::parse::Read;
use crate::syntax::{self, Part, Substitution};
use crate::{CommandId, Span, Unknown, Value, Why, Word};

/// What is done to a word besides removing its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mode {
    /// Unquoted expansions are split into fields and patterns are active.
    pub(super) splits: bool,
    /// Where a tilde counts.
    pub(super) tildes: Tildes,
    /// It stands in double quotes.
    pub(super) quoted: bool,
    /// The literals too are split: they stand inside `${x:-…}`.
    pub(super) operand: bool,
}

/// Where a tilde counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tildes {
    /// At the start.
    Start,
    /// At the start and after a colon: the value of an assignment.
    Value,
    /// After the first `=` and after a colon: `NAME=value` as an argument.
    Named,
}

pub(super) const WORD: Mode = Mode { splits: true, tildes: Tildes::Start, quoted: false, operand: false };
const SINGLE: Mode = Mode { splits: false, tildes: Tildes::Start, quoted: false, operand: false };
const VALUE: Mode = Mode { splits: false, tildes: Tildes::Value, quoted: false, operand: false };
const DECLARED: Mode = Mode { splits: false, tildes: Tildes::Named, quoted: false, operand: false };
pub(super) const QUOTED: Mode = Mode { splits: false, tildes: Tildes::Start, quoted: true, operand: false };

impl<'t, 'a> Folder<'t, 'a> {
    /// Expands a word into any number of words.
    pub(super) fn expand(&mut self, word: &'t syntax::Word<'a>, out: &mut Vec<Word>) -> Read<()> {
        let span = word.span;
        match word.parts.as_slice() {
            [Part::Literal(text)] if !word.braces && !text.contains(['*', '?', '[', '~']) => {
                out.push(Word { value: Value::Text((*text).to_owned()), span });
                return Ok(());
            }
            [Part::Quoted(text)] => {
                out.push(Word { value: Value::Text((*text).to_owned()), span });
                return Ok(());
            }
            _ => {}
        }
        if word.braces {
            let (braces, made) = brace::expand(&word.parts);
            self.step(made / 4, span)?;
            match braces {
                Braces::None => {}
                Braces::Words(words) if self.bash() => {
                    for atoms in words {
                        let mut fields = Fields::new();
                        self.atoms(&mut fields, &atoms, WORD, span)?;
                        self.gather(fields, span, out)?;
                    }
                    return Ok(());
                }
                Braces::Words(_) | Braces::Unsure => {
                    // The commands inside still run.
                    let mut fields = Fields::new();
                    self.parts(&mut fields, &word.parts, WORD, span)?;
                    let from = fields.finish().into_iter().flat_map(sources).collect();
                    let why = if self.bash() { Why::TooLarge } else { Why::Dialect("braces") };
                    out.push(Word { value: unknown_from(why, from), span });
                    return Ok(());
                }
            }
        }
        let mut fields = Fields::new();
        fields.alone = match word.parts.as_slice() {
            [Part::Double(inner)] => inner.len() == 1,
            parts => parts.len() == 1,
        };
        let mut mode = WORD;
        if let Some(Part::Literal(text)) = word.parts.first()
            && assignment_like(text)
            && word.parts.iter().any(|part| matches!(part, Part::Literal(text) if text.contains('~')))
        {
            if !self.bash() || text.contains('[') {
                let mut fields = Fields::new();
                self.parts(&mut fields, &word.parts, WORD, span)?;
                let from = fields.finish().into_iter().flat_map(sources).collect();
                out.push(Word { value: unknown_from(Why::Dialect("a tilde after `=`"), from), span });
                return Ok(());
            }
            mode.tildes = Tildes::Named;
        }
        self.parts(&mut fields, &word.parts, mode, span)?;
        // A lone `$` keeps bash from splitting the rest of its word.
        if word.parts.len() > 1
            && word.parts.iter().any(|part| matches!(part, Part::Literal(text) if text.contains('$')))
            && fields.splitting > 0
        {
            let from = fields.finish().into_iter().flat_map(sources).collect();
            out.push(Word { value: unknown_from(Why::Form("a lone `$` beside an expansion"), from), span });
            return Ok(());
        }
        self.gather(fields, span, out)
    }

    /// Expands an argument of `export` and its kind, which is not split where it is an assignment.
    pub(super) fn declared(&mut self, word: &'t syntax::Word<'a>, out: &mut Vec<Word>) -> Read<()> {
        let Some(Part::Literal(text)) = word.parts.first() else { return self.expand(word, out) };
        if !assignment_like(text) {
            return self.expand(word, out);
        }
        let (braces, made) = if word.braces { brace::expand(&word.parts) } else { (Braces::None, 0) };
        self.step(made / 4, word.span)?;
        if !matches!(braces, Braces::None) {
            return refuse(word.span, "braces in a declaration");
        }
        let mut fields = Fields::new();
        self.parts(&mut fields, &word.parts, DECLARED, word.span)?;
        self.made(fields.size, word.span)?;
        let mut value = fields.into_one();
        if !self.bash() {
            // Older POSIX shells split here.
            let mut split = Fields::new();
            self.parts(&mut split, &word.parts, WORD, word.span)?;
            let fields = split.finish();
            if !matches!(fields.as_slice(), [only] if *only == value) {
                value = unknown_splitting(Why::Dialect("splitting in a declaration"));
            }
        }
        out.push(Word { value, span: word.span });
        Ok(())
    }

    fn gather(&mut self, fields: Fields, span: Span, out: &mut Vec<Word>) -> Read<()> {
        self.made(fields.size, span)?;
        let values = fields.finish();
        self.made(values.len(), span)?;
        out.extend(values.into_iter().map(|value| Word { value: self.as_patterns_go(value), span }));
        Ok(())
    }

    /// With `set -f` or other pattern options, a pattern may not be what it usually is.
    fn as_patterns_go(&self, value: Value) -> Value {
        match value {
            Value::Pattern(_) if !matches!(self.state.get(&Key::Patterns), Binding::Outside) => {
                let other = unknown_splitting(Why::Form("a pattern under changed options"));
                Value::OneOf(vec![value, other])
            }
            value => value,
        }
    }

    /// Expands a word that stays one word and is no pattern: a `case` subject, a here-string.
    pub(super) fn single(&mut self, word: &'t syntax::Word<'a>) -> Read<Value> {
        self.one(&word.parts, SINGLE, word.span)
    }

    /// Expands what stands after `NAME=`.
    pub(super) fn assignment_value(&mut self, word: &'t syntax::Word<'a>) -> Read<Value> {
        match word.parts.as_slice() {
            [Part::Literal(text)] if !text.contains('~') => Ok(Value::Text((*text).to_owned())),
            [Part::Quoted(text)] => Ok(Value::Text((*text).to_owned())),
            parts => self.one(parts, VALUE, word.span),
        }
    }

    /// Expands the inside of double quotes or of a here-document.
    pub(super) fn quoted(&mut self, parts: &'t [Part<'a>], span: Span) -> Read<Value> {
        self.one(parts, QUOTED, span)
    }

    pub(super) fn one(&mut self, parts: &'t [Part<'a>], mode: Mode, span: Span) -> Read<Value> {
        let mut fields = Fields::new();
        self.parts(&mut fields, parts, mode, span)?;
        self.made(fields.size, span)?;
        Ok(fields.into_one())
    }

    fn atoms(&mut self, fields: &mut Fields, atoms: &[Atom<'t, 'a>], mode: Mode, span: Span) -> Read<()> {
        for (index, atom) in atoms.iter().enumerate() {
            let last = index + 1 == atoms.len();
            match atom {
                Atom::Text(text) => self.literal(fields, text, mode, index == 0, last, span)?,
                Atom::Part(part) => self.part(fields, part, mode, span)?,
            }
        }
        Ok(())
    }

    pub(super) fn parts(
        &mut self,
        fields: &mut Fields,
        parts: &'t [Part<'a>],
        mode: Mode,
        span: Span,
    ) -> Read<()> {
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(text) => {
                    self.literal(fields, text, mode, index == 0, index + 1 == parts.len(), span)?;
                }
                _ => self.part(fields, part, mode, span)?,
            }
        }
        Ok(())
    }

    /// Adds unquoted characters, with the tildes that count in them.
    fn literal(
        &mut self,
        fields: &mut Fields,
        text: &str,
        mode: Mode,
        first: bool,
        last: bool,
        span: Span,
    ) -> Read<()> {
        if mode.quoted {
            fields.push(text, false);
            return Ok(());
        }
        if mode.operand && text.contains('~') {
            fields.hole(unknown(Why::Form("a tilde inside `${ }`")), mode.splits);
            return Ok(());
        }
        if mode.operand && mode.splits {
            return self.split(fields, text, span);
        }
        if !text.contains('~') {
            fields.push(text, mode.splits);
            return Ok(());
        }
        let mut rest = text;
        let mut counts = first;
        let colons = mode.tildes != Tildes::Start;
        if mode.tildes == Tildes::Named && first {
            let end = rest.find('=').map_or(rest.len(), |at| at + 1);
            let (name, value) = rest.split_at(end);
            fields.push(name, mode.splits);
            rest = value;
        }
        loop {
            if counts && rest.starts_with('~') {
                let end = rest.find(|met| met == '/' || (colons && met == ':')).unwrap_or(rest.len());
                let (prefix, after) = rest.split_at(end);
                if !after.is_empty() || last {
                    let home = self.tilde(prefix);
                    match home {
                        Some(Value::Text(home)) => fields.push(&home, false),
                        Some(value) => self.push_value(fields, value, QUOTED, span)?,
                        None => fields.push(prefix, mode.splits),
                    }
                    rest = after;
                }
            }
            if !colons {
                break;
            }
            let Some(colon) = rest.find(':') else { break };
            let (before, after) = rest.split_at(colon + 1);
            fields.push(before, mode.splits);
            rest = after;
            counts = true;
        }
        fields.push(rest, mode.splits);
        Ok(())
    }

    /// What `~name` stands for; nothing where it stands for itself.
    fn tilde(&mut self, prefix: &str) -> Option<Value> {
        let name = prefix.strip_prefix('~')?;
        if name.starts_with('~') {
            return None;
        }
        Some(match name {
            "" => match self.variable("HOME") {
                Seen::Unset => unknown(Why::Variable("HOME".into())),
                Seen::Value(value) => value,
            },
            "+" if self.bash() => self.directory(),
            "+" | "-" if !self.bash() => unknown(Why::Dialect("`~+` and `~-`")),
            "-" => match self.variable("OLDPWD") {
                Seen::Value(value @ Value::Text(_)) => value,
                _ => unknown(Why::Variable("OLDPWD".into())),
            },
            name if self.given.user == Some(name) && self.given.home.is_some() => {
                Value::Text(self.given.home.unwrap_or_default().to_owned())
            }
            _ => unknown(Why::Form("another user's home")),
        })
    }

    /// Adds one part of a word.
    fn part(&mut self, fields: &mut Fields, part: &'t Part<'a>, mode: Mode, span: Span) -> Read<()> {
        match part {
            Part::Literal(text) => self.literal(fields, text, mode, false, false, span)?,
            Part::Quoted(text) => {
                fields.keep();
                fields.push(text, false);
            }
            Part::Ansi(inner) => {
                fields.keep();
                match super::ansi(inner) {
                    Some(text) => fields.push(&text, false),
                    None => fields.hole(unknown(Why::Form("an escape")), false),
                }
            }
            Part::Double(parts) => {
                // `"$@"` alone makes no field where there are no arguments.
                if !is_list(parts) || !mode.splits {
                    fields.keep();
                }
                let inner = Mode { quoted: true, ..mode };
                for part in parts {
                    self.part(fields, part, inner, span)?;
                }
            }
            Part::Variable(name) => self.push_variable(fields, name, mode, span)?,
            Part::Parameter(parameter) => self.parameter(fields, parameter, mode, span)?,
            Part::Command(substitution) => {
                let value = self.substitution(substitution)?;
                self.push_value(fields, value, mode, span)?;
            }
            Part::Process(substitution, reads) => {
                let start = self.program.commands.len();
                self.substituted(&substitution.body)?;
                let commands = (start..self.program.commands.len()).map(super::command_id).collect();
                fields.hole(Value::Process { reads: *reads, commands }, false);
            }
            Part::Arithmetic(arithmetic) => {
                let value = self.arithmetic(arithmetic)?;
                self.push_value(fields, value, mode, span)?;
            }
        }
        Ok(())
    }

    /// The output of commands, where it is certain.
    fn substitution(&mut self, substitution: &'t Substitution<'a>) -> Read<Value> {
        let ids = self.substituted(&substitution.body)?;
        let text = self.substitution_text(&substitution.body, &ids);
        if let Some(text) = text {
            self.made(text.len(), substitution.span)?;
            return Ok(Value::Text(text.trim_end_matches('\n').to_owned()));
        }
        self.links(ids.len(), substitution.span)?;
        Ok(Value::Unknown(Unknown {
            prefix: String::new(),
            suffix: String::new(),
            splits: false,
            why: Why::Substitution,
            from: ids,
        }))
    }

    /// Adds a value that an expansion gave.
    pub(super) fn push_value(
        &mut self,
        fields: &mut Fields,
        value: Value,
        mode: Mode,
        span: Span,
    ) -> Read<()> {
        let splits = mode.splits && !mode.quoted;
        match &value {
            Value::Text(text) => {
                if splits {
                    return self.split(fields, text, span);
                }
                fields.push(text, false);
            }
            Value::OneOf(members) => {
                let mut texts = Vec::with_capacity(members.len());
                let mut open = None;
                for member in members {
                    match member {
                        Value::Text(text) => texts.push(text.as_str()),
                        Value::Unknown(_) if open.is_none() => open = Some(member.clone()),
                        _ => {
                            fields.hole(value, splits);
                            return Ok(());
                        }
                    }
                }
                if splits {
                    let separators = self.separators();
                    let whole = separators.as_deref().is_some_and(|separators| {
                        texts
                            .iter()
                            .all(|text| !text.is_empty() && !text.contains(|met| separators.contains(met)))
                    });
                    if !whole {
                        fields.hole(unknown(Why::Form("alternatives")), true);
                        return Ok(());
                    }
                }
                match open {
                    None => fields.push_one_of(&texts, splits, &Why::TooLarge),
                    Some(unknown) => fields.push_or_hole(&texts, unknown, splits),
                }
                self.made(fields.size, span)?;
                fields.size = 0;
            }
            Value::Pattern(_) | Value::Process { .. } | Value::Unknown(_) => fields.hole(value, splits),
        }
        Ok(())
    }

    /// `$IFS`, where it is known.
    fn separators(&self) -> Option<String> {
        match self.state.variable("IFS") {
            Binding::Outside | Binding::Unset => Some(" \t\n".to_owned()),
            Binding::Set(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// Splits an unquoted expansion into fields.
    pub(super) fn split(&mut self, fields: &mut Fields, text: &str, span: Span) -> Read<()> {
        if text.is_empty() {
            return Ok(());
        }
        fields.splitting += 1;
        let Some(separators) = self.separators() else {
            fields.hole(unknown(Why::Variable("IFS".into())), true);
            return Ok(());
        };
        let blank = |met: char| matches!(met, ' ' | '\t' | '\n') && separators.contains(met);
        let other = |met: char| !matches!(met, ' ' | '\t' | '\n') && separators.contains(met);
        if fields.splitting > 1 && separators.contains(other) {
            fields.hole(unknown(Why::Form("splitting over several expansions")), true);
            return Ok(());
        }
        if text.len() > 4096 {
            self.made(text.len() * 2, span)?;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let run = rest.find(|met| blank(met) || other(met)).unwrap_or(rest.len());
            let (field, after) = rest.split_at(run);
            fields.push(field, true);
            let trimmed = after.trim_start_matches(blank);
            let (hard, trimmed) = match trimmed.strip_prefix(other) {
                Some(behind) => (true, behind.trim_start_matches(blank)),
                None => (false, trimmed),
            };
            if hard {
                fields.end_field_kept();
            } else if !after.is_empty() {
                fields.end_field();
            }
            rest = trimmed;
        }
        Ok(())
    }

    fn push_variable(&mut self, fields: &mut Fields, name: &str, mode: Mode, span: Span) -> Read<()> {
        if name == "@" || name == "*" {
            return self.push_arguments(fields, name, mode, span);
        }
        match self.variable(name) {
            Seen::Unset => Ok(()),
            Seen::Value(value) => self.push_value(fields, value, mode, span),
        }
    }

    fn push_arguments(&mut self, fields: &mut Fields, name: &str, mode: Mode, span: Span) -> Read<()> {
        if !self.bash() && mode.splits && !fields.alone {
            fields.hole(unknown(Why::Dialect("the arguments inside a longer word")), true);
            return Ok(());
        }
        let Binding::Array(arguments) = self.state.get(&Key::Arguments).clone() else {
            let why = Why::Variable(name.to_owned());
            fields.hole(unknown(why), mode.splits && (name == "@" || !mode.quoted));
            return Ok(());
        };
        self.push_list(fields, &arguments, name, mode, span)
    }

    /// Adds the elements of an array or the arguments, as `@` or `*` has them.
    pub(super) fn push_list(
        &mut self,
        fields: &mut Fields,
        values: &[Value],
        name: &str,
        mode: Mode,
        span: Span,
    ) -> Read<()> {
        if !mode.splits || (mode.quoted && name == "*") {
            // Joined by the first separator.
            let plain: Option<Vec<&str>> = values
                .iter()
                .map(|value| if let Value::Text(text) = value { Some(text.as_str()) } else { None })
                .collect();
            match (plain, self.state.variable("IFS")) {
                (Some(texts), Binding::Outside) => fields.push(&texts.join(" "), false),
                _ => fields.hole(unknown(Why::Variable(name.to_owned())), false),
            }
            return Ok(());
        }
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                fields.end_field();
            }
            if mode.quoted {
                fields.keep();
            }
            self.push_value(fields, value.clone(), mode, span)?;
        }
        self.made(values.len(), span)
    }

    /// The positional parameters as words.
    pub(super) fn arguments(&self, span: Span) -> Vec<Word> {
        match self.state.get(&Key::Arguments) {
            Binding::Array(values) => {
                values.iter().map(|value| Word { value: value.clone(), span }).collect()
            }
            _ => vec![Word { value: unknown_splitting(Why::Variable("@".into())), span }],
        }
    }

    /// What is known of a variable.
    pub(super) fn variable(&self, name: &str) -> Seen {
        let lost = || Seen::Value(unknown(Why::Variable(name.to_owned())));
        match name.as_bytes().first() {
            Some(b'0'..=b'9') => {
                let index = name.parse::<usize>().unwrap_or(0);
                return match self.state.get(&Key::Arguments) {
                    Binding::Array(values) if index > 0 => {
                        values.get(index - 1).map_or(Seen::Unset, |value| Seen::Value(value.clone()))
                    }
                    _ => lost(),
                };
            }
            Some(b'#') => {
                return match self.state.get(&Key::Arguments) {
                    Binding::Array(values) => Seen::Value(Value::Text(values.len().to_string())),
                    _ => lost(),
                };
            }
            Some(byte) if *byte != b'_' && !byte.is_ascii_alphabetic() => return lost(),
            _ => {}
        }
        match name {
            "PWD" => return Seen::Value(self.directory()),
            "OLDPWD" => {
                return match self.state.get(&Key::Previous) {
                    Binding::Set(value) => Seen::Value(value.clone()),
                    _ => lost(),
                };
            }
            _ => {}
        }
        match self.state.variable(name) {
            Binding::Set(value) => Seen::Value(value.clone()),
            Binding::Unset => Seen::Unset,
            Binding::Array(values) => values.first().map_or(Seen::Unset, |value| Seen::Value(value.clone())),
            // Something may have changed it, but most likely nothing did: both are kept, and the worse one counts.
            Binding::Lost if name == "HOME" && self.state.lost_all() => match (self.given.home, lost()) {
                (Some(home), Seen::Value(unknown)) => {
                    Seen::Value(Value::OneOf(vec![Value::Text(home.to_owned()), unknown]))
                }
                (_, lost) => lost,
            },
            Binding::Lost | Binding::Function(_) => lost(),
            Binding::Outside => {
                let given = match name {
                    "HOME" => self.given.home,
                    "USER" | "LOGNAME" => self.given.user,
                    "IFS" => Some(" \t\n"),
                    _ => None,
                };
                given.map_or_else(lost, |text| Seen::Value(Value::Text(text.to_owned())))
            }
        }
    }

    /// Follows the commands in a subscript, and refuses what the shell would evaluate again.
    pub(super) fn subscript(&mut self, parts: &'t [Part<'a>], span: Span) -> Read<Value> {
        let value = self.quoted(parts, span)?;
        match &value {
            Value::Text(text) => self.subscript_text(text, span)?,
            Value::OneOf(members) => {
                for member in members {
                    if let Value::Text(text) = member {
                        self.subscript_text(text, span)?;
                    }
                }
            }
            Value::Pattern(_) | Value::Process { .. } | Value::Unknown(_) => {}
        }
        Ok(value)
    }
}

/// `"$@"` or `"${a[@]}"`, which may make no field at all.
fn is_list(parts: &[Part<'_>]) -> bool {
    match parts {
        [Part::Variable(name)] => *name == "@",
        [Part::Parameter(parameter)] => {
            parameter.name == "@" || matches!(parameter.subscript.as_deref(), Some([Part::Quoted("@")]))
        }
        _ => false,
    }
}

/// What is known of a variable.
#[derive(Debug)]
pub(super) enum Seen {
    Unset,
    Value(Value),
}

/// `NAME=…`, `NAME+=…`, `NAME[…]=…`
pub(super) fn assignment_like(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or_default();
    is_identifier(name)
}

pub(super) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Something that may become any number of words, made of these commands' output.
fn unknown_from(why: Why, from: Vec<CommandId>) -> Value {
    Value::Unknown(Unknown { prefix: String::new(), suffix: String::new(), splits: true, why, from })
}

/// The commands whose output goes into a value.
pub(super) fn sources(value: Value) -> Vec<CommandId> {
    match value {
        Value::Unknown(unknown) => unknown.from,
        Value::Process { commands, .. } => commands,
        Value::OneOf(members) => members.into_iter().flat_map(sources).collect(),
        Value::Text(_) | Value::Pattern(_) => Vec::new(),
    }
}
