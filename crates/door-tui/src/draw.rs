//! The screen on cells. Whatever the size, nothing is drawn outside of it; what there is no room for goes in this order: the plan at
//! the side, the status, the keys' words, the input's further rows, and last the transcript.

use std::time::Duration;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::entry::{Ink, Row};
use crate::happening::StepStatus;
use crate::keys;
use crate::screen::{Overlay, Panel, Screen};
use crate::wrap::{self, Break};

/// From this width on the plan stands at the side.
const WIDE: u16 = 110;
const PLAN_WIDTH: u16 = 38;
/// The most rows of what is being written.
const MOST_INPUT: usize = 6;
/// The rows around a question.
const CHROME: usize = 3;
/// From this height on a question leaves some of the transcript in sight.
const TALL: usize = 18;

impl Screen {
    /// Draws everything.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let cursor = self.paint(frame.buffer_mut(), area);
        if let Some(cursor) = cursor {
            frame.set_cursor_position(cursor);
        }
    }

    fn paint(&mut self, buffer: &mut Buffer, area: Rect) -> Option<Position> {
        let mut page = Page { buffer, area, next: 0 };
        let height = usize::from(area.height);
        if area.width == 0 || height == 0 {
            return None;
        }
        match (self.overlay, self.pending.is_empty()) {
            (Some((overlay, _)), _) => {
                self.paint_overlay(&mut page, overlay);
                None
            }
            (None, false) => self.paint_question(&mut page),
            (None, true) => self.paint_work(&mut page),
        }
    }

    /// The transcript, the status, what is being written, the keys.
    fn paint_work(&mut self, page: &mut Page<'_>) -> Option<Position> {
        let (width, height) = page.size();
        let keys = keys::rows(&self.keys(), width, 1);
        let keys_rows = usize::from(height >= 3);
        let status_rows = usize::from(height >= 4);
        let room = height.saturating_sub(keys_rows + status_rows + 1);
        let (input, at) = self.input.rows(width.saturating_sub(2), MOST_INPUT.min(room / 2).max(1));
        let above = height.saturating_sub(keys_rows + status_rows + input.len());
        self.paint_transcript(page, above);
        if status_rows > 0 {
            let status = self.status(width);
            page.put(&status, self.theme.status());
        }
        let first = page.next;
        for (row, text) in input.iter().enumerate() {
            let mark = if row == 0 { "> " } else { "  " };
            page.put(&format!("{mark}{text}"), Style::new());
        }
        if keys_rows > 0 {
            self.paint_keys(page, &keys);
        }
        page.position(first + at.0, 2 + at.1)
    }

    fn paint_transcript(&mut self, page: &mut Page<'_>, height: usize) {
        let side = !self.plan.is_empty() && page.area.width >= WIDE;
        let width = if side { page.area.width - PLAN_WIDTH } else { page.area.width };
        let start = page.next;
        let (rows, below) = self.transcript.rows(usize::from(width), height, self.now);
        let empty = height.saturating_sub(rows.len());
        page.next += empty;
        for row in &rows {
            page.put_in(width, &row.text, self.theme.ink(row.ink));
        }
        self.below = below;
        if side {
            let style = self.theme.ink(Ink::Dim);
            for row in 0..height {
                page.put_at(start + row, width, "│", style);
            }
            let rows = self.plan_rows(usize::from(PLAN_WIDTH) - 2);
            for (at, row) in rows.iter().take(height).enumerate() {
                page.put_at(start + at, width + 2, &row.text, self.theme.ink(row.ink));
            }
        }
        page.next = start + height;
    }

    /// A question: as much of it as there is room for, with its keys always in sight.
    fn paint_question(&mut self, page: &mut Page<'_>) -> Option<Position> {
        let (width, height) = page.size();
        let (waiting, now) = (self.pending.len(), self.now);
        let (who_asks, wanted, level, deadline, place, line, input) = match self.pending.front_mut()? {
            Panel::Approval(panel) => {
                let wanted = panel.wanted(width);
                // The keys depend on whether there is more than is in sight.
                panel.scroll.expect(wanted, height.saturating_sub(CHROME));
                let level = panel.question.level;
                let critical = panel.question.confirmation.is_some();
                let level = if critical { "CRITICAL" } else { level };
                let line = panel.line(now);
                ("bailiwick asks", wanted, level, Some(panel.deadline), String::new(), line, None)
            }
            Panel::Human(panel) => {
                let wanted = panel.wanted(width);
                let input = panel
                    .takes_words()
                    .then(|| panel.input.rows(width.saturating_sub(2), (height / 4).clamp(1, MOST_INPUT)));
                ("the agent asks", wanted, "", panel.deadline, panel.place(), panel.line(), input)
            }
        };
        let keys = keys::rows(&self.keys(), width, if height >= 8 { 2 } else { 1 });
        let status_rows = usize::from(height >= 8);
        let title_rows = usize::from(height >= 3);
        let line_rows = usize::from(height >= 4);
        let input_rows = input.as_ref().map_or(0, |(rows, _)| rows.len()).min(height / 3);
        let keys_rows = keys.len().min(height.saturating_sub(1));
        let chrome = title_rows + line_rows + input_rows + keys_rows + status_rows;
        let most = height.saturating_sub(chrome).max(usize::from(height == 1));
        let body = if height >= TALL { wanted.min(most.saturating_sub(height / 4)) } else { most };
        let above = height.saturating_sub(chrome + body);
        self.paint_transcript(page, above);
        if title_rows > 0 {
            let seconds = deadline.map(|deadline| format!(" {} s", left(deadline, now)));
            let title = title(who_asks, level, &place, waiting, seconds.as_deref().unwrap_or(""), width);
            let style = if level.is_empty() { self.theme.status() } else { self.theme.level(level) };
            page.put(&format!("{title:<width$}"), style);
        }
        let rows = match self.pending.front_mut()? {
            Panel::Approval(panel) => panel.rows(width, body),
            Panel::Human(panel) => panel.rows(width, body),
        };
        let start = page.next;
        for row in &rows {
            page.put(&row.text, self.theme.ink(row.ink));
        }
        page.next = start + body;
        let scroll = match self.pending.front()? {
            Panel::Approval(panel) => panel.scroll,
            Panel::Human(panel) => panel.scroll,
        };
        if line_rows > 0 {
            let more = match (scroll.above(), scroll.below()) {
                (0, 0) => String::new(),
                (0, below) => format!("↓{below} "),
                (above, 0) => format!("↑{above} "),
                (above, below) => format!("↑{above} ↓{below} "),
            };
            let (ink, text) = line.unwrap_or((Ink::Dim, String::new()));
            page.put(&wrap::squeezed(&format!("{more}{text}"), width), self.theme.ink(ink));
        }
        let mut cursor = None;
        if let Some((rows, at)) = &input {
            let first = page.next;
            for (row, text) in rows.iter().take(input_rows).enumerate() {
                page.put(&format!("{}{text}", if row == 0 { "> " } else { "  " }), Style::new());
            }
            cursor = page.position(first + at.0, 2 + at.1).filter(|_| at.0 < input_rows);
        }
        if status_rows > 0 {
            let status = self.status(width);
            page.put(&status, self.theme.status());
        }
        if height > 1 {
            self.paint_keys(page, keys.get(..keys_rows).unwrap_or_default());
        }
        cursor
    }

    fn paint_overlay(&mut self, page: &mut Page<'_>, overlay: Overlay) {
        let (width, height) = page.size();
        let keys = keys::rows(&self.keys(), width, 1);
        let (title, rows, reach) = match overlay {
            Overlay::Help => ("Keys", help_rows(width), None),
            Overlay::Plan => ("Plan", self.plan_rows(width), None),
            Overlay::Grants => {
                let (rows, reach) = self.grant_rows(width);
                ("Granted to this session", rows, Some(reach))
            }
        };
        let title_rows = usize::from(height >= 3);
        let keys_rows = usize::from(height >= 2);
        let body = height.saturating_sub(title_rows + keys_rows);
        let first = match &mut self.overlay {
            Some((_, scroll)) => {
                if let Some(row) = reach {
                    scroll.reach(row, body);
                }
                scroll.fit(rows.len(), body)
            }
            None => 0,
        };
        if title_rows > 0 {
            page.put(&format!("{:<width$}", wrap::squeezed(title, width)), self.theme.status());
        }
        for row in rows.iter().skip(first).take(body) {
            page.put(&row.text, self.theme.ink(row.ink));
        }
        page.next = title_rows + body;
        if keys_rows > 0 {
            self.paint_keys(page, &keys);
        }
    }

    fn paint_keys(&self, page: &mut Page<'_>, keys: &[String]) {
        for row in keys {
            page.put(row, self.theme.ink(Ink::Dim));
        }
    }

    /// Where things stand, as much as fits: the mode first.
    fn status(&self, width: usize) -> String {
        let mut parts = vec![self.mode.name().to_owned()];
        if let (Some(until), Some(mode)) = (self.mode_until, parts.first_mut()) {
            let left = left(until, self.now);
            *mode =
                if left >= 120 { format!("{mode} {} min", left / 60) } else { format!("{mode} {left} s") };
        }
        if let Some(remark) = self.remark() {
            parts.push(remark.to_owned());
        } else if let Some(ok) = self.ended {
            parts.push(if ok { "the run is over".into() } else { "the run failed".into() });
        } else if self.working {
            let frame = ["|", "/", "-", "\\"];
            let turn = usize::try_from(self.now.as_millis() / 250).unwrap_or(0) % frame.len();
            parts.push(format!("step {} {}", self.step, frame.get(turn).copied().unwrap_or("|")));
        }
        if self.below > 0 {
            parts.push(format!("↓ {} rows", self.below));
        }
        let done = self.plan.iter().filter(|step| step.status == StepStatus::Completed).count();
        if !self.plan.is_empty() {
            parts.push(format!("plan {done}/{}", self.plan.len()));
        }
        if self.tokens != (0, 0) {
            parts.push(format!("{} in {} out", thousands(self.tokens.0), thousands(self.tokens.1)));
        }
        if let Some(share) = self.context.0.saturating_mul(100).checked_div(self.context.1) {
            parts.push(format!("context {share}%"));
        }
        if !self.model.is_empty() {
            parts.push(self.model.clone());
        }
        let mut status = String::new();
        for part in parts {
            let wanted = if status.is_empty() { format!(" {part}") } else { format!("{status} · {part}") };
            if wrap::columns(&wanted) > width {
                if status.is_empty() {
                    status = wrap::fitting(&wanted, width).to_owned();
                }
                break;
            }
            status = wanted;
        }
        let padding = width.saturating_sub(wrap::columns(&status));
        format!("{status}{}", " ".repeat(padding))
    }

    fn plan_rows(&self, width: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        for step in &self.plan {
            let (mark, ink) = match step.status {
                StepStatus::Pending => ("[ ] ", Ink::Plain),
                StepStatus::InProgress => ("[>] ", Ink::Waits),
                StepStatus::Completed => ("[x] ", Ink::Dim),
            };
            let lines = wrap::rows(&step.step, width.saturating_sub(4), Break::Words);
            for (at, text) in lines.into_iter().enumerate() {
                let mark = if at == 0 { mark } else { "    " };
                rows.push(Row { text: format!("{mark}{text}"), ink });
            }
        }
        if rows.is_empty() {
            rows.push(Row { text: "There is no plan.".into(), ink: Ink::Dim });
        }
        rows
    }

    fn grant_rows(&self, width: usize) -> (Vec<Row>, usize) {
        let mut rows = Vec::new();
        let mut reach = 0;
        for (at, grant) in self.grants.iter().enumerate() {
            let ink = if at == self.chosen_grant { Ink::Selected } else { Ink::Plain };
            let minutes = grant.left.as_secs().div_ceil(60);
            let text = format!("{} {minutes} min {}", grant.kind, gate::call::visible(&grant.what));
            for (row, text) in
                wrap::rows(&text, width.saturating_sub(2), Break::Columns).into_iter().enumerate()
            {
                let mark = if row == 0 { "- " } else { "  " };
                rows.push(Row { text: format!("{mark}{text}"), ink });
            }
            if at == self.chosen_grant {
                reach = rows.len().saturating_sub(1);
            }
        }
        if rows.is_empty() {
            rows.push(Row { text: "Nothing is granted.".into(), ink: Ink::Dim });
        }
        (rows, reach)
    }
}

fn help_rows(width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (key, meaning) in keys::HELP {
        if key.is_empty() {
            for text in wrap::rows(meaning, width, Break::Words) {
                rows.push(Row { text: text.to_owned(), ink: Ink::Strong });
            }
            continue;
        }
        let text = if width >= 60 { format!("  {key:<26}{meaning}") } else { format!("{key}: {meaning}") };
        for text in wrap::rows(&text, width, Break::Words) {
            rows.push(Row { text: text.to_owned(), ink: Ink::Plain });
        }
    }
    rows
}

/// The title of a question: how grave it is and how long it waits, and the rest where it fits.
fn title(who: &str, level: &str, place: &str, waiting: usize, left: &str, width: usize) -> String {
    let others = if waiting > 1 { format!(" +{}", waiting - 1) } else { String::new() };
    let level = if level.is_empty() { String::new() } else { format!(" {level}") };
    let long = format!("{level} {who}{place}{others}{left}");
    let short = format!("{level}{place}{others}{left}");
    if wrap::columns(&long) <= width { long } else { wrap::fitting(&short, width).to_owned() }
}

fn left(until: Duration, now: Duration) -> u64 {
    until.saturating_sub(now).as_secs_f64().ceil() as u64
}

fn thousands(count: u64) -> String {
    if count < 1000 { count.to_string() } else { format!("{}.{}k", count / 1000, count % 1000 / 100) }
}

/// Rows of an area, from above.
struct Page<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    next: usize,
}

impl Page<'_> {
    fn size(&self) -> (usize, usize) {
        (usize::from(self.area.width), usize::from(self.area.height))
    }

    /// The next row.
    fn put(&mut self, text: &str, style: Style) {
        self.put_in(self.area.width, text, style);
    }

    /// The next row, not wider than this.
    fn put_in(&mut self, width: u16, text: &str, style: Style) {
        self.write(self.next, 0, width, text, style);
        self.next += 1;
    }

    fn put_at(&mut self, row: usize, column: u16, text: &str, style: Style) {
        self.write(row, column, self.area.width.saturating_sub(column), text, style);
    }

    fn write(&mut self, row: usize, column: u16, width: u16, text: &str, style: Style) {
        if let Some(place) = self.position(row, usize::from(column)) {
            self.buffer.set_stringn(place.x, place.y, text, usize::from(width), style);
        }
    }

    /// A cell, if it is inside.
    fn position(&self, row: usize, column: usize) -> Option<Position> {
        let inside = row < usize::from(self.area.height) && column < usize::from(self.area.width);
        let (row, column) = (u16::try_from(row).ok()?, u16::try_from(column).ok()?);
        inside.then(|| Position::new(self.area.x + column, self.area.y + row))
    }
}
