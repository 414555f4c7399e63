//! The language of the knowledge files: one block per program, read into values.
//!
//! The build script includes this file too, so that what is checked at build time and what is read at run time is
//! the same. See `knowledge/README.md` for the language itself. Subcommands are found but not read: whoever needs
//! one reads its body with [`Block::read`], which is why a big program costs little.

/// What is wrong in a knowledge file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Line, counted from 1 within the text that was read.
    pub(crate) line: u32,
    /// In words.
    pub(crate) what: String,
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Style {
    #[default]
    Gnu,
    Posix,
    Single,
    Bare,
    Lenient,
}

/// What an operand or an option's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role<'t> {
    Text,
    Read,
    Write,
    Delete,
    DeleteTree,
    ReadWrite,
    WriteDir,
    UnpackDir,
    Database,
    Host,
    Url,
    UrlSend,
    RemoteRead,
    RemoteWrite,
    Command,
    Elsewhere,
    Shell,
    Shells,
    Program,
    Script(&'t str),
    Code(&'t str),
    Env,
    Assign,
    Data,
    Module,
    Variable,
    Output,
    Suffix,
    Filter,
}

/// One operand, or a run of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot<'t> {
    pub(crate) role: Role<'t>,
    pub(crate) repeats: bool,
    pub(crate) optional: bool,
}

/// What the operands are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Operands<'t> {
    pub(crate) slots: Vec<Slot<'t>>,
    /// The path that stands in where no operand is given.
    pub(crate) otherwise: Option<&'t str>,
}

/// What is done with a fixed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    Delete,
    DeleteTree,
    Unpack,
}

/// What an option or the program itself does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action<'t> {
    /// The option's value has this role.
    Value(Role<'t>),
    Stop,
    /// The same, where nothing else is given.
    StopAlone,
    /// Standard input is data, whatever it is otherwise.
    DataInput,
    /// Waits for connections to this machine.
    Listen,
    Dry,
    Recursive,
    /// What is read is read with everything below it.
    Deep,
    /// What is copied or moved keeps its name in the directory where it goes.
    OwnNames,
    Operands(Operands<'t>),
    InPlace,
    /// What follows is no option.
    End,
    /// Relative paths are measured against the option's value.
    Chdir,
    Path(Touch, &'t str),
    Query(&'t str),
    Send(&'t str),
    Connect,
    Run(&'t str),
    /// Code that the call does not show.
    Code(&'t str),
    Privilege(&'t str),
    System(&'t str),
    History(&'t str),
    Environment(&'t str),
    Unknown(&'t str),
    Nothing,
}

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// One value or more; the role is that of the last.
    Values(u8),
    /// One that can only be attached.
    Attached,
}

/// One option with all its spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice<'t> {
    /// Its spellings stand at these places of [`Block::spellings`].
    pub(crate) canonical: &'t str,
    pub(crate) takes: Takes,
    pub(crate) actions: Vec<Action<'t>>,
}

/// A subcommand whose block has not been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Branch<'t> {
    /// The names, separated by blanks. `-` alone: no subcommand is given.
    pub(crate) names: &'t str,
    pub(crate) body: &'t str,
    /// The line of the `sub` entry within the block's text, counted from 1.
    pub(crate) line: u32,
}

/// What a block says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Block<'t> {
    pub(crate) style: Option<Style>,
    pub(crate) choices: Vec<Choice<'t>>,
    /// Every spelling, with the number of its choice.
    pub(crate) spellings: Vec<(&'t str, u16)>,
    /// `-5` is accepted.
    pub(crate) numbers: bool,
    pub(crate) operands: Option<Operands<'t>>,
    pub(crate) does: Vec<Action<'t>>,
    pub(crate) input: Option<Role<'t>>,
    pub(crate) special: Option<&'t str>,
    pub(crate) branches: Vec<Branch<'t>>,
}

/// Argument languages that are read in code, by the name that `special` gives them.
pub(crate) const SPECIALS: &[&str] = &[
    "awk",
    "chmod",
    "curl",
    "dd",
    "docker-run",
    "env",
    "export",
    "fd",
    "find",
    "flock",
    "fzf",
    "git",
    "git-config",
    "kill",
    "parallel",
    "sed",
    "set",
    "sql",
    "ssh",
    "tar",
    "telnet",
    "test",
    "trap",
    "vim",
    "xargs",
];

const INDENT: usize = 4;

impl<'t> Block<'t> {
    /// Reads the lines of a block that stands at this depth (0: a program's own).
    pub(crate) fn read(body: &'t str, depth: usize) -> Result<Block<'t>, Mistake> {
        let mut wrong = Vec::new();
        let block = Block::read_all(body, depth, &mut wrong);
        wrong.into_iter().next().map_or(Ok(block), Err)
    }

    /// The same, with every mistake.
    pub(crate) fn read_all(body: &'t str, depth: usize, wrong: &mut Vec<Mistake>) -> Block<'t> {
        let indent = (depth + 1) * INDENT;
        let mut block = Block::default();
        let mut offset = 0;
        let mut number = 0;
        // The subcommand whose lines are being passed over: names, where its body starts, its line.
        let mut open: Option<(&str, usize, u32)> = None;
        for line in body.split_inclusive('\n') {
            number += 1;
            let start = offset;
            offset += line.len();
            // Most lines of a big program belong to some subcommand.
            if open.is_some() && line.as_bytes().get(indent) == Some(&b' ') {
                continue;
            }
            let content = line.trim_start_matches(' ');
            let depth_here = line.len() - content.len();
            let content = content.trim_end();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            if depth_here > indent {
                if open.is_none() {
                    wrong.push(mistake(number, "indented deeper than a subcommand above it allows"));
                }
                continue;
            }
            if depth_here < indent {
                wrong.push(mistake(number, "indented by something else than four spaces a level"));
                continue;
            }
            if let Some((names, from, at)) = open.take() {
                let body = body.get(from..start).unwrap_or_default();
                block.branches.push(Branch { names, body, line: at });
            }
            if let Some(rest) = keyword(content, "sub") {
                let names = rest.split_once(':').map_or(rest, |(names, _)| names).trim();
                if names.is_empty() {
                    wrong.push(mistake(number, "a subcommand needs a name"));
                }
                open = Some((names, offset, number));
            } else if let Err(what) = block.entry(content) {
                wrong.push(Mistake { line: number, what });
            }
        }
        if let Some((names, from, at)) = open {
            block.branches.push(Branch { names, body: body.get(from..).unwrap_or_default(), line: at });
        }
        block
    }

    fn entry(&mut self, line: &'t str) -> Result<(), String> {
        if line.starts_with('-') || line.starts_with('+') {
            return self.option(line);
        }
        let (word, rest) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
        match word {
            "flags" => self.list(rest, Takes::Nothing),
            "values" => self.list(rest, Takes::Values(1)),
            "args" => {
                if self.operands.is_some() {
                    return Err("`args` is given twice".into());
                }
                self.operands = Some(operands(rest)?);
                Ok(())
            }
            "does" => {
                for text in parts(rest) {
                    self.does.push(action(text?, Takes::Nothing)?);
                }
                Ok(())
            }
            "stdin" => {
                self.input = Some(role(rest)?);
                Ok(())
            }
            "style" => {
                self.style = Some(match rest {
                    "gnu" => Style::Gnu,
                    "posix" => Style::Posix,
                    "single" => Style::Single,
                    "bare" => Style::Bare,
                    "lenient" => Style::Lenient,
                    _ => return Err(format!("`{rest}` is not a style")),
                });
                Ok(())
            }
            "special" => {
                if !SPECIALS.contains(&rest) {
                    return Err(format!("`{rest}` is not one of the specials: {}", SPECIALS.join(", ")));
                }
                self.special = Some(rest);
                Ok(())
            }
            _ => Err(format!("`{word}` is not an entry")),
        }
    }

    /// `flags …` and `values …`: a short spelling and the long one that follows it are one option.
    fn list(&mut self, rest: &'t str, takes: Takes) -> Result<(), String> {
        let mut open: Option<u16> = None;
        for token in rest.split_ascii_whitespace() {
            if token == "," {
                open = None;
                continue;
            }
            if token == "-NUM" {
                self.numbers = true;
                open = None;
                continue;
            }
            let (spelling, own) = spelling(token)?;
            let takes = if own == Takes::Nothing { takes } else { own };
            let long = spelling.starts_with("--");
            let alike = |number: &u16| {
                self.choices.get(usize::from(*number)).is_some_and(|choice| choice.takes == takes)
            };
            match open.filter(|number| long && alike(number)) {
                Some(number) => {
                    self.spell(spelling, number);
                    open = None;
                }
                None => {
                    let number = self.choose(spelling, takes, Vec::new())?;
                    open = (!long).then_some(number);
                }
            }
        }
        Ok(())
    }

    /// `-o --output FILE  => actions`.
    fn option(&mut self, line: &'t str) -> Result<(), String> {
        let (left, right) = line.split_once("=>").map_or((line, None), |(left, right)| (left, Some(right)));
        let mut takes = Takes::Nothing;
        let mut values = 0_u8;
        let mut spellings: Vec<&'t str> = Vec::new();
        for token in left.split_ascii_whitespace() {
            if token == "-NUM" {
                self.numbers = true;
                if left.trim() == token {
                    if right.is_some() {
                        return Err("`-NUM` has no actions".into());
                    }
                    return Ok(());
                }
                continue;
            }
            if token.starts_with('-') || token.starts_with('+') {
                if values > 0 {
                    return Err(format!("the spelling `{token}` stands after the value's name"));
                }
                let (spelling, own) = spelling(token)?;
                if own != Takes::Nothing {
                    takes = own;
                }
                spellings.push(spelling);
            } else if token
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-' | b'0'..=b'9'))
            {
                values = values.saturating_add(1);
            } else {
                return Err(format!("`{token}` is neither a spelling nor a value's name in capitals"));
            }
        }
        if values > 0 {
            if takes == Takes::Attached {
                return Err("an optional value and a value that must be given".into());
            }
            takes = Takes::Values(values);
        }
        let mut actions = Vec::new();
        if let Some(right) = right {
            for text in parts(right) {
                actions.push(action(text?, takes)?);
            }
            if actions.is_empty() {
                return Err("nothing stands after `=>`".into());
            }
        }
        let mut spellings = spellings.into_iter();
        let Some(first) = spellings.next() else { return Err("an option needs a spelling".into()) };
        let number = self.choose(first, takes, actions)?;
        for spelling in spellings {
            self.spell(spelling, number);
        }
        Ok(())
    }

    fn choose(&mut self, canonical: &'t str, takes: Takes, actions: Vec<Action<'t>>) -> Result<u16, String> {
        let number = u16::try_from(self.choices.len()).map_err(|_| String::from("too many options"))?;
        self.choices.push(Choice { canonical, takes, actions });
        self.spell(canonical, number);
        Ok(number)
    }

    fn spell(&mut self, spelling: &'t str, number: u16) {
        self.spellings.push((spelling, number));
    }
}

/// `--color[=WHEN]`, `-i[SUFFIX]`, `-x`: the spelling, and whether it says that a value may be attached.
fn spelling(token: &str) -> Result<(&str, Takes), String> {
    let (name, takes) = match token.split_once('[') {
        Some((name, rest)) if rest.ends_with(']') => (name, Takes::Attached),
        Some(_) => return Err(format!("`{token}` opens a bracket and does not close it")),
        None => (token, Takes::Nothing),
    };
    let well = (name.starts_with('-') && name.len() > 1 && name != "--") || name.starts_with('+');
    // `--dry-run=client`: the option with just this value.
    let valued = name.split_once('=').is_none_or(|(option, value)| {
        option.len() > 1 && !value.is_empty() && !value.contains('=') && takes == Takes::Nothing
    });
    if !well || !valued {
        return Err(format!("`{token}` is not an option's spelling"));
    }
    Ok((name, takes))
}

/// The parts between semicolons, quotes respected.
fn parts(text: &str) -> impl Iterator<Item = Result<&str, String>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        loop {
            let here = rest?;
            let mut quoted = false;
            let end = here.bytes().position(|byte| {
                if byte == b'"' {
                    quoted = !quoted;
                }
                byte == b';' && !quoted
            });
            if end.is_none() && quoted {
                rest = None;
                return Some(Err("a quote is not closed".into()));
            }
            let (part, after) = match end {
                Some(end) => (here.get(..end).unwrap_or_default(), here.get(end + 1..)),
                None => (here, None),
            };
            rest = after;
            let part = part.trim();
            if !part.is_empty() {
                return Some(Ok(part));
            }
        }
    })
}

fn action(text: &str, takes: Takes) -> Result<Action<'_>, String> {
    let (word, rest) = text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim()));
    let name = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(rest);
    if name.contains('"') {
        return Err(format!("the quotes of `{text}` do not enclose all of what follows `{word}`"));
    }
    let touch = match word {
        "read" => Some(Touch::Read),
        "write" => Some(Touch::Write),
        "delete" => Some(Touch::Delete),
        "delete-tree" => Some(Touch::DeleteTree),
        "unpack" => Some(Touch::Unpack),
        _ => None,
    };
    if let (Some(touch), false) = (touch, name.is_empty()) {
        return Ok(Action::Path(touch, name));
    }
    let bare = |action: Action<'static>| {
        if name.is_empty() {
            Ok(action)
        } else {
            Err(format!("`{word}` has nothing after it, but `{name}` stands there"))
        }
    };
    let named = || if name.is_empty() { Err(format!("`{word}` needs a word after it")) } else { Ok(name) };
    match word {
        "stop" => bare(Action::Stop),
        "stop-alone" => bare(Action::StopAlone),
        "stdin-data" => bare(Action::DataInput),
        "listen" => bare(Action::Listen),
        "dry" => bare(Action::Dry),
        "recursive" => bare(Action::Recursive),
        "deep" => bare(Action::Deep),
        "own-names" => bare(Action::OwnNames),
        "in-place" => bare(Action::InPlace),
        "end" => bare(Action::End),
        "chdir" => bare(Action::Chdir),
        "connect" => bare(Action::Connect),
        "nothing" => bare(Action::Nothing),
        "args" => Ok(Action::Operands(operands(rest)?)),
        "query" => Ok(Action::Query(named()?)),
        "send" => Ok(Action::Send(named()?)),
        "run" => Ok(Action::Run(named()?)),
        "privilege" => Ok(Action::Privilege(named()?)),
        "system" => Ok(Action::System(named()?)),
        "history" => Ok(Action::History(named()?)),
        "environment" => Ok(Action::Environment(named()?)),
        "unknown" => Ok(Action::Unknown(named()?)),
        _ => {
            let role = role(text).map_err(|_| format!("`{text}` is neither an action nor a role"))?;
            match (role, takes) {
                (Role::Code(language), Takes::Nothing) => Ok(Action::Code(language)),
                (_, Takes::Nothing) => Err(format!(
                    "`{text}` needs a value: write its name in CAPITALS, or a path after the action"
                )),
                (role, _) => Ok(Action::Value(role)),
            }
        }
    }
}

fn operands(text: &str) -> Result<Operands<'_>, String> {
    let mut result = Operands::default();
    let mut tokens = text.split_ascii_whitespace();
    while let Some(token) = tokens.next() {
        if token == "else" {
            let Some(path) = tokens.next() else { return Err("`else` needs a path".into()) };
            if tokens.next().is_some() {
                return Err("only one path may follow `else`".into());
            }
            result.otherwise = Some(path);
            break;
        }
        let (name, repeats) = token.strip_suffix("...").map_or((token, false), |name| (name, true));
        let (name, optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
        result.slots.push(Slot { role: role(name)?, repeats, optional });
    }
    if result.slots.iter().filter(|slot| slot.repeats).count() > 1 {
        return Err("only one role may repeat".into());
    }
    if result.slots.is_empty() {
        return Err("`args` needs a role".into());
    }
    Ok(result)
}

fn role(text: &str) -> Result<Role<'_>, String> {
    let language = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    Ok(match text {
        "text" => Role::Text,
        "read" => Role::Read,
        "write" => Role::Write,
        "delete" => Role::Delete,
        "delete-tree" => Role::DeleteTree,
        "read-write" => Role::ReadWrite,
        "write-dir" => Role::WriteDir,
        "unpack-dir" => Role::UnpackDir,
        "database" => Role::Database,
        "host" => Role::Host,
        "url" => Role::Url,
        "url-send" => Role::UrlSend,
        "remote-read" => Role::RemoteRead,
        "remote-write" => Role::RemoteWrite,
        "command" => Role::Command,
        "elsewhere" => Role::Elsewhere,
        "shell" | "shell..." => Role::Shell,
        "shells" => Role::Shells,
        "program" => Role::Program,
        "env" => Role::Env,
        "assign" => Role::Assign,
        "data" => Role::Data,
        "module" => Role::Module,
        "variable" => Role::Variable,
        "output" => Role::Output,
        "suffix" => Role::Suffix,
        "filter" => Role::Filter,
        _ => match text.split_once(':') {
            Some(("script", name)) if language(name) => Role::Script(name),
            Some(("code", name)) if language(name) => Role::Code(name),
            _ => return Err(format!("`{text}` is not a role")),
        },
    })
}

fn keyword<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    line.strip_prefix(word)?.strip_prefix(' ')
}

pub(crate) fn mistake(line: u32, what: &str) -> Mistake {
    Mistake { line, what: what.into() }
}
