//! A first process that waits for its plan. What every fence begins with does not depend on the plan, and half of the time that
//! the kernel takes for a fence goes there, so it is done while the plan is still being drawn, or the call still being judged.
//! Nothing of the program is there yet, and nothing is if the call is refused: the first process ends with this.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::JoinHandle;

use super::launch::{self, Launched, Way};
use super::namespaces::{self, Opening};
use crate::network::Network;
use crate::sys::image::Builder;
use crate::sys::steps::NEXT;

/// A fence that is begun.
#[derive(Debug)]
pub struct Begun {
    opening: Option<Opening>,
    open_network: bool,
    launched: Start,
}

/// The first process is there, or is being started meanwhile.
#[derive(Debug)]
enum Start {
    Done(io::Result<Launched>),
    Under(Option<JoinHandle<io::Result<Launched>>>),
}

impl Begun {
    /// One in namespaces of its own, with the standard streams of this process. This thread goes on meanwhile.
    #[must_use]
    pub fn here(open_network: bool) -> Begun {
        let (steps, opening) = namespaces::opening(open_network);
        Begun { opening: Some(opening), open_network, launched: meanwhile(move |stdio| born(steps, stdio)) }
    }

    /// The same without namespaces.
    #[must_use]
    pub fn plain_here() -> Begun {
        Begun { opening: None, open_network: true, launched: meanwhile(born_plain) }
    }

    /// The same, in this thread.
    pub(crate) fn namespaces(open_network: bool, stdio: [BorrowedFd<'_>; 3]) -> Begun {
        let (steps, opening) = namespaces::opening(open_network);
        Begun { opening: Some(opening), open_network, launched: Start::Done(born(steps, stdio)) }
    }

    /// One without namespaces, in this thread.
    pub(crate) fn plain(stdio: [BorrowedFd<'_>; 3]) -> Begun {
        Begun { opening: None, open_network: true, launched: Start::Done(born_plain(stdio)) }
    }

    /// Whether it has namespaces, and what a plan's network wants.
    pub(crate) fn suits(&self, network: &Network) -> bool {
        self.opening.is_some() && self.open_network == (*network == Network::Open)
    }

    /// What is made in namespaces; `None` where there are none.
    pub(crate) fn opening(&self) -> Option<Opening> {
        self.opening
    }

    /// The first process.
    pub(crate) fn launched(mut self) -> io::Result<Launched> {
        match std::mem::replace(&mut self.launched, Start::Under(None)) {
            Start::Done(launched) => launched,
            Start::Under(thread) => joined(thread),
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Start::Under(thread) = &mut self.launched {
            drop(joined(thread.take()));
        }
    }
}

fn joined(thread: Option<JoinHandle<io::Result<Launched>>>) -> io::Result<Launched> {
    let lost = || io::Error::other("the thread that started it is gone");
    thread.ok_or_else(lost)?.join().map_err(|_| lost())?
}

/// Has another thread start the first process. Where there is none to be had, nothing is begun.
fn meanwhile(start: impl FnOnce([BorrowedFd<'_>; 3]) -> io::Result<Launched> + Send + 'static) -> Start {
    let start = move || {
        let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        start([input.as_fd(), output.as_fd(), error.as_fd()])
    };
    match std::thread::Builder::new().spawn(start) {
        Ok(thread) => Start::Under(Some(thread)),
        Err(error) => Start::Done(Err(error)),
    }
}

fn born_plain(stdio: [BorrowedFd<'_>; 3]) -> io::Result<Launched> {
    let mut steps = Builder::default();
    steps.step("wait for the plan", NEXT, []);
    let first = steps.image().ok_or_else(too_long)?;
    launch::start(Way::Plain, first, stdio)
}

fn born(opening: Builder, stdio: [BorrowedFd<'_>; 3]) -> io::Result<Launched> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let birth = namespaces::birth(user, group).image().ok_or_else(too_long)?;
    let first = opening.image().ok_or_else(too_long)?;
    launch::start(Way::Namespaces { birth }, first, stdio)
}

fn too_long() -> io::Error {
    io::ErrorKind::InvalidInput.into()
}
