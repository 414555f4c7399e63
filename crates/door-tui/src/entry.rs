//! One thing in the transcript, and the rows that it takes.

use std::time::Duration;

use gate::call::{visible, visible_lines};

use crate::body::Body;
use crate::wrap::{self, Break};

/// How many rows of output are in sight while it is folded.
const FOLDED: usize = 4;
/// How many rows of a command are, half of them from its end.
const FOLDED_COMMAND: usize = 4;

/// What a row is, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    Strong,
    User,
    Dim,
    Output,
    Good,
    Bad,
    Waits,
    Selected,
}

/// A row of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) text: String,
    pub(crate) ink: Ink,
}

impl Row {
    fn new(ink: Ink, text: impl Into<String>) -> Row {
        Row { text: text.into(), ink }
    }
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Proposed,
    Allowed,
    Asking,
    Running,
    Done,
    Failed,
    Denied,
}

/// An entry.
#[derive(Debug)]
pub(crate) enum Entry {
    User(Body),
    Model { body: Body, done: bool },
    Tool(Box<ToolEntry>),
    Notice(Body),
}

impl Entry {
    pub(crate) fn user(text: &str) -> Entry {
        Entry::User(Body::of(Break::Words, text))
    }

    pub(crate) fn model(text: &str) -> Entry {
        Entry::Model { body: Body::of(Break::Words, text), done: false }
    }

    pub(crate) fn notice(text: &str) -> Entry {
        Entry::Notice(Body::of(Break::Words, text))
    }

    /// Whether it can be opened and folded.
    pub(crate) fn folds(&self) -> bool {
        matches!(self, Entry::Tool(_))
    }

    /// How many rows it takes; the last one is empty.
    pub(crate) fn rows(&mut self, width: usize, now: Duration) -> usize {
        match self {
            Entry::User(body) | Entry::Model { body, .. } | Entry::Notice(body) => {
                body.rows(width.saturating_sub(2)) + 1
            }
            Entry::Tool(tool) => tool.rows(width, now) + 1,
        }
    }

    /// Some of its rows, after they were counted for this width.
    pub(crate) fn slice(&self, first: usize, most: usize, width: usize, now: Duration) -> Vec<Row> {
        let (body, mark, ink) = match self {
            Entry::User(body) => (body, "> ", Ink::User),
            Entry::Model { body, .. } => (body, "  ", Ink::Plain),
            Entry::Notice(body) => (body, "· ", Ink::Dim),
            Entry::Tool(tool) => {
                let mut rows = tool.slice(first, most, width, now);
                if rows.len() < most {
                    rows.push(Row::new(Ink::Plain, ""));
                }
                return rows;
            }
        };
        let mut rows: Vec<Row> = Vec::new();
        for (at, text) in body.slice(first, most).into_iter().enumerate() {
            let mark = if at == 0 && first == 0 { mark } else { "  " };
            rows.push(Row::new(ink, format!("{mark}{text}")));
        }
        if rows.len() < most {
            rows.push(Row::new(Ink::Plain, ""));
        }
        rows
    }
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct ToolEntry {
    call: String,
    tool: String,
    what: String,
    why: String,
    verdict: Verdict,
    how: String,
    started: Option<Duration>,
    output: Body,
    /// Rows of output, and how many of them are folded, as they were counted last.
    shown: (usize, usize),
    /// Rows before the output: for a width, open or folded.
    counted: Option<(usize, bool, usize)>,
    pub(crate) open: bool,
}

impl ToolEntry {
    pub(crate) fn new(call: &str, tool: &str) -> ToolEntry {
        ToolEntry {
            call: call.to_owned(),
            tool: visible(tool),
            what: String::new(),
            why: String::new(),
            verdict: Verdict::Proposed,
            how: String::new(),
            started: None,
            output: Body::new(Break::Columns),
            shown: (0, 0),
            counted: None,
            open: false,
        }
    }

    pub(crate) fn is(&self, call: &str) -> bool {
        self.call == call
    }

    pub(crate) const fn is_under_way(&self) -> bool {
        match self.verdict {
            Verdict::Proposed | Verdict::Allowed | Verdict::Asking | Verdict::Running => true,
            Verdict::Done | Verdict::Failed | Verdict::Denied => false,
        }
    }

    pub(crate) fn judged(&mut self, what: &str, verdict: Verdict, reason: &str, rule: &str) {
        self.counted = None;
        self.what = visible_lines(what);
        self.verdict = verdict;
        let rule = if rule.is_empty() { String::new() } else { format!(" ({})", visible(rule)) };
        self.why = match verdict {
            Verdict::Asking | Verdict::Denied => format!("{}{rule}", visible(reason)),
            _ => String::new(),
        };
    }

    pub(crate) fn settled(&mut self, approved: bool, note: &str) {
        self.counted = None;
        self.verdict = if approved { Verdict::Allowed } else { Verdict::Denied };
        let note = visible(note);
        self.why = if self.why.is_empty() { note } else { format!("{}: {note}", self.why) };
    }

    pub(crate) const fn runs(&mut self, now: Duration) {
        self.verdict = Verdict::Running;
        self.started = Some(now);
    }

    pub(crate) fn wrote(&mut self, text: &str) {
        self.output.push(text);
    }

    pub(crate) fn finish(&mut self, verdict: Verdict, how: &str, result: &str) {
        self.how = visible(how);
        // What was denied stays so, and why is said already.
        if self.verdict == Verdict::Denied && !self.why.is_empty() {
            return;
        }
        self.verdict = verdict;
        if self.output.is_empty() || verdict != Verdict::Done {
            self.output.push(result);
        }
    }

    fn head(&self, width: usize, now: Duration) -> Vec<Row> {
        let (mark, ink, state) = match self.verdict {
            Verdict::Proposed => ("○", Ink::Dim, "proposed".to_owned()),
            Verdict::Allowed => ("○", Ink::Good, "allowed".to_owned()),
            Verdict::Asking => ("?", Ink::Waits, "asks".to_owned()),
            Verdict::Running => {
                let since = self.started.map_or(0, |started| now.saturating_sub(started).as_secs());
                ("●", Ink::Good, if since == 0 { "runs".to_owned() } else { format!("runs, {since} s") })
            }
            Verdict::Done => ("✓", Ink::Good, self.how.clone()),
            Verdict::Failed => ("✗", Ink::Bad, self.how.clone()),
            Verdict::Denied => ("✗", Ink::Bad, "denied".to_owned()),
        };
        let mut rows = vec![Row::new(ink, wrap::squeezed(&format!("{mark} {} · {state}", self.tool), width))];
        let room = width.saturating_sub(4);
        let lines = self.what.split('\n').filter(|_| !self.what.is_empty());
        let command: Vec<&str> = lines.flat_map(|line| wrap::rows(line, room, Break::Columns)).collect();
        let hidden = if self.open { 0 } else { command.len().saturating_sub(FOLDED_COMMAND) };
        let half = FOLDED_COMMAND / 2;
        for (at, text) in command.iter().enumerate() {
            if hidden > 0 && at == half {
                rows.push(Row::new(Ink::Dim, format!("  … {hidden} rows folded")));
            }
            if hidden == 0 || at < half || at >= half + hidden {
                rows.push(Row::new(Ink::Plain, format!("  │ {text}")));
            }
        }
        if !self.why.is_empty() {
            let why: Vec<&str> = wrap::rows(&self.why, width.saturating_sub(2), Break::Words);
            let ink = if self.verdict == Verdict::Denied { Ink::Bad } else { Ink::Dim };
            rows.extend(why.iter().map(|text| Row::new(ink, format!("  {text}"))));
        }
        rows
    }

    /// How many rows of output are left out above those in sight.
    fn folded(&self, rows: usize) -> usize {
        if self.open { 0 } else { rows.saturating_sub(FOLDED) }
    }

    fn rows(&mut self, width: usize, now: Duration) -> usize {
        let output = self.output.rows(width.saturating_sub(4));
        let folded = self.folded(output);
        let note = usize::from(folded > 0 || self.output.shed() > 0);
        self.shown = (output, folded);
        let head = match self.counted {
            Some((of_width, open, rows)) if of_width == width && open == self.open => rows,
            _ => {
                let rows = self.head(width, now).len();
                self.counted = Some((width, self.open, rows));
                rows
            }
        };
        head + note + output - folded
    }

    fn slice(&self, first: usize, most: usize, width: usize, now: Duration) -> Vec<Row> {
        let (output, folded) = self.shown;
        let mut head = self.head(width, now);
        let lines = self.output.line_count();
        if folded > 0 {
            head.push(Row::new(Ink::Dim, wrap::squeezed(&format!("  … {lines} lines, ^O opens"), width)));
        } else if self.output.shed() > 0 {
            let text = format!("  … {} lines before are not kept", self.output.shed());
            head.push(Row::new(Ink::Dim, wrap::squeezed(&text, width)));
        }
        let count = head.len();
        let mut rows: Vec<Row> = head.into_iter().skip(first).take(most).collect();
        let left = most - rows.len();
        let start = folded + first.saturating_sub(count);
        if left > 0 && start < output {
            let some = self.output.slice(start, left.min(output - start));
            rows.extend(some.into_iter().map(|text| Row::new(Ink::Output, format!("    {text}"))));
        }
        rows
    }
}
