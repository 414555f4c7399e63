//! Programs that are left running and typed to: each on a terminal or on pipes of its own, behind its own fence.
//!
//! Each has a thread that stays with it for the fence, with a small stack; one more thread serves the terminals and pipes of
//! all. What is typed goes to the program and is kept nowhere.

mod live;
mod reactor;
mod said;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fence::{Reins, Tty};
use rustix::event::EventfdFlags;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

pub use self::said::{Said, SessionError};

use self::live::{Line, Live, Typed};
use crate::cancel::Cancel;
use crate::clock::now;
use crate::ended::Ended;
use crate::exec::{nothing, pipe};
use crate::job::{Job, Size};
use crate::output::in_bytes;
use crate::screen::Screen;

/// The stack of the thread that stays with a program.
const STACK: usize = 256 * 1024;
/// Nobody waits longer for an answer.
const LONGEST: Duration = Duration::from_secs(600);
/// Descriptors that a session has on our side, at most, and those that we have anyway.
const DESCRIPTORS: u64 = 16;
const OTHERS: u64 = 512;

/// How many sessions there may be, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionBounds {
    /// Sessions at once.
    pub most: usize,
    /// A session that nobody has asked for so long is ended.
    pub idle: Duration,
    /// What is kept of one stream between two answers, if the plan does not say less.
    pub kept_bytes: usize,
}

impl Default for SessionBounds {
    fn default() -> SessionBounds {
        SessionBounds { most: 64, idle: Duration::from_secs(1800), kept_bytes: 256 * 1024 }
    }
}

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The program gets a terminal of this size; pipes otherwise.
    pub tty: Option<Size>,
    /// How the first answer is wanted.
    pub ask: Ask,
}

/// How an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// How long to wait for it, if the program does not end before.
    pub yield_time: Duration,
    /// How much of the output is wanted.
    pub max_output_tokens: Option<u64>,
}

/// All sessions. When this is dropped, every program in them ends.
pub struct Sessions {
    shared: Arc<Shared>,
    reactor: Option<JoinHandle<()>>,
}

struct Shared {
    bounds: SessionBounds,
    epoll: Arc<OwnedFd>,
    wake: OwnedFd,
    closing: AtomicBool,
    sessions: Mutex<BTreeMap<u64, Arc<Session>>>,
}

struct Session {
    owner: String,
    live: Arc<Live>,
    reins: Reins,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Sessions {
    /// No session yet.
    ///
    /// # Errors
    /// No descriptor or no thread is to be had.
    pub fn new(bounds: SessionBounds) -> io::Result<Sessions> {
        make_room(bounds.most);
        let epoll = Arc::new(epoll::create(CreateFlags::CLOEXEC)?);
        let wake = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&*epoll, &wake, EventData::new_u64(0), EventFlags::IN)?;
        let closing = AtomicBool::new(false);
        let shared = Arc::new(Shared { bounds, epoll, wake, closing, sessions: Mutex::default() });
        let served = Arc::clone(&shared);
        let reactor = std::thread::Builder::new()
            .name("sessions".into())
            .stack_size(STACK)
            .spawn(move || reactor::turn(&served))?;
        Ok(Sessions { shared, reactor: Some(reactor) })
    }

    /// Starts a program, for this owner alone, and answers with what it has written by then. An answer without a session is the
    /// last one.
    ///
    /// # Errors
    /// There are too many, or the program could not be started.
    pub fn start(&self, owner: &str, job: Job, start: &Start, cancel: &Cancel) -> Result<Said, SessionError> {
        let failed = |error: io::Error| SessionError::Failed(format!("a session: {error}"));
        let session = self.shared.admit(owner, &job, start.tty).map_err(failed)?;
        let Some(session) = session else { return Err(SessionError::Full(self.shared.bounds.most)) };
        if let Err(error) = run(&session, job, start.tty) {
            self.shared.sessions().remove(&session.live.id);
            return Err(failed(error));
        }
        self.shared.wake();
        let said = self.shared.answer(&session, start.ask, cancel);
        if matches!(said, Err(SessionError::Cancelled)) {
            self.shared.dismiss(&session);
        }
        said
    }

    /// Types into a program, or only asks, and answers with what it has written by then. Control characters are keys: a terminal
    /// gives them their meaning; without one, Ctrl-C alone interrupts and Ctrl-D alone ends the input.
    ///
    /// # Errors
    /// The owner has no such session; the program does not read.
    pub fn write(
        &self,
        owner: &str,
        id: u64,
        chars: &[u8],
        ask: Ask,
        cancel: &Cancel,
    ) -> Result<Said, SessionError> {
        let session = self.shared.find(owner, id)?;
        if !chars.is_empty() && session.live.write(chars)? == Typed::Interrupt {
            session.reins.signal(INTERRUPT);
        }
        self.shared.answer(&session, ask, cancel)
    }

    /// Gives a terminal another size.
    ///
    /// # Errors
    /// The owner has no such session; it has no terminal.
    pub fn resize(&self, owner: &str, id: u64, size: Size) -> Result<(), SessionError> {
        self.shared.find(owner, id)?.live.resize(size)
    }

    /// What a terminal shows.
    ///
    /// # Errors
    /// The owner has no such session; it has no terminal.
    pub fn screen(&self, owner: &str, id: u64) -> Result<Screen, SessionError> {
        let session = self.shared.find(owner, id)?;
        let mut state = session.live.state();
        state.touched = now();
        state.screen.as_ref().map(crate::screen::Emulator::screen).ok_or(SessionError::NoTerminal)
    }

    /// Sends a signal to a program's whole job.
    ///
    /// # Errors
    /// The owner has no such session.
    pub fn signal(&self, owner: &str, id: u64, signal: i32) -> Result<(), SessionError> {
        self.shared.find(owner, id)?.reins.signal(signal);
        Ok(())
    }

    /// Ends a session and everything in it.
    ///
    /// # Errors
    /// The owner has no such session.
    pub fn end(&self, owner: &str, id: u64) -> Result<(), SessionError> {
        let session = self.shared.find(owner, id)?;
        self.shared.dismiss(&session);
        Ok(())
    }

    /// Ends all sessions of an owner.
    pub fn end_all(&self, owner: &str) {
        let all: Vec<Arc<Session>> =
            self.shared.sessions().values().filter(|session| session.owner == owner).cloned().collect();
        all.iter().for_each(|session| session.reins.end());
        all.iter().for_each(|session| self.shared.dismiss(session));
    }

    /// The sessions of an owner.
    #[must_use]
    pub fn list(&self, owner: &str) -> Vec<u64> {
        let sessions = self.shared.sessions();
        sessions.iter().filter(|(_, session)| session.owner == owner).map(|(id, _)| *id).collect()
    }
}

const INTERRUPT: i32 = rustix::process::Signal::INT.as_raw();

impl Drop for Sessions {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        let all: Vec<Arc<Session>> = std::mem::take(&mut *self.shared.sessions()).into_values().collect();
        all.iter().for_each(|session| session.reins.end());
        all.iter().for_each(|session| session.join());
        all.iter().for_each(|session| session.live.close_all());
        self.shared.wake();
        if let Some(reactor) = self.reactor.take() {
            let _ended = reactor.join();
        }
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self, id: u64) -> Option<Arc<Live>> {
        self.sessions().get(&id).map(|session| Arc::clone(&session.live))
    }

    /// Somebody else's session is as good as none.
    fn find(&self, owner: &str, id: u64) -> Result<Arc<Session>, SessionError> {
        let found = self.sessions().get(&id).filter(|session| session.owner == owner).cloned();
        found.ok_or(SessionError::NotFound(id))
    }

    /// A place for a session, if there is one.
    fn admit(&self, owner: &str, job: &Job, tty: Option<Size>) -> io::Result<Option<Arc<Session>>> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let limit = usize::try_from(job.plan.limits.output_bytes).unwrap_or(usize::MAX);
        let size = tty.map(Size::bounded);
        let mut sessions = self.sessions();
        if sessions.len() >= self.bounds.most {
            // One that has ended, and that nobody came back for, makes room.
            let ended =
                sessions.iter().find(|(_, session)| session.live.state().is_over()).map(|(id, _)| *id);
            match ended {
                Some(id) => drop(sessions.remove(&id)),
                None => return Ok(None),
            }
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let room = self.bounds.kept_bytes.min(limit);
        let live = Arc::new(Live::new(id, size, room, Arc::clone(&self.epoll)));
        let reins = Reins::new(size.map(|size| {
            let live = Arc::clone(&live);
            let taker = move |terminal| {
                // A terminal that cannot be watched is closed, which ends the program.
                let _closed = live.open(Line::Out, terminal);
            };
            Tty { rows: size.rows, columns: size.columns, streams: [true; 3], taker: Box::new(taker) }
        }))?;
        let session = Arc::new(Session { owner: owner.to_owned(), live, reins, thread: Mutex::default() });
        sessions.insert(id, Arc::clone(&session));
        Ok(Some(session))
    }

    fn answer(&self, session: &Session, ask: Ask, cancel: &Cancel) -> Result<Said, SessionError> {
        let start = now();
        let live = &session.live;
        let until = start.checked_add(ask.yield_time.min(LONGEST)).unwrap_or(start);
        let mut state = live.wait(until, cancel);
        let over = state.is_over();
        if cancel.is_cancelled() && !over {
            return Err(SessionError::Cancelled);
        }
        let [stdout, stderr] = state.said(in_bytes(ask.max_output_tokens), live.tty);
        let result = state.result.clone().filter(|_| over);
        let sha256 = over.then(|| state.sha256());
        drop(state);
        if over {
            self.sessions().remove(&live.id);
            session.join();
        }
        let (end, blocked) = match result {
            Some(Ok((end, blocked))) => (Some(end), blocked),
            Some(Err(refusal)) => return Err(SessionError::Refused(refusal)),
            None => (None, Vec::new()),
        };
        Ok(Said {
            session: (!over).then_some(live.id),
            end,
            stdout,
            stderr,
            blocked,
            enforced: session.reins.means().unwrap_or("none"),
            sha256,
            duration: now().saturating_duration_since(start),
        })
    }

    /// Ends a session, and waits until everything in it has ended.
    fn dismiss(&self, session: &Session) {
        session.reins.end();
        session.join();
        session.live.close_all();
        self.sessions().remove(&session.live.id);
    }

    fn wake(&self) {
        // Full: it is readable, which is all that is wanted.
        let _full = rustix::io::write(self.wake.as_fd(), &1u64.to_ne_bytes());
    }
}

impl Session {
    fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ended = thread.join();
        }
    }
}

/// Starts the thread that starts the program and stays with it.
fn run(session: &Arc<Session>, job: Job, tty: Option<Size>) -> io::Result<()> {
    let live = Arc::clone(&session.live);
    let reins = session.reins.clone();
    let [input, output, error] = match tty {
        Some(_) => [nothing()?, nothing()?, nothing()?],
        None => {
            let (input, ours) = pipe()?;
            rustix::io::ioctl_fionbio(&ours, true)?;
            live.open(Line::In, ours)?;
            let out = |line: Line| -> io::Result<OwnedFd> {
                let (ours, theirs) = pipe()?;
                rustix::io::ioctl_fionbio(&ours, true)?;
                live.open(line, ours)?;
                Ok(theirs)
            };
            [input, out(Line::Out)?, out(Line::Error)?]
        }
    };
    let body = move || {
        let result = job.run(&job.plan, [input.as_fd(), output.as_fd(), error.as_fd()], &reins);
        drop((input, output, error));
        live.finish(result.map(|outcome| (Ended::new(outcome.end, &reins), outcome.blocked)));
    };
    let thread = std::thread::Builder::new().name("session".into()).stack_size(STACK).spawn(body)?;
    *session.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
    Ok(())
}

/// Raises the number of descriptors that this process may have, as far as it may.
fn make_room(sessions: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let wanted = (sessions as u64).saturating_mul(DESCRIPTORS).saturating_add(OTHERS);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let possible = maximum.map_or(wanted, |maximum| wanted.min(maximum));
    if current.is_some_and(|current| current < possible) {
        // Too few: then a session cannot be started, and that is said when it happens.
        let _fewer = setrlimit(Resource::Nofile, Rlimit { current: Some(possible), maximum });
    }
}
