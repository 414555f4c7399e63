//! One sitting before the screen: keys, signals and the run come in on one queue; the screen is drawn when something changed, at
//! most so often that a terminal can follow.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crossterm::event::{self, MouseEventKind};
use door_agent::{Command, Handle, What};
use gate::approval::{Grant, GrantKind};
use gate::{Gate, GrantChange};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use crate::from_run::Reader;
use crate::happening::{Action, Event, GrantLine, Happening};
use crate::screen::Screen;
use crate::terminal::Window;
use crate::theme::Theme;

/// The shortest time from frame to frame.
const FRAME: Duration = Duration::from_millis(16);
/// How often a screen on which something moves is drawn.
const LIVELY: Duration = Duration::from_millis(250);
/// How often one is looked at on which nothing does.
const CALM: Duration = Duration::from_secs(5);
/// How many things may wait; then the run waits.
const WAITING: usize = 1024;
/// How long the run has to end what it does.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How many rows one notch of the wheel is.
const NOTCH: i32 = 3;
const INTERRUPTED: u8 = 130;

/// What a sitting needs.
pub struct Sitting {
    /// The run.
    pub handle: Handle,
    /// Its gate.
    pub gate: Arc<Gate>,
    /// The session that its grants belong to.
    pub session: String,
    /// Colours.
    pub theme: Theme,
    /// What is said first.
    pub first: Option<String>,
}

/// Something that comes in.
enum Incoming {
    Run(Box<door_agent::Event>),
    RunOver,
    Terminal(event::Event),
    TerminalGone,
    Signal(i32),
}

impl Sitting {
    /// Sits until the run is over and its end was seen, or somebody quits. The exit code.
    ///
    /// # Errors
    /// There is no terminal, or it cannot be used.
    pub fn run(self) -> Result<u8, String> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(
                "a screen needs a terminal; `bailiwick chat` and `bailiwick run` do without one".into()
            );
        }
        let (send, incoming) = sync_channel(WAITING);
        let signals = listen(&send)?;
        let window = Window::open().map_err(|error| format!("the terminal cannot be used: {error}"))?;
        let Handle { mut events, commands } = self.handle;
        let sender = send.clone();
        thread("run", move || {
            while let Some(event) = events.blocking_recv() {
                if sender.send(Incoming::Run(Box::new(event))).is_err() {
                    return;
                }
            }
            let _gone = sender.send(Incoming::RunOver);
        })?;
        thread("keys", move || {
            loop {
                let (one, last) = match event::read() {
                    Ok(event) => (Incoming::Terminal(event), false),
                    Err(_) => (Incoming::TerminalGone, true),
                };
                if send.send(one).is_err() || last {
                    return;
                }
            }
        })?;
        let who = self.gate.world().user.clone().unwrap_or_else(|| "somebody".into());
        let patience = Duration::from_millis(self.gate.config().human_timeout_ms());
        let mut desk = Desk {
            screen: Screen::new(self.theme, &who),
            window,
            commands,
            reader: Reader::new(patience),
            gate: self.gate,
            session: self.session,
            start: now(),
            code: 0,
            over: false,
            leaving: None,
        };
        if let Some(first) = self.first {
            desk.tell(Event::Paste(first));
            let enter = event::KeyEvent::new(event::KeyCode::Enter, event::KeyModifiers::NONE);
            desk.tell(Event::Key(enter));
        }
        let code = desk.sit(&incoming);
        signals.close();
        code
    }
}

struct Desk {
    screen: Screen,
    window: Window,
    commands: tokio::sync::mpsc::Sender<Command>,
    reader: Reader,
    gate: Arc<Gate>,
    session: String,
    start: Instant,
    code: u8,
    /// Nothing comes from the run any more.
    over: bool,
    /// Since when somebody wants to leave.
    leaving: Option<Instant>,
}

impl Desk {
    fn sit(mut self, incoming: &Receiver<Incoming>) -> Result<u8, String> {
        let mut drawn: Option<Instant> = None;
        let mut listed = now();
        let mut changed = true;
        loop {
            let since = drawn.map_or(FRAME, |drawn| drawn.elapsed());
            let patience = match (changed, self.screen.is_lively() || self.leaving.is_some()) {
                (true, _) => FRAME.saturating_sub(since),
                (false, true) => LIVELY.saturating_sub(since).max(Duration::from_millis(1)),
                (false, false) => CALM,
            };
            match incoming.recv_timeout(patience) {
                Ok(one) => {
                    changed = true;
                    self.take(one);
                    // What waits already is one change; a frame comes after so many at the latest.
                    for one in incoming.try_iter().take(WAITING) {
                        self.take(one);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.tell(Event::Tick);
                    changed = true;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(self.code),
            }
            if self.leaving.is_some_and(|since| self.over || since.elapsed() > LAST_WORDS) {
                return Ok(self.code);
            }
            if self.screen.shows_grants() && listed.elapsed() > Duration::from_secs(1) {
                listed = now();
                self.list_grants();
            }
            if changed && drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME) {
                self.window
                    .draw(&mut self.screen)
                    .map_err(|error| format!("the terminal went away: {error}"))?;
                self.screen.was_drawn(self.start.elapsed());
                drawn = Some(now());
                changed = false;
            }
        }
    }

    fn take(&mut self, one: Incoming) {
        match one {
            Incoming::Run(event) => {
                if let What::RunFailed { reason, .. } = &event.what
                    && !event.agent.contains('/')
                {
                    self.code = reason.exit_code();
                }
                for happening in self.reader.read(*event) {
                    self.tell(Event::Run(happening));
                }
            }
            Incoming::RunOver => {
                self.over = true;
                if self.screen.ended().is_none() {
                    self.code = 1;
                    let how = "the run broke off".to_owned();
                    self.tell(Event::Run(Happening::Ended { ok: false, how }));
                }
            }
            Incoming::Terminal(event) => match event {
                event::Event::Key(key) => self.tell(Event::Key(key)),
                event::Event::Paste(text) => self.tell(Event::Paste(text)),
                event::Event::Mouse(mouse) => match mouse.kind {
                    MouseEventKind::ScrollUp => self.tell(Event::Wheel(-NOTCH)),
                    MouseEventKind::ScrollDown => self.tell(Event::Wheel(NOTCH)),
                    _ => {}
                },
                event::Event::Resize(..) | event::Event::FocusGained | event::Event::FocusLost => {}
            },
            // FAIL-CLOSED: nobody sits before a terminal that has gone away; what waits for a yes does not get one.
            Incoming::TerminalGone => self.leave(128 + 1),
            Incoming::Signal(SIGTSTP) => self.suspend(),
            Incoming::Signal(SIGCONT) => {
                let _drawn_later = self.window.take_again();
                self.tell(Event::Resumed);
            }
            Incoming::Signal(signal) => self.leave(u8::try_from(128 + signal).unwrap_or(INTERRUPTED)),
        }
    }

    fn tell(&mut self, event: Event) {
        let now = self.start.elapsed();
        for action in self.screen.update(event, now) {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        let command = match action {
            Action::Say(text) => Command::Say(text),
            Action::Interrupt => Command::Interrupt,
            Action::Answer { id, answer } => Command::Answer { id, answer },
            Action::Reply { id, answer } => Command::Reply { id, answer },
            Action::SetMode(mode) => Command::SetMode(mode),
            Action::Quit => {
                let code = if self.screen.is_busy() { INTERRUPTED } else { self.code };
                return self.leave(code);
            }
            Action::Revoke(id) => return self.revoke(id),
            Action::ListGrants => return self.list_grants(),
            Action::Suspend => return self.suspend(),
            Action::Redraw => {
                let _drawn_later = self.window.draw_anew();
                return;
            }
        };
        // FAIL-CLOSED: an answer that nobody hears is none, and the question is denied when its time is up.
        if self.commands.try_send(command).is_err() && !self.over {
            self.tell(Event::Run(Happening::Notice("the run does not listen".into())));
        }
    }

    /// Ends the run and then the sitting.
    fn leave(&mut self, code: u8) {
        if self.leaving.is_some() {
            // Whoever asks twice does not want to wait.
            self.over = true;
            return;
        }
        self.code = code;
        self.leaving = Some(now());
        let command = if code == 0 { Command::Finish } else { Command::Cancel };
        let _over_already = self.commands.try_send(command);
    }

    fn suspend(&mut self) {
        if self.window.suspend().is_err() {
            return self.leave(128 + 1);
        }
        self.tell(Event::Resumed);
    }

    fn granted(&self) -> Vec<Grant> {
        self.gate.office().map(|office| office.grants.list(Some(&self.session))).unwrap_or_default()
    }

    fn list_grants(&mut self) {
        let line = |grant: &Grant| {
            let (kind, what) = match &grant.kind {
                GrantKind::Session => ("session", None),
                GrantKind::Once => ("once", None),
                GrantKind::Cover(_) => ("typing", None),
                GrantKind::Auto(tool) => ("auto", Some(tool.as_deref().unwrap_or("everything").to_owned())),
                GrantKind::Waiting { .. } => ("waiting", None),
            };
            let what = what.unwrap_or_else(|| format!("{} {}", grant.tool, grant.shown.as_str()));
            GrantLine { id: grant.id, kind, what, left: grant.left }
        };
        let grants = self.granted().iter().map(line).collect();
        self.tell(Event::Run(Happening::Grants(grants)));
    }

    fn revoke(&mut self, id: gate::approval::AskId) {
        let Some(grant) = self.granted().into_iter().find(|grant| grant.id == id) else { return };
        let revoked = match self.gate.office() {
            Some(office) => office.grants.revoke(id).map(drop).map_err(|why| why.to_string()),
            None => return,
        };
        let done = revoked.and_then(|()| self.gate.record_grant(GrantChange::Revoked, &grant));
        if let Err(why) = done {
            self.tell(Event::Run(Happening::Notice(why)));
        }
        if matches!(grant.kind, GrantKind::Auto(_)) {
            let (mode, left) = door_agent::mode_of(&self.gate, &self.session);
            self.tell(Event::Run(Happening::Mode { mode, left }));
        }
        self.list_grants();
    }
}

/// Signals become things that come in.
fn listen(send: &SyncSender<Incoming>) -> Result<signal_hook::iterator::Handle, String> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT])
        .map_err(|error| format!("signals cannot be heard: {error}"))?;
    let (handle, send) = (signals.handle(), send.clone());
    thread("signals", move || {
        for signal in signals.forever() {
            if send.send(Incoming::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    Ok(handle)
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|error| format!("no thread could be started: {error}"))
}

#[expect(clippy::disallowed_methods, reason = "frames and keys are timed where the terminal is")]
fn now() -> Instant {
    Instant::now()
}
