//! Waiting: for sockets, with a deadline, and never longer than the fence lasts.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::record::{Failure, Outcome};

/// Says that the fence has ended, to every thread that waits. The other end of the pair is held by [`super::Egress`]; when
/// it goes, every wait returns.
#[derive(Debug)]
pub(super) struct Stop {
    pair: UnixStream,
    said: AtomicBool,
}

/// A point in time after which nobody waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Instant);

/// Why a wait ended without what was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    Stopped,
    TimedOut,
    /// The peer closed or reset, or the kernel failed.
    Broken,
}

impl From<Interrupt> for Outcome {
    fn from(interrupt: Interrupt) -> Outcome {
        Outcome::Failed(match interrupt {
            Interrupt::Stopped => Failure::Stopped,
            Interrupt::TimedOut => Failure::TimedOut,
            Interrupt::Broken => Failure::Closed,
        })
    }
}

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "a time-out on a socket is no time of day")]
    pub(super) fn after(time: Duration) -> Deadline {
        Deadline(Instant::now() + time)
    }

    #[expect(clippy::disallowed_methods, reason = "a time-out on a socket is no time of day")]
    pub(super) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub(super) fn earlier(self, other: Deadline) -> Deadline {
        Deadline(self.0.min(other.0))
    }
}

impl Stop {
    pub(super) fn new(pair: UnixStream) -> Stop {
        Stop { pair, said: AtomicBool::new(false) }
    }

    pub(super) fn say(&self) {
        self.said.store(true, Ordering::SeqCst);
    }

    pub(super) fn said(&self) -> bool {
        self.said.load(Ordering::SeqCst)
    }

    /// What to poll so as to notice the end; must come first in what [`Stop::wait`] is given.
    pub(super) fn interest(&self) -> PollFd<'_> {
        PollFd::new(&self.pair, PollFlags::IN)
    }

    /// Waits until one of these is ready. The first must be [`Stop::interest`].
    pub(super) fn wait(
        &self,
        wanted: &mut [PollFd<'_>],
        deadline: Option<Deadline>,
    ) -> Result<(), Interrupt> {
        loop {
            let left = deadline.map(Deadline::left);
            let time =
                left.map(|left| Timespec::try_from(left).map_err(|_| Interrupt::Broken)).transpose()?;
            match poll(wanted, time.as_ref()) {
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return Err(Interrupt::Broken),
                Ok(_) if self.said() => return Err(Interrupt::Stopped),
                Ok(_) if wanted.first().is_none_or(|stop| !stop.revents().is_empty()) => {
                    return Err(Interrupt::Stopped);
                }
                Ok(0) if left.is_some_and(|left| left.is_zero()) => return Err(Interrupt::TimedOut),
                Ok(0) => continue,
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Waits until this one is ready.
    pub(super) fn wait_for(
        &self,
        socket: impl AsFd,
        flags: PollFlags,
        deadline: Deadline,
    ) -> Result<(), Interrupt> {
        self.wait(&mut [self.interest(), PollFd::new(&socket, flags)], Some(deadline))
    }

    /// Reads once, at least one byte; `None` at the end.
    pub(super) fn read(
        &self,
        mut stream: &TcpStream,
        buffer: &mut [u8],
        deadline: Deadline,
    ) -> Result<Option<usize>, Interrupt> {
        loop {
            match stream.read(buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => return Ok(Some(count)),
                Err(error) if blocked(&error) => self.wait_for(stream, PollFlags::IN, deadline)?,
                Err(_) => return Err(Interrupt::Broken),
            }
        }
    }

    /// Writes everything.
    pub(super) fn write(
        &self,
        mut stream: &TcpStream,
        mut bytes: &[u8],
        deadline: Deadline,
    ) -> Result<(), Interrupt> {
        while !bytes.is_empty() {
            match stream.write(bytes) {
                Ok(0) => return Err(Interrupt::Broken),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if blocked(&error) => self.wait_for(stream, PollFlags::OUT, deadline)?,
                Err(_) => return Err(Interrupt::Broken),
            }
        }
        Ok(())
    }
}

/// Whether it is enough to wait, or to try again.
pub(super) fn blocked(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
