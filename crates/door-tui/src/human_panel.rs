//! A question of the agent to a person: answers to choose from, words of one's own, or both; one after the other.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use gate::call::{visible, visible_lines};
use gate::tools::{Given, HumanAnswer, HumanQuestion, Item};

use crate::entry::{Ink, Row};
use crate::guard::Guard;
use crate::input::{Input, Typed};
use crate::scroll::Scroll;
use crate::wrap::{self, Break};

/// A question on the screen.
#[derive(Debug)]
pub(crate) struct HumanPanel {
    pub(crate) id: u64,
    pub(crate) deadline: Option<Duration>,
    pub(crate) guard: Guard,
    pub(crate) scroll: Scroll,
    pub(crate) input: Input,
    items: Vec<Item>,
    context: Vec<(String, String)>,
    given: Vec<Given>,
    chosen: usize,
    /// The choice moved and must be in sight.
    moved: bool,
    hint: Option<&'static str>,
}

impl HumanPanel {
    pub(crate) fn new(id: u64, question: &HumanQuestion, deadline: Option<Duration>) -> HumanPanel {
        let context = question.context.iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (visible(name), visible_lines(&text))
        });
        HumanPanel {
            id,
            deadline,
            guard: Guard::default(),
            scroll: Scroll::default(),
            input: Input::default(),
            items: question.items.clone(),
            context: context.collect(),
            given: Vec::new(),
            chosen: 0,
            moved: false,
            hint: None,
        }
    }

    /// What is asked now, and which of how many that is.
    fn item(&self) -> Option<&Item> {
        self.items.get(self.given.len())
    }

    pub(crate) fn place(&self) -> String {
        if self.items.len() > 1 {
            format!(" {}/{}", self.given.len() + 1, self.items.len())
        } else {
            String::new()
        }
    }

    /// What a key answers, once every question is.
    pub(crate) fn key(&mut self, key: KeyEvent, now: Duration) -> Option<HumanAnswer> {
        let Some(item) = self.item().cloned() else { return Some(HumanAnswer::Closed) };
        let (choices, words) = (item.options.len(), item.takes_words());
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::PageUp | KeyCode::PageDown => {
                self.scroll.key(key);
                return None;
            }
            KeyCode::Up | KeyCode::Down if self.input.is_empty() && choices > 0 => {
                let next =
                    if key.code == KeyCode::Up { self.chosen.saturating_sub(1) } else { self.chosen + 1 };
                self.chosen = next.min(choices - 1);
                self.moved = true;
                return None;
            }
            _ => {}
        }
        self.hint = None;
        if !self.guard.counts(now) {
            self.hint = Some("typed too soon: read it first");
            return None;
        }
        match key.code {
            KeyCode::Esc if self.input.is_empty() => return Some(HumanAnswer::Closed),
            KeyCode::Esc => self.input.clear(),
            KeyCode::Char(digit @ '1'..='9') if self.input.is_empty() && choices > 0 && !control => {
                let number = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
                if number <= choices {
                    self.chosen = number.saturating_sub(1);
                    self.moved = true;
                }
            }
            KeyCode::Enter if self.input.is_empty() && choices > 0 => {
                let option = item.options.get(self.chosen)?;
                let given =
                    Given { id: item.id.clone(), choice: Some(self.chosen), text: option.label.clone() };
                return self.gave(given);
            }
            _ if words => {
                if self.input.key(key) == Typed::Send {
                    match item.read(self.input.text()) {
                        Some(given) => return self.gave(given),
                        None => self.hint = Some("that is no answer"),
                    }
                }
            }
            _ => self.hint = Some("choose one of the answers"),
        }
        None
    }

    /// A paste is written, not sent.
    pub(crate) fn pasted(&mut self, text: &str) {
        match self.item() {
            Some(item) if item.takes_words() => self.input.insert(text),
            _ => self.hint = Some("a paste answers nothing"),
        }
    }

    pub(crate) fn keys(&self) -> Vec<(&'static str, &'static str)> {
        let mut keys = Vec::new();
        if self.item().is_some_and(|item| !item.options.is_empty()) {
            keys.push(("↑↓", "choose"));
        }
        keys.push(("Enter", "answer"));
        keys.push(("Esc", if self.input.is_empty() { "no answer" } else { "clear" }));
        if self.scroll.is_needed() {
            keys.push(("PgDn", "more"));
        }
        keys
    }

    /// Whether words can be typed.
    pub(crate) fn takes_words(&self) -> bool {
        self.item().is_some_and(Item::takes_words)
    }

    pub(crate) fn line(&self) -> Option<(Ink, String)> {
        self.hint.map(|hint| (Ink::Waits, hint.to_owned()))
    }

    pub(crate) fn wanted(&mut self, width: usize) -> usize {
        self.lay(width).0.len()
    }

    pub(crate) fn rows(&mut self, width: usize, height: usize) -> Vec<Row> {
        let (rows, chosen) = self.lay(width);
        if std::mem::take(&mut self.moved) {
            self.scroll.reach(chosen, height);
        }
        let first = self.scroll.fit(rows.len(), height);
        rows.into_iter().skip(first).take(height).collect()
    }

    fn gave(&mut self, given: Given) -> Option<HumanAnswer> {
        self.given.push(given);
        self.input.clear();
        self.chosen = 0;
        self.scroll = Scroll::default();
        self.guard.restart();
        let done = self.given.len() >= self.items.len();
        done.then(|| HumanAnswer::Answers(std::mem::take(&mut self.given)))
    }

    fn lay(&self, width: usize) -> (Vec<Row>, usize) {
        let mut rows = Vec::new();
        let mut put = |text: &str, indent: &str, ink| {
            let room = width.saturating_sub(wrap::columns(indent));
            for (at, text) in wrap::rows(text, room, Break::Words).into_iter().enumerate() {
                let lead = if at == 0 { indent.to_owned() } else { " ".repeat(wrap::columns(indent)) };
                rows.push(Row { text: format!("{lead}{text}"), ink });
            }
            rows.len()
        };
        let Some(item) = self.item() else { return (rows, 0) };
        if let Some(header) = &item.header {
            put(&visible(header), "", Ink::Strong);
        }
        for line in visible_lines(&item.question).split('\n') {
            put(line, "", Ink::Plain);
        }
        for (name, text) in &self.context {
            for line in text.split('\n') {
                put(&format!("{name}: {line}"), "  ", Ink::Dim);
            }
        }
        let mut chosen = 0;
        for (at, option) in item.options.iter().enumerate() {
            let (mark, ink) = if at == self.chosen && self.input.is_empty() {
                (">", Ink::Selected)
            } else {
                (" ", Ink::Plain)
            };
            let mut text = visible(&option.label);
            if let Some(description) = &option.description {
                text = format!("{text} - {}", visible(description));
            }
            let end = put(&text, &format!("{mark} {}. ", at + 1), ink);
            if at == self.chosen {
                chosen = end.saturating_sub(1);
            }
        }
        (rows, chosen)
    }
}
