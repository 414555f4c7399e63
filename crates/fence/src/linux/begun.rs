//! A first process that waits for its plan. What every fence begins with does not depend on the plan, and half of the time that
//! the kernel takes for a fence goes there, so it is done while the plan is still being drawn, or the call still being judged.
//! Nothing of the program is there yet, and nothing is if the call is refused: the first process ends with this.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use super::group::Group;
use super::launch::{self, Launched, Way};
use super::namespaces::{self, Ahead, Opening};
use crate::sys::image::{Builder, Tolerance};
use crate::sys::processors::Processors;
use crate::sys::steps::NEXT;
use crate::terrain::Ground;

/// A fence that is begun.
#[derive(Debug)]
pub struct Begun {
    sort: Sort,
    start: Start,
}

/// What can be known of a fence before its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// In namespaces of its own.
    Namespaces(Ahead),
    /// Without namespaces.
    Plain,
}

/// A thread on another processor that will begin a fence, with the standard streams of this process, once it is known which. It
/// makes ready meanwhile.
#[derive(Debug)]
pub struct Starter {
    thread: io::Result<JoinHandle<Beginning>>,
    say: Sender<Word>,
}

/// What the thread is told.
enum Word {
    /// It is where it shall be.
    Sent,
    Begin(Sort),
}

impl Starter {
    /// Starts the thread. Where there is none to be had, nothing will be begun.
    #[must_use]
    pub fn start() -> Starter {
        let own = Processors::own();
        let others = own.and_then(Processors::others);
        let (say, told) = std::sync::mpsc::channel();
        let start = move || {
            // It does nothing until it has been sent away: only a thread that has not ended can be.
            let Ok(Word::Sent) = told.recv() else { return nothing(forgotten()) };
            let group = Group::make();
            let Ok(Word::Begin(sort)) = told.recv() else { return nothing(forgotten()) };
            let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
            begin(sort, group, [input.as_fd(), output.as_fd(), error.as_fd()], others.and(own))
        };
        let thread = std::thread::Builder::new().spawn(start);
        if let (Ok(thread), Some(others)) = (&thread, others) {
            others.give(thread);
        }
        let _gone = say.send(Word::Sent);
        Starter { thread, say }
    }

    /// Begins one in namespaces of its own.
    #[must_use]
    pub fn namespaces(self, ahead: Ahead) -> Begun {
        self.begin(Sort::Namespaces(ahead))
    }

    /// Begins one without namespaces.
    #[must_use]
    pub fn plain(self) -> Begun {
        self.begin(Sort::Plain)
    }

    fn begin(mut self, sort: Sort) -> Begun {
        let _gone = self.say.send(Word::Begin(sort));
        let start = match std::mem::replace(&mut self.thread, Err(forgotten())) {
            Ok(thread) => Start::Under(Some(thread)),
            Err(error) => Start::Done(Box::new(nothing(error))),
        };
        Begun { sort, start }
    }
}

impl Drop for Starter {
    /// What it has made ready goes with it.
    fn drop(&mut self) {
        if let Ok(thread) = std::mem::replace(&mut self.thread, Err(forgotten())) {
            (self.say, _) = std::sync::mpsc::channel();
            drop(thread.join());
        }
    }
}

fn forgotten() -> io::Error {
    io::Error::other("nothing is to be begun any more")
}

/// It is there, or is being made meanwhile.
#[derive(Debug)]
enum Start {
    Done(Box<Beginning>),
    Under(Option<JoinHandle<Beginning>>),
}

/// What is there of a fence before its plan is known.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// The first process.
    pub(crate) launched: io::Result<Launched>,
    /// What it has made in namespaces; `None` where there are none.
    pub(crate) opening: Option<Opening>,
    /// The control group that it joins, where there can be one; without limits yet.
    pub(crate) group: Option<Group>,
}

impl Begun {
    /// One in namespaces of its own, begun in this thread.
    pub(crate) fn namespaces(ahead: Ahead, stdio: [BorrowedFd<'_>; 3]) -> Begun {
        Begun::now(Sort::Namespaces(ahead), stdio)
    }

    /// One without namespaces, in this thread.
    pub(crate) fn plain(stdio: [BorrowedFd<'_>; 3]) -> Begun {
        Begun::now(Sort::Plain, stdio)
    }

    fn now(sort: Sort, stdio: [BorrowedFd<'_>; 3]) -> Begun {
        Begun { sort, start: Start::Done(Box::new(begin(sort, Group::make(), stdio, None))) }
    }

    /// Whether it has namespaces, and is what a plan wants.
    pub(crate) fn suits(&self, wanted: Ahead) -> bool {
        self.sort == Sort::Namespaces(wanted)
    }

    /// Whether it has no namespaces.
    pub(crate) fn is_plain(&self) -> bool {
        self.sort == Sort::Plain
    }

    /// What there is.
    pub(crate) fn beginning(mut self) -> Beginning {
        match std::mem::replace(&mut self.start, Start::Under(None)) {
            Start::Done(beginning) => *beginning,
            Start::Under(thread) => joined(thread),
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Start::Under(thread) = &mut self.start {
            drop(joined(thread.take()));
        }
    }
}

fn joined(thread: Option<JoinHandle<Beginning>>) -> Beginning {
    let lost = || nothing(io::Error::other("the thread that started it is gone"));
    thread.and_then(|thread| thread.join().ok()).unwrap_or_else(lost)
}

fn nothing(error: io::Error) -> Beginning {
    Beginning { launched: Err(error), opening: None, group: None }
}

/// Begins a fence. `processors` are what the program may run on, where this thread was sent to others.
fn begin(
    sort: Sort,
    group: Option<Group>,
    stdio: [BorrowedFd<'_>; 3],
    processors: Option<Processors>,
) -> Beginning {
    let doors = group.as_ref().map(Group::doors).unwrap_or_default();
    let mut steps = Builder::default();
    if let Some(processors) = processors {
        let bytes = processors.bytes();
        let (length, set) = (bytes.len() as u64, steps.bytes(&bytes));
        steps.try_step(
            "use all processors again",
            libc::SYS_sched_setaffinity,
            [0.into(), length.into(), set.into()],
            Tolerance::Any,
        );
    }
    let (opening, launched) = match sort {
        Sort::Namespaces(ahead) => {
            let user = rustix::process::geteuid().as_raw();
            let opening = namespaces::opening(&mut steps, ahead, &doors, user, &Ground);
            (Some(opening), born(steps, user, stdio))
        }
        Sort::Plain => {
            namespaces::join(&mut steps, &doors);
            steps.step("wait for the plan", NEXT, []);
            (None, first(steps).and_then(|first| launch::start(Way::Plain, first, stdio)))
        }
    };
    Beginning { launched, opening, group }
}

fn born(steps: Builder, user: u32, stdio: [BorrowedFd<'_>; 3]) -> io::Result<Launched> {
    let group = rustix::process::getegid().as_raw();
    let birth = first(namespaces::birth(user, group))?;
    launch::start(Way::Namespaces { birth }, first(steps)?, stdio)
}

fn first(steps: Builder) -> io::Result<crate::sys::image::Image> {
    steps.image().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
