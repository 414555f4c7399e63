//! The terminal that a program is started from. The program gets one of its own; this relays between the two, so that keys,
//! job control and window size work as if there were only one, and nothing in the fence holds the real one.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, Termios, Winsize};

/// The terminal on this side.
#[derive(Debug)]
pub struct Console {
    terminal: OwnedFd,
    before: Option<Termios>,
    /// Which of the standard streams are a terminal.
    streams: [bool; 3],
}

impl Console {
    /// The terminal that this process has, whether or not a standard stream is one.
    #[must_use]
    pub fn of_this_process() -> Option<Console> {
        let streams = [
            rustix::termios::isatty(std::io::stdin()),
            rustix::termios::isatty(std::io::stdout()),
            rustix::termios::isatty(std::io::stderr()),
        ];
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open("/dev/tty", flags, Mode::empty()).ok().or_else(|| {
            // A terminal that is not this session's.
            let [input, output, error] = streams;
            let copy = |stream: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(stream, 3).ok();
            match (input, output, error) {
                (true, ..) => copy(std::io::stdin().as_fd()),
                (_, true, _) => copy(std::io::stdout().as_fd()),
                (.., true) => copy(std::io::stderr().as_fd()),
                _ => None,
            }
        })?;
        Some(Console { terminal, before: None, streams })
    }

    /// Whether a person sees what the program writes or types what it reads.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.streams.contains(&true)
    }

    pub(crate) fn streams(&self) -> [bool; 3] {
        self.streams
    }

    pub(crate) fn terminal(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }

    pub(crate) fn size(&self) -> Winsize {
        let none = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcgetwinsize(&self.terminal).unwrap_or(none)
    }

    /// Whether keys are for us: the terminal is our input, and we are in its foreground.
    pub(crate) fn listens(&self) -> bool {
        self.streams.first() == Some(&true)
            && rustix::termios::tcgetpgrp(&self.terminal)
                .is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// Hands every key on as it is.
    pub(crate) fn raw(&mut self) {
        if self.before.is_some() || !self.listens() {
            return;
        }
        if let Ok(before) = rustix::termios::tcgetattr(&self.terminal) {
            let mut raw = before.clone();
            raw.make_raw();
            if rustix::termios::tcsetattr(&self.terminal, OptionalActions::Drain, &raw).is_ok() {
                self.before = Some(before);
            }
        }
    }

    /// Makes the terminal what it was.
    pub(crate) fn restore(&mut self) {
        if let Some(before) = self.before.take() {
            let _gone = rustix::termios::tcsetattr(&self.terminal, OptionalActions::Drain, &before);
        }
    }

    /// Shows what the program wrote.
    pub(crate) fn show(&self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::io::write(&self.terminal, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.restore();
    }
}
