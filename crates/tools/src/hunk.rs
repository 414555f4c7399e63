//! Puts the hunks of a patch into a text.
//!
//! The lines that a hunk keeps and removes are looked for from where the hunk before ended, first as they are, then without
//! their trailing spaces, then without leading ones too, then with dashes, quotes and spaces of every kind taken for the plain
//! ones. Lines that stay keep the file's own spelling. Work is bounded: every look at a line is counted.

use std::borrow::Cow;
use std::collections::HashMap;

use call::{Hunk, HunkLine};

/// Lines that are looked at for all hunks of a file together.
const MOST_LOOKS: usize = 50_000_000;
/// Lines of a hunk, and of the file, that an error shows.
const MOST_SHOWN: usize = 24;

/// How exactly a line must be the same, the strictest first.
const EVENNESS: [fn(&str) -> Cow<'_, str>; 4] =
    [|line| line.into(), |line| line.trim_end().into(), |line| line.trim().into(), plain];

/// The text with the hunks in it.
///
/// # Errors
/// Which hunk does not fit, with its lines and the nearest ones of the text.
pub(crate) fn apply(text: &str, hunks: &[Hunk<'_>]) -> Result<String, String> {
    let mut book = Book::new(text);
    let mut places: Vec<(usize, Place<'_, '_>)> = Vec::new();
    let mut from = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let place = book.place(hunk, from).map_err(|why| {
            format!("hunk {} of {} does not fit: {}", index + 1, hunks.len(), book.explain(hunk, &why))
        })?;
        if let Some(end) = place.end {
            from = end;
        }
        places.push((place.start, place));
    }
    // A hunk that only adds, without saying where, goes to the end whatever follows it.
    places.sort_by_key(|place| place.0);
    Ok(book.written(&places))
}

/// Where a hunk goes.
struct Place<'h, 't> {
    start: usize,
    /// Where the next hunk may start.
    end: Option<usize>,
    lines: &'h [HunkLine<'t>],
}

enum Why {
    Header(String),
    Lines { from: usize },
    End,
    TooMuch,
}

/// A text as lines, with what has been found out about them.
struct Book<'a> {
    lines: Vec<&'a str>,
    /// The line ends, as each line has it.
    ends: Vec<&'a str>,
    /// Lines as numbers, for each evenness: equal lines have equal numbers.
    numbers: [Option<Numbered<'a>>; 4],
    looks: usize,
}

struct Numbered<'a> {
    known: HashMap<Cow<'a, str>, u32>,
    lines: Vec<u32>,
}

impl<'a> Book<'a> {
    fn new(text: &'a str) -> Book<'a> {
        let (mut lines, mut ends) = (Vec::new(), Vec::new());
        for whole in text.split_inclusive('\n') {
            let line = whole.strip_suffix('\n').map_or(whole, |line| line.strip_suffix('\r').unwrap_or(line));
            lines.push(line);
            ends.push(whole.get(line.len()..).unwrap_or_default());
        }
        Book { lines, ends, numbers: [const { None }; 4], looks: 0 }
    }

    fn place<'h, 't>(&mut self, hunk: &'h Hunk<'t>, from: usize) -> Result<Place<'h, 't>, Why> {
        let mut under = from;
        let mut header_at = None;
        for header in hunk.headers.iter().filter_map(|header| sought(header)) {
            let at = self.header(header, under)?.ok_or_else(|| Why::Header(header.to_owned()))?;
            header_at = Some(at);
            under = at + 1;
        }
        let added = shorn(&hunk.lines);
        if !added.is_empty() && added.iter().all(|line| matches!(line, HunkLine::Add(_))) {
            let end = self.lines.len();
            let start = header_at.filter(|_| !hunk.at_end).map_or(end, |at| at + 1);
            return Ok(Place { start, end: None, lines: added });
        }
        // Blank lines at the end of a hunk are often none of the file's: they are needed only where they are there.
        let mut lines = hunk.lines.as_slice();
        loop {
            let old: Vec<&str> = lines.iter().filter_map(old).collect();
            // The line that a header names is sometimes repeated as the first one of the hunk.
            let tries = [Some(under), header_at];
            for start in tries.into_iter().flatten() {
                if let Some(start) = self.find(&old, start, hunk.at_end)? {
                    return Ok(Place { start, end: Some(start + old.len()), lines });
                }
            }
            match lines.split_last() {
                Some((HunkLine::Keep(""), rest)) if !rest.is_empty() => lines = rest,
                _ if hunk.at_end => return Err(Why::End),
                _ => return Err(Why::Lines { from: under }),
            }
        }
    }

    /// Where the line of a header is.
    fn header(&mut self, header: &str, from: usize) -> Result<Option<usize>, Why> {
        if let Some(at) = self.find(&[header], from, false)? {
            return Ok(Some(at));
        }
        // `class A` for `class A(B):`, if there is only one that it can be.
        self.look(self.lines.len().saturating_sub(from))?;
        let starts = |line: &&str| line.trim_start().starts_with(header.trim());
        let mut found = (from..).zip(self.lines.iter().skip(from)).filter(|(_, line)| starts(line));
        let first = found.next().map(|(at, _)| at);
        Ok(first.filter(|_| found.next().is_none()))
    }

    /// Where these lines are, at or behind a line, or at the end.
    fn find(&mut self, wanted: &[&str], from: usize, at_end: bool) -> Result<Option<usize>, Why> {
        for (which, even) in EVENNESS.iter().enumerate() {
            let lines = &self.lines;
            let Some(slot) = self.numbers.get_mut(which) else { continue };
            let numbered = slot.get_or_insert_with(|| number(lines, *even));
            let wanted: Option<Vec<u32>> =
                wanted.iter().map(|line| numbered.known.get(&even(returned(line))).copied()).collect();
            // A line that is nowhere in the file is nowhere behind a line of it.
            let Some(wanted) = wanted else { continue };
            let from =
                if at_end { numbered.lines.len().saturating_sub(wanted.len()).max(from) } else { from };
            let within = numbered.lines.get(from..).unwrap_or_default();
            let found = first_place(within, &wanted);
            let looked = within.len() + wanted.len();
            self.look(looked)?;
            if let Some(at) = found {
                return Ok(Some(from + at));
            }
        }
        Ok(None)
    }

    fn look(&mut self, lines: usize) -> Result<(), Why> {
        self.looks += lines;
        if self.looks > MOST_LOOKS { Err(Why::TooMuch) } else { Ok(()) }
    }

    fn written(&self, places: &[(usize, Place<'_, '_>)]) -> String {
        let style = if self.ends.first() == Some(&"\r\n") { "\r\n" } else { "\n" };
        let last_end = self.ends.last().copied().unwrap_or("\n");
        // Each line with its end; `None` is that of an added line.
        let mut out: Vec<(&str, Option<&str>)> = Vec::with_capacity(self.lines.len());
        let mut at = 0;
        let keep = |out: &mut Vec<_>, range: std::ops::Range<usize>| {
            let lines = self.lines.get(range.clone()).unwrap_or_default();
            let ends = self.ends.get(range).unwrap_or_default();
            out.extend(lines.iter().zip(ends).map(|(line, end)| (*line, Some(*end))));
        };
        for (start, place) in places {
            keep(&mut out, at..*start);
            at = *start;
            for line in place.lines {
                match line {
                    HunkLine::Keep(_) => {
                        keep(&mut out, at..at + 1);
                        at += 1;
                    }
                    HunkLine::Remove(_) => at += 1,
                    HunkLine::Add(line) => {
                        let line = if style == "\r\n" { returned(line) } else { line };
                        out.push((line, None));
                    }
                }
            }
        }
        keep(&mut out, at..self.lines.len());
        let mut text = String::new();
        let last = out.len().saturating_sub(1);
        for (index, (line, end)) in out.into_iter().enumerate() {
            text.push_str(line);
            // The file ends as it ended; a line that was the last one and no longer is gets an end.
            text.push_str(match end {
                None if index == last => last_end,
                None => style,
                Some("") if index != last => style,
                Some(end) => end,
            });
        }
        text
    }

    fn explain(&self, hunk: &Hunk<'_>, why: &Why) -> String {
        let mut said = match why {
            Why::Header(header) => format!("there is no line `{header}` for its `@@`\n"),
            Why::Lines { from: 0 } => "these lines are not in the file\n".to_owned(),
            Why::Lines { from } => format!("these lines are not in the file from line {} on\n", from + 1),
            Why::End => "these lines are not at the end of the file\n".to_owned(),
            Why::TooMuch => return "it takes too long to find its place".to_owned(),
        };
        said.push_str("the hunk:\n");
        for line in hunk.lines.iter().take(MOST_SHOWN) {
            let (mark, line) = match line {
                HunkLine::Keep(line) => (' ', line),
                HunkLine::Remove(line) => ('-', line),
                HunkLine::Add(line) => ('+', line),
            };
            said.push_str(&format!("    {mark}{}\n", shown(line)));
        }
        if hunk.lines.len() > MOST_SHOWN {
            said.push_str(&format!("    [… {} more lines]\n", hunk.lines.len() - MOST_SHOWN));
        }
        let old: Vec<&str> = hunk.lines.iter().filter_map(old).collect();
        let start = match why {
            Why::End => self.lines.len().saturating_sub(old.len() + 2),
            _ => self.nearest(&old).saturating_sub(2),
        };
        if self.lines.is_empty() {
            said.push_str("the file is empty\n");
            return said;
        }
        said.push_str("the nearest lines of the file:\n");
        let count = (old.len() + 4).min(MOST_SHOWN);
        for (at, line) in (start + 1..).zip(self.lines.iter().skip(start).take(count)) {
            said.push_str(&format!("{at:>6} {}\n", shown(line)));
        }
        said
    }

    /// Where most of these lines stand at their distance from each other.
    fn nearest(&self, old: &[&str]) -> usize {
        /// A line that is in the file more often says nothing about the place.
        const OFTEN: usize = 32;
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in self.lines.iter().enumerate() {
            let places = places.entry(line.trim()).or_default();
            if places.len() <= OFTEN {
                places.push(at);
            }
        }
        let mut votes: HashMap<usize, usize> = HashMap::new();
        for (offset, line) in old.iter().enumerate().take(10_000).filter(|(_, line)| !line.trim().is_empty())
        {
            let Some(found) = places.get(line.trim()).filter(|found| found.len() <= OFTEN) else { continue };
            for at in found {
                *votes.entry(at.saturating_sub(offset)).or_default() += 1;
            }
        }
        let best = votes.into_iter().max_by_key(|(at, count)| (*count, std::cmp::Reverse(*at)));
        best.map_or(0, |(at, _)| at)
    }
}

/// What a header asks for. The numbers of a unified diff say nothing that holds; what follows them may.
fn sought(header: &str) -> Option<&str> {
    let header = match header.trim().strip_prefix('-').and_then(|rest| rest.split_once("@@")) {
        Some((numbers, rest)) if numbers.chars().all(|c| c.is_ascii_digit() || " ,+".contains(c)) => rest,
        _ => header,
    };
    Some(header).filter(|header| !header.trim().is_empty())
}

fn old<'t>(line: &HunkLine<'t>) -> Option<&'t str> {
    match line {
        HunkLine::Keep(line) | HunkLine::Remove(line) => Some(line),
        HunkLine::Add(_) => None,
    }
}

/// Without the blank lines at the end, which often are none of the file's.
fn shorn<'h, 't>(mut lines: &'h [HunkLine<'t>]) -> &'h [HunkLine<'t>] {
    while let Some((HunkLine::Keep(""), rest)) = lines.split_last() {
        lines = rest;
    }
    lines
}

/// Without a carriage return at its end: how lines end is the file's to say.
fn returned(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

fn shown(line: &str) -> String {
    crate::text::line(line.as_bytes(), line.len() as u64, 200)
}

fn number<'a>(lines: &[&'a str], even: fn(&str) -> Cow<'_, str>) -> Numbered<'a> {
    let mut known: HashMap<Cow<'a, str>, u32> = HashMap::new();
    let numbered = lines.iter().map(|line| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(even(line)).or_insert(next)
    });
    let lines = numbered.collect();
    Numbered { known, lines }
}

/// The first place of some numbers among others, looking at each but twice.
fn first_place(within: &[u32], wanted: &[u32]) -> Option<usize> {
    // How much of the front is still right when the next number is wrong (Knuth, Morris, Pratt).
    let mut borders: Vec<usize> = Vec::with_capacity(wanted.len());
    let step = |borders: &[usize], mut matched: usize, number: u32| {
        loop {
            if wanted.get(matched) == Some(&number) {
                return matched + 1;
            }
            match matched.checked_sub(1).and_then(|last| borders.get(last)) {
                Some(shorter) => matched = *shorter,
                None => return 0,
            }
        }
    };
    for (at, number) in wanted.iter().enumerate() {
        let matched = match borders.last() {
            Some(last) if at > 0 => step(&borders, *last, *number),
            _ => 0,
        };
        borders.push(matched);
    }
    let mut matched = 0;
    for (at, number) in within.iter().enumerate() {
        matched = step(&borders, matched, *number);
        if matched == wanted.len() {
            return Some(at + 1 - matched);
        }
    }
    wanted.is_empty().then_some(0)
}

/// A line with typographic characters taken for the ones on a keyboard.
fn plain(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    if line.is_ascii() {
        return line.into();
    }
    let even = |character| match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    line.chars().map(even).collect::<String>().into()
}
