//! From a name to a connection: resolve it once, keep the addresses that may be dialled, dial one of those.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, ipproto, socket_with, sockopt};

use super::addresses::Addresses;
use super::record::{Failure, Outcome, Reason};
use super::wait::{Deadline, Interrupt, Stop};

/// Where names are looked up outside the fence.
pub trait Resolver: Send + Sync {
    /// The addresses of a name, best first.
    ///
    /// # Errors
    /// The name has none, or nobody could be asked.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the machine. The name is asked for as it stands: no search domain is put behind it, and so a name of
/// `/etc/hosts` is found only where the machine's resolver reads that file itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Resolver for System {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok((format!("{name}."), 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

/// How long anything may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until a program has said which host it means.
    pub opening: Duration,
    /// Until a name is resolved.
    pub resolving: Duration,
    /// Until one address has taken the connection.
    pub dialling: Duration,
    /// Without a byte, after one end has closed.
    pub closing: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            opening: Duration::from_secs(15),
            resolving: Duration::from_secs(10),
            dialling: Duration::from_secs(6),
            closing: Duration::from_secs(600),
        }
    }
}

/// The world outside the fence, as egress meets it.
#[derive(Clone)]
pub struct Outside {
    /// Who resolves names.
    pub resolver: Arc<dyn Resolver>,
    /// Which addresses may be dialled.
    pub addresses: Addresses,
    /// How long anything may take.
    pub patience: Patience,
}

impl Outside {
    /// The machine's resolver and the public internet.
    #[must_use]
    pub fn public() -> Outside {
        Outside {
            resolver: Arc::new(System),
            addresses: Addresses::public_only(),
            patience: Patience::default(),
        }
    }
}

/// How many addresses of one name are tried.
const MOST_TRIED: usize = 6;
/// How many look-ups may be under way. One that the system does not answer goes on without us for a while.
const MOST_LOOKUPS: usize = 512;
static LOOKUPS: AtomicUsize = AtomicUsize::new(0);

/// A connection to this port of this name, and the address that was dialled: one of those that were checked.
pub(super) fn reach(
    outside: &Outside,
    stop: &Stop,
    name: &str,
    port: u16,
) -> Result<(TcpStream, SocketAddr), Outcome> {
    let found = resolve(outside, stop, name)?;
    let mut refused = None;
    let mut good = Vec::new();
    for address in found {
        match outside.addresses.check(address, port) {
            Ok(checked) => good.push(checked),
            Err(kind) => refused = refused.or(Some(Reason::Address(address, kind))),
        }
        if good.len() == MOST_TRIED {
            break;
        }
    }
    if good.is_empty() {
        return Err(refused.map_or(Failure::Unresolved.into(), Outcome::from));
    }
    let mut failure = Failure::Unreachable;
    for address in good {
        match dial(address, stop, Deadline::after(outside.patience.dialling)) {
            Ok(stream) => return Ok((stream, address)),
            Err(Interrupt::Stopped) => return Err(Failure::Stopped.into()),
            Err(Interrupt::TimedOut) => failure = Failure::TimedOut,
            Err(Interrupt::Broken) => {}
        }
    }
    Err(failure.into())
}

/// The system's resolver cannot be interrupted, so it runs in a thread of its own, which nobody waits for longer than the
/// time allows, and which holds nothing of the fence.
fn resolve(outside: &Outside, stop: &Stop, name: &str) -> Result<Vec<IpAddr>, Outcome> {
    let slot = Slot::take().ok_or(Reason::TooMany)?;
    let (tell, told) = sync_channel(1);
    let (resolver, asked) = (Arc::clone(&outside.resolver), name.to_owned());
    thread::Builder::new()
        .name("egress look-up".to_owned())
        .spawn(move || {
            let found = resolver.resolve(&asked);
            drop(slot);
            let _gone = tell.send(found);
        })
        .map_err(|_| Reason::TooMany)?;
    let deadline = Deadline::after(outside.patience.resolving);
    loop {
        match told.recv_timeout(deadline.left().min(Duration::from_millis(20))) {
            Ok(found) => return found.map_err(|_| Failure::Unresolved.into()),
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Unresolved.into()),
            Err(RecvTimeoutError::Timeout) if stop.said() => return Err(Failure::Stopped.into()),
            Err(RecvTimeoutError::Timeout) if deadline.left().is_zero() => {
                return Err(Failure::TimedOut.into());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

struct Slot;

impl Slot {
    fn take() -> Option<Slot> {
        let room = |count: usize| (count < MOST_LOOKUPS).then_some(count + 1);
        LOOKUPS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, room).ok().map(|_| Slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        LOOKUPS.fetch_sub(1, Ordering::SeqCst);
    }
}

fn dial(address: SocketAddr, stop: &Stop, deadline: Deadline) -> Result<TcpStream, Interrupt> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let broken = |_: Errno| Interrupt::Broken;
    let socket: OwnedFd =
        socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP)).map_err(broken)?;
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => {
            stop.wait_for(&socket, PollFlags::OUT, deadline)?;
            sockopt::socket_error(&socket).map_err(broken)?.map_err(broken)?;
        }
        Err(_) => return Err(Interrupt::Broken),
    }
    // A host that vanished is noticed at last; neither setting is needed for the connection to work.
    let _slower = sockopt::set_socket_keepalive(&socket, true);
    let _slower = sockopt::set_tcp_nodelay(&socket, true);
    Ok(TcpStream::from(socket))
}
