//! Checks whole knowledge files. Only the build and the lint do: at run time, what was checked is only read.

use crate::format::{Block, Mistake, mistake};

/// A program of a file: its names and the text of its block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'t> {
    /// The names, separated by blanks.
    pub(crate) names: &'t str,
    /// One line for a person.
    pub(crate) about: &'t str,
    /// The lines of its block.
    pub(crate) body: &'t str,
    /// The header's line, counted from 1.
    pub(crate) line: u32,
}

/// The programs of a file, in order.
pub(crate) fn entries(text: &str) -> Result<Vec<Entry<'_>>, Mistake> {
    let mut found: Vec<Entry<'_>> = Vec::new();
    let mut header: Option<(&str, u32)> = None;
    let mut body_start = 0;
    let mut offset = 0;
    let mut number = 0;
    for line in text.split_inclusive('\n') {
        number += 1;
        let start = offset;
        offset += line.len();
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') || line.starts_with(' ') {
            if line.starts_with(' ') && header.is_none() && !line.trim_start().starts_with('#') {
                return Err(mistake(number, "an entry before the first program"));
            }
            continue;
        }
        if let Some(open) = header.take() {
            found.push(entry(open, text.get(body_start..start).unwrap_or_default())?);
        }
        header = Some((line, number));
        body_start = offset;
    }
    if let Some(open) = header {
        found.push(entry(open, text.get(body_start..).unwrap_or_default())?);
    }
    Ok(found)
}

fn entry<'t>((header, line): (&'t str, u32), body: &'t str) -> Result<Entry<'t>, Mistake> {
    // A name may have a colon in it (`python-m:pip`), but no blank after that.
    let split = header.split_once(": ").or_else(|| Some((header.strip_suffix(':')?, "")));
    let Some((names, about)) = split else {
        return Err(mistake(line, "a program's line needs a colon after its names"));
    };
    if names.trim().is_empty() || names.split_whitespace().any(|name| name.starts_with('-')) {
        return Err(mistake(line, "a program needs a name"));
    }
    Ok(Entry { names: names.trim(), about: about.trim(), body, line })
}

/// What a checked file holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) programs: usize,
    pub(crate) subcommands: usize,
    pub(crate) options: usize,
}

/// Reads everything in a file, subcommands included, and says what is wrong.
pub(crate) fn check(text: &str) -> (Tally, Vec<Mistake>) {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    if let Some(line) = text.lines().position(|line| line.contains('\t')) {
        wrong.push(Mistake {
            line: u32::try_from(line).unwrap_or_default() + 1,
            what: "a tab; use spaces".into(),
        });
    }
    match entries(text) {
        Err(one) => wrong.push(one),
        Ok(all) => {
            for program in all {
                tally.programs += program.names.split_whitespace().count();
                if program.about.is_empty() {
                    wrong.push(mistake(program.line, "a program needs a line for people after the colon"));
                }
                check_block(program.body, 0, program.line, &mut tally, &mut wrong);
            }
        }
    }
    (tally, wrong)
}

fn check_block(body: &str, depth: usize, above: u32, tally: &mut Tally, wrong: &mut Vec<Mistake>) {
    let mut own = Vec::new();
    let block = Block::read_all(body, depth, &mut own);
    wrong.extend(own.into_iter().map(|one| Mistake { line: above + one.line, what: one.what }));
    tally.options += block.spellings.len();
    if let Some(spelling) = doubled(&block) {
        wrong.push(mistake(above, &format!("the block below lists `{spelling}` twice")));
    }
    let mut names: Vec<&str> = Vec::new();
    for branch in &block.branches {
        for name in branch.names.split_whitespace() {
            tally.subcommands += 1;
            if names.contains(&name) {
                wrong.push(mistake(above + branch.line, &format!("the subcommand `{name}` stands twice")));
            }
            names.push(name);
        }
        check_block(branch.body, depth + 1, above + branch.line, tally, wrong);
    }
}

/// A spelling that stands twice, if there is one.
fn doubled<'t>(block: &Block<'t>) -> Option<&'t str> {
    let mut all: Vec<&str> = block.spellings.iter().map(|(spelling, _)| *spelling).collect();
    all.sort_unstable();
    all.windows(2).find_map(|pair| match pair {
        [one, two] if one == two => Some(*one),
        _ => None,
    })
}
