//! The question whether a call may run: what is shown of it, and which keys answer it.
//!
//! A yes needs the end of the command to have been on the screen, and its keys to have been typed after that could be read. A
//! paste answers nothing.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use gate::approval::{Answer, Decision};

use crate::entry::{Ink, Row};
use crate::guard::Guard;
use crate::question::Question;
use crate::scroll::Scroll;
use crate::wrap::{self, Break};

const LABEL: usize = 9;
/// Below this the labels stand on rows of their own.
const NARROW: usize = 40;

/// Which side of the question is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Question,
    Explanation,
    Always,
}

/// A question on the screen.
#[derive(Debug)]
pub(crate) struct ApprovalPanel {
    pub(crate) question: Question,
    pub(crate) deadline: Duration,
    pub(crate) guard: Guard,
    pub(crate) scroll: Scroll,
    view: View,
    typed: String,
    hint: Option<&'static str>,
    /// The end of the command was on the screen.
    seen: bool,
    laid: Option<(usize, View, Vec<Row>)>,
    /// The row of the command's end in what is laid out.
    end: usize,
}

impl ApprovalPanel {
    pub(crate) fn new(question: Question, deadline: Duration) -> ApprovalPanel {
        ApprovalPanel {
            question,
            deadline,
            guard: Guard::default(),
            scroll: Scroll::default(),
            view: View::Question,
            typed: String::new(),
            hint: None,
            seen: false,
            laid: None,
            end: 0,
        }
    }

    /// What a key answers.
    pub(crate) fn key(&mut self, key: KeyEvent, now: Duration, by: &str) -> Option<Answer> {
        self.hint = None;
        if self.scroll.key(key) {
            return None;
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return None;
        }
        // INVARIANT: nothing typed before the question could be read answers it.
        if !self.guard.counts(now) {
            self.hint = Some("typed too soon: read it first");
            return None;
        }
        let answer = |decision| {
            let answer = Answer::new(decision, by);
            Some(match &self.question.key {
                Some(key) => answer.to(key),
                None => answer,
            })
        };
        let letter = match key.code {
            KeyCode::Char(letter) => Some(letter.to_ascii_lowercase()),
            _ => None,
        };
        match (self.view, key.code, letter) {
            (View::Always, _, Some('y')) => return answer(Decision::ApprovedAlways),
            (View::Always | View::Explanation, KeyCode::Esc, _) | (View::Always, _, Some('n')) => {
                self.turn_to(View::Question);
            }
            (View::Always, _, _) => self.hint = Some("y saves the rule, n goes back"),
            (View::Explanation, _, Some('e')) => self.turn_to(View::Question),
            (View::Question, _, Some('e')) if self.typed.is_empty() => self.turn_to(View::Explanation),
            (_, _, Some('n')) if self.typed.is_empty() => return answer(Decision::Denied),
            (_, _, Some('q')) if self.typed.is_empty() => return answer(Decision::Abort),
            (View::Explanation, _, _) => self.hint = Some("e goes back to the question"),
            _ if self.question.confirmation.is_some() => return self.confirm(key.code, by),
            (_, _, Some('y' | 's' | 'a')) if !self.seen => {
                self.hint = Some("read on to the command's end first");
                self.scroll.down(self.scroll.page());
            }
            (_, _, Some('y')) => return answer(Decision::Approved),
            (_, _, Some('s')) if self.question.session => return answer(Decision::ApprovedForSession),
            (_, _, Some('a')) if self.question.always.is_some() => self.turn_to(View::Always),
            (_, _, Some('s' | 'a')) => self.hint = Some("that is not offered for this call"),
            _ => self.hint = Some("that is no answer"),
        }
        None
    }

    /// The words for what cannot be undone.
    fn confirm(&mut self, code: KeyCode, by: &str) -> Option<Answer> {
        let words = self.question.confirmation?;
        match code {
            KeyCode::Char(character) if self.typed.len() < 64 => self.typed.push(character),
            KeyCode::Backspace => {
                self.typed.pop();
            }
            KeyCode::Esc => self.typed.clear(),
            KeyCode::Enter if !self.seen => {
                self.hint = Some("read on to the command's end first");
                self.scroll.down(self.scroll.page());
            }
            KeyCode::Enter if self.typed.trim() == words => {
                let answer = Answer::new(Decision::Approved, by).typing(words);
                return Some(match &self.question.key {
                    Some(key) => answer.to(key),
                    None => answer,
                });
            }
            KeyCode::Enter => {
                self.typed.clear();
                self.hint = Some("only the typed words approve this; n is no");
            }
            _ => {}
        }
        None
    }

    /// A paste answers nothing.
    pub(crate) const fn pasted(&mut self) {
        self.hint = Some("a paste answers nothing");
    }

    /// Whether a key would be a letter of what is being typed.
    pub(crate) fn is_typing(&self) -> bool {
        !self.typed.is_empty()
    }

    /// The keys that mean something now.
    pub(crate) fn keys(&self) -> Vec<(&'static str, &'static str)> {
        let mut keys = Vec::new();
        match self.view {
            View::Always => return vec![("y", "save it"), ("n", "back"), ("PgDn", "more")],
            View::Explanation => keys.push(("e", "back")),
            View::Question => {
                if self.question.confirmation.is_none() {
                    keys.push(("y", "once"));
                }
            }
        }
        if self.view == View::Question && self.is_typing() {
            return vec![("Enter", "confirm"), ("Esc", "clear")];
        }
        keys.push(("n", "no"));
        if self.view == View::Question {
            if self.question.session {
                keys.push(("s", "session"));
            }
            if self.question.always.is_some() {
                keys.push(("a", "always"));
            }
            keys.push(("e", "explain"));
        }
        keys.push(("q", "no, stop"));
        if self.scroll.is_needed() {
            keys.push(("PgDn", "more"));
        }
        keys.push(("?", "help"));
        keys
    }

    /// The line beneath the question: what must be typed, or what was wrong.
    pub(crate) fn line(&self, now: Duration) -> Option<(Ink, String)> {
        if let Some(hint) = self.hint {
            return Some((Ink::Waits, hint.to_owned()));
        }
        match (self.question.confirmation, self.view) {
            (Some(words), View::Question) => {
                Some((Ink::Bad, format!("type {words}: {}_", gate::call::visible(&self.typed))))
            }
            _ if !self.guard.is_open(now) => Some((Ink::Dim, "…".to_owned())),
            _ => None,
        }
    }

    /// What is in sight. The panel knows from it whether the end of the command was.
    pub(crate) fn rows(&mut self, width: usize, height: usize) -> Vec<Row> {
        let fresh = matches!(&self.laid, Some((of, view, _)) if *of == width && *view == self.view);
        if !fresh {
            let rows = match self.view {
                View::Question => self.lay_question(width),
                View::Explanation => self.lay_explanation(width),
                View::Always => self.lay_always(width),
            };
            self.laid = Some((width, self.view, rows));
        }
        let Some((_, _, rows)) = &self.laid else { return Vec::new() };
        let first = self.scroll.fit(rows.len(), height);
        if self.view == View::Question && height > 0 && (first..first + height).contains(&self.end) {
            self.seen = true;
        }
        rows.iter().skip(first).take(height).cloned().collect()
    }

    /// How many rows the whole of it takes.
    pub(crate) fn wanted(&mut self, width: usize) -> usize {
        self.rows(width, 0);
        self.laid.as_ref().map_or(0, |(_, _, rows)| rows.len())
    }

    fn turn_to(&mut self, view: View) {
        self.view = view;
        self.scroll = Scroll::default();
        // Another text must be read before keys answer it.
        self.guard.restart();
    }

    fn lay_question(&mut self, width: usize) -> Vec<Row> {
        let question = &self.question;
        let mut rows = Vec::new();
        let wants = format!("{} wants to use {}", question.principal, question.tool);
        // Where there is little room the command comes first.
        if width >= NARROW {
            prose(&mut rows, width, &format!("{wants}:"));
        }
        block(&mut rows, width, &question.what);
        self.end = rows.len().saturating_sub(1);
        if width < NARROW {
            prose(&mut rows, width, &wants);
        }
        for (at, effect) in question.effects.iter().enumerate() {
            field(&mut rows, width, if at == 0 { "would" } else { "" }, effect);
        }
        field(&mut rows, width, "risk", &question.risk);
        field(&mut rows, width, "because", &question.reason);
        field(&mut rows, width, "rule", &question.rule);
        if let Some(place) = &question.place {
            field(&mut rows, width, "in", place);
        }
        rows
    }

    fn lay_explanation(&self, width: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        for (title, text) in &self.question.more {
            prose(&mut rows, width, title);
            block(&mut rows, width, text);
        }
        rows
    }

    fn lay_always(&self, width: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        if let Some((rule, radius)) = &self.question.always {
            prose(&mut rows, width, "This rule would be added to your configuration:");
            block(&mut rows, width, rule);
            for line in radius {
                prose(&mut rows, width, line);
            }
            prose(&mut rows, width, "Save it?");
        }
        rows
    }
}

/// Words of our own.
fn prose(rows: &mut Vec<Row>, width: usize, text: &str) {
    for text in wrap::rows(text, width, Break::Words) {
        rows.push(Row { text: text.to_owned(), ink: Ink::Plain });
    }
}

/// Text that is not ours, with a bar at its left, so that no line of it can pass for one of the panel.
fn block(rows: &mut Vec<Row>, width: usize, text: &str) {
    for line in text.split('\n') {
        let line = line.replace('\t', "    ");
        for text in wrap::rows(&line, width.saturating_sub(2), Break::Columns) {
            rows.push(Row { text: format!("│ {text}"), ink: Ink::Strong });
        }
    }
}

fn field(rows: &mut Vec<Row>, width: usize, name: &str, text: &str) {
    let narrow = width < NARROW;
    if narrow && !name.is_empty() {
        rows.push(Row { text: format!("{name}:"), ink: Ink::Dim });
    }
    let indent = if narrow { 1 } else { LABEL };
    for (at, text) in wrap::rows(text, width.saturating_sub(indent), Break::Words).iter().enumerate() {
        let label = if at == 0 && !narrow { name } else { "" };
        rows.push(Row { text: format!("{label:<indent$}{text}"), ink: Ink::Plain });
    }
}
