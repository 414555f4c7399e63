//! One connection of the program, from its first byte to the last.

use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::sockopt;

use super::Shared;
use super::body::Body;
use super::dns;
use super::http::{Authority, Complete, Head, Request, Target, response};
use super::opening::Opening;
use super::reach::reach;
use super::record::{Connection, Failure, Outcome, Reason, Way};
use super::relay::{Counts, Ends, relay};
use super::wait::{Deadline, Interrupt};

/// Questions on one connection for look-ups.
const MOST_QUESTIONS: usize = 128;
/// What a program that is refused may still send before it is cut off.
const LAST_WORDS: usize = 256 * 1024;

/// A connection under way: what is known of it so far.
struct Under<'a> {
    shared: &'a Shared,
    program: &'a TcpStream,
    way: Way,
    name: String,
    port: Option<u16>,
    address: Option<SocketAddr>,
    counts: Counts,
}

/// The program connected to this port of the address that some name has.
pub(super) fn direct(shared: &Shared, program: &TcpStream, port: u16) {
    let mut under = Under::new(shared, program, Way::Direct);
    under.port = Some(port);
    let Some(name) = local(program).and_then(|address| shared.names.at(address)) else {
        return under.end(&Reason::AddressNotGiven.into(), &[]);
    };
    under.name.clone_from(&name);
    if let Err(reason) = shared.names.admit(&name, port) {
        return under.end(&reason.into(), &[]);
    }
    let mut opening = Opening::new(&name, port);
    let mut pending = Vec::new();
    let opened = match opening.comes_first() {
        true => under.listen(&mut opening, &mut pending),
        false => Ok(()),
    };
    let ended = opened.and_then(|()| under.pass(&mut opening, pending, &[]));
    under.finish(ended, &opening);
}

/// The program asks the proxy.
pub(super) fn proxy(shared: &Shared, program: &TcpStream) {
    let mut under = Under::new(shared, program, Way::Proxy);
    let (request, rest) = match under.request() {
        Ok(read) => read,
        Err(outcome) => return under.end_http(&outcome),
    };
    let meant = match &request.target {
        Target::Absolute(authority, _) | Target::Authority(authority) => authority.clone(),
        Target::Path(_) => {
            return under.end_http(&Reason::NoHttp("a request for a host, not for a proxy").into());
        }
    };
    let port = meant.port.unwrap_or(80);
    under.name.clone_from(&meant.name);
    under.port = Some(port);
    let agreed = match &request.target {
        Target::Absolute(..) | Target::Path(_) => request.must_mean(&meant.name, port),
        Target::Authority(_) => agrees(&meant, request.host.as_ref()),
    };
    let name = match agreed.and_then(|()| shared.names.admit(&meant.name, port)) {
        Ok(name) => name,
        Err(reason) => return under.end_http(&reason.into()),
    };
    let (mut opening, mut pending, answer): (Opening, Vec<u8>, &[u8]) = match &request.target {
        Target::Authority(_) => (Opening::new(&name, port), Vec::new(), b"HTTP/1.1 200 OK\r\n\r\n"),
        Target::Absolute(..) | Target::Path(_) => {
            (Opening::after_head(&name, port, Body::of(request.body)), request.written_for(&name, port), &[])
        }
    };
    let fed = match rest.is_empty() {
        true => Ok(()),
        false => opening.feed(&rest, &mut pending).map_err(Outcome::from),
    };
    match fed.and_then(|()| under.pass(&mut opening, pending, answer)) {
        // Before the proxy has answered, the program expects an answer of the proxy.
        Err(outcome) if under.address.is_none() => under.end_http(&outcome),
        ended => under.finish(ended, &opening),
    }
}

/// The program looks names up on a connection.
pub(super) fn lookups(shared: &Shared, program: &TcpStream) {
    let exactly = |length: usize, deadline: Deadline| -> Result<Vec<u8>, Interrupt> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            filled += shared.stop.read(program, room, deadline)?.ok_or(Interrupt::Broken)?;
        }
        Ok(bytes)
    };
    for _ in 0..MOST_QUESTIONS {
        let deadline = Deadline::after(shared.outside.patience.opening);
        let Ok(length) = exactly(2, deadline) else { return };
        let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        if length > dns::LONGEST {
            return;
        }
        let Ok(message) = exactly(length, deadline) else { return };
        let Some(answer) = dns::answer(&message, &shared.names, &shared.log) else { return };
        let length = u16::try_from(answer.len()).unwrap_or_default().to_be_bytes();
        if shared.stop.write(program, &[&length, answer.as_slice()].concat(), deadline).is_err() {
            return;
        }
    }
}

/// There is no room for this connection.
pub(super) fn turn_away(shared: &Shared, program: &TcpStream, port: Option<u16>) {
    let mut under = Under::new(shared, program, if port.is_some() { Way::Direct } else { Way::Proxy });
    under.name = local(program).and_then(|address| shared.names.at(address)).unwrap_or_default();
    under.port = port;
    under.end(&Reason::TooMany.into(), &[]);
}

impl<'a> Under<'a> {
    fn new(shared: &'a Shared, program: &'a TcpStream, way: Way) -> Under<'a> {
        let counts = Counts::default();
        Under { shared, program, way, name: String::new(), port: None, address: None, counts }
    }

    /// Waits until the program has said which host it means.
    fn listen(&self, opening: &mut Opening, pending: &mut Vec<u8>) -> Result<(), Outcome> {
        let deadline = Deadline::after(self.shared.outside.patience.opening);
        let mut buffer = [0; 4096];
        while !opening.is_settled() {
            match self.shared.stop.read(self.program, &mut buffer, deadline)? {
                Some(count) => opening.feed(buffer.get(..count).unwrap_or_default(), pending)?,
                None if opening.is_silent() => return Err(Failure::Closed.into()),
                None => {
                    opening.finish(pending)?;
                    return Err(Failure::Closed.into());
                }
            }
        }
        Ok(())
    }

    fn request(&self) -> Result<(Request, Vec<u8>), Outcome> {
        let deadline = Deadline::after(self.shared.outside.patience.opening);
        let mut buffer = [0; 4096];
        let mut head = Head::default();
        loop {
            let count = self.shared.stop.read(self.program, &mut buffer, deadline)?.ok_or(Failure::Closed)?;
            if let Some(Complete { head, rest }) = head.push(buffer.get(..count).unwrap_or_default())? {
                return Ok((Request::parse(&head)?, rest));
            }
        }
    }

    /// Reaches the host, tells the program so, and relays to the end.
    fn pass(&mut self, opening: &mut Opening, pending: Vec<u8>, answer: &[u8]) -> Result<(), Outcome> {
        let Shared { outside, stop, .. } = self.shared;
        let (host, address) = reach(outside, stop, &self.name, self.port.unwrap_or_default())?;
        self.address = Some(address);
        stop.write(self.program, answer, Deadline::after(outside.patience.opening))?;
        let ends = Ends { program: self.program, host: &host };
        let (counts, ended) = relay(&ends, opening, pending, stop, &outside.patience);
        self.counts = counts;
        ended
    }

    fn finish(&self, ended: Result<(), Outcome>, opening: &Opening) {
        match ended {
            Ok(()) => self.record(Outcome::Allowed),
            Err(outcome) => {
                let farewell = opening.farewell(status(&outcome), &self.told(&outcome));
                self.end(&outcome, &farewell);
            }
        }
    }

    fn end_http(&self, outcome: &Outcome) {
        self.end(outcome, &response(status(outcome), &self.told(outcome)));
    }

    /// Records what became of it, and says farewell.
    fn end(&self, outcome: &Outcome, farewell: &[u8]) {
        self.record(outcome.clone());
        let stop = &self.shared.stop;
        let deadline = Deadline::after(Duration::from_millis(500));
        if farewell.is_empty() || stop.write(self.program, farewell, deadline).is_err() {
            let _closed = sockopt::set_socket_linger(self.program, Some(Duration::ZERO));
            return;
        }
        // Closed with something unread, a connection is reset, and the farewell with it.
        let _gone = self.program.shutdown(Shutdown::Write);
        let mut buffer = [0; 4096];
        let mut left = LAST_WORDS;
        while let Ok(Some(count)) = stop.read(self.program, &mut buffer, deadline) {
            left = left.saturating_sub(count);
            if left == 0 {
                return;
            }
        }
    }

    fn entry(&self, outcome: Outcome) -> Connection {
        Connection {
            way: self.way,
            name: self.name.clone(),
            port: self.port,
            address: self.address,
            outcome,
            sent: self.counts.sent,
            received: self.counts.received,
            times: 1,
        }
    }

    fn record(&self, outcome: Outcome) {
        self.shared.log.add(self.entry(outcome));
    }

    /// One line for the program.
    fn told(&self, outcome: &Outcome) -> String {
        let entry = self.entry(outcome.clone());
        match entry.would_allow() {
            Some(line) => format!("bailiwick: {entry}; to allow it: {line}"),
            None => format!("bailiwick: {entry}"),
        }
    }
}

/// The address inside to which the program connected.
fn local(program: &TcpStream) -> Option<std::net::Ipv4Addr> {
    match program.local_addr().ok()?.ip().to_canonical() {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}

/// Whether the `Host` of a `CONNECT`, where there is one, names the same host.
fn agrees(meant: &Authority, host: Option<&Authority>) -> Result<(), Reason> {
    match host {
        Some(host) if host.name != meant.name => Err(Reason::OtherHost(host.to_string())),
        Some(_) | None => Ok(()),
    }
}

fn status(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Refused(Reason::NoName | Reason::NoHttp(_) | Reason::NoHost) => "400 Bad Request",
        Outcome::Refused(Reason::TooMany) => "503 Service Unavailable",
        Outcome::Failed(Failure::TimedOut) => "504 Gateway Timeout",
        Outcome::Failed(_) => "502 Bad Gateway",
        Outcome::Allowed | Outcome::Refused(_) => "403 Forbidden",
    }
}
