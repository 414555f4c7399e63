//! Everything that was said and done, from the top: entries that know their rows, and which of them are on the screen.

use std::time::Duration;

use crate::entry::{Entry, Ink, Row, ToolEntry, Verdict};

/// The most entries that are kept; then the oldest go.
const MOST: usize = 4_000;

/// The transcript.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    entries: Vec<Entry>,
    /// How many entries are no longer kept: an entry's number never changes.
    shed: usize,
    /// The row at the top of the screen, by entry, or the end.
    top: Option<(usize, usize)>,
    /// The call that is selected.
    selected: Option<usize>,
    /// As it was drawn last.
    height: usize,
    width: usize,
    nowhere: Option<ToolEntry>,
}

impl Transcript {
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        if self.entries.len() > MOST {
            let gone = MOST / 10;
            self.entries.drain(..gone);
            self.shed += gone;
        }
    }

    /// The model's words of this step, to be continued.
    pub(crate) fn said(&mut self, text: &str) {
        match self.entries.last_mut() {
            Some(Entry::Model { body, done: false, .. }) => body.push(text),
            _ => {
                let text = text.trim_start_matches('\n');
                if !text.is_empty() {
                    self.push(Entry::model(text));
                }
            }
        }
    }

    /// The model's words of this step are complete.
    pub(crate) fn said_all(&mut self) {
        if let Some(Entry::Model { done, .. }) = self.entries.last_mut() {
            *done = true;
        }
    }

    /// The model's words of this step count for nothing.
    pub(crate) fn take_back(&mut self) {
        if matches!(self.entries.last(), Some(Entry::Model { done: false, .. })) {
            self.entries.pop();
        }
    }

    /// The entry of a call; it is made where there is none.
    pub(crate) fn tool(&mut self, call: &str, tool: &str) -> &mut ToolEntry {
        self.said_all();
        let known = |entry: &Entry| matches!(entry, Entry::Tool(known) if known.is(call));
        let at = self.entries.iter().rposition(known).unwrap_or_else(|| {
            self.push(Entry::Tool(Box::new(ToolEntry::new(call, tool))));
            self.entries.len() - 1
        });
        match self.entries.get_mut(at) {
            Some(Entry::Tool(entry)) => entry,
            // It was just found or made there; what is told to this one is not seen.
            _ => self.nowhere.insert(ToolEntry::new(call, tool)),
        }
    }

    /// Calls that did not end: nothing more comes of them.
    pub(crate) fn close_calls(&mut self) {
        for entry in &mut self.entries {
            if let Entry::Tool(tool) = entry
                && tool.is_under_way()
            {
                tool.finish(Verdict::Failed, "broken off", "");
            }
        }
    }

    /// Opens or folds the selected call, or the last one.
    pub(crate) fn toggle(&mut self) {
        let at = self.selected.and_then(|number| number.checked_sub(self.shed));
        let at = at.or_else(|| self.entries.iter().rposition(Entry::folds));
        if let Some(Entry::Tool(tool)) = at.and_then(|at| self.entries.get_mut(at)) {
            tool.open = !tool.open;
        }
    }

    /// Selects the next call, up or down.
    pub(crate) fn select(&mut self, down: bool) {
        let from = self.selected.and_then(|number| number.checked_sub(self.shed));
        let found = match (from, down) {
            (None, _) => self.entries.iter().rposition(Entry::folds),
            (Some(from), true) => {
                let later = self.entries.iter().skip(from + 1).position(Entry::folds);
                later.map(|at| from + 1 + at)
            }
            (Some(from), false) => self.entries.iter().take(from).rposition(Entry::folds).or(Some(from)),
        };
        self.selected = found.map(|at| at + self.shed);
        match found {
            Some(at) => self.top = Some((at + self.shed, 0)),
            None => self.top = None,
        }
    }

    /// Selects nothing.
    pub(crate) const fn unselect(&mut self) {
        self.selected = None;
    }

    pub(crate) const fn has_selection(&self) -> bool {
        self.selected.is_some()
    }

    /// Whether the end is on the screen.
    pub(crate) const fn follows(&self) -> bool {
        self.top.is_none()
    }

    /// To the end, which is then followed.
    pub(crate) const fn follow_end(&mut self) {
        self.top = None;
    }

    /// To the beginning.
    pub(crate) const fn go_to_start(&mut self) {
        self.top = Some((self.shed, 0));
    }

    /// A page, less one row that stays in sight.
    pub(crate) const fn page(&self) -> usize {
        if self.height > 1 { self.height - 1 } else { 1 }
    }

    /// So many rows up or down.
    pub(crate) fn scroll(&mut self, rows: i64) {
        let counts = self.counts(self.width, Duration::ZERO);
        let total: usize = counts.iter().sum();
        let last = total.saturating_sub(self.height);
        let now = self.absolute(&counts).unwrap_or(last);
        let shift = usize::try_from(rows.unsigned_abs()).unwrap_or(usize::MAX);
        let wanted = if rows < 0 { now.saturating_sub(shift) } else { now.saturating_add(shift) };
        if wanted >= last {
            self.top = None;
            return;
        }
        let mut before = 0;
        for (at, count) in counts.iter().enumerate() {
            if wanted < before + count {
                self.top = Some((at + self.shed, wanted - before));
                return;
            }
            before += count;
        }
    }

    /// The rows on the screen, and how many there are below.
    pub(crate) fn rows(&mut self, width: usize, height: usize, now: Duration) -> (Vec<Row>, usize) {
        (self.width, self.height) = (width, height);
        let counts = self.counts(width, now);
        let total: usize = counts.iter().sum();
        let last = total.saturating_sub(height);
        let first = self.absolute(&counts).unwrap_or(last);
        if first >= last {
            // The end is in sight: it is followed, unless somebody looks at a call there.
            if self.selected.is_none() {
                self.top = None;
            }
        }
        let first = first.min(last);
        let mut rows = Vec::with_capacity(height);
        let mut before = 0;
        for (at, (entry, count)) in self.entries.iter().zip(&counts).enumerate() {
            if before + count > first && rows.len() < height {
                let skip = first.saturating_sub(before);
                let mut some = entry.slice(skip, height - rows.len(), width, now);
                if self.selected == Some(at + self.shed)
                    && skip == 0
                    && let Some(head) = some.first_mut()
                {
                    head.ink = Ink::Selected;
                }
                rows.append(&mut some);
            }
            before += count;
            if rows.len() >= height {
                break;
            }
        }
        let below = total.saturating_sub(first + rows.len());
        (rows, below)
    }

    fn counts(&mut self, width: usize, now: Duration) -> Vec<usize> {
        self.entries.iter_mut().map(|entry| entry.rows(width, now)).collect()
    }

    /// The row at the top, from the beginning; `None` at the end.
    fn absolute(&self, counts: &[usize]) -> Option<usize> {
        let (number, row) = self.top?;
        let Some(at) = number.checked_sub(self.shed) else { return Some(0) };
        let before: usize = counts.iter().take(at).sum();
        let here = counts.get(at).copied()?;
        Some(before + row.min(here.saturating_sub(1)))
    }
}
