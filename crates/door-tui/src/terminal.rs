//! The terminal: taken for the screen, and given back as it was, however the process ends.

use std::io::{BufWriter, Stdout, Write as _};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::screen::Screen;

/// The terminal while it is ours.
pub(crate) struct Window {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Window {
    /// Takes the terminal.
    pub(crate) fn open() -> std::io::Result<Window> {
        give_back_when_panicking();
        let taken = take();
        if taken.is_err() {
            give_back();
        }
        taken?;
        match fresh() {
            Ok(terminal) => Ok(Window { terminal }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    pub(crate) fn draw(&mut self, screen: &mut Screen) -> std::io::Result<()> {
        self.terminal.draw(|frame| screen.draw(frame)).map(drop)
    }

    /// What is on the terminal is not what was drawn.
    pub(crate) fn draw_anew(&mut self) -> std::io::Result<()> {
        execute!(std::io::stdout(), Clear(ClearType::All))?;
        // Clearing through ratatui would ask the terminal where its cursor is, and the answer would come as keys.
        self.terminal = fresh()?;
        Ok(())
    }

    /// Stops this process as the shell's Ctrl-Z would, and goes on when it is told to.
    pub(crate) fn suspend(&mut self) -> std::io::Result<()> {
        give_back();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        self.take_again()
    }

    /// Whoever had it meanwhile may have changed it.
    pub(crate) fn take_again(&mut self) -> std::io::Result<()> {
        take()?;
        self.draw_anew()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        give_back();
    }
}

/// Cells that know of nothing on the screen.
fn fresh() -> std::io::Result<Terminal<CrosstermBackend<BufWriter<Stdout>>>> {
    Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, std::io::stdout())))
}

fn take() -> std::io::Result<()> {
    enable_raw_mode()?;
    execute!(std::io::stdout(), EnterAlternateScreen, EnableBracketedPaste, EnableMouseCapture)
}

/// Gives it back. A terminal that has gone away has nothing to be given back.
fn give_back() {
    let mut out = std::io::stdout();
    let _gone = execute!(out, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _gone = out.flush();
    let _gone = disable_raw_mode();
}

/// A panic says what it has to say on a terminal that can be read. A thread whose panic is survived takes nothing away.
fn give_back_when_panicking() {
    let ours = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if cfg!(panic = "abort") || std::thread::current().id() == ours {
            give_back();
        }
        before(info);
    }));
}
