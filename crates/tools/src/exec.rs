//! Runs a program to its end and takes what it writes: the one way for every tool that executes something and waits for it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use fence::{Blocked, Refusal, Reins, Tty};
use serde_json::json;

use crate::cancel::Cancel;
use crate::clock::now;
use crate::drain::Drain;
use crate::ended::Ended;
use crate::job::{Job, Size};
use crate::outcome::Outcome;
use crate::output::{Bounds, Output, Stream};

/// What is seen of an output while it comes.
pub type Watch<'a> = &'a (dyn Fn(Stream, &[u8]) + Sync);

/// How a program is run to its end.
#[derive(Clone, Copy, Default)]
pub struct Capture<'a> {
    /// How long it may take, if the plan does not say less.
    pub timeout: Option<Duration>,
    /// What it reads; nothing otherwise.
    pub input: Option<&'a [u8]>,
    /// It gets a terminal of this size for its output, and for its input if there is any.
    pub tty: Option<Size>,
    /// Standard error goes where standard output goes, so that their order is exact.
    pub together: bool,
    /// How much of the output is wanted.
    pub max_output_tokens: Option<u64>,
    /// Up to how many bytes a stream has a digest; 64 MiB where nothing is said.
    pub digest_bytes: Option<u64>,
    /// Sees the output while it comes. The program waits for it.
    pub watch: Option<Watch<'a>>,
}

/// What came of a program.
#[derive(Debug, Clone)]
pub struct Ran {
    /// How it ended.
    pub end: Ended,
    /// What it wrote.
    pub output: Output,
    /// What the fence refused it, as far as it can be seen.
    pub blocked: Vec<Blocked>,
    /// The means that held the plan.
    pub enforced: &'static str,
    /// How long it took.
    pub duration: Duration,
}

/// Runs a program until it and all that it started have ended. When the time is up, or when the call is taken back, all of it is
/// ended.
///
/// # Errors
/// The fence cannot be built as planned, or the program could not be started.
pub fn run_captured(job: &Job, capture: &Capture<'_>, cancel: &Cancel) -> Result<Ran, Refusal> {
    let start = now();
    let failed = |error: io::Error| Refusal::Failed(format!("the program's streams: {error}"));
    let mut bounds = Bounds::new(&job.plan.limits, capture.max_output_tokens);
    bounds.digest_bytes = capture.digest_bytes.unwrap_or(bounds.digest_bytes);
    let mut output = Output::new(bounds);
    let mut plan = job.plan.clone();
    if let Some(timeout) = capture.timeout {
        let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        plan.limits.wall_ms = Some(plan.limits.wall_ms.map_or(timeout, |limit| limit.min(timeout)));
    }
    let (terminals, terminal) = mpsc::channel();
    let reins = Reins::new(capture.tty.map(|size| tty(size, capture.input.is_some(), terminals.clone())))
        .map_err(failed)?;
    let hooked = {
        let reins = reins.clone();
        cancel.hook(move || reins.end())
    };
    let over = AtomicBool::new(false);
    let mut drain = Drain::new(&over, capture.watch);
    let theirs = Theirs::make(capture, &mut drain).map_err(failed)?;
    if capture.tty.is_some() {
        output = output.of_terminal();
    }
    let outcome = std::thread::scope(|scope| {
        let output = &mut output;
        let builder = std::thread::Builder::new().name("output".into()).stack_size(STACK);
        let drained = builder.spawn_scoped(scope, move || {
            if capture.tty.is_none() {
                drain.run(output);
            }
            while let Ok(Some(terminal)) = terminal.recv() {
                drain.terminal(terminal, capture.input);
                drain.run(output);
            }
        });
        let drained = drained.map_err(failed)?;
        let outcome = job.run(&plan, theirs.streams(), &reins);
        drop(theirs);
        over.store(true, Ordering::Release);
        let _gone = terminals.send(None);
        let _done = drained.join();
        outcome
    })?;
    drop(hooked);
    Ok(Ran {
        end: Ended::new(outcome.end, &reins),
        output,
        blocked: outcome.blocked,
        enforced: reins.means().unwrap_or("none"),
        duration: now().saturating_duration_since(start),
    })
}

impl Ran {
    /// The answer of a tool.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let (stdout, stderr) = (self.output.stdout(), self.output.stderr());
        let data = json!({
            "stdout_bytes": stdout.bytes,
            "stderr_bytes": stderr.bytes,
            "stdout_sha256": self.output.sha256(Stream::Out),
            "stderr_sha256": self.output.sha256(Stream::Error),
            "binary": stdout.binary || stderr.binary,
            "signal": if let Ended::Signal(signal) = self.end { Some(signal) } else { None },
            "blocked": self.blocked.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "fence": self.enforced,
        });
        Outcome {
            ok: self.end == Ended::Code(0),
            truncated: stdout.omitted > 0 || stderr.omitted > 0,
            stdout: stdout.text,
            stderr: stderr.text,
            exit_code: self.end.exit_code(),
            duration_ms: 0,
            data: Some(data),
            error_kind: self.end.error_kind(),
            retryable: false,
            retry_after_ms: None,
        }
        .took(self.duration)
    }
}

/// The thread that takes the output does little.
const STACK: usize = 64 * 1024;

fn tty(size: Size, typed: bool, terminals: mpsc::Sender<Option<OwnedFd>>) -> Tty {
    let Size { rows, columns } = size.bounded();
    let taker = move |terminal| {
        // Nobody takes it: the program is about to end.
        let _gone = terminals.send(Some(terminal));
    };
    Tty { rows, columns, streams: [typed, true, true], taker: Box::new(taker) }
}

/// The program's ends of its streams.
struct Theirs {
    input: OwnedFd,
    output: OwnedFd,
    error: Option<OwnedFd>,
}

impl Theirs {
    /// Makes the streams, and gives our ends to whoever drains them.
    fn make<'a>(capture: &Capture<'a>, drain: &mut Drain<'a>) -> io::Result<Theirs> {
        if capture.tty.is_some() {
            return Ok(Theirs { input: nothing()?, output: nothing()?, error: None });
        }
        let input = match capture.input {
            None => nothing()?,
            Some(bytes) => {
                let (theirs, ours) = pipe()?;
                rustix::io::ioctl_fionbio(&ours, true)?;
                drain.input(ours, bytes);
                theirs
            }
        };
        let (ours, output) = wide_pipe()?;
        drain.source(ours, Stream::Out);
        let error = match capture.together {
            true => None,
            false => {
                let (ours, error) = wide_pipe()?;
                drain.source(ours, Stream::Error);
                Some(error)
            }
        };
        Ok(Theirs { input, output, error })
    }

    fn streams(&self) -> [BorrowedFd<'_>; 3] {
        let error = self.error.as_ref().unwrap_or(&self.output);
        [self.input.as_fd(), self.output.as_fd(), error.as_fd()]
    }
}

/// Reads as empty, takes everything.
pub(crate) fn nothing() -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    Ok(rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// The end to read from, and the end to write to.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// A pipe for much at once, where that is to be had; whoever reads it does not wait.
fn wide_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = pipe()?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    let _narrower = rustix::pipe::fcntl_setpipe_size(&ours, WIDE);
    Ok((ours, theirs))
}

const WIDE: usize = 512 * 1024;
