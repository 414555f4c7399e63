//! What a command prints, where that is certain: constants, and lists of files.

use std::rc::Rc;

use crate::arg::Arg;
use crate::decode;
use crate::flow::Flow;
use crate::options::Line;
use crate::places;

/// The exact output of a few commands.
pub(crate) fn constant(name: &str, words: &[Arg<'_>], input: &Flow) -> Option<Rc<str>> {
    match name {
        "echo" => {
            let mut line = texts(words)?;
            let mut newline = true;
            while let Some((first, rest)) = line.split_first() {
                match *first {
                    "-n" => newline = false,
                    "-E" => {}
                    _ => break,
                }
                line = rest.to_vec();
            }
            let mut text = line.join(" ");
            // Shells differ about backslashes.
            if text.contains('\\') || text.starts_with('-') {
                return None;
            }
            if newline {
                text.push('\n');
            }
            Some(text.into())
        }
        "printf" => {
            let line = texts(words)?;
            let (format, rest) = line.split_first()?;
            let text = match (*format, rest) {
                ("%s", [one]) => (*one).to_owned(),
                ("%s\\n", lines) if !lines.is_empty() => {
                    lines.iter().fold(String::new(), |text, one| text + one + "\n")
                }
                (plain, []) if !plain.contains('%') && !plain.starts_with('-') => {
                    plain.replace("\\n", "\n").replace("\\t", "\t")
                }
                _ => return None,
            };
            (!text.contains('\\')).then(|| text.into())
        }
        "cat" if words.iter().all(|word| word.text() == Some("-")) => input.constant.clone(),
        "tee" => input.constant.clone(),
        "base64" if matches!(texts(words)?.as_slice(), ["-d" | "-D" | "--decode"]) => {
            decode::base64(input.constant.as_deref()?).map(Into::into)
        }
        "xxd" if matches!(texts(words)?.as_slice(), ["-r", "-p"] | ["-p", "-r"] | ["-rp" | "-pr"]) => {
            decode::hexadecimal(input.constant.as_deref()?).map(Into::into)
        }
        "rev" if words.is_empty() => {
            let lines: Vec<String> =
                input.constant.as_deref()?.lines().map(|line| line.chars().rev().collect()).collect();
            Some((lines.join("\n") + "\n").into())
        }
        _ => None,
    }
}

/// The files that a command lists, as patterns that fit all of them.
pub(crate) fn listed(name: &str, line: &Line<'_>) -> Option<Vec<String>> {
    // A new file or directory, unless the call says where.
    if matches!(name, "mktemp" | "gmktemp") {
        let placed = line.options.iter().any(|set| set.value.is_some());
        return (line.operands.is_empty() && !placed).then(|| vec![places::MADE.to_owned()]);
    }
    let has = |names: &[&str]| line.options.iter().any(|set| names.contains(&set.choice.canonical));
    // Some of the files below, all of them, or those of one directory.
    let rest = match name {
        "ls" => "*",
        "rg" if has(&["--files"]) => "**",
        _ => "**/*",
    };
    let below = |operands: &[Arg<'_>]| -> Option<Vec<String>> {
        if operands.is_empty() {
            return Some(vec![format!("./{rest}")]);
        }
        let mut patterns = Vec::new();
        for operand in operands {
            match operand {
                // A file is listed as itself, a directory by what is in it.
                Arg::Text(text) if !text.contains(['*', '?', '[', '\\']) => {
                    patterns.push(text.to_string());
                    patterns.push(format!("{}/{rest}", text.trim_end_matches('/')));
                }
                Arg::Pattern(text) => patterns.push(text.to_string()),
                _ => return None,
            }
        }
        Some(patterns)
    };
    match name {
        "grep" | "egrep" | "fgrep" | "rg" | "ag"
            if has(&["-l", "--files-with-matches", "-L", "--files-without-match"]) =>
        {
            below(line.operands.get(1..).unwrap_or_default())
        }
        "rg" if has(&["--files"]) => below(&line.operands),
        "ls" => {
            let mut patterns = below(&line.operands)?;
            // What is in a directory is listed by its bare name, which means a file here to whoever reads it.
            patterns.push("./*".into());
            Some(patterns)
        }
        "git" => match line.subs.first().and_then(Arg::text) {
            Some("ls-files") => Some(vec!["./**".into()]),
            Some("diff" | "show" | "log" | "diff-tree") if has(&["--name-only"]) => {
                Some(vec!["./**/*".into()])
            }
            Some("grep") if has(&["-l"]) => Some(vec!["./**/*".into()]),
            _ => None,
        },
        _ => None,
    }
}

/// The files that a command picks from a list of files.
pub(crate) fn selected(name: &str, words: &[Arg<'_>], input: &Flow) -> Option<Rc<[String]>> {
    let options_only = || words.iter().all(|word| word.lead().starts_with('-') && word.is_certain());
    let picks = match name {
        "sort" | "uniq" | "tac" | "shuf" => options_only(),
        "head" | "tail" => words.iter().all(|word| {
            word.text()
                .is_some_and(|text| text.starts_with('-') || text.bytes().all(|byte| byte.is_ascii_digit()))
        }),
        // One operand is the pattern; a second one would be a file.
        "grep" | "egrep" | "fgrep" | "rg" => {
            let plain =
                words.iter().filter(|word| !word.lead().starts_with('-') || !word.is_certain()).count();
            let harmless = words.iter().filter(|word| word.lead().starts_with('-')).all(|word| {
                matches!(
                    word.text(),
                    Some(
                        "-v" | "-i"
                            | "-E"
                            | "-F"
                            | "-vE"
                            | "-iE"
                            | "-vi"
                            | "-e"
                            | "-a"
                            | "-P"
                            | "-w"
                            | "-x"
                            | "-z"
                    )
                )
            });
            plain == 1 && harmless
        }
        "cat" => words.is_empty(),
        _ => false,
    };
    let paths = input.paths.as_ref().filter(|_| picks)?;
    if matches!(name, "sort" | "uniq" | "tac" | "shuf" | "cat") {
        return Some(Rc::clone(paths));
    }
    // Some of what is below a directory is not all of it.
    let some = |path: &String| if path.ends_with("/**") { format!("{path}/*") } else { path.clone() };
    Some(paths.iter().map(some).collect())
}

fn texts<'w>(words: &'w [Arg<'_>]) -> Option<Vec<&'w str>> {
    words.iter().map(Arg::text).collect()
}
