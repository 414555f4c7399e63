//! No fence, by name, for a program whose output somebody takes: it can touch all that its user can. Its time is limited, and its
//! session ends with it; a process that left the session is not found.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::pty::OpenptFlags;

use crate::backend::Order;
use crate::network::Network;
use crate::outcome::{End, Held, Means, Outcome, Refusal};
use crate::plan::{Limits, Plan};
use crate::reins::{Pull, Reins, Tty};
use crate::sys::session::lead_a_session;

impl Plan {
    /// No plan at all: where a program starts, its environment, and how long it may take.
    #[must_use]
    pub fn unfenced(
        cwd: &Path,
        environment: impl Iterator<Item = (OsString, OsString)>,
        limits: Limits,
    ) -> Plan {
        Plan {
            places: std::iter::empty().collect(),
            forbidden: Vec::new(),
            fresh: Vec::new(),
            cwd: cwd.to_path_buf(),
            environment: environment.collect(),
            network: Network::Open,
            limits,
            execute_scratch: true,
        }
    }
}

/// Runs a program without a fence until it has ended, and ends what is left of its session.
///
/// # Errors
/// The program could not be started.
pub fn run_unfenced(order: &Order<'_>) -> Result<Outcome, Refusal> {
    let failed = |error: io::Error| Refusal::Failed(format!("the program's streams: {error}"));
    let tty = order.reins.and_then(Reins::tty);
    let terminal = tty.map(open_terminal).transpose().map_err(failed)?;
    let mut command = command(order, tty, terminal.as_ref().map(|(_, slave)| slave)).map_err(failed)?;
    order.leave.ask()?;
    let mut child = command.spawn().map_err(|error| {
        Refusal::Program(format!("{} could not be started: {error}", order.program.display()))
    })?;
    // The streams of the program are its own from here on.
    drop(command);
    if let Some(reins) = order.reins {
        reins.held_by(Means::Unfenced.name());
    }
    if let (Some(tty), Some((master, slave))) = (tty, terminal) {
        drop(slave);
        (tty.taker)(master);
    }
    let end = wait(&mut child, order)
        .map_err(|error| Refusal::Failed(format!("the end of the program cannot be seen: {error}")))?;
    let held = Held { means: Means::Unfenced, landlock: 0, limits: Vec::new() };
    Ok(Outcome { end, blocked: Vec::new(), held, connections: Vec::new() })
}

#[expect(
    clippy::disallowed_methods,
    reason = "one of the two places where a program is started without a fence"
)]
fn command(order: &Order<'_>, tty: Option<&Tty>, slave: Option<&OwnedFd>) -> io::Result<Command> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(order.program);
    if let Some((name, rest)) = order.arguments.split_first() {
        command.arg0(name).args(rest);
    }
    command.env_clear().envs(&order.plan.environment).current_dir(&order.plan.cwd);
    let on_terminal = tty.map_or([false; 3], |tty| tty.streams);
    let mut streams = Vec::new();
    for (number, on_terminal) in on_terminal.into_iter().enumerate() {
        let given = order.streams.and_then(|streams| streams.get(number).copied());
        streams.push(match (slave.filter(|_| on_terminal), given) {
            (Some(slave), _) => Stdio::from(slave.try_clone()?),
            (None, Some(stream)) => Stdio::from(stream.try_clone_to_owned()?),
            (None, None) => Stdio::inherit(),
        });
    }
    if let Ok([input, output, error]) = <[Stdio; 3]>::try_from(streams) {
        command.stdin(input).stdout(output).stderr(error);
    }
    lead_a_session(&mut command, slave.is_some());
    Ok(command)
}

/// A terminal: our end, which does not block, and the program's.
fn open_terminal(tty: &Tty) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let size = rustix::termios::Winsize { ws_row: tty.rows, ws_col: tty.columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&master, size)?;
    rustix::io::ioctl_fionbio(&master, true)?;
    Ok((master, slave))
}

fn wait(child: &mut Child, order: &Order<'_>) -> io::Result<End> {
    let leader = Pid::from_child(child);
    let process = rustix::process::pidfd_open(leader, PidfdFlags::empty())?;
    let deadline = order.plan.limits.wall_ms.map(|limit| now() + Duration::from_millis(limit));
    let mut late = false;
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now()));
        if left == Some(Duration::ZERO) {
            late = true;
            break;
        }
        let wait = left.and_then(|left| Timespec::try_from(left).ok());
        let mut polled = vec![PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
        polled.extend(order.reins.map(|reins| PollFd::from_borrowed_fd(reins.descriptor(), PollFlags::IN)));
        match rustix::event::poll(&mut polled, wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if polled.first().is_some_and(|process| !process.revents().is_empty()) {
            break;
        }
        match order.reins.map(Reins::pulled) {
            Some(Pull::End) => break,
            Some(Pull::Signals(signals)) => {
                for signal in signals.into_iter().filter_map(Signal::from_named_raw) {
                    let _gone = rustix::process::kill_process_group(leader, signal);
                }
            }
            None => {}
        }
    }
    // It has not been reaped yet, so that its number is still its own.
    let _gone = rustix::process::kill_process_group(leader, Signal::KILL);
    let _gone = rustix::process::kill_process(leader, Signal::KILL);
    let status = child.wait()?;
    if late {
        return Ok(End::TimedOut);
    }
    use std::os::unix::process::ExitStatusExt;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, signal) => End::Signal(signal.unwrap_or(9)),
    })
}

#[expect(clippy::disallowed_methods, reason = "how long a program may take is measured here")]
fn now() -> Instant {
    Instant::now()
}
