//! The terminal that a program is started from. The program gets one of its own; this relays between the two, so that keys,
//! job control and window size work as if there were only one, and nothing in the fence holds the real one.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::termios::{OptionalActions, Termios, Winsize};

/// The terminal on this side.
#[derive(Debug)]
pub struct Console {
    before: Option<Termios>,
    /// Which of the standard streams are a terminal.
    streams: [bool; 3],
}

impl Console {
    /// The terminal that this process's standard streams are, if any of them is one.
    #[must_use]
    pub fn of_this_process() -> Option<Console> {
        let streams = [
            rustix::termios::isatty(std::io::stdin()),
            rustix::termios::isatty(std::io::stdout()),
            rustix::termios::isatty(std::io::stderr()),
        ];
        streams.contains(&true).then_some(Console { before: None, streams })
    }

    pub(crate) fn streams(&self) -> [bool; 3] {
        self.streams
    }

    pub(crate) fn size(&self) -> Winsize {
        let size = |stream: BorrowedFd<'_>| rustix::termios::tcgetwinsize(stream).ok();
        let [input, output, _] = self.streams;
        let found = if output {
            size(std::io::stdout().as_fd())
        } else if input {
            size(std::io::stdin().as_fd())
        } else {
            size(std::io::stderr().as_fd())
        };
        found.unwrap_or(Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 })
    }

    /// Whether keys are for us: the terminal is our input, and we are in its foreground.
    pub(crate) fn listens(&self) -> bool {
        self.streams.first() == Some(&true)
            && rustix::termios::tcgetpgrp(std::io::stdin())
                .is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// Hands every key on as it is.
    pub(crate) fn raw(&mut self) {
        if self.before.is_some() || !self.listens() {
            return;
        }
        if let Ok(before) = rustix::termios::tcgetattr(std::io::stdin()) {
            let mut raw = before.clone();
            raw.make_raw();
            if rustix::termios::tcsetattr(std::io::stdin(), OptionalActions::Drain, &raw).is_ok() {
                self.before = Some(before);
            }
        }
    }

    /// Makes the terminal what it was.
    pub(crate) fn restore(&mut self) {
        if let Some(before) = self.before.take() {
            let _gone = rustix::termios::tcsetattr(std::io::stdin(), OptionalActions::Drain, &before);
        }
    }

    /// Shows what the program wrote.
    pub(crate) fn show(&self, bytes: &[u8]) {
        let mut rest = bytes;
        let [_, output, error] = self.streams;
        while !rest.is_empty() {
            let written = if output {
                rustix::io::write(std::io::stdout(), rest)
            } else if error {
                rustix::io::write(std::io::stderr(), rest)
            } else {
                rustix::io::write(std::io::stdin(), rest)
            };
            match written {
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
