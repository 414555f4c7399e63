//! `find`: where it looks, what it picks, and what it does with that.

use std::borrow::Cow;

use crate::arg::Arg;
use crate::classify::Purpose;
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
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
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
    let expression: Vec<Arg<'a>> = words.cloned().collect();
    let picked = picked(&starts, &expression);
    for start in &starts {
        evaluation.doing.path(start, Purpose::Read, &evaluation.cwds, evaluation.engine.around);
    }
    evaluation.doing.lists = patterns(&picked);
    act(evaluation, &expression, &picked);
    true
}

/// `fd PATTERN DIR… -x COMMAND`: the command gets each file that is found.
pub(super) fn fd<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, line: &Line<'a>) -> bool {
    let found: Vec<Arg<'a>> = match line.operands.get(1..).unwrap_or_default() {
        [] => vec![Arg::Pattern(Cow::Borrowed("./*"))],
        directories => picked(directories.get(..super::MOST).unwrap_or(directories), &[]),
    };
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

/// The actions of the expression.
fn act<'a>(evaluation: &mut Evaluation<'_, '_, '_, '_, 'a>, expression: &[Arg<'a>], picked: &[Arg<'a>]) {
    let mut words = expression.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text() else {
            evaluation.doing.unknown("a word that is not known may be an action of find");
            continue;
        };
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
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
                for path in picked {
                    let words = command.iter().map(|one| super::xargs::replace(one, "{}", path)).collect();
                    evaluation.doing.inner.push(Inner::Command(words));
                }
            }
            "-delete" => {
                // A pattern for everything below takes directories with it.
                let recursive = std::mem::replace(&mut evaluation.doing.recursive, true);
                for path in picked {
                    let literal = !path.lead().rsplit('/').next().is_some_and(crate::glob::takes_all);
                    evaluation.doing.recursive = !literal;
                    evaluation.doing.path(path, Purpose::Delete, &evaluation.cwds, evaluation.engine.around);
                }
                evaluation.doing.recursive = recursive;
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = words.next() {
                    evaluation.doing.path(file, Purpose::Write, &evaluation.cwds, evaluation.engine.around);
                }
                if text == "-fprintf" {
                    words.next();
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
}

/// What an action is given: everything below the starting points, narrowed by a single name where one is asked for.
fn picked<'a>(starts: &[Arg<'a>], expression: &[Arg<'a>]) -> Vec<Arg<'a>> {
    // Alternatives and negations make a name say nothing about the rest.
    let open = expression.iter().any(|word| {
        matches!(word.text(), Some("-o" | "-or" | "!" | "-not" | "," | "-prune") | None)
            && !matches!(word, Arg::Pattern(_))
    });
    let mut name: Option<&str> = None;
    if !open {
        for pair in expression.windows(2) {
            if let [test, value] = pair
                && matches!(test.text(), Some("-name" | "-iname"))
            {
                name = value.text().filter(|value| !value.contains('/'));
            }
        }
    }
    // `find DIR -maxdepth 0` and the like pick the start itself; it is taken with the rest.
    let name = name.unwrap_or("*");
    starts
        .iter()
        .map(|start| match start {
            Arg::Text(text) | Arg::Pattern(text) => {
                let escaped = if matches!(start, Arg::Text(_)) { escape(text) } else { text.to_string() };
                Arg::Pattern(Cow::Owned(format!("{}/{name}", escaped.trim_end_matches('/'))))
            }
            Arg::Process { .. } | Arg::Hazy(_) => start.clone(),
        })
        .collect()
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
