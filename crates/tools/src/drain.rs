//! Takes everything that a program writes, as fast as it comes, and gives it what it reads, as slowly as it wants it.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::exec::Watch;
use crate::output::{Output, Stream};

/// Taken at once.
const PIECE: usize = 256 * 1024;
/// How often it is looked at whether the program has ended. Streams that it leaves open end with it; this is for those that
/// somebody else has.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };
/// Once it has ended, no more than this many pieces are waited for.
const LAST_PIECES: u32 = 4096;

/// Streams of a program, our ends.
pub(crate) struct Drain<'a> {
    sources: Vec<(OwnedFd, Stream)>,
    input: Option<(OwnedFd, &'a [u8])>,
    /// What ends the input where it is a terminal.
    end_key: &'static [u8],
    over: &'a AtomicBool,
    watch: Option<Watch<'a>>,
}

impl<'a> Drain<'a> {
    pub(crate) fn new(over: &'a AtomicBool, watch: Option<Watch<'a>>) -> Drain<'a> {
        Drain { sources: Vec::new(), input: None, end_key: b"", over, watch }
    }

    /// A stream to be read, which does not block.
    pub(crate) fn source(&mut self, source: OwnedFd, stream: Stream) {
        self.sources.push((source, stream));
    }

    /// Where a program reads from, which does not block.
    pub(crate) fn input(&mut self, to: OwnedFd, bytes: &'a [u8]) {
        self.input = Some((to, bytes));
    }

    /// A terminal, which is both.
    pub(crate) fn terminal(&mut self, terminal: OwnedFd, input: Option<&'a [u8]>) {
        if let (Some(bytes), Ok(copy)) = (input, terminal.try_clone()) {
            // The end of the input is a key; a line that is not ended needs it twice.
            self.end_key = if bytes.is_empty() || bytes.ends_with(b"\n") { b"\x04" } else { b"\x04\x04" };
            self.input = Some((copy, bytes));
        }
        self.sources.push((terminal, Stream::Out));
    }

    /// Drains everything until its end.
    pub(crate) fn run(&mut self, output: &mut Output) {
        let mut piece = vec![0u8; PIECE];
        let mut last_pieces = 0u32;
        while !self.sources.is_empty() {
            let over = self.over.load(Ordering::Acquire);
            let ready = match self.poll() {
                Ok(ready) => ready,
                Err(Errno::INTR) => continue,
                Err(_) => return,
            };
            if over {
                last_pieces = last_pieces.saturating_add(1);
                if ready.iter().all(|ready| !ready) || last_pieces > LAST_PIECES {
                    return;
                }
            }
            let watch = self.watch;
            let mut at = 0usize;
            self.sources.retain(|(source, stream)| {
                let is_ready = ready.get(at).copied().unwrap_or(false);
                at = at.saturating_add(1);
                if !is_ready {
                    return true;
                }
                match rustix::io::read(source, &mut piece) {
                    Ok(0) => false,
                    Ok(count) => {
                        let bytes = piece.get(..count).unwrap_or_default();
                        output.push(*stream, bytes);
                        if let Some(watch) = watch {
                            watch(*stream, bytes);
                        }
                        true
                    }
                    Err(Errno::AGAIN | Errno::INTR) => true,
                    // A terminal that nobody has open any more says it so.
                    Err(_) => false,
                }
            });
            if ready.last() == Some(&true) {
                self.give();
            }
        }
        self.input = None;
    }

    /// Which sources are ready, and, last, whether the input is.
    fn poll(&self) -> rustix::io::Result<Vec<bool>> {
        let mut polled: Vec<PollFd<'_>> =
            self.sources.iter().map(|(source, _)| PollFd::new(source, PollFlags::IN)).collect();
        if let Some((to, _)) = &self.input {
            polled.push(PollFd::new(to, PollFlags::OUT));
        }
        rustix::event::poll(&mut polled, Some(&LOOK))?;
        let mut ready: Vec<bool> = polled.iter().map(|descriptor| !descriptor.revents().is_empty()).collect();
        if self.input.is_none() {
            ready.push(false);
        }
        Ok(ready)
    }

    fn give(&mut self) {
        let Some((to, bytes)) = &mut self.input else { return };
        match rustix::io::write(&*to, bytes) {
            Ok(count) => *bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Nobody reads any more.
            Err(_) => *bytes = b"",
        }
        if bytes.is_empty() {
            if self.end_key.is_empty() {
                self.input = None;
            } else {
                *bytes = std::mem::take(&mut self.end_key);
            }
        }
    }
}
