//! Bytes both ways between a program and a host, until both have closed.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt;

use super::opening::Opening;
use super::record::{Failure, Outcome};
use super::wait::{Deadline, Interrupt, Stop, blocked};

const BUFFER: usize = 64 * 1024;
/// How many steps one direction takes before the other has its turn.
const STEPS: usize = 16;

/// How many bytes went each way.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// The two ends of a connection.
pub(super) struct Ends<'a> {
    pub(super) program: &'a TcpStream,
    pub(super) host: &'a TcpStream,
}

/// One direction.
#[derive(Default)]
struct Flow {
    /// Read and not yet written.
    pending: Vec<u8>,
    written: usize,
    /// The reading end has said all.
    ended: bool,
    /// So the writing end was told.
    told: bool,
    count: u64,
}

/// Relays until both ends have closed. What `pending` holds goes to the host first. An error is a refusal, or that what was
/// said first took too long.
pub(super) fn relay(
    ends: &Ends<'_>,
    opening: &mut Opening,
    pending: Vec<u8>,
    stop: &Stop,
    patience: &super::Patience,
) -> (Counts, Result<(), Outcome>) {
    let mut out = Flow { pending, ended: opening.is_over(), ..Flow::default() };
    let mut back = Flow::default();
    let result = run(ends, opening, (&mut out, &mut back), stop, (patience.opening, patience.closing));
    let counts = Counts { sent: out.count, received: back.count };
    // Whoever reads to the end must not take a connection that broke for one that ended.
    let reset = |stream: &TcpStream| {
        let _closed = sockopt::set_socket_linger(stream, Some(Duration::ZERO));
    };
    let result = match result {
        Ok(()) => Ok(()),
        Err(Break::Peer) => {
            reset(ends.program);
            reset(ends.host);
            Ok(())
        }
        Err(Break::Refused(outcome)) => {
            reset(ends.host);
            Err(outcome)
        }
    };
    (counts, result)
}

enum Break {
    /// An end reset, or the fence ended.
    Peer,
    Refused(Outcome),
}

fn run(
    ends: &Ends<'_>,
    opening: &mut Opening,
    (out, back): (&mut Flow, &mut Flow),
    stop: &Stop,
    (for_opening, for_closing): (Duration, Duration),
) -> Result<(), Break> {
    let mut buffer = vec![0; BUFFER];
    let mut owed: Option<Deadline> = None;
    loop {
        // Neither direction keeps the other waiting, however fast its ends are.
        let _more = (0..STEPS).try_fold(true, |more, _| match more {
            true => step_out(ends, opening, out, &mut buffer),
            false => Ok(false),
        })?;
        let _more = (0..STEPS).try_fold(true, |more, _| match more {
            true => step_back(ends, back, &mut buffer),
            false => Ok(false),
        })?;
        if out.told && back.told {
            return Ok(());
        }
        owed = match opening.is_owed() {
            true => Some(owed.unwrap_or_else(|| Deadline::after(for_opening))),
            false => None,
        };
        let half = (out.told || back.told).then(|| Deadline::after(for_closing));
        let deadline = match (owed, half) {
            (Some(owed), Some(half)) => Some(owed.earlier(half)),
            (owed, half) => owed.or(half),
        };
        // An end from which nothing is wanted is left out: it would wake us again and again with having closed.
        let mut wanted = vec![stop.interest()];
        let flags = |read: bool, write: bool| {
            let read = if read { PollFlags::IN } else { PollFlags::empty() };
            read | if write { PollFlags::OUT } else { PollFlags::empty() }
        };
        let program = flags(out.wants(), !back.pending.is_empty());
        let host = flags(back.wants(), !out.pending.is_empty());
        for (stream, flags) in [(ends.program, program), (ends.host, host)] {
            if !flags.is_empty() {
                wanted.push(PollFd::new(stream, flags));
            }
        }
        match stop.wait(&mut wanted, deadline) {
            Ok(()) => {}
            Err(Interrupt::TimedOut) if opening.is_owed() => {
                return Err(Break::Refused(Failure::TimedOut.into()));
            }
            Err(Interrupt::Stopped | Interrupt::TimedOut | Interrupt::Broken) => return Err(Break::Peer),
        }
    }
}

impl Flow {
    fn wants(&self) -> bool {
        self.pending.is_empty() && !self.ended
    }

    /// Writes what is pending. Whether something changed.
    fn write(&mut self, mut stream: &TcpStream) -> Result<bool, Break> {
        let rest = self.pending.get(self.written..).unwrap_or_default();
        if rest.is_empty() {
            self.pending.clear();
            self.written = 0;
            if self.ended && !self.told {
                let _gone = stream.shutdown(Shutdown::Write);
                self.told = true;
                return Ok(true);
            }
            return Ok(false);
        }
        match stream.write(rest) {
            Ok(0) => Err(Break::Peer),
            Ok(count) => {
                self.written += count;
                self.count += count as u64;
                Ok(true)
            }
            Err(error) if blocked(&error) => Ok(false),
            Err(_) => Err(Break::Peer),
        }
    }
}

/// One step from the program to the host. Whether another may follow at once.
fn step_out(
    ends: &Ends<'_>,
    opening: &mut Opening,
    flow: &mut Flow,
    buffer: &mut [u8],
) -> Result<bool, Break> {
    if flow.write(ends.host)? {
        return Ok(true);
    }
    if !flow.wants() {
        return Ok(false);
    }
    let refused = |reason| Break::Refused(Outcome::Refused(reason));
    let mut program = ends.program;
    match program.read(buffer) {
        Ok(0) => {
            opening.finish(&mut flow.pending).map_err(refused)?;
            flow.ended = true;
            Ok(true)
        }
        Ok(count) => {
            opening.feed(buffer.get(..count).unwrap_or_default(), &mut flow.pending).map_err(refused)?;
            flow.ended = opening.is_over();
            // Less than there was room for: there is hardly more.
            Ok(!flow.pending.is_empty() || flow.ended || count == buffer.len())
        }
        Err(error) if blocked(&error) => Ok(false),
        Err(_) => Err(Break::Peer),
    }
}

/// One step from the host to the program.
fn step_back(ends: &Ends<'_>, flow: &mut Flow, buffer: &mut [u8]) -> Result<bool, Break> {
    if flow.write(ends.program)? {
        return Ok(true);
    }
    if !flow.wants() {
        return Ok(false);
    }
    let mut host = ends.host;
    match host.read(buffer) {
        Ok(0) => {
            flow.ended = true;
            Ok(true)
        }
        Ok(count) => {
            flow.pending.extend_from_slice(buffer.get(..count).unwrap_or_default());
            Ok(true)
        }
        Err(error) if blocked(&error) => Ok(false),
        Err(_) => Err(Break::Peer),
    }
}
