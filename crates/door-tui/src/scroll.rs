//! Which rows of a text are in sight.

use crossterm::event::{KeyCode, KeyEvent};

/// A place in a text that may be longer than its window.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Scroll {
    first: usize,
    total: usize,
    height: usize,
}

impl Scroll {
    /// Whether a key moved it.
    pub(crate) fn key(&mut self, key: KeyEvent) -> bool {
        match key.code {
            KeyCode::Up => self.up(1),
            KeyCode::Down => self.down(1),
            KeyCode::PageUp => self.up(self.page()),
            KeyCode::PageDown => self.down(self.page()),
            KeyCode::Home => self.first = 0,
            KeyCode::End => self.first = usize::MAX,
            _ => return false,
        }
        true
    }

    pub(crate) const fn up(&mut self, rows: usize) {
        self.first = self.first.saturating_sub(rows);
    }

    pub(crate) fn down(&mut self, rows: usize) {
        self.first = self.first.saturating_add(rows).min(self.total.saturating_sub(self.height));
    }

    /// So many rows, up where it is negative.
    pub(crate) fn by(&mut self, rows: i32) {
        let count = usize::try_from(rows.unsigned_abs()).unwrap_or(usize::MAX);
        if rows < 0 { self.up(count) } else { self.down(count) }
    }

    /// A page: every row is in sight once.
    pub(crate) fn page(&self) -> usize {
        self.height.saturating_sub(1).max(1)
    }

    /// The first row in sight, for a text of so many rows and a window of this height. A window without rows changes nothing.
    pub(crate) fn fit(&mut self, total: usize, height: usize) -> usize {
        if height == 0 {
            return 0;
        }
        (self.total, self.height) = (total, height);
        self.first = self.first.min(total.saturating_sub(height));
        self.first
    }

    /// About how much there will be, and of it in sight. Nothing moves: only what is drawn says how far one can go.
    pub(crate) const fn expect(&mut self, total: usize, height: usize) {
        (self.total, self.height) = (total, height);
    }

    /// Makes a row be in sight.
    pub(crate) fn reach(&mut self, row: usize, height: usize) {
        if row < self.first {
            self.first = row;
        } else if row >= self.first.saturating_add(height) {
            self.first = (row + 1).saturating_sub(height);
        }
    }

    /// Whether not everything is in sight.
    pub(crate) const fn is_needed(&self) -> bool {
        self.total > self.height
    }

    /// How many rows are below.
    pub(crate) const fn below(&self) -> usize {
        self.total.saturating_sub(self.first.saturating_add(self.height))
    }

    /// How many rows are above.
    pub(crate) const fn above(&self) -> usize {
        self.first
    }
}
