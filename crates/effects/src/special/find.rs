//! `find`: where it looks, what it picks, and what it does with that.

use std::borrow::Cow;

use crate::arg::Arg;
use crate::classify::{self, Named, Purpose};
use crate::doing::Inner;
use crate::evaluate::Evaluation;
use crate::options::Line;

/// Tests and actions without an argument.
static PLAIN: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-true",
    "-false",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-follow",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-not",
    "!",
    "-a",
    "-and",
    "-o",
    "-or",
    "(",
    ")",
    ",",
    "-H",
    "-L",
    "-P",
    "-E",
    "-X",
    "-s",
    "-x",
    "-help",
    "--help",
    "-version",
    "--version",
    "-exit",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-0",
];

/// Tests with one argument that matters nothing.
static WITH_TEXT: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regextype",
    "-xtype",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-btime",
    "-Btime",
    "-Bmin",
    "-newermt",
    "-newerct",
    "-newerat",
    "-newerBt",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-used",
    "-lname",
    "-ilname",
    "-fstype",
    "-flags",
    "-context",
    "-D",
    "-used",
    "-depth",
    "-acl",
];

pub(super) fn read<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let mut words = line.words.iter().peekable();
    let mut starts: Vec<Arg<'a>> = Vec::new();
    while let Some(word) = words.peek() {
        let lead = word.lead();
        if matches!(lead, "-H" | "-L" | "-P" | "-E" | "-X" | "-s" | "-x")
            || lead.starts_with("-O") && lead.len() == 3
        {
            words.next();
        } else if lead == "-D" {
            words.next();
            words.next();
        } else if lead == "-f" || lead == "--" {
            words.next();
        } else if lead.starts_with('-') || matches!(lead, "(" | ")" | "!" | ",") || word.may_be_option() {
            break;
        } else {
            starts.extend(words.next().cloned());
        }
    }
    if starts.is_empty() {
        starts.push(Arg::owned("."));
    }
    if starts.len() > super::MOST {
        evaluation.doing.unknown("looks in too many places");
        starts.truncate(super::MOST);
    }
    for start in &starts {
        evaluation.doing.path(start, Purpose::Read, &evaluation.cwds, evaluation.engine.around);
    }
    let expression: Vec<Arg<'a>> = words.cloned().collect();
    act(evaluation, &expression, &starts);
    true
}

/// `fd PATTERN DIR… -x COMMAND`: the command gets each file that is found.
pub(super) fn fd<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let here = [Arg::owned(".")];
    let starts = match line.operands.get(1..).unwrap_or_default() {
        [] => here.as_slice(),
        directories => directories.get(..super::MOST).unwrap_or(directories),
    };
    let mut found = below(starts, fd_names(line).as_deref());
    // The pattern is a regular expression; where it spells a secret's name out, that is what is meant.
    if let Some(name) = line.operands.first().and_then(Arg::text).and_then(secret_meant) {
        found.extend(below(starts, Some(&[name])));
    }
    evaluation.doing.lists = patterns(&found);
    if line.operands.len() > super::MOST {
        evaluation.doing.unknown("looks in too many places");
    }
    let mut commands = Vec::new();
    for inner in std::mem::take(&mut evaluation.doing.inner) {
        let Inner::Command(words) = inner else {
            commands.push(inner);
            continue;
        };
        // A `;` ends the command; what follows would be options again.
        let end = words.iter().position(|word| word.text() == Some(";")).unwrap_or(words.len());
        if end < words.len() {
            evaluation.doing.unknown("words after the command that fd runs");
        }
        let command = words.get(..end).unwrap_or_default();
        let marked = command.iter().any(|word| word.lead().contains('{'));
        for path in &found {
            let mut words: Vec<Arg<'a>> = command.iter().map(|word| mark(word, path)).collect();
            if !marked {
                words.push(path.clone());
            }
            commands.push(Inner::Command(words));
        }
    }
    evaluation.doing.inner = commands;
    false
}

/// A word of a command that fd runs, with its marks replaced.
fn mark<'a>(word: &Arg<'a>, path: &Arg<'a>) -> Arg<'a> {
    let marks = ["{}", "{.}", "{/}", "{//}", "{/.}"];
    match word.text().and_then(|text| marks.iter().find(|mark| text.contains(**mark))) {
        Some(mark) => super::xargs::replace(word, mark, path),
        None => word.clone(),
    }
}

/// The names that fd is asked for, where they are patterns: `-e pyc`, `-g '*.pyc'`.
fn fd_names(line: &Line<'_>) -> Option<Vec<String>> {
    let extensions: Vec<_> = line
        .options
        .iter()
        .filter(|set| set.choice.canonical == "-e")
        .map(|set| set.value.as_ref())
        .collect();
    if !extensions.is_empty() {
        return extensions
            .into_iter()
            .map(|value| Some(format!("*.{}", value?.text()?.trim_start_matches('.'))))
            .collect();
    }
    let glob = super::has(line, &["-g"]).then(|| line.operands.first().and_then(Arg::text)).flatten()?;
    (!glob.contains(['/', '{']) && !crate::glob::takes_all(glob)).then(|| vec![glob.to_owned()])
}

/// Any name, of something that is not the directory where it starts.
const ANY: &str = "*";

/// What an expression has asked for so far, in one pair of parentheses.
#[derive(Default)]
struct Frame {
    /// What held before the parenthesis.
    outer: Option<Vec<String>>,
    /// Whether the parenthesis is negated.
    negated: bool,
    /// What the alternatives before the last `-o` asked for. `Some(None)`: one of them asked for nothing.
    before: Option<Option<Vec<String>>>,
    /// What the present alternative asks for: a file fits one of these patterns.
    now: Option<Vec<String>>,
}

impl Frame {
    fn holds(&self) -> Option<&[String]> {
        self.now.as_deref().or(self.outer.as_deref())
    }

    /// One more thing that a file must be. Everything that was asked for holds; one of them is enough to know.
    fn ask(&mut self, patterns: Option<Vec<String>>) {
        let says_nothing = self.now.as_deref().is_none_or(|now| *now == [ANY]);
        if says_nothing && patterns.is_some() {
            self.now = patterns;
        }
    }

    fn alternative(&mut self) {
        let now = self.now.take();
        self.before = Some(match (self.before.take(), now) {
            (None, now) => now,
            (Some(Some(mut all)), Some(now)) => {
                all.extend(now);
                Some(all)
            }
            _ => None,
        });
    }

    /// What all of it asks for.
    fn whole(mut self) -> Option<Vec<String>> {
        self.alternative();
        self.before.flatten().filter(|_| !self.negated)
    }
}

/// Follows the expression: what each action is given is what was asked for before it.
fn act<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, expression: &[Arg<'a>], starts: &[Arg<'a>]) {
    let mut frames: Vec<Frame> = Vec::new();
    let mut frame = Frame::default();
    let mut negated = false;
    // What is printed, where an action prints.
    let mut printed: Option<Vec<Arg<'a>>> = None;
    let mut acts = false;
    let mut words = expression.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text() else {
            evaluation.doing.unknown("a word that is not known may be an action of find");
            frame.now = None;
            frame.outer = None;
            continue;
        };
        let negates = std::mem::take(&mut negated);
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                acts = true;
                let mut command: Vec<Arg<'a>> = Vec::new();
                let mut last_was_mark = false;
                for word in words.by_ref() {
                    match word.text() {
                        Some(";") => break,
                        Some("+") if last_was_mark => break,
                        _ => {}
                    }
                    last_was_mark = word.text() == Some("{}");
                    command.push(word.clone());
                }
                for path in below(starts, frame.holds()) {
                    let words = command.iter().map(|one| super::xargs::replace(one, "{}", &path)).collect();
                    evaluation.doing.inner.push(Inner::Command(words));
                }
            }
            "-delete" => {
                acts = true;
                for path in below(starts, frame.holds()) {
                    evaluation.doing.path(&path, Purpose::Delete, &evaluation.cwds, evaluation.engine.around);
                }
            }
            "-print" | "-print0" | "-printf" | "-ls" => {
                if text == "-printf" {
                    words.next();
                }
                acts = true;
                let more = below(starts, frame.holds());
                printed.get_or_insert_default().extend(more.into_iter().take(super::MOST));
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                acts = true;
                if let Some(file) = words.next() {
                    evaluation.doing.path(file, Purpose::Write, &evaluation.cwds, evaluation.engine.around);
                }
                if text == "-fprintf" {
                    words.next();
                }
            }
            "(" => {
                let outer = frame.holds().map(<[String]>::to_vec);
                frames.push(std::mem::replace(
                    &mut frame,
                    Frame { outer, negated: negates, ..Frame::default() },
                ));
            }
            ")" => {
                let outer = frames.pop().unwrap_or_default();
                let inner = std::mem::replace(&mut frame, outer);
                frame.ask(inner.whole());
            }
            "!" | "-not" => negated = !negates,
            "-o" | "-or" => frame.alternative(),
            "," => {
                frame.now = None;
                frame.before = None;
            }
            "-name" | "-iname" => frame.ask(words.next().and_then(|value| named(value, negates))),
            "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                frame.ask(words.next().and_then(|value| at_path(value, starts, negates)));
            }
            "-regex" | "-iregex" => {
                let name = words.next().and_then(Arg::text).filter(|_| !negates).and_then(secret_meant);
                frame.ask(name.map(|name| vec![name]));
            }
            // Only what holds nothing: any name, but not what is in a directory.
            "-empty" if !negates => frame.ask(Some(vec![ANY.into()])),
            "-type" => {
                let kinds = words.next().and_then(Arg::text);
                // Files, one by one: the directory where it starts is not among them.
                if kinds.is_some_and(|kinds| !negates && !kinds.contains('d'))
                    && inside_workspace(evaluation, starts)
                {
                    frame.ask(Some(vec![ANY.into()]));
                }
            }
            "-newer" | "-anewer" | "-cnewer" | "-samefile" | "-mnewer" => {
                words.next();
            }
            "-files0-from" => evaluation.doing.unknown("looks in places that a file names"),
            _ if WITH_TEXT.contains(&text) && !(text == "-depth" || text == "-d") => {
                words.next();
            }
            _ if PLAIN.contains(&text) => {}
            _ if text.starts_with("-newer") => {
                words.next();
            }
            _ => evaluation.doing.unknown(format!("`find` with `{text}`")),
        }
    }
    while let Some(outer) = frames.pop() {
        let inner = std::mem::replace(&mut frame, outer);
        frame.ask(inner.whole());
    }
    let listed = match printed {
        Some(printed) => printed,
        None if acts => return,
        None => below(starts, frame.whole().as_deref()),
    };
    evaluation.doing.lists = patterns(&listed);
}

/// Whether all that is found lies in the workspace.
fn inside_workspace<'a>(evaluation: &Evaluation<'_, '_, '_, '_, 'a>, starts: &[Arg<'a>]) -> bool {
    let around = evaluation.engine.around;
    let Some(root) = around.workspace.and_then(|root| root.to_str()) else { return false };
    let inside = |text: &str, cwd: &str| {
        let named = Named { text, pattern: false, cwd };
        let (target, _) = classify::target(named, Purpose::Read, false, around);
        classify::below(&target.path, root.trim_end_matches('/')).is_some()
    };
    let cwds = &evaluation.cwds;
    !cwds.open
        && starts
            .iter()
            .all(|start| start.text().is_some_and(|text| cwds.known.iter().all(|cwd| inside(text, cwd))))
}

/// The pattern of `-name`, where it says anything.
fn named(value: &Arg<'_>, negated: bool) -> Option<Vec<String>> {
    let name = value.text().filter(|name| !negated && !name.contains('/') && !name.is_empty())?;
    (!crate::glob::takes_all(name)).then(|| vec![name.to_owned()])
}

/// The name of a secret that a regular expression for paths spells out: `^\.env$`, `.*/.env`.
fn secret_meant(regex: &str) -> Option<String> {
    let last =
        regex.rsplit('/').next()?.trim_start_matches('^').trim_start_matches(".*").trim_end_matches('$');
    let name = last.replace('\\', "");
    classify::secret_name(&name, false).then_some(name)
}

/// The pattern of `-path`, measured from anywhere below the starting points: its stars take slashes too.
fn at_path(value: &Arg<'_>, starts: &[Arg<'_>], negated: bool) -> Option<Vec<String>> {
    let text = value.text().filter(|_| !negated)?;
    let inside = starts.iter().filter_map(Arg::text).find_map(|start| {
        text.strip_prefix(start.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'))
    });
    let inside = inside.unwrap_or(text).trim_start_matches("*/").trim_start_matches('/');
    let climbs = inside.split('/').any(|part| part == "..");
    (!climbs && crate::glob::literals(inside) > 0).then(|| vec![inside.to_owned()])
}

/// What an action is given: everything below the starting points, or what fits one of these patterns there.
fn below<'a>(starts: &[Arg<'a>], patterns: Option<&[String]>) -> Vec<Arg<'a>> {
    let patterns = patterns.filter(|patterns| patterns.len() * starts.len() <= super::MOST);
    let mut found = Vec::new();
    for start in starts {
        let base = match start {
            Arg::Text(text) => escape(text.trim_end_matches('/')),
            Arg::Pattern(text) => text.trim_end_matches('/').to_owned(),
            Arg::Process { .. } | Arg::Hazy(_) => {
                found.push(start.clone());
                continue;
            }
        };
        match patterns {
            None => found.push(Arg::Pattern(Cow::Owned(format!("{base}/**")))),
            Some(patterns) => found.extend(
                patterns.iter().map(|pattern| Arg::Pattern(Cow::Owned(format!("{base}/**/{pattern}")))),
            ),
        }
    }
    found
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

fn patterns(picked: &[Arg<'_>]) -> Option<Vec<String>> {
    picked
        .iter()
        .map(|path| match path {
            Arg::Text(text) => Some(escape(text)),
            Arg::Pattern(text) => Some(text.to_string()),
            Arg::Process { .. } | Arg::Hazy(_) => None,
        })
        .collect()
}
