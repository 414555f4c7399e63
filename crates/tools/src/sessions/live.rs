//! One program that runs in a session: its terminal or pipes, what it wrote since it was last asked, what it has yet to read.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use fence::{Blocked, Refusal};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::said::SessionError;
use crate::cancel::Cancel;
use crate::clock::now;
use crate::ended::Ended;
use crate::job::Size;
use crate::kept::Kept;
use crate::output::{DIGESTED, share};
use crate::readable::{From, Text, text};
use crate::screen::Emulator;

/// What is typed and not read yet, at most.
pub(crate) const TYPED: usize = 64 * 1024;
/// The keys that mean something where there is no terminal that gives them their meaning.
const INTERRUPT: &[u8] = b"\x03";
const END: &[u8] = b"\x04";

/// Which of a session's descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// The terminal, or standard output.
    Out = 0,
    /// Standard error.
    Error = 1,
    /// Standard input, where there is no terminal.
    In = 2,
}

impl Line {
    const ALL: [Line; 3] = [Line::Out, Line::Error, Line::In];

    /// A number for a descriptor of a session, and back.
    pub(crate) fn mark(self, session: u64) -> u64 {
        session.saturating_mul(4).saturating_add(self as u64)
    }

    pub(crate) fn of(mark: u64) -> Option<(u64, Line)> {
        let line = Line::ALL.get(usize::try_from(mark % 4).ok()?)?;
        Some((mark / 4, *line))
    }
}

/// How a run came out.
pub(crate) type Result<T> = std::result::Result<T, Refusal>;

/// What typing asks of whoever holds the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    Done,
    Interrupt,
}

pub(crate) struct Live {
    pub(crate) id: u64,
    pub(crate) tty: bool,
    epoll: Arc<OwnedFd>,
    state: Mutex<State>,
    changed: Condvar,
}

pub(crate) struct State {
    lines: [Option<OwnedFd>; 3],
    windows: [Kept; 2],
    /// With how much of each went in.
    digests: [Option<(Sha256, u64)>; 2],
    room: usize,
    pub(crate) screen: Option<Emulator>,
    waiting: Vec<u8>,
    /// The input ends once all that waits is read.
    closing: bool,
    pub(crate) result: Option<Result<(Ended, Vec<Blocked>)>>,
    pub(crate) ended_at: Option<Instant>,
    pub(crate) touched: Instant,
}

impl Live {
    pub(crate) fn new(id: u64, size: Option<Size>, room: usize, epoll: Arc<OwnedFd>) -> Live {
        let state = State {
            lines: [None, None, None],
            windows: [Kept::new(room), Kept::new(room)],
            digests: [Some(Default::default()), Some(Default::default())],
            room,
            screen: size.map(Emulator::new),
            waiting: Vec::new(),
            closing: false,
            result: None,
            ended_at: None,
            touched: now(),
        };
        Live { id, tty: size.is_some(), epoll, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has one of its descriptors, which does not block, watched from now on.
    pub(crate) fn open(&self, line: Line, descriptor: OwnedFd) -> io::Result<()> {
        let mut state = self.state();
        state.close(line, &self.epoll);
        // An input is of interest only while something waits.
        let flags = if line == Line::In { EventFlags::empty() } else { EventFlags::IN };
        epoll::add(&*self.epoll, &descriptor, EventData::new_u64(line.mark(self.id)), flags)?;
        if let Some(place) = state.lines.get_mut(line as usize) {
            *place = Some(descriptor);
        }
        // What was asked for before it came.
        if line == Line::Out && self.tty {
            state.fit();
            state.give(self);
        }
        Ok(())
    }

    /// The program and all that it started have ended.
    pub(crate) fn finish(&self, result: Result<(Ended, Vec<Blocked>)>) {
        let mut state = self.state();
        state.result = Some(result);
        state.ended_at = Some(now());
        state.close(Line::In, &self.epoll);
        self.changed.notify_all();
    }

    /// Closes what somebody else holds open after the end.
    pub(crate) fn close_all(&self) {
        let mut state = self.state();
        Line::ALL.iter().for_each(|line| state.close(*line, &self.epoll));
        self.changed.notify_all();
    }

    /// Something happened to one of its descriptors.
    pub(crate) fn pump(&self, line: Line, piece: &mut [u8]) {
        let mut state = self.state();
        if line == Line::In && state.waiting.is_empty() {
            // Nothing was to be given: nobody reads any more.
            state.close(line, &self.epoll);
        } else if !state.waiting.is_empty() {
            state.give(self);
        }
        if line == Line::In {
            return;
        }
        // A terminal gives little at a time; it is cheaper to take it together.
        let mut filled = 0usize;
        let mut ended = false;
        while let Some(free) = piece.get_mut(filled..).filter(|free| !free.is_empty()) {
            let Some(Some(descriptor)) = state.lines.get(line as usize) else { return };
            match rustix::io::read(descriptor, free) {
                Ok(count) if count > 0 => filled = filled.saturating_add(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // The end; a terminal that nobody has open any more says it with an error.
                _ => {
                    ended = true;
                    break;
                }
            }
        }
        state.take(line, piece.get(..filled).unwrap_or_default());
        if ended {
            state.close(line, &self.epoll);
            self.changed.notify_all();
        }
    }

    /// Waits until all is over, until this time, or until it is taken back.
    pub(crate) fn wait(self: &Arc<Self>, until: Instant, cancel: &Cancel) -> MutexGuard<'_, State> {
        let live = Arc::clone(self);
        let _hooked = cancel.hook(move || {
            drop(live.state());
            live.changed.notify_all();
        });
        let mut state = self.state();
        while !state.is_over() && !cancel.is_cancelled() {
            let left = until.saturating_duration_since(now());
            if left.is_zero() {
                break;
            }
            state = match self.changed.wait_timeout(state, left) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        state.touched = now();
        state
    }

    /// Types.
    pub(crate) fn write(&self, bytes: &[u8]) -> std::result::Result<Typed, SessionError> {
        if bytes.len() > TYPED {
            return Err(SessionError::TooMuch(TYPED));
        }
        let mut state = self.state();
        state.touched = now();
        if state.result.is_some() {
            return Ok(Typed::Done);
        }
        if !self.tty && bytes == INTERRUPT {
            return Ok(Typed::Interrupt);
        }
        if !self.tty && bytes == END {
            state.closing = true;
        } else if state.waiting.len().saturating_add(bytes.len()) > TYPED {
            return Err(SessionError::Busy);
        } else {
            state.waiting.extend_from_slice(bytes);
        }
        state.give(self);
        Ok(Typed::Done)
    }

    pub(crate) fn resize(&self, size: Size) -> std::result::Result<(), SessionError> {
        let mut state = self.state();
        state.touched = now();
        let Some(screen) = &mut state.screen else { return Err(SessionError::NoTerminal) };
        screen.resize(size);
        state.fit();
        Ok(())
    }
}

impl State {
    /// The program has ended, and all that it wrote has come.
    pub(crate) fn is_over(&self) -> bool {
        let [out, error, _] = &self.lines;
        self.result.is_some() && out.is_none() && error.is_none()
    }

    /// What came since the last time, cut to a size.
    pub(crate) fn said(&mut self, limit: u64, tty: bool) -> [Text; 2] {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(self.room);
        let last = self.is_over();
        let from = if tty { From::Terminal } else { From::Stream };
        let [out, error] = &mut self.windows;
        let share = share(out.len(), error.len(), limit);
        let shown = |window: &mut Kept, limit| {
            let before = window.total();
            let cut = window.take(limit, last);
            text(&cut, before.saturating_sub(window.total()), from)
        };
        [shown(out, share.0), shown(error, share.1)]
    }

    /// The digests of everything, unless it was too much.
    pub(crate) fn sha256(&self) -> [Option<String>; 2] {
        let hexadecimal = |digest: &Option<(Sha256, u64)>| {
            let digest = digest.clone()?.0.finalize();
            Some(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        };
        let [out, error] = &self.digests;
        [hexadecimal(out), hexadecimal(error)]
    }

    /// Gives the terminal the size that the screen has.
    fn fit(&mut self) {
        if let ([Some(terminal), ..], Some(screen)) = (&self.lines, &self.screen) {
            let Size { rows, columns } = screen.size();
            let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
            // A terminal that has gone needs none.
            let _gone = rustix::termios::tcsetwinsize(terminal, size);
        }
    }

    fn take(&mut self, line: Line, bytes: &[u8]) {
        let at = line as usize;
        if let (Some(window), Some(digest)) = (self.windows.get_mut(at), self.digests.get_mut(at)) {
            window.push(bytes);
            *digest = digest.take().and_then(|(mut digest, before)| {
                let total = before.saturating_add(bytes.len() as u64);
                digest.update(bytes);
                (total <= DIGESTED).then_some((digest, total))
            });
        }
        if let Some(screen) = &mut self.screen {
            screen.write(bytes);
        }
    }

    /// Gives the program what waits for it, as far as it takes it; the rest when it can.
    fn give(&mut self, live: &Live) {
        let line = if live.tty { Line::Out } else { Line::In };
        let Some(Some(descriptor)) = self.lines.get(line as usize) else {
            // A terminal that has not come yet will be typed to when it has.
            if self.result.is_some() || !live.tty {
                forget(&mut self.waiting);
            }
            return;
        };
        let mut given = 0usize;
        let mut gone = false;
        while let Some(rest) = self.waiting.get(given..).filter(|rest| !rest.is_empty()) {
            match rustix::io::write(descriptor, rest) {
                Ok(count) => given = given.saturating_add(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    gone = true;
                    break;
                }
            }
        }
        if gone || given >= self.waiting.len() {
            forget(&mut self.waiting);
        } else {
            self.waiting.drain(..given);
        }
        let idle = if live.tty { EventFlags::IN } else { EventFlags::empty() };
        let flags = if self.waiting.is_empty() { idle } else { idle | EventFlags::OUT };
        let mark = EventData::new_u64(line.mark(live.id));
        let _gone = epoll::modify(&*live.epoll, descriptor, mark, flags);
        if line == Line::In && (gone || (self.closing && self.waiting.is_empty())) {
            self.close(Line::In, &live.epoll);
        }
    }

    fn close(&mut self, line: Line, epoll: &OwnedFd) {
        if let Some(descriptor) = self.lines.get_mut(line as usize).and_then(Option::take) {
            // It goes by itself unless somebody has a copy.
            let _gone = epoll::delete(epoll.as_fd(), &descriptor);
        }
    }
}

/// What was typed is not left lying in memory.
fn forget(bytes: &mut Vec<u8>) {
    bytes.fill(0);
    bytes.clear();
    bytes.shrink_to_fit();
}
