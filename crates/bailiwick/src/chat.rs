//! `bailiwick chat`: a conversation, line by line; what must be approved is asked in place.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use door_agent::{Command, Event, Handle, Manner, Mode, What, mode_of};
use gate::Gate;
use gate::call::{visible, visible_lines};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::agent_setup::runtime;
use crate::cli::Chat;
use crate::narration::{Narration, plan_text};
use crate::person::at_terminal;
use crate::run::CANCELLED;
use crate::terminal::Style;
use crate::transport::Transport;

/// The longest line.
const LONGEST: usize = 1024 * 1024;

const HELP: &str = "\
/auto      approve everything that would be asked about, for a while
/edit      approve writing files, for a while
/default   ask again
/plan      the plan
/grants    what was approved, and for how long
/help      this
/quit      the end (as does Ctrl-D)
Anything else is said to the model. Ctrl-C interrupts it; twice quits.
";

/// Runs the command.
pub(crate) fn run(arguments: &Chat) -> Result<u8, String> {
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        let prepared = arguments.agent.prepare(Transport::Chat)?;
        let (gate, session, run) =
            (Arc::clone(&prepared.gate), prepared.session.clone(), prepared.run.clone());
        let handle = prepared.start(Manner::Chat, Some(at_terminal()))?;
        let interrupts =
            signal(SignalKind::interrupt()).map_err(|error| format!("signals cannot be heard: {error}"))?;
        let lines = Lines::new()?;
        let talk =
            Talk { gate, session, handle, interrupts, lines, narration: Narration::of_stdout(), plan: None };
        talk.go_on(&run).await
    });
    // The thread that waits for a line does not hold the end up.
    runtime.shutdown_background();
    code
}

/// Lines that are typed, read only when one is wanted: a question in place reads the same terminal.
struct Lines {
    wanted: std::sync::mpsc::SyncSender<()>,
    typed: mpsc::Receiver<Option<String>>,
    waiting: bool,
}

impl Lines {
    fn new() -> Result<Lines, String> {
        let (wanted, asked) = std::sync::mpsc::sync_channel::<()>(1);
        let (send, typed) = mpsc::channel(1);
        let started = std::thread::Builder::new().name("lines".into()).spawn(move || {
            while asked.recv().is_ok() {
                let mut line = Vec::new();
                let input = std::io::stdin().lock();
                let read = std::io::Read::take(input, LONGEST as u64).read_until(b'\n', &mut line);
                let line = match read {
                    Ok(0) | Err(_) => None,
                    Ok(_) => Some(String::from_utf8_lossy(&line).trim().to_owned()),
                };
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        started.map_err(|error| format!("nothing can be read: {error}"))?;
        Ok(Lines { wanted, typed, waiting: false })
    }

    /// The next line; `None` at the end. What was begun to be waited for is waited for again.
    async fn next(&mut self) -> Option<String> {
        if !self.waiting {
            self.waiting = self.wanted.try_send(()).is_ok();
        }
        let line = self.typed.recv().await;
        self.waiting = false;
        line.flatten()
    }
}

struct Talk {
    gate: Arc<Gate>,
    session: String,
    handle: Handle,
    interrupts: Signal,
    lines: Lines,
    narration: Narration,
    plan: Option<serde_json::Value>,
}

/// What comes after a line.
enum After {
    /// Another line.
    Line,
    /// The model's turn.
    Turn,
    /// The end.
    End,
}

impl Talk {
    async fn go_on(mut self, run: &str) -> Result<u8, String> {
        let model = match self.handle.events.recv().await {
            Some(Event { what: What::RunStarted { model, .. }, .. }) => model,
            _ => return Err("the run broke off".into()),
        };
        self.narration.line(&format!("{} with {}. /help lists the commands.", visible(run), visible(&model)));
        loop {
            self.show_waiting();
            match self.one_line().await {
                After::Line => {}
                After::Turn => {
                    if let Some(code) = self.turn().await {
                        return Ok(code);
                    }
                }
                After::End => return self.end().await,
            }
        }
    }

    /// What came between turns: a mode that was set, a child that ended.
    fn show_waiting(&mut self) {
        while let Ok(event) = self.handle.events.try_recv() {
            self.narration.tell(&event);
        }
    }

    async fn one_line(&mut self) -> After {
        self.prompt();
        let mut interrupted = false;
        let line = loop {
            tokio::select! {
                line = self.lines.next() => break line,
                _ = self.interrupts.recv() => {
                    if interrupted {
                        return After::End;
                    }
                    interrupted = true;
                    self.narration.line("\nCtrl-C again quits.");
                    self.prompt();
                }
            }
        };
        let Some(line) = line else { return After::End };
        match line.as_str() {
            "" => After::Line,
            "/quit" | "/exit" => After::End,
            "/auto" => self.set(Mode::Auto).await,
            "/edit" => self.set(Mode::Edit).await,
            "/default" => self.set(Mode::Default).await,
            "/plan" => {
                let text = self.plan.as_ref().map(plan_text).unwrap_or_default();
                print(if text.is_empty() { "there is no plan\n" } else { &text });
                After::Line
            }
            "/grants" => {
                print(&self.grants());
                After::Line
            }
            "/help" => {
                print(HELP);
                After::Line
            }
            other if other.starts_with('/') => {
                print(&format!("there is no command `{}`; /help lists them\n", visible(other)));
                After::Line
            }
            text => match self.handle.commands.send(Command::Say(text.to_owned())).await {
                Ok(()) => After::Turn,
                Err(_) => After::End,
            },
        }
    }

    /// Sets a mode and waits until it holds, so that the prompt shows it.
    async fn set(&mut self, mode: Mode) -> After {
        if self.handle.commands.send(Command::SetMode(mode)).await.is_err() {
            return After::End;
        }
        while let Some(event) = self.handle.events.recv().await {
            self.narration.tell(&event);
            if matches!(event.what, What::ModeChanged { .. } | What::Notice { .. }) {
                break;
            }
        }
        After::Line
    }

    /// The prompt, with the mode that holds.
    fn prompt(&self) {
        let style = Style::of_stdout();
        let mode = match mode_of(&self.gate, &self.session) {
            (Mode::Default, _) => String::new(),
            (mode, left) => {
                let minutes = left.unwrap_or(Duration::ZERO).as_secs().div_ceil(60);
                style.yellow(&format!("[{} {minutes}m] ", mode.name()))
            }
        };
        if std::io::stdin().is_terminal() {
            print(&format!("{mode}{} ", style.green("you>")));
        }
    }

    /// One turn of the model. An exit code, where the run is over.
    async fn turn(&mut self) -> Option<u8> {
        let mut interrupted = false;
        let mut begun_line = false;
        loop {
            let event = tokio::select! {
                event = self.handle.events.recv() => event?,
                _ = self.interrupts.recv() => {
                    let command = if interrupted { Command::Cancel } else { Command::Interrupt };
                    interrupted = true;
                    let _over_already = self.handle.commands.try_send(command);
                    continue;
                }
            };
            let child = event.agent.contains('/');
            match &event.what {
                What::TextDelta { text } if !child => {
                    begun_line = !text.ends_with('\n');
                    print(&visible_lines(text));
                    continue;
                }
                What::PlanChanged { plan } if !child => self.plan = Some(plan.clone()),
                _ => {}
            }
            if begun_line && !matches!(event.what, What::Tokens { .. }) {
                print("\n");
                begun_line = false;
            }
            self.narration.tell(&event);
            match event.what {
                What::TurnEnded { interrupted, .. } if !child => {
                    if interrupted {
                        self.narration.line("  interrupted");
                    }
                    return None;
                }
                What::RunCompleted { .. } if !child => return Some(0),
                What::RunFailed { reason, .. } if !child => return Some(reason.exit_code()),
                What::RunCancelled {} if !child => return Some(CANCELLED),
                _ => {}
            }
        }
    }

    fn grants(&self) -> String {
        let all =
            self.gate.office().map(|office| office.grants.list(Some(&self.session))).unwrap_or_default();
        if all.is_empty() {
            return "nothing was granted\n".to_owned();
        }
        let line = |grant: &gate::approval::Grant| {
            format!(
                "  {} {} ({} s left)\n",
                visible(&grant.tool),
                visible(grant.shown.as_str()),
                grant.left.as_secs()
            )
        };
        all.iter().map(line).collect()
    }

    async fn end(mut self) -> Result<u8, String> {
        let _over_already = self.handle.commands.send(Command::Finish).await;
        while let Some(event) = self.handle.events.recv().await {
            if !event.agent.contains('/') && matches!(event.what, What::RunCompleted { .. }) {
                break;
            }
        }
        print("\n");
        Ok(0)
    }
}

/// A reader that has gone away misses the rest.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
