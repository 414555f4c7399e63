//! A first process that waits for its plan. What every fence begins with does not depend on the plan, and half of the time that
//! the kernel takes for a fence goes there, so it is done while the plan is still being drawn, or the call still being judged.
//! Nothing of the program is there yet, and nothing is if the call is refused: the first process ends with this.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::launch::{self, Launched, Way};
use super::namespaces::{self, Opening};
use crate::network::Network;
use crate::sys::image::Builder;
use crate::sys::steps::NEXT;

/// A fence that is begun.
#[derive(Debug)]
pub struct Begun {
    pub(crate) launched: Launched,
    /// What has been made in namespaces; `None` where there are none.
    pub(crate) opening: Option<Opening>,
    open_network: bool,
}

impl Begun {
    /// One in namespaces of its own, with the standard streams of this process. `None` where that is not possible: whoever
    /// builds the fence then finds out why.
    #[must_use]
    pub fn here(open_network: bool) -> Option<Begun> {
        let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        Begun::namespaces(open_network, [input.as_fd(), output.as_fd(), error.as_fd()]).ok()
    }

    pub(crate) fn namespaces(open_network: bool, stdio: [BorrowedFd<'_>; 3]) -> io::Result<Begun> {
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        let too_long = || io::Error::from(io::ErrorKind::InvalidInput);
        let birth = namespaces::birth(user, group).image().ok_or_else(too_long)?;
        let (steps, opening) = namespaces::opening(open_network);
        let first = steps.image().ok_or_else(too_long)?;
        let launched = launch::start(Way::Namespaces { birth }, first, stdio)?;
        Ok(Begun { launched, opening: Some(opening), open_network })
    }

    /// One without namespaces.
    pub(crate) fn plain(stdio: [BorrowedFd<'_>; 3]) -> io::Result<Begun> {
        let mut steps = Builder::default();
        steps.step("wait for the plan", NEXT, []);
        let first = steps.image().ok_or(io::ErrorKind::InvalidInput)?;
        let launched = launch::start(Way::Plain, first, stdio)?;
        Ok(Begun { launched, opening: None, open_network: true })
    }

    /// Whether it is what a plan's network wants.
    pub(crate) fn suits(&self, network: &Network) -> bool {
        self.opening.is_some() && self.open_network == (*network == Network::Open)
    }
}
