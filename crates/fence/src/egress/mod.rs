//! Connections to the hosts of a list, by name, for a program that has no network.
//!
//! The program lives in a network namespace in which only loopback is up, with a route for the addresses of a [`Layout`].
//! The launcher makes the sockets of the layout there and hands them out; [`Egress`] serves them from outside:
//!
//! - A look-up is answered from the list alone. A name on it has an address of its own inside; others do not exist.
//! - A connection to such an address means the name that has it. What the program says first must mean the same name
//!   (the module on openings says how far that is looked at); then the name is resolved outside, once, addresses that are not of the
//!   public internet are left out, and exactly an address that was checked is dialled.
//! - An HTTP proxy does the same for programs that leave names to a proxy.
//!
//! An empty list lets nothing through. Everything is bounded: sockets, connections, threads, buffers, time until a host is
//! named, and the log. What this does not see, because the kernel refuses it inside: connections to ports that the list
//! does not open, to addresses outside the layout, and datagrams (so no QUIC).

mod addresses;
mod body;
mod connection;
mod dns;
mod http;
mod layout;
mod names;
mod opening;
mod reach;
mod record;
mod relay;
mod wait;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::net::{SocketType, sockopt};

pub use addresses::{Addresses, danger};
pub use layout::{Kind, Layout, MOST_CONNECTIONS, MOST_SOCKETS, POOL, Place, SMALLEST_POOL, Unfit, Wanted};
pub use reach::{Outside, Patience, Resolver, System};
pub use record::{Connection, Failure, MOST_CONNECTIONS_KEPT, MOST_OTHERS_KEPT, Outcome, Reason, Way};

use layout::Role;
use names::Names;
use record::Log;
use wait::{Deadline, Interrupt, Stop};

/// Serves the sockets of a layout for as long as it exists.
#[derive(Debug)]
pub struct Egress {
    shared: Arc<Shared>,
    /// While this is held, threads go on.
    hold: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

/// What every thread of one egress uses.
struct Shared {
    names: Names,
    log: Log,
    outside: Outside,
    stop: Stop,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shared").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Egress {
    /// Starts to serve. The sockets are those of [`Layout::sockets`], in the same order.
    ///
    /// # Errors
    /// A socket is not the one that the layout wants in its place, or there is no room for a thread.
    pub fn start(layout: &Layout, sockets: Vec<OwnedFd>, outside: Outside) -> io::Result<Egress> {
        let roles = layout.roles();
        if roles.len() != sockets.len() {
            return Err(io::Error::other(format!(
                "{} sockets where {} are wanted",
                sockets.len(),
                roles.len()
            )));
        }
        let pairs = roles.into_iter().zip(sockets);
        let sockets = pairs.map(|((wanted, role), socket)| Door::of(wanted, role, socket));
        let doors = sockets.collect::<io::Result<Vec<Door>>>()?;
        let (hold, heard) = UnixStream::pair()?;
        let names = Names::of(layout);
        let shared = Arc::new(Shared { names, log: Log::default(), outside, stop: Stop::new(heard) });
        let serving = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("egress".to_owned()).spawn(move || serve(&serving, &doors))?;
        Ok(Egress { shared, hold: Some(hold), thread: Some(thread) })
    }

    /// Ends every connection and every thread. What happened can still be taken.
    pub fn stop(&mut self) {
        self.shared.stop.say();
        self.hold = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }

    /// What happened since this was last asked for: connections that have ended, look-ups, and what was refused.
    #[must_use]
    pub fn take_log(&self) -> Vec<Connection> {
        self.shared.log.take()
    }

    /// How many entries of the log found no room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.log.lost()
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A socket of the layout and what it is for.
enum Door {
    Datagrams(UdpSocket),
    Streams(TcpListener, Role),
}

impl Door {
    /// Checks that the socket is what the layout wants.
    fn of(wanted: Wanted, role: Role, socket: OwnedFd) -> io::Result<Door> {
        let (kind, listens) = (sockopt::socket_type(&socket)?, sockopt::socket_acceptconn(&socket)?);
        let door = match (wanted.kind, kind, listens) {
            (Kind::Udp, SocketType::DGRAM, false) => Door::Datagrams(UdpSocket::from(socket)),
            (Kind::TcpListener, SocketType::STREAM, true) => Door::Streams(TcpListener::from(socket), role),
            _ => return Err(io::Error::other(format!("no {:?} for {}", wanted.kind, wanted.address))),
        };
        let bound = match &door {
            Door::Datagrams(socket) => socket.set_nonblocking(true).and_then(|()| socket.local_addr())?,
            Door::Streams(socket, _) => socket.set_nonblocking(true).and_then(|()| socket.local_addr())?,
        };
        if let Door::Streams(socket, _) = &door {
            // Whoever made it may have let fewer wait, and a program that opens many at once would be kept a second.
            rustix::net::listen(socket, WAITING)?;
        }
        match bound == SocketAddr::V4(wanted.address) {
            true => Ok(door),
            false => Err(io::Error::other(format!("a socket at {bound} where {} is wanted", wanted.address))),
        }
    }

    fn interest(&self) -> PollFd<'_> {
        match self {
            Door::Datagrams(socket) => PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN),
            Door::Streams(socket, _) => PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN),
        }
    }
}

/// How many connections may wait at a door until they are accepted.
const WAITING: i32 = 1024;
/// How much one door takes before the others have their turn.
const TURN: usize = 64;

fn serve(shared: &Arc<Shared>, doors: &[Door]) {
    let mut connections: Vec<JoinHandle<()>> = Vec::new();
    let mut wanted: Vec<PollFd<'_>> = vec![shared.stop.interest()];
    wanted.extend(doors.iter().map(Door::interest));
    while shared.stop.wait(&mut wanted, None).is_ok() {
        for (door, ready) in doors.iter().zip(wanted.iter().skip(1)) {
            if ready.revents().is_empty() {
                continue;
            }
            let served = match door {
                Door::Datagrams(socket) => datagrams(shared, socket),
                Door::Streams(socket, role) => streams(shared, socket, *role, &mut connections),
            };
            if served.is_err() {
                // The machine is short of something, and the door would call again at once: give it time.
                let short = Deadline::after(Duration::from_millis(10));
                let _waited: Result<(), Interrupt> =
                    shared.stop.wait(&mut [shared.stop.interest()], Some(short));
            }
        }
    }
    for connection in connections {
        let _panicked = connection.join();
    }
}

fn datagrams(shared: &Shared, socket: &UdpSocket) -> io::Result<()> {
    let mut buffer = [0; dns::LONGEST + 1];
    for _ in 0..TURN {
        match socket.recv_from(&mut buffer) {
            Ok((count, from)) => {
                let message = buffer.get(..count).unwrap_or_default();
                if let Some(answer) = dns::answer(message, &shared.names, &shared.log) {
                    // Who does not take the answer asks again.
                    let _lost = socket.send_to(&answer, from);
                }
            }
            Err(error) if wait::blocked(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn streams(
    shared: &Arc<Shared>,
    listener: &TcpListener,
    role: Role,
    connections: &mut Vec<JoinHandle<()>>,
) -> io::Result<()> {
    for _ in 0..TURN {
        let program = match listener.accept() {
            Ok((program, _)) => program,
            Err(error) if wait::blocked(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        program.set_nonblocking(true)?;
        let _slower = program.set_nodelay(true);
        connections.retain(|connection| !connection.is_finished());
        let port = match role {
            Role::Direct(port) => Some(port),
            Role::Datagrams | Role::Lookups | Role::Proxy => None,
        };
        if connections.len() >= MOST_CONNECTIONS {
            connection::turn_away(shared, &program, port);
            continue;
        }
        let theirs = Arc::clone(shared);
        let thread = thread::Builder::new().name("egress".to_owned()).stack_size(512 * 1024);
        connections.push(thread.spawn(move || connect(&theirs, &program, role))?);
    }
    Ok(())
}

fn connect(shared: &Shared, program: &TcpStream, role: Role) {
    match role {
        Role::Lookups => connection::lookups(shared, program),
        Role::Proxy => connection::proxy(shared, program),
        Role::Direct(port) => connection::direct(shared, program, port),
        Role::Datagrams => {}
    }
}
