//! The builtins that change what the shell knows. Whatever else they do is for others to judge.

use super::expand::is_identifier;
use super::state::{Binding, Key};
use super::{Flow, Folder, refuse};
use crate::parse::Read;
use crate::syntax::Simple;
use crate::{CommandId, Dialect, Span, Unknown, Value, Word};

/// The builtins that are followed below.
const CHANGES: [&str; 37] = [
    "cd",
    "pushd",
    "popd",
    "export",
    "readonly",
    "declare",
    "typeset",
    "local",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "let",
    "wait",
    "eval",
    "source",
    ".",
    "set",
    "shopt",
    "shift",
    "alias",
    "trap",
    "exec",
    "enable",
    "hash",
    "exit",
    "return",
    "break",
    "continue",
    "command",
    "builtin",
    "test",
    "[",
    ":",
    "times",
];

impl<'t, 'a> Folder<'t, 'a> {
    /// Follows what a command that is no function does to the shell itself.
    pub(super) fn builtin(
        &mut self,
        id: CommandId,
        simple: &'t Simple<'a>,
        arrays: Vec<(&'a str, Binding<'t, 'a>)>,
    ) -> Read<Flow> {
        let span = simple.span;
        let Some(command) = self.program.commands.get(id.0 as usize) else { return Ok(Flow::On) };
        let (name, skipped, special) = match named_command(&command.words) {
            Named::Other => return Ok(Flow::On),
            Named::Anything => {
                // It may be any command, `cd` and `eval` too.
                self.lose_everything();
                return Ok(Flow::On);
            }
            Named::Builtin { name, skipped, special } => (name, skipped, special),
        };
        let words: Vec<Word> = command.words.iter().skip(skipped).cloned().collect();
        if self.dialect == Dialect::Posix && special {
            for assign in &simple.assignments {
                self.bind(assign.name, Binding::Lost);
            }
        }
        match name {
            "test" | "[" => return self.tests(&words, span),
            "cd" => {
                let odd =
                    words.iter().any(|word| matches!(&word.value, Value::Unknown(unknown) if unknown.splits));
                if odd || !simple.assignments.is_empty() {
                    self.state.set(Key::Directory, Binding::Lost);
                    self.state.set(Key::Previous, Binding::Lost);
                } else {
                    self.change_directory(&words);
                }
            }
            "pushd" | "popd" => {
                self.state.set(Key::Directory, Binding::Lost);
                self.state.set(Key::Previous, Binding::Lost);
            }
            "export" | "readonly" | "declare" | "typeset" | "local" => {
                self.declare(name, &words, arrays, span)?
            }
            "unset" => self.unset(&words, span)?,
            "let" => {
                for word in &words {
                    if let Value::Text(text) = &word.value {
                        self.safe_names(text, span, 0)?;
                    }
                }
                self.sets(&words, span)?;
            }
            "read" | "mapfile" | "readarray" | "getopts" | "wait" => {
                self.bind("REPLY", Binding::Lost);
                self.sets(&words, span)?;
            }
            "printf"
                if words.iter().any(|word| match &word.value {
                    Value::Text(text) => text.starts_with("-v"),
                    Value::Unknown(unknown) => unknown.splits,
                    _ => false,
                }) =>
            {
                self.sets(&words, span)?;
            }
            "eval" | "source" | "." => {
                for word in &words {
                    if let Value::Text(text) = &word.value
                        && name == "eval"
                        && (text.contains("alias") || text.contains("()") || text.contains("function"))
                    {
                        return refuse(span, "`eval` that defines an alias or a function");
                    }
                }
                self.lose_everything();
            }
            "set" => self.set_options(&words, span)?,
            "shopt" => self.shell_options(&words, span)?,
            "shift" => self.shift(&words),
            "alias" => self.alias(&words, span)?,
            "trap" => self.trap(&words, span)?,
            "exec" => {
                let reads = self.program.commands.get(id.0 as usize).is_some_and(|command| {
                    command.redirects.iter().any(|redirect| redirect.descriptor == Some(0))
                });
                if words.is_empty() && reads {
                    return refuse(span, "`exec` that changes what all later commands read");
                }
            }
            "enable" if !words.is_empty() => return refuse(span, "`enable` changes what names mean"),
            "hash" if words.iter().any(|word| !matches!(&word.value, Value::Text(text) if text == "-r")) => {
                return refuse(span, "`hash` may change what names mean");
            }
            "exit" => return Ok(Flow::Exits),
            "return" if !self.calls.is_empty() => {
                self.returned = true;
                return Ok(Flow::Leaves);
            }
            "break" | "continue" if self.loops > 0 => return Ok(Flow::Leaves),
            _ => {}
        }
        if self.state.full {
            return refuse(span, "more variables and functions than are followed");
        }
        Ok(Flow::On)
    }

    /// Variables and the directory may be anything now. The directory may also still be what it was, which is the likelier
    /// and, where something is deleted, perhaps the worse: both are kept.
    fn lose_everything(&mut self) {
        self.state.lose_variables();
        let directory = Binding::Set(self.directory()).join_directory(Binding::Lost);
        self.state.set(Key::Directory, directory);
        self.state.set(Key::Previous, Binding::Lost);
        self.state.set(Key::Patterns, Binding::Lost);
    }

    /// `test -v name[$(…)]` runs what stands in the brackets.
    fn tests(&mut self, words: &[Word], span: Span) -> Read<Flow> {
        if words.iter().any(|word| matches!(&word.value, Value::Text(text) if text == "-v")) {
            for word in words {
                self.evaluated(word, span)?;
            }
        }
        Ok(Flow::On)
    }

    /// Refuses a name with a subscript that the shell would evaluate as code.
    pub(super) fn evaluated(&mut self, word: &Word, span: Span) -> Read<()> {
        let Value::Text(text) = &word.value else { return Ok(()) };
        let Some((_, rest)) = text.split_once('[') else { return Ok(()) };
        if rest.contains(['$', '`']) {
            return refuse(span, "a subscript that the shell would evaluate");
        }
        match rest.split_once(']') {
            Some((inside, _)) => self.subscript_text(inside, span),
            None => Ok(()),
        }
    }

    /// Builtins that set the variables that they name.
    fn sets(&mut self, words: &[Word], span: Span) -> Read<()> {
        for word in words {
            self.evaluated(word, span)?;
            let Value::Text(text) = &word.value else {
                self.state.lose_variables();
                return Ok(());
            };
            if let Some(option) = text.strip_prefix('-') {
                if option.len() > 1 {
                    // A name may be attached to its option.
                    let names: Vec<String> =
                        (1..option.len()).filter_map(|at| option.get(at..).map(str::to_owned)).collect();
                    for name in names.into_iter().filter(|name| is_identifier(name)).take(16) {
                        self.bind(&name, Binding::Lost);
                    }
                }
                continue;
            }
            for name in text
                .split(|met: char| !(met == '_' || met.is_ascii_alphanumeric()))
                .filter(|n| is_identifier(n))
            {
                let name = name.to_owned();
                self.assignable(&name, span)?;
                self.bind(&name, Binding::Lost);
            }
        }
        Ok(())
    }

    fn declare(
        &mut self,
        builtin: &str,
        words: &[Word],
        arrays: Vec<(&'a str, Binding<'t, 'a>)>,
        span: Span,
    ) -> Read<()> {
        let mut flags = String::new();
        let mut arrays = arrays.into_iter();
        let inside = !self.locals.is_empty();
        for word in words {
            self.evaluated(word, span)?;
            if let Value::Text(text) = &word.value
                && text.starts_with(['-', '+'])
            {
                flags.push_str(text);
                continue;
            }
            if flags.contains('n') && builtin != "export" {
                return refuse(span, "a reference from one variable to another");
            }
            if flags.contains(['f', 'F', 'p']) {
                continue;
            }
            let local = match builtin {
                "local" => true,
                "declare" | "typeset" => inside && !flags.contains('g'),
                _ => false,
            };
            let (name, binding) = match declared(&word.value) {
                Some((name, value)) => {
                    let name = name.to_owned();
                    let binding = match value {
                        Declared::Array => match arrays.next() {
                            Some((_, binding)) if !flags.contains('A') => binding,
                            _ => Binding::Lost,
                        },
                        Declared::Value(value) => Binding::Set(value),
                        Declared::Name if local && self.bash() => Binding::Unset,
                        Declared::Name if local || flags.contains(['a', 'A', 'i', 'l', 'u', 'c']) => {
                            Binding::Lost
                        }
                        Declared::Name => self.state.variable(&name).clone(),
                        Declared::Other => Binding::Lost,
                    };
                    (name, binding)
                }
                None => {
                    self.state.lose_variables();
                    continue;
                }
            };
            self.assignable(&name, span)?;
            if flags.contains(['i', 'l', 'u', 'c']) {
                if let Binding::Set(Value::Text(text)) = &binding
                    && text.contains('[')
                {
                    return refuse(span, "a subscript that the shell would evaluate");
                }
                if !self.odd.contains(&name) {
                    self.odd.push(name.clone());
                }
            }
            let odd = self.odd.contains(&name);
            if local {
                let old = self.state.variable(&name).clone();
                match self.locals.last_mut() {
                    Some(locals) => {
                        if !locals.iter().any(|(known, _)| *known == name) {
                            locals.push((name.clone(), (self.branches == 0).then_some(old)));
                        }
                    }
                    None => {
                        // `local` outside a function is an error and sets nothing.
                        self.bind(&name, Binding::Lost);
                        continue;
                    }
                }
            }
            let binding = if odd || (builtin != "local" && flags.contains('g') && inside) {
                Binding::Lost
            } else {
                binding
            };
            self.bind(&name, binding);
            if builtin == "readonly" || flags.contains('r') {
                self.readonly.push(name);
            }
        }
        Ok(())
    }

    fn unset(&mut self, words: &[Word], span: Span) -> Read<()> {
        let mut functions = false;
        for word in words {
            self.evaluated(word, span)?;
            match &word.value {
                Value::Text(text) if text == "-f" => functions = true,
                Value::Text(text) if text == "-v" => functions = false,
                Value::Text(text) if is_identifier(text) || functions => {
                    let name = text.clone();
                    if functions {
                        self.state.set(Key::Function(name.into()), Binding::Lost);
                        continue;
                    }
                    self.assignable(&name, span)?;
                    if matches!(self.state.function(&name), Binding::Function(_)) {
                        self.state.set(Key::Function(name.clone().into()), Binding::Lost);
                    }
                    self.bind(&name, if self.locals.is_empty() { Binding::Unset } else { Binding::Lost });
                }
                Value::Text(text) if text.contains('[') => {
                    let name = text.split('[').next().unwrap_or_default().to_owned();
                    self.bind(&name, Binding::Lost);
                }
                _ => {
                    self.state.lose_variables();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn set_options(&mut self, words: &[Word], span: Span) -> Read<()> {
        let mut words = words;
        while let Some((first, rest)) = words.split_first() {
            let Value::Text(text) = &first.value else {
                return refuse(span, "`set` with options that are not constant");
            };
            if text == "--" || text == "-" {
                return self.set_arguments(rest);
            }
            let Some(letters) = text.strip_prefix(['-', '+']) else { return self.set_arguments(words) };
            words = rest;
            let on = text.starts_with('-');
            for letter in letters.chars() {
                match letter {
                    'e' => self.errors_exit(on),
                    'u' | 'x' | 'v' | 'E' | 'T' | 'h' | 'm' | 'b' | 'a' | 'C' => {}
                    'f' => self.state.set(Key::Patterns, Binding::Lost),
                    'o' => {
                        let Some((option, rest)) = words.split_first() else { return Ok(()) };
                        words = rest;
                        let Value::Text(option) = &option.value else {
                            return refuse(span, "`set` with options that are not constant");
                        };
                        match option.as_str() {
                            "errexit" => self.errors_exit(on),
                            "nounset" | "xtrace" | "verbose" | "pipefail" | "noclobber" | "allexport"
                            | "errtrace" | "functrace" | "monitor" | "notify" | "hashall" | "history"
                            | "nolog" => {}
                            "noglob" => self.state.set(Key::Patterns, Binding::Lost),
                            other => {
                                return refuse(span, format!("`set -o {other}` changes how text is read"));
                            }
                        }
                    }
                    other => return refuse(span, format!("`set -{other}` changes how text is read")),
                }
            }
        }
        Ok(())
    }

    fn errors_exit(&mut self, on: bool) {
        self.state
            .set(Key::Exits, if on { Binding::Set(Value::Text(String::new())) } else { Binding::Unset });
    }

    fn set_arguments(&mut self, words: &[Word]) -> Read<()> {
        let certain =
            words.iter().all(|word| !matches!(&word.value, Value::Unknown(unknown) if unknown.splits))
                && words.iter().all(|word| !matches!(&word.value, Value::Pattern(_)));
        let binding = if certain {
            Binding::Array(words.iter().map(|word| word.value.clone()).collect())
        } else {
            Binding::Lost
        };
        self.state.set(Key::Arguments, binding);
        Ok(())
    }

    fn shell_options(&mut self, words: &[Word], span: Span) -> Read<()> {
        for word in words {
            let Value::Text(text) = &word.value else {
                return refuse(span, "`shopt` with options that are not constant");
            };
            match text.as_str() {
                "-s" | "-u" | "-q" | "-p" => {}
                "globstar" | "dotglob" | "nullglob" | "failglob" | "nocaseglob" | "globskipdots" => {
                    self.state.set(Key::Patterns, Binding::Lost);
                }
                "inherit_errexit" | "checkwinsize" | "cmdhist" | "histappend" | "huponexit" | "checkjobs" => {
                }
                other => return refuse(span, format!("`shopt` with `{other}` changes how text is read")),
            }
        }
        Ok(())
    }

    fn shift(&mut self, words: &[Word]) {
        let count = match words {
            [] => Some(1),
            [Word { value: Value::Text(text), .. }] => text.parse::<usize>().ok(),
            _ => None,
        };
        let binding = match (self.state.get(&Key::Arguments), count) {
            (Binding::Array(values), Some(count)) if count <= values.len() => {
                Binding::Array(values.iter().skip(count).cloned().collect())
            }
            _ => Binding::Lost,
        };
        self.state.set(Key::Arguments, binding);
    }

    fn alias(&mut self, words: &[Word], span: Span) -> Read<()> {
        for word in words {
            let Value::Text(text) = &word.value else {
                return refuse(span, "an alias that is not constant");
            };
            let Some((name, _)) = text.split_once('=') else { continue };
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
            let reserved = [
                "if", "then", "else", "fi", "do", "done", "for", "while", "until", "case", "esac", "in",
                "time",
            ];
            if name.is_empty() || !plain || reserved.contains(&name) {
                return refuse(span, "an alias that changes how text is read");
            }
            if self.aliases.len() >= 64 {
                return refuse(span, "too many aliases");
            }
            if !self.aliases.iter().any(|known| known == name) {
                self.aliases.push(name.to_owned());
            }
        }
        Ok(())
    }

    fn trap(&mut self, words: &[Word], span: Span) -> Read<()> {
        let mut words = words;
        if let [Word { value: Value::Text(first), .. }, rest @ ..] = words
            && first == "--"
        {
            words = rest;
        }
        let harmless = |word: &Word| {
            matches!(&word.value, Value::Text(text) if matches!(text.trim_start_matches("SIG"),
                "EXIT" | "INT" | "TERM" | "HUP" | "QUIT" | "PIPE" | "0" | "1" | "2" | "3" | "13" | "15"))
        };
        match words.split_first() {
            None => Ok(()),
            Some((first, signals)) if !signals.is_empty() => {
                let resets = matches!(&first.value, Value::Text(text) if text == "-" || text.is_empty());
                if resets || signals.iter().all(harmless) {
                    return Ok(());
                }
                refuse(span, "a trap that runs between other commands")
            }
            Some(_) => Ok(()),
        }
    }
}

/// What a command's words name.
enum Named {
    /// Nothing that changes the shell.
    Other,
    /// It is not known what.
    Anything,
    /// One of [`CHANGES`], with so many words before its arguments.
    Builtin { name: &'static str, skipped: usize, special: bool },
}

/// Looks behind `command` and `builtin`.
fn named_command(words: &[Word]) -> Named {
    let mut prefixed = false;
    for (index, word) in words.iter().enumerate() {
        match &word.value {
            Value::Text(text) => match text.as_str() {
                "command" | "builtin" => prefixed = true,
                "-p" | "--" if prefixed => {}
                name => {
                    let Some(&name) = CHANGES.iter().find(|known| **known == name) else {
                        return Named::Other;
                    };
                    return Named::Builtin {
                        name,
                        skipped: index + 1,
                        special: crate::parse::SPECIAL.contains(&name),
                    };
                }
            },
            Value::OneOf(members) => {
                let changes = |member: &Value| !matches!(member, Value::Text(text) if !CHANGES.contains(&text.as_str()));
                return if members.iter().any(changes) { Named::Anything } else { Named::Other };
            }
            Value::Pattern(_) | Value::Process { .. } | Value::Unknown(_) => return Named::Anything,
        }
    }
    Named::Other
}

enum Declared {
    Name,
    Value(Value),
    Array,
    Other,
}

/// The variable that an argument of a declaration names, and what it is set to.
fn declared(value: &Value) -> Option<(&str, Declared)> {
    match value {
        Value::Text(text) => match text.split_once('=') {
            None if is_identifier(text) => Some((text, Declared::Name)),
            None => named(text.split('[').next()?, Declared::Other),
            Some((name, _)) if name.ends_with('+') || name.contains('[') => {
                named(name.trim_end_matches('+').split('[').next()?, Declared::Other)
            }
            Some((name, text)) => named(name, Declared::Value(Value::Text(text.to_owned()))),
        },
        Value::Unknown(unknown) => {
            let (name, prefix) = unknown.prefix.split_once('=')?;
            if unknown.why == crate::Why::Form("an array") && prefix.is_empty() && unknown.suffix.is_empty() {
                return named(name, Declared::Array);
            }
            if name.ends_with('+') || name.contains('[') {
                return named(name.trim_end_matches('+').split('[').next()?, Declared::Other);
            }
            let rest = Unknown { prefix: prefix.to_owned(), splits: false, ..unknown.clone() };
            named(name, Declared::Value(Value::Unknown(rest)))
        }
        Value::OneOf(members) => {
            let Some(Value::Text(first)) = members.first() else { return None };
            let (name, _) = first.split_once('=')?;
            let mut values = Vec::new();
            for member in members {
                let Value::Text(text) = member else { return None };
                let (other, value) = text.split_once('=')?;
                if other != name {
                    return None;
                }
                values.push(Value::Text(value.to_owned()));
            }
            named(name, Declared::Value(Value::OneOf(values)))
        }
        Value::Pattern(_) | Value::Process { .. } => None,
    }
}

fn named(name: &str, declared: Declared) -> Option<(&str, Declared)> {
    is_identifier(name).then_some((name, declared))
}
