//! Stays with a program until it ends: hears the first process, answers refused system calls, relays the terminal, passes
//! signals on, keeps the time. One thread, one poll.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::child::START;
use super::filter;
use super::forbidden::Forbidden;
use super::launch::{Launched, Word};
use super::namespaces::{MARK_LISTENER, MARK_SOCKET, MARK_TERMINAL};
use crate::blocked::Blocked;
use crate::console::Console;
use crate::egress::{Egress, Layout, Outside};
use crate::outcome::{End, Held, Outcome, Passed, Refusal};
use crate::reins::{Pull, Reins};
use crate::sys::{kernel, notify};

/// Signals that are the program's rather than ours.
const FORWARDED: [i32; 10] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGWINCH,
];

/// At most this much is remembered of what was refused, and of what waits to be typed.
const REMEMBERED: usize = 100;
const TYPED: usize = 64 * 1024;
/// So many connections are told one by one.
const PASSED: usize = 1000;
/// How long a program runs before forbidden names are watched: to end a watch takes the kernel longer than most commands run.
const UNWATCHED: Duration = Duration::from_secs(1);
/// How often they are looked at until then.
const LOOKED_AT: Duration = Duration::from_millis(5);

/// A program that runs, and everything that serves it.
pub(crate) struct Running {
    pub(crate) launched: Launched,
    pub(crate) console: Option<Console>,
    pub(crate) signals: Option<Rc<OwnedFd>>,
    pub(crate) reins: Option<Reins>,
    pub(crate) forbidden: Option<Forbidden>,
    pub(crate) deadline: Option<Instant>,
    /// When forbidden names are looked at next, and when they begin to be watched.
    look_at: Option<(Instant, Instant)>,
    /// Where names are asked for while the network is off.
    pub(crate) resolver: Option<OwnedFd>,
    /// Where the egress sockets go once all have come.
    pub(crate) layout: Option<Layout>,
    egress: Option<Egress>,
    sockets: Vec<OwnedFd>,
    listener: Option<OwnedFd>,
    terminal: Option<OwnedFd>,
    other_end: Option<OwnedFd>,
    typed: Vec<u8>,
    refused: BTreeSet<String>,
    names: BTreeSet<String>,
    made: Vec<Blocked>,
    failed: Option<Refusal>,
    held: Held,
    passed: Vec<Passed>,
    /// The launcher has said something, so the fence stood.
    heard: bool,
}

/// Prepares to receive signals as this process: to be done before the program is started.
pub(crate) fn take_signals() -> std::io::Result<OwnedFd> {
    kernel::signals(&FORWARDED)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Control,
    Listener,
    Signals,
    Reins,
    Terminal,
    Keys,
    Forbidden,
    Resolver,
}

impl Running {
    pub(crate) fn new(launched: Launched, held: Held) -> Running {
        Running {
            launched,
            console: None,
            signals: None,
            reins: None,
            forbidden: None,
            deadline: None,
            look_at: None,
            resolver: None,
            layout: None,
            egress: None,
            sockets: Vec::new(),
            listener: None,
            terminal: None,
            other_end: None,
            typed: Vec::new(),
            refused: BTreeSet::new(),
            names: BTreeSet::new(),
            made: Vec::new(),
            failed: None,
            held,
            passed: Vec::new(),
            heard: false,
        }
    }

    /// Waits until the program has ended, and everything that it started with it. What is left then is the first process, which
    /// takes the kernel a while to bury; whoever has something else to do can do it meanwhile.
    pub(crate) fn wait(mut self) -> Result<(Outcome, Launched), Refusal> {
        if let Some(console) = &mut self.console {
            console.raw();
        }
        self.look_at = self.forbidden.as_ref().map(|_| (now() + LOOKED_AT, now() + UNWATCHED));
        let end = loop {
            match self.turn() {
                Some(end) => break end,
                None => continue,
            }
        };
        // The first process tells how the program ended once nothing else is left.
        let told = matches!(end, Some(End::Code(_) | End::Signal(_)));
        let reaped = (!told).then(|| self.launched.end());
        self.drain_terminal();
        if let Some(console) = &mut self.console {
            console.restore();
        }
        if let Some(forbidden) = &self.forbidden {
            let found = forbidden.sweep();
            self.made.extend(found);
        }
        if let Some(refusal) = self.failed.take() {
            return Err(refusal);
        }
        let Some(end) = end else {
            let how = reaped
                .unwrap_or_else(|| self.launched.end())
                .map_or_else(|error| error.to_string(), |status| format!("wait status {status:#x}"));
            let missing = format!("the first process ended without a word ({how})");
            return Err(match self.heard {
                true => Refusal::Failed(missing),
                false => Refusal::Fence { missing, help: super::NAMESPACES.into() },
            });
        };
        if let Some(mut egress) = self.egress.take() {
            egress.stop();
            for connection in egress.take_log() {
                let passed = connection.outcome == crate::egress::Outcome::Allowed;
                if let (true, Some(port)) = (passed, connection.port)
                    && self.passed.len() < PASSED
                {
                    let (name, address, times) =
                        (connection.name.clone(), connection.address, connection.times);
                    self.passed.push(Passed { name, port, address, times });
                }
                if matches!(connection.outcome, crate::egress::Outcome::Refused(_))
                    && self.names.len() < REMEMBERED
                {
                    self.names.insert(connection.name.clone());
                }
            }
        }
        let mut blocked = self.made;
        blocked.extend(self.names.into_iter().map(Blocked::Host));
        blocked.extend(self.refused.into_iter().map(Blocked::Call));
        Ok((Outcome { end, blocked, held: self.held, connections: self.passed }, self.launched))
    }

    /// One round. `Some` when it is over: how the program ended, or nothing if that is not known.
    fn turn(&mut self) -> Option<Option<End>> {
        let ready = match self.poll() {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => return None,
            Err(error) => {
                self.failed = Some(Refusal::Failed(format!("poll: {error}")));
                return Some(None);
            }
        };
        if self.is_late() {
            return Some(Some(End::TimedOut));
        }
        if let Some((_, watch)) = self.look_at.take_if(|at| at.0 <= now()) {
            self.look(watch);
        }
        for source in ready {
            match source {
                Source::Control => loop {
                    match self.launched.hear() {
                        Word::Nothing => break,
                        Word::Gone => return Some(None),
                        Word::Ended(status) => return Some(Some(end_of(status))),
                        Word::Stopped => self.stop(),
                        Word::Failed { label, errno } => {
                            self.failed = Some(explain(&label, errno));
                            return Some(None);
                        }
                        Word::Descriptor(mark, descriptor) => {
                            self.heard = true;
                            if let Err(why) = self.receive(mark, descriptor) {
                                self.failed = Some(Refusal::Failed(why));
                                return Some(None);
                            }
                        }
                    }
                },
                Source::Listener => self.answer_refused(),
                Source::Signals => self.forward(),
                Source::Reins => match self.reins.as_ref().map(Reins::pulled) {
                    Some(Pull::End) => {
                        // Nothing is left when the rest is looked at.
                        let _ended = self.launched.end();
                        return Some(Some(End::Signal(libc::SIGKILL)));
                    }
                    Some(Pull::Signals(signals)) => {
                        signals.into_iter().for_each(|signal| self.launched.signal(signal, true));
                    }
                    None => {}
                },
                Source::Terminal => self.show(),
                Source::Keys => self.read_keys(),
                Source::Forbidden => {
                    if let Some(forbidden) = &self.forbidden {
                        let found = forbidden.sweep();
                        if self.made.len() < REMEMBERED {
                            self.made.extend(found);
                        }
                    }
                }
                Source::Resolver => self.answer_resolver(),
            }
        }
        None
    }

    /// Looks whether a forbidden name was made, and begins to watch them when it is time.
    fn look(&mut self, watch: Instant) {
        let Some(forbidden) = &mut self.forbidden else { return };
        let found = if now() < watch {
            self.look_at = Some((now() + LOOKED_AT, watch));
            forbidden.sweep_names()
        } else {
            // Where it cannot be watched, it is still looked at in the end.
            let _unwatched = forbidden.watch();
            forbidden.sweep()
        };
        if self.made.len() < REMEMBERED {
            self.made.extend(found);
        }
    }

    fn poll(&mut self) -> rustix::io::Result<Vec<Source>> {
        let writing = if self.typed.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        let listens = self.terminal.is_some() && self.typed.len() < TYPED;
        let keys = self.console.as_ref().filter(|console| listens && console.listens());
        let all = [
            (Source::Control, self.launched.control(), PollFlags::IN),
            (Source::Listener, self.listener.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (Source::Signals, self.signals.as_ref().map(|signals| signals.as_fd()), PollFlags::IN),
            (Source::Reins, self.reins.as_ref().map(Reins::descriptor), PollFlags::IN),
            (Source::Terminal, self.terminal.as_ref().map(AsFd::as_fd), PollFlags::IN | writing),
            (Source::Keys, keys.map(Console::terminal), PollFlags::IN),
            (Source::Forbidden, self.forbidden.as_ref().and_then(Forbidden::descriptor), PollFlags::IN),
            (Source::Resolver, self.resolver.as_ref().map(AsFd::as_fd), PollFlags::IN),
        ];
        let mut sources = Vec::with_capacity(all.len());
        let mut polled = Vec::with_capacity(all.len());
        for (source, descriptor, flags) in all {
            if let Some(descriptor) = descriptor {
                sources.push(source);
                polled.push(PollFd::from_borrowed_fd(descriptor, flags));
            }
        }
        let next = self.deadline.into_iter().chain(self.look_at.map(|at| at.0)).min();
        let left = next.map(|deadline| deadline.saturating_duration_since(now()));
        let left = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        rustix::event::poll(&mut polled, left.as_ref())?;
        let gone = |descriptor: &PollFd<'_>, source: Source| {
            source == Source::Listener
                && !descriptor.revents().contains(PollFlags::IN)
                && descriptor.revents().contains(PollFlags::HUP)
        };
        let lost = polled.iter().zip(&sources).any(|(descriptor, source)| gone(descriptor, *source));
        let ready = polled
            .iter()
            .zip(&sources)
            .filter(|(descriptor, source)| !descriptor.revents().is_empty() && !gone(descriptor, **source))
            .map(|(_, source)| *source)
            .collect();
        drop(polled);
        if lost {
            // Nobody is left under the filter.
            self.listener = None;
        }
        Ok(ready)
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| now() >= deadline)
    }

    fn receive(&mut self, mark: i32, descriptor: OwnedFd) -> Result<(), String> {
        match mark {
            MARK_TERMINAL => {
                let _kept = rustix::io::ioctl_fionbio(&descriptor, true);
                // As long as somebody has the other end open, it is not hung up: the program may open it late.
                self.other_end = rustix::pty::ioctl_tiocgptpeer(
                    &descriptor,
                    rustix::pty::OpenptFlags::RDWR
                        | rustix::pty::OpenptFlags::NOCTTY
                        | rustix::pty::OpenptFlags::CLOEXEC,
                )
                .ok();
                match self.reins.as_ref().and_then(Reins::tty) {
                    Some(tty) => (tty.taker)(descriptor),
                    None => self.terminal = Some(descriptor),
                }
            }
            MARK_LISTENER => self.listener = Some(descriptor),
            mark if mark >= MARK_SOCKET && self.layout.is_some() => {
                self.sockets.push(descriptor);
                if let Some(layout) =
                    self.layout.take_if(|layout| layout.sockets().len() == self.sockets.len())
                {
                    let sockets = std::mem::take(&mut self.sockets);
                    let started = Egress::start(&layout, sockets, Outside::public());
                    self.egress =
                        Some(started.map_err(|error| format!("the egress could not be started: {error}"))?);
                }
            }
            mark if mark >= MARK_SOCKET => self.resolver = Some(descriptor),
            _ => {}
        }
        Ok(())
    }

    fn answer_refused(&mut self) {
        let Some(listener) = &self.listener else { return };
        let Some(tried) = notify::receive(listener.as_fd()) else { return };
        notify::refuse(listener.as_fd(), &tried, libc::EPERM);
        let number = i64::from(tried.number);
        let name = filter::name_of(number).map_or_else(|| format!("number {number}"), str::to_owned);
        if self.refused.len() < REMEMBERED {
            self.refused.insert(describe(&name, &tried.arguments));
        }
    }

    /// While the network is off there is nobody to ask for an address; that somebody asked is worth saying.
    fn answer_resolver(&mut self) {
        let Some(socket) = &self.resolver else { return };
        let mut query = [0u8; 1500];
        let Ok((_, length, Some(from))) =
            rustix::net::recvfrom(socket, &mut query, rustix::net::RecvFlags::DONTWAIT)
        else {
            return;
        };
        let query = query.get_mut(..length).unwrap_or_default();
        if let Some(name) = question(query)
            && self.names.len() < REMEMBERED
        {
            self.names.insert(name);
        }
        // The question comes back as an answer that says no: QR set, REFUSED.
        if let Some(flags) = query.get_mut(2..4) {
            flags.copy_from_slice(&[0x81, 0x85]);
            let _gone = rustix::net::sendto(socket, query, rustix::net::SendFlags::DONTWAIT, &from);
        }
    }

    fn forward(&mut self) {
        while let Some((signal, key)) =
            self.signals.as_ref().and_then(|from| kernel::next_signal(from.as_fd()))
        {
            match signal {
                libc::SIGWINCH => {
                    if let (Some(console), Some(terminal)) = (&self.console, &self.terminal) {
                        let _gone = rustix::termios::tcsetwinsize(terminal, console.size());
                    }
                }
                libc::SIGCONT => {
                    self.launched.signal(libc::SIGCONT, true);
                    if let Some(console) = &mut self.console {
                        console.raw();
                    }
                }
                // A key at the terminal is for everybody in the foreground, a signal from elsewhere for one process.
                _ => self.launched.signal(signal, key),
            }
        }
    }

    /// The program was stopped: so are we, until somebody wants both to go on.
    fn stop(&mut self) {
        if self.signals.is_none() {
            // We do not stand in for it, and nobody else could make it go on.
            self.launched.signal(libc::SIGCONT, true);
            return;
        }
        self.show();
        if let Some(console) = &mut self.console {
            console.restore();
        }
        let _stopped =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        if let Some(console) = &mut self.console {
            console.raw();
        }
        self.launched.signal(libc::SIGCONT, true);
    }

    fn read_keys(&mut self) {
        let mut keys = [0u8; 4096];
        let Some(console) = &self.console else { return };
        match rustix::io::read(console.terminal(), &mut keys) {
            Ok(count) if count > 0 => self.typed.extend_from_slice(keys.get(..count).unwrap_or_default()),
            // The terminal has gone: what was typed so far is all.
            _ => self.typed.push(4),
        }
        self.type_on();
    }

    fn type_on(&mut self) {
        let Some(terminal) = &self.terminal else { return };
        while !self.typed.is_empty() {
            match rustix::io::write(terminal, &self.typed) {
                Ok(count) => {
                    self.typed.drain(..count.min(self.typed.len()));
                }
                Err(_) => return,
            }
        }
    }

    fn show(&mut self) {
        self.type_on();
        let (Some(terminal), Some(console)) = (&self.terminal, &self.console) else { return };
        let mut bytes = [0u8; 16 * 1024];
        match rustix::io::read(terminal, &mut bytes) {
            Ok(count) if count > 0 => console.show(bytes.get(..count).unwrap_or_default()),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            // Everybody who had it open has ended.
            _ => self.terminal = None,
        }
    }

    /// What was still on its way when the program ended.
    fn drain_terminal(&mut self) {
        self.other_end = None;
        let until = now() + Duration::from_millis(500);
        while self.terminal.is_some() && now() < until {
            let before = self.terminal.is_some();
            let mut polled = match &self.terminal {
                Some(terminal) => [PollFd::new(terminal, PollFlags::IN)],
                None => return,
            };
            let wait = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            let ready = rustix::event::poll(&mut polled, Some(&wait)).unwrap_or(0);
            if ready == 0 || !before {
                return;
            }
            self.show();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "time limits are kept here")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

fn end_of(status: i32) -> End {
    let signal = status & 0x7f;
    match signal {
        0 => End::Code(u8::try_from((status >> 8) & 0xff).unwrap_or(u8::MAX)),
        signal => End::Signal(signal),
    }
}

/// The name that a query asks for, if it is an ordinary one.
fn question(query: &[u8]) -> Option<String> {
    let mut rest = query.get(12..)?;
    let mut labels = Vec::new();
    loop {
        let (&length, after) = rest.split_first()?;
        if length == 0 {
            break;
        }
        let label = after.get(..usize::from(length))?;
        labels.push(std::str::from_utf8(label).ok()?.to_owned());
        rest = after.get(usize::from(length)..)?;
    }
    crate::network::canonical(&labels.join("."))
}

/// A refused call, with what of its arguments tells why.
fn describe(name: &str, arguments: &[u64; 6]) -> String {
    let [first, second, third, ..] = arguments;
    match name {
        "socket" => {
            let families = [
                (1, "unix"),
                (2, "inet"),
                (10, "inet6"),
                (16, "netlink"),
                (17, "packet"),
                (38, "alg"),
                (40, "vsock"),
            ];
            let family = families
                .iter()
                .find(|row| row.0 == *first as u32)
                .map_or_else(|| first.to_string(), |row| row.1.to_owned());
            format!("socket (family {family}, protocol {third})")
        }
        "ioctl" => format!("ioctl ({:#x})", *second as u32),
        "clone" | "unshare" => format!("{name} (new namespaces, {first:#x})"),
        _ => name.to_owned(),
    }
}

/// Why a step failed, and what would help.
fn explain(label: &str, errno: i32) -> Refusal {
    let error = std::io::Error::from_raw_os_error(errno);
    if let Some(program) = label.strip_prefix(START).filter(|program| program.starts_with('/')) {
        return Refusal::Program(format!("{program} could not be started: {error}"));
    }
    Refusal::Fence { missing: format!("could not {label}: {error}"), help: super::remedy(label, errno) }
}
