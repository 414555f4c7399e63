//! What went out and what was refused: names, ports, addresses and counts, never content.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use crate::network::USUAL_PORTS;

/// How many connections are kept one by one until they are taken.
pub const MOST_CONNECTIONS_KEPT: usize = 4096;
/// How many different refusals, failures and look-ups are kept until they are taken.
pub const MOST_OTHERS_KEPT: usize = 512;

/// A connection or a look-up, or several that were alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// How it was asked for.
    pub way: Way,
    /// The host that was meant; empty where what was asked for is no name. Never with control characters.
    pub name: String,
    /// The port; a look-up has none.
    pub port: Option<u16>,
    /// The address that was dialled: the one that was checked.
    pub address: Option<SocketAddr>,
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes from the program to the host.
    pub sent: u64,
    /// Bytes from the host to the program.
    pub received: u64,
    /// How many of the same kind this stands for.
    pub times: u64,
}

/// How a connection was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// A name was looked up.
    Lookup,
    /// The program connected to the address that it was given for a name.
    Direct,
    /// The program asked the proxy.
    Proxy,
}

/// What became of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was let through.
    Allowed,
    /// It was not let through.
    Refused(Reason),
    /// It might have been, and did not come about.
    Failed(Failure),
}

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The name, or this port of it, is not on the list.
    NotListed,
    /// What should be a host name is none.
    NoName,
    /// An address was asked for instead of a name.
    Literal,
    /// More names below one were looked up than there are addresses for.
    PoolUsedUp,
    /// No name was ever given this address.
    AddressNotGiven,
    /// Every address of the name is of this kind, which is never dialled.
    Address(IpAddr, &'static str),
    /// The port is for TLS, and this was none, or none that could be read.
    NoTls,
    /// The TLS client did not say which host it means.
    NoServerName,
    /// The TLS client means another host.
    OtherServerName(String),
    /// This is no HTTP request that is understood.
    NoHttp(&'static str),
    /// The HTTP request does not say which host it means.
    NoHost,
    /// The HTTP request means another host.
    OtherHost(String),
    /// Too many connections were open.
    TooMany,
}

/// Why a connection that might have been allowed did not come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The name has no address outside.
    Unresolved,
    /// No address of it took the connection.
    Unreachable,
    /// The program or the host took too long.
    TimedOut,
    /// The program closed the connection before it said which host it means.
    Closed,
    /// The fence ended.
    Stopped,
}

impl Connection {
    /// The line of configuration that would let this through, where there is one.
    #[must_use]
    pub fn would_allow(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Refused(reason) => reason.would_allow(&self.name, self.port),
            Outcome::Allowed | Outcome::Failed(_) => None,
        }
    }
}

impl Reason {
    pub(super) fn would_allow(&self, name: &str, port: Option<u16>) -> Option<String> {
        let line = |name: &str| match port.filter(|port| !USUAL_PORTS.contains(port)) {
            Some(port) => format!("sandbox.network.allow: [\"{name}:{port}\"]"),
            None => format!("sandbox.network.allow: [{name}]"),
        };
        match self {
            Reason::NotListed | Reason::PoolUsedUp if !name.is_empty() => Some(line(name)),
            _ => None,
        }
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "(no name)" } else { &self.name };
        match (self.way, self.port) {
            (Way::Lookup, _) => write!(out, "look-up of {name}")?,
            (_, Some(port)) => write!(out, "connection to {name}:{port}")?,
            (_, None) => write!(out, "connection to {name}")?,
        }
        match &self.outcome {
            Outcome::Allowed => write!(out, " allowed")?,
            Outcome::Refused(reason) => write!(out, " refused: {reason}")?,
            Outcome::Failed(failure) => write!(out, " failed: {failure}")?,
        }
        match self.times {
            1 => Ok(()),
            times => write!(out, " ({times} times)"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotListed => write!(out, "not among the hosts that are allowed"),
            Reason::NoName => write!(out, "not a host name"),
            Reason::Literal => write!(out, "an address, and hosts are allowed by name"),
            Reason::PoolUsedUp => write!(out, "too many names below one were looked up"),
            Reason::AddressNotGiven => write!(out, "an address that no name has"),
            Reason::Address(address, kind) => write!(out, "it resolves to {address}, {kind}"),
            Reason::NoTls => write!(out, "not a TLS connection that can be read"),
            Reason::NoServerName => write!(out, "the TLS client names no host"),
            Reason::OtherServerName(other) => write!(out, "the TLS client names another host, `{other}`"),
            Reason::NoHttp(why) => write!(out, "not an HTTP request that can be read: {why}"),
            Reason::NoHost => write!(out, "the HTTP request names no host"),
            Reason::OtherHost(other) => write!(out, "the HTTP request names another host, `{other}`"),
            Reason::TooMany => write!(out, "too many connections at the same time"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Failure::Unresolved => "the name has no address",
            Failure::Unreachable => "no address of it takes connections",
            Failure::TimedOut => "it took too long",
            Failure::Closed => "closed before a host was named",
            Failure::Stopped => "the fence ended",
        })
    }
}

impl From<Reason> for Outcome {
    fn from(reason: Reason) -> Outcome {
        Outcome::Refused(reason)
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Outcome {
        Outcome::Failed(failure)
    }
}

/// Everything that happened since the log was last taken, within bounds.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<Connection>,
    /// Where like is added to like.
    places: HashMap<Like, usize>,
    one_by_one: usize,
    lost: u64,
}

/// What two entries have in common that are told as one.
type Like = (Way, String, Option<u16>, Option<SocketAddr>, Outcome);

impl Log {
    pub(super) fn add(&self, entry: Connection) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *guard;
        let single = entry.outcome == Outcome::Allowed && entry.way != Way::Lookup;
        if single && kept.one_by_one < MOST_CONNECTIONS_KEPT {
            kept.one_by_one += 1;
            kept.entries.push(entry);
            return;
        }
        let like = (entry.way, entry.name.clone(), entry.port, entry.address, entry.outcome.clone());
        let place = kept.places.get(&like).copied();
        let room = kept.places.len() < MOST_OTHERS_KEPT;
        match place.and_then(|place| kept.entries.get_mut(place)) {
            Some(same) => {
                same.times = same.times.saturating_add(entry.times);
                same.sent = same.sent.saturating_add(entry.sent);
                same.received = same.received.saturating_add(entry.received);
            }
            None if room => {
                let place = kept.entries.len();
                kept.places.insert(like, place);
                kept.entries.push(entry);
            }
            None => kept.lost = kept.lost.saturating_add(1),
        }
    }

    pub(super) fn take(&self) -> Vec<Connection> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.places.clear();
        kept.one_by_one = 0;
        std::mem::take(&mut kept.entries)
    }

    pub(super) fn lost(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(way: Way, name: &str, outcome: Outcome) -> Connection {
        Connection {
            way,
            name: name.to_owned(),
            port: Some(443),
            address: None,
            outcome,
            sent: 1,
            received: 2,
            times: 1,
        }
    }

    #[test]
    fn refusals_are_told_once_and_bounded_and_connections_one_by_one() {
        let log = Log::default();
        for number in 0..2000 {
            log.add(entry(Way::Proxy, &format!("h{}.example", number % 600), Reason::NotListed.into()));
            log.add(entry(Way::Direct, "good.example", Outcome::Allowed));
        }
        assert_eq!(
            log.lost(),
            2000 - 3 * 512 - 200,
            "names past the bound are counted, and known ones still found"
        );
        let taken = log.take();
        let refused: Vec<_> = taken.iter().filter(|entry| entry.outcome != Outcome::Allowed).collect();
        assert_eq!(refused.len(), MOST_OTHERS_KEPT);
        assert_eq!(refused[0].times, 4);
        assert_eq!(taken.len() - refused.len(), 2000);
        assert!(log.take().is_empty());
        for _ in 0..MOST_CONNECTIONS_KEPT + 10 {
            log.add(entry(Way::Direct, "good.example", Outcome::Allowed));
        }
        let taken = log.take();
        assert_eq!(taken.len(), MOST_CONNECTIONS_KEPT + 1);
        assert_eq!(taken.iter().map(|entry| entry.sent).sum::<u64>(), 4106, "nothing is lost by adding up");
    }

    #[test]
    fn a_refusal_says_what_would_allow_it() {
        let row = |port, reason: Reason| Connection { port, ..entry(Way::Proxy, "a.example", reason.into()) };
        let allow = |port, reason| row(port, reason).would_allow();
        assert_eq!(allow(Some(443), Reason::NotListed).unwrap(), "sandbox.network.allow: [a.example]");
        assert_eq!(allow(Some(81), Reason::NotListed).unwrap(), "sandbox.network.allow: [\"a.example:81\"]");
        assert_eq!(allow(None, Reason::PoolUsedUp).unwrap(), "sandbox.network.allow: [a.example]");
        assert_eq!(allow(Some(443), Reason::Literal), None);
        assert_eq!(
            row(Some(443), Reason::NotListed).to_string(),
            "connection to a.example:443 refused: not among the hosts that are allowed"
        );
    }
}
