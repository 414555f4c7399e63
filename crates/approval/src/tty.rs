//! The controlling terminal of this process.

use std::io::{self, Error, ErrorKind};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{InputModes, LocalModes, OptionalActions, QueueSelector, Termios};

use crate::terminal::Console;

/// The longest line that is heard; a longer one is no answer.
const MAX_LINE: usize = 1024;

/// The terminal that this process was started from.
pub struct Tty {
    terminal: OwnedFd,
    before: Termios,
    typed: Vec<u8>,
}

impl Tty {
    /// Opens `/dev/tty`. `None`: there is none, or keys are not for us because we run in the background.
    #[must_use]
    pub fn open() -> Option<Tty> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        Tty::over(rustix::fs::open("/dev/tty", flags, Mode::empty()).ok()?)
    }

    fn over(terminal: OwnedFd) -> Option<Tty> {
        let foreground = rustix::termios::tcgetpgrp(&terminal).ok()?;
        if foreground != rustix::process::getpgrp() {
            return None;
        }
        // Whole lines, shown as they are typed, whatever a program before us left behind.
        let before = rustix::termios::tcgetattr(&terminal).ok()?;
        let mut lines = before.clone();
        lines.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHOE | LocalModes::ISIG;
        lines.input_modes |= InputModes::ICRNL;
        rustix::termios::tcsetattr(&terminal, OptionalActions::Drain, &lines).ok()?;
        Some(Tty { terminal, before, typed: Vec::new() })
    }

    /// The line that is complete in what was typed.
    fn take_line(&mut self) -> Option<String> {
        let end = self.typed.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.typed.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
    }
}

impl Console for Tty {
    fn show(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match rustix::io::write(&self.terminal, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn forget_typed(&mut self) -> io::Result<()> {
        self.typed.clear();
        rustix::termios::tcflush(&self.terminal, QueueSelector::IFlush).map_err(Into::into)
    }

    fn line(&mut self, patience: Duration) -> io::Result<Option<String>> {
        if let Some(line) = self.take_line() {
            return Ok(Some(line));
        }
        let seconds = i64::try_from(patience.as_secs()).unwrap_or(i64::MAX);
        let timeout = Timespec { tv_sec: seconds, tv_nsec: patience.subsec_nanos().into() };
        let mut streams = [PollFd::new(&self.terminal, PollFlags::IN)];
        match rustix::event::poll(&mut streams, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut piece = [0; MAX_LINE];
        match rustix::io::read(&self.terminal, &mut piece) {
            Ok(0) => Err(Error::new(ErrorKind::UnexpectedEof, "its input is closed")),
            Ok(count) => {
                self.typed.extend_from_slice(piece.get(..count).unwrap_or_default());
                if self.typed.len() > 2 * MAX_LINE {
                    self.typed.clear();
                }
                Ok(self.take_line())
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn width(&self) -> usize {
        rustix::termios::tcgetwinsize(&self.terminal)
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0)
            .unwrap_or(80)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        let _gone = rustix::termios::tcsetattr(&self.terminal, OptionalActions::Drain, &self.before);
    }
}
