//! The state of the screen: what is known, what is shown of it, and what keys do. It touches nothing; what is to be done comes
//! back as [`Action`]s, and time comes in with every event.

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use door_agent::Mode;
use gate::approval::{Answer, Decision};
use gate::call::visible;
use gate::tools::HumanAnswer;

use crate::approval_panel::ApprovalPanel;
use crate::entry::{Entry, Verdict};
use crate::happening::{Action, Event, GrantLine, Happening, PlanStep};
use crate::human_panel::HumanPanel;
use crate::input::{Input, Typed};
use crate::keys::Keys;
use crate::scroll::Scroll;
use crate::theme::Theme;
use crate::transcript::Transcript;

/// Within this time a second Ctrl-C quits.
const TWICE: Duration = Duration::from_secs(2);
/// How long a remark stays.
const REMARK: Duration = Duration::from_secs(4);
/// How many questions may wait; beyond, they are denied.
const MOST_PENDING: usize = 256;

/// Something that must be answered.
#[derive(Debug)]
pub(crate) enum Panel {
    Approval(Box<ApprovalPanel>),
    Human(Box<HumanPanel>),
}

/// Something that is shown instead of the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlay {
    Help,
    Plan,
    Grants,
}

/// The screen.
#[derive(Debug)]
pub struct Screen {
    pub(crate) now: Duration,
    pub(crate) theme: Theme,
    pub(crate) transcript: Transcript,
    pub(crate) input: Input,
    pub(crate) pending: VecDeque<Panel>,
    pub(crate) overlay: Option<(Overlay, Scroll)>,
    pub(crate) plan: Vec<PlanStep>,
    pub(crate) grants: Vec<GrantLine>,
    pub(crate) chosen_grant: usize,
    pub(crate) mode: Mode,
    pub(crate) mode_until: Option<Duration>,
    pub(crate) model: String,
    pub(crate) tokens: (u64, u64),
    pub(crate) context: (u64, u64),
    pub(crate) step: u64,
    pub(crate) working: bool,
    pub(crate) ended: Option<bool>,
    /// Rows of the transcript below those in sight.
    pub(crate) below: usize,
    remark: Option<(String, Duration)>,
    stopped_at: Option<Duration>,
    who: String,
}

impl Screen {
    /// An empty screen for this person.
    #[must_use]
    pub fn new(theme: Theme, who: &str) -> Screen {
        Screen {
            now: Duration::ZERO,
            theme,
            transcript: Transcript::default(),
            input: Input::default(),
            pending: VecDeque::new(),
            overlay: None,
            plan: Vec::new(),
            grants: Vec::new(),
            chosen_grant: 0,
            mode: Mode::Default,
            mode_until: None,
            model: String::new(),
            tokens: (0, 0),
            context: (0, 0),
            step: 0,
            working: false,
            ended: None,
            below: 0,
            remark: None,
            stopped_at: None,
            who: who.to_owned(),
        }
    }

    /// Something happened. `now` never goes back.
    pub fn update(&mut self, event: Event, now: Duration) -> Vec<Action> {
        self.now = now;
        let mut actions = Vec::new();
        match event {
            Event::Run(happening) => self.happened(happening, &mut actions),
            Event::Key(key) if key.kind == KeyEventKind::Release => {}
            Event::Key(key) => self.key(key, &mut actions),
            Event::Paste(text) => self.pasted(&text),
            Event::Wheel(rows) => self.wheel(rows),
            Event::Tick => {}
            Event::Resumed => self.must_be_read_anew(),
        }
        self.forget_what_is_over();
        actions
    }

    /// What was drawn is on the screen now: from here on questions can be read.
    pub fn was_drawn(&mut self, now: Duration) {
        if self.overlay.is_some() {
            return;
        }
        match self.pending.front_mut() {
            Some(Panel::Approval(panel)) => panel.guard.was_drawn(now),
            Some(Panel::Human(panel)) => panel.guard.was_drawn(now),
            None => {}
        }
    }

    /// Whether something moves by itself, so that time must be told.
    #[must_use]
    pub fn is_lively(&self) -> bool {
        self.working || !self.pending.is_empty() || self.mode_until.is_some() || self.remark.is_some()
    }

    /// Whether the agent is at work.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.working
    }

    /// Whether what is granted is being looked at.
    #[must_use]
    pub fn shows_grants(&self) -> bool {
        matches!(self.overlay, Some((Overlay::Grants, _)))
    }

    /// How the run ended, once it has.
    #[must_use]
    pub const fn ended(&self) -> Option<bool> {
        self.ended
    }

    pub(crate) fn remark(&self) -> Option<&str> {
        self.remark.as_ref().map(|(text, _)| text.as_str())
    }

    /// The keys that mean something now.
    pub(crate) fn keys(&self) -> Keys {
        match (&self.overlay, self.pending.front()) {
            (Some((Overlay::Grants, _)), _) if !self.grants.is_empty() => {
                vec![("↑↓", "choose"), ("r", "revoke"), ("Esc", "close")]
            }
            (Some(_), _) => vec![("Esc", "close"), ("PgDn", "more")],
            (None, Some(Panel::Approval(panel))) => panel.keys(),
            (None, Some(Panel::Human(panel))) => panel.keys(),
            (None, None) if self.ended.is_some() => {
                vec![("^D", "quit"), ("PgUp", "back"), ("^O", "open"), ("?", "help")]
            }
            (None, None) => {
                let mut keys = vec![("Enter", "send")];
                if self.working {
                    keys.push(("^C", "stop"));
                } else {
                    keys.push(("^D", "quit"));
                }
                keys.push(("?", "help"));
                if !self.transcript.follows() {
                    keys.push(("^End", "follow"));
                }
                if self.transcript.has_selection() {
                    keys.push(("Esc", "unselect"));
                }
                keys.extend([("^O", "open"), ("Tab", "select"), ("^T", "mode"), ("^G", "grants")]);
                if !self.plan.is_empty() {
                    keys.push(("^P", "plan"));
                }
                keys
            }
        }
    }

    fn key(&mut self, key: KeyEvent, actions: &mut Vec<Action>) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return self.stop(actions),
            KeyCode::Char('z') if control => return actions.push(Action::Suspend),
            KeyCode::Char('l') if control => return actions.push(Action::Redraw),
            _ => {}
        }
        if self.overlay.is_some() {
            return self.overlay_key(key, actions);
        }
        let asks_for_help = match self.pending.front() {
            Some(Panel::Approval(panel)) => key.code == KeyCode::Char('?') && !panel.is_typing(),
            Some(Panel::Human(_)) => false,
            None => key.code == KeyCode::Char('?') && self.input.is_empty(),
        };
        if asks_for_help || key.code == KeyCode::F(1) {
            return self.show(Overlay::Help, actions);
        }
        let now = self.now;
        match self.pending.front_mut() {
            Some(Panel::Approval(panel)) => {
                if let Some(answer) = panel.key(key, now, &self.who) {
                    let id = panel.question.id;
                    self.pending.pop_front();
                    actions.push(Action::Answer { id, answer });
                }
            }
            Some(Panel::Human(panel)) => {
                if let Some(answer) = panel.key(key, now) {
                    let id = panel.id;
                    self.pending.pop_front();
                    actions.push(Action::Reply { id, answer });
                }
            }
            None => self.writing_key(key, actions),
        }
    }

    fn writing_key(&mut self, key: KeyEvent, actions: &mut Vec<Action>) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = i64::try_from(self.transcript.page()).unwrap_or(1);
        match key.code {
            KeyCode::PageUp => self.transcript.scroll(-page),
            KeyCode::PageDown => self.transcript.scroll(page),
            KeyCode::Up if control => self.transcript.scroll(-1),
            KeyCode::Down if control => self.transcript.scroll(1),
            KeyCode::Home if control => self.transcript.go_to_start(),
            KeyCode::End if control => {
                self.transcript.unselect();
                self.transcript.follow_end();
            }
            KeyCode::Tab => self.transcript.select(true),
            KeyCode::BackTab => self.transcript.select(false),
            KeyCode::Esc => {
                self.transcript.unselect();
                self.transcript.follow_end();
            }
            KeyCode::Char('o') if control => self.transcript.toggle(),
            KeyCode::Char('p') if control => self.show(Overlay::Plan, actions),
            KeyCode::Char('g') if control => self.show(Overlay::Grants, actions),
            KeyCode::Char('t') if control => {
                let mode = if self.mode == Mode::Default { Mode::Edit } else { Mode::Default };
                actions.push(Action::SetMode(mode));
            }
            KeyCode::Char('d') if control && self.input.is_empty() => actions.push(Action::Quit),
            _ => {
                if self.input.key(key) == Typed::Send {
                    self.send(actions);
                }
            }
        }
    }

    fn send(&mut self, actions: &mut Vec<Action>) {
        let text = self.input.text().trim().to_owned();
        if text.is_empty() {
            return;
        }
        let command = match text.as_str() {
            "/quit" | "/exit" => Some(Action::Quit),
            "/auto" | "/mode auto" => Some(Action::SetMode(Mode::Auto)),
            "/edit" | "/mode edit" => Some(Action::SetMode(Mode::Edit)),
            "/default" | "/mode default" => Some(Action::SetMode(Mode::Default)),
            "/stop" => Some(Action::Interrupt),
            _ => None,
        };
        let overlay = match text.as_str() {
            "/help" => Some(Overlay::Help),
            "/plan" => Some(Overlay::Plan),
            "/grants" => Some(Overlay::Grants),
            _ => None,
        };
        if command.is_none() && overlay.is_none() && self.ended.is_some() {
            self.say("the run is over; ^D quits");
            return;
        }
        self.input.take();
        match (command, overlay) {
            (Some(action), _) => actions.push(action),
            (None, Some(overlay)) => self.show(overlay, actions),
            (None, None) => {
                self.transcript.said_all();
                self.transcript.push(Entry::user(&text));
                self.transcript.unselect();
                self.transcript.follow_end();
                self.working = true;
                actions.push(Action::Say(text));
            }
        }
    }

    /// Ctrl-C: stops what is under way; the second one quits.
    fn stop(&mut self, actions: &mut Vec<Action>) {
        let again = self.stopped_at.is_some_and(|at| self.now.saturating_sub(at) < TWICE);
        if again {
            return actions.push(Action::Quit);
        }
        self.stopped_at = Some(self.now);
        self.overlay = None;
        if self.working || !self.pending.is_empty() {
            // Whatever waits for a yes does not get one.
            while let Some(panel) = self.pending.pop_front() {
                actions.push(match panel {
                    Panel::Approval(panel) => {
                        let answer = Answer::new(Decision::Denied, &self.who).noting("interrupted");
                        Action::Answer { id: panel.question.id, answer }
                    }
                    Panel::Human(panel) => Action::Reply { id: panel.id, answer: HumanAnswer::Closed },
                });
            }
            actions.push(Action::Interrupt);
            self.say("stopping; ^C again quits");
        } else {
            self.input.clear();
            self.say("^C again quits");
        }
    }

    fn overlay_key(&mut self, key: KeyEvent, actions: &mut Vec<Action>) {
        let grants = self.grants.len();
        let Some((overlay, scroll)) = &mut self.overlay else { return };
        match (key.code, *overlay) {
            (KeyCode::Up, Overlay::Grants) => self.chosen_grant = self.chosen_grant.saturating_sub(1),
            (KeyCode::Down, Overlay::Grants) => {
                self.chosen_grant = (self.chosen_grant + 1).min(grants.saturating_sub(1));
            }
            (KeyCode::Char('r') | KeyCode::Delete, Overlay::Grants) => {
                if let Some(grant) = self.grants.get(self.chosen_grant) {
                    actions.push(Action::Revoke(grant.id));
                }
            }
            (KeyCode::Esc | KeyCode::Char('q' | '?') | KeyCode::Enter | KeyCode::F(1), _) => self.uncover(),
            (KeyCode::Char('p' | 'g'), _) if key.modifiers.contains(KeyModifiers::CONTROL) => self.uncover(),
            _ => {
                scroll.key(key);
            }
        }
    }

    fn show(&mut self, overlay: Overlay, actions: &mut Vec<Action>) {
        if overlay == Overlay::Grants {
            actions.push(Action::ListGrants);
            self.chosen_grant = 0;
        }
        self.overlay = Some((overlay, Scroll::default()));
    }

    fn uncover(&mut self) {
        self.overlay = None;
        self.must_be_read_anew();
    }

    /// What was on the screen was covered, or nobody saw it: keys count once it was there for a while.
    fn must_be_read_anew(&mut self) {
        match self.pending.front_mut() {
            Some(Panel::Approval(panel)) => panel.guard.restart(),
            Some(Panel::Human(panel)) => panel.guard.restart(),
            None => {}
        }
    }

    fn pasted(&mut self, text: &str) {
        match self.pending.front_mut() {
            _ if self.overlay.is_some() => {}
            // INVARIANT: a paste answers nothing.
            Some(Panel::Approval(panel)) => panel.pasted(),
            Some(Panel::Human(panel)) => panel.pasted(text),
            None => self.input.insert(text),
        }
    }

    fn wheel(&mut self, rows: i32) {
        match (&mut self.overlay, self.pending.front_mut()) {
            (Some((_, scroll)), _) => scroll.by(rows),
            (None, Some(Panel::Approval(panel))) => panel.scroll.by(rows),
            (None, Some(Panel::Human(panel))) => panel.scroll.by(rows),
            (None, None) => self.transcript.scroll(i64::from(rows)),
        }
    }

    fn say(&mut self, text: &str) {
        self.remark = Some((text.to_owned(), self.now + REMARK));
    }

    /// Questions whose time is up are denied by whoever asked; here they go.
    fn forget_what_is_over(&mut self) {
        let now = self.now;
        let front = self.pending.front().map(id_of);
        self.pending.retain(|panel| match panel {
            Panel::Approval(panel) => panel.deadline > now,
            Panel::Human(panel) => panel.deadline.is_none_or(|deadline| deadline > now),
        });
        if front.is_some() && self.pending.front().map(id_of) != front {
            // Another question came up in its place.
            self.must_be_read_anew();
        }
        if self.remark.as_ref().is_some_and(|(_, until)| *until <= now) {
            self.remark = None;
        }
        if self.mode_until.is_some_and(|until| until <= now) {
            (self.mode, self.mode_until) = (Mode::Default, None);
        }
    }

    fn happened(&mut self, happening: Happening, actions: &mut Vec<Action>) {
        match happening {
            Happening::Started { model } => self.model = visible(&model),
            Happening::Step(step) => {
                (self.step, self.working) = (step, true);
                self.transcript.said_all();
            }
            Happening::Text(text) => self.transcript.said(&text),
            Happening::TextBack => self.transcript.take_back(),
            Happening::Proposed { call, tool } => drop(self.transcript.tool(&call, &tool)),
            Happening::Judged { call, tool, what, decision, reason, rule } => {
                let verdict = match decision {
                    "allow" => Verdict::Allowed,
                    "ask" => Verdict::Asking,
                    _ => Verdict::Denied,
                };
                self.transcript.tool(&call, &tool).judged(&what, verdict, &reason, &rule);
            }
            Happening::Settled { call, approved, note } => {
                self.transcript.tool(&call, "").settled(approved, &note);
            }
            Happening::Running { call, tool } => self.transcript.tool(&call, &tool).runs(self.now),
            Happening::Output { call, text } => self.transcript.tool(&call, "").wrote(&text),
            Happening::Finished { call, tool, ok, how, result } => {
                let verdict = if ok { Verdict::Done } else { Verdict::Failed };
                self.transcript.tool(&call, &tool).finish(verdict, &how, &result);
            }
            Happening::Asked { question, left } => {
                if self.pending.len() >= MOST_PENDING {
                    // FAIL-CLOSED: nobody reads so many questions.
                    let answer = Answer::new(Decision::Denied, &self.who).noting("too many questions wait");
                    actions.push(Action::Answer { id: question.id, answer });
                    return;
                }
                self.covered();
                let deadline = self.now + left;
                self.pending.push_back(Panel::Approval(Box::new(ApprovalPanel::new(*question, deadline))));
            }
            Happening::AskOver(over) => {
                self.drop_panel(|panel| matches!(panel, Panel::Approval(panel) if panel.question.id == over))
            }
            Happening::HumanAsked { id, question, left } => {
                if self.pending.len() >= MOST_PENDING {
                    actions.push(Action::Reply { id, answer: HumanAnswer::Nobody });
                    return;
                }
                self.covered();
                let deadline = left.map(|left| self.now + left);
                self.pending.push_back(Panel::Human(Box::new(HumanPanel::new(id, &question, deadline))));
            }
            Happening::HumanOver(over) => {
                self.drop_panel(|panel| matches!(panel, Panel::Human(panel) if panel.id == over));
            }
            Happening::Plan(plan) => {
                self.plan = plan;
                for step in &mut self.plan {
                    step.step = visible(&step.step);
                }
            }
            Happening::Tokens { input, output, context, window } => {
                (self.tokens, self.context) = ((input, output), (context, window));
            }
            Happening::Mode { mode, left } => {
                self.mode = mode;
                self.mode_until = left.map(|left| self.now + left);
                self.transcript.push(Entry::notice(&format!("mode: {}", mode.name())));
            }
            Happening::Notice(text) => self.transcript.push(Entry::notice(&text)),
            Happening::TurnEnded { interrupted } => {
                self.working = false;
                self.transcript.said_all();
                if interrupted {
                    self.transcript.close_calls();
                    self.transcript.push(Entry::notice("interrupted"));
                }
            }
            Happening::Ended { ok, how } => {
                self.working = false;
                self.pending.clear();
                self.transcript.close_calls();
                self.transcript.push(Entry::notice(&how));
                self.ended = Some(ok);
            }
            Happening::Grants(grants) => {
                self.grants = grants;
                self.chosen_grant = self.chosen_grant.min(self.grants.len().saturating_sub(1));
            }
        }
    }

    /// A question goes before everything else that is shown.
    fn covered(&mut self) {
        if self.pending.is_empty() {
            self.overlay = None;
        }
    }

    fn drop_panel(&mut self, is_over: impl Fn(&Panel) -> bool) {
        let first = self.pending.front().is_some_and(&is_over);
        self.pending.retain(|panel| !is_over(panel));
        if first {
            self.must_be_read_anew();
        }
    }
}

/// Which question a panel is about.
fn id_of(panel: &Panel) -> (Option<gate::approval::AskId>, u64) {
    match panel {
        Panel::Approval(panel) => (Some(panel.question.id), 0),
        Panel::Human(panel) => (None, panel.id),
    }
}
