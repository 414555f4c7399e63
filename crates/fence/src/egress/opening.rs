//! What a program says first on a connection must mean the host that it connects to.
//!
//! - On port 443, a TLS client's first message, whose server name must be the name that was dialled.
//! - On port 80, one HTTP request, whose host must be that name. It is written anew, asks for the connection to end with
//!   the answer, and nothing behind it is sent on: a second request would need a second check. An upgrade to another
//!   protocol is not passed on, so plain WebSockets do not work on port 80; inside TLS they do.
//! - On any other port, whichever of the two the first bytes look like; what looks like neither (ssh, git) goes through as
//!   it is, for nothing in it names a host.
//!
//! What this cannot see: what is said inside TLS. Where one machine serves many names, a program can name an allowed one
//! outside and another inside (in the `Host` of the request, or in an encrypted client hello). Nor does it look at TLS that
//! begins later in a connection (`STARTTLS`).

use rustls::server::Acceptor;

use super::body::Body;
use super::http::{Complete, Head, LONGEST_HEAD, Request, response};
use super::record::Reason;
use crate::network::canonical;

/// The longest first message of a TLS client.
const LONGEST_HELLO: usize = 64 * 1024;
/// A fatal alert of TLS.
const ACCESS_DENIED: [u8; 7] = [0x15, 3, 1, 0, 2, 2, 49];
/// Words that begin a request are no longer.
const LONGEST_METHOD: usize = 20;

/// What has been said so far on one connection.
pub(super) struct Opening {
    name: String,
    port: u16,
    state: State,
}

enum State {
    /// Not enough was said to know what it is.
    Unknown(Vec<u8>),
    Tls(Box<Acceptor>, Vec<u8>),
    Http(Head),
    Body(Body),
    /// After the one request: nothing goes out any more.
    Over,
    /// Whatever comes goes out.
    Open,
}

/// Which bytes these are the beginning of.
enum Kind {
    Tls,
    Http,
    Other,
    Unclear,
}

impl Opening {
    /// For a connection to this port of this name.
    pub(super) fn new(name: &str, port: u16) -> Opening {
        let state = match port {
            443 => State::Tls(Box::default(), Vec::new()),
            80 => State::Http(Head::default()),
            _ => State::Unknown(Vec::new()),
        };
        Opening { name: name.to_owned(), port, state }
    }

    /// For a connection on which one request has been read and checked.
    pub(super) fn after_head(name: &str, port: u16, body: Body) -> Opening {
        Opening { name: name.to_owned(), port, state: State::Body(body) }
    }

    /// Takes what the program said, and puts into `out` what may go to the host.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
        match &mut self.state {
            State::Open => out.extend_from_slice(bytes),
            State::Over => {}
            State::Body(body) => {
                let taken = body.take(bytes)?;
                let (ours, rest) = bytes.split_at_checked(taken).unwrap_or((bytes, &[]));
                out.extend_from_slice(ours);
                if !rest.is_empty() {
                    self.state = State::Over;
                }
            }
            State::Http(head) => {
                if let Some(Complete { head, rest }) = head.push(bytes)? {
                    let request = Request::parse(&head)?;
                    request.must_mean(&self.name, self.port)?;
                    out.extend(request.written_for(&self.name, self.port));
                    self.state = State::Body(Body::of(request.body));
                    self.feed_rest(&rest, out)?;
                }
            }
            State::Tls(acceptor, held) => {
                held.extend_from_slice(bytes);
                if hello(acceptor, bytes, &self.name)? {
                    out.append(held);
                    self.state = State::Open;
                } else if held.len() > LONGEST_HELLO {
                    return Err(Reason::NoTls);
                }
            }
            State::Unknown(held) => {
                held.extend_from_slice(bytes);
                let next = match kind(held) {
                    Kind::Tls => State::Tls(Box::default(), Vec::new()),
                    Kind::Http => State::Http(Head::default()),
                    Kind::Other => State::Open,
                    Kind::Unclear if held.len() > LONGEST_HEAD => {
                        return Err(Reason::NoHttp("its first line is too long"));
                    }
                    Kind::Unclear => return Ok(()),
                };
                let held = std::mem::take(held);
                self.state = next;
                self.feed_rest(&held, out)?;
            }
        }
        Ok(())
    }

    /// What the new state does with what came with the last of the old one; states only go forward, so this ends.
    fn feed_rest(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
        if rest.is_empty() { Ok(()) } else { self.feed(rest, out) }
    }

    /// The program says nothing more.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Reason> {
        match &mut self.state {
            // Half a line is no request.
            State::Unknown(held) => out.append(held),
            State::Tls(_, held) if !held.is_empty() => return Err(Reason::NoTls),
            State::Http(head) if !head.is_empty() => return Err(Reason::NoHttp("cut off")),
            _ => {}
        }
        Ok(())
    }

    /// Whether it is known that the host that is meant is the one that was dialled, or that nothing says so.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.state, State::Open | State::Over | State::Body(_))
    }

    /// Whether the program owes more: until it is given, time runs.
    pub(super) fn is_owed(&self) -> bool {
        match &self.state {
            State::Unknown(held) => !held.is_empty(),
            State::Tls(..) | State::Http(_) => true,
            State::Body(_) | State::Over | State::Open => false,
        }
    }

    /// Whether nothing more goes out.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Whether the program must speak before anything is dialled.
    pub(super) fn comes_first(&self) -> bool {
        matches!(self.state, State::Tls(..) | State::Http(_))
    }

    /// Whether nothing was said at all.
    pub(super) fn is_silent(&self) -> bool {
        match &self.state {
            State::Unknown(held) | State::Tls(_, held) => held.is_empty(),
            State::Http(head) => head.is_empty(),
            State::Body(_) | State::Over | State::Open => false,
        }
    }

    /// What to tell a program that is refused, in its own words; nothing where they are not known.
    pub(super) fn farewell(&self, status: &str, text: &str) -> Vec<u8> {
        match &self.state {
            State::Tls(..) => ACCESS_DENIED.to_vec(),
            State::Open if self.port == 443 => ACCESS_DENIED.to_vec(),
            State::Http(_) | State::Body(_) | State::Over => response(status, text),
            State::Unknown(_) | State::Open => Vec::new(),
        }
    }
}

/// Reads more of a TLS client's first message. Whether it is complete, and means this host.
fn hello(acceptor: &mut Acceptor, mut bytes: &[u8], name: &str) -> Result<bool, Reason> {
    while !bytes.is_empty() {
        acceptor.read_tls(&mut bytes).map_err(|_| Reason::NoTls)?;
        if let Some(accepted) = acceptor.accept().map_err(|_| Reason::NoTls)? {
            let hello = accepted.client_hello();
            let said = hello.server_name().ok_or(Reason::NoServerName)?;
            return match canonical(said) {
                Some(said) if said == name => Ok(true),
                Some(said) => Err(Reason::OtherServerName(said)),
                None => Err(Reason::NoServerName),
            };
        }
    }
    Ok(false)
}

fn kind(bytes: &[u8]) -> Kind {
    match bytes {
        [] | [0x16] => return Kind::Unclear,
        [0x16, 3, ..] => return Kind::Tls,
        _ => {}
    }
    let word = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
    match bytes.get(word) {
        None if word <= LONGEST_METHOD => Kind::Unclear,
        Some(b' ') if (1..=LONGEST_METHOD).contains(&word) => {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return Kind::Unclear };
            let line = bytes.get(..end).unwrap_or_default();
            match line.windows(6).any(|part| part == b" HTTP/") {
                true => Kind::Http,
                false => Kind::Other,
            }
        }
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustls::pki_types::ServerName;
    use std::sync::Arc;

    /// What a real client says first.
    pub(crate) fn client_hello(name: &str, with_name: bool) -> Vec<u8> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        config.enable_sni = with_name;
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    /// The same message, in records of so many bytes.
    fn in_records(hello: &[u8], size: usize) -> Vec<u8> {
        let records = hello[5..]
            .chunks(size)
            .map(|part| [&[0x16, 3, 1], (part.len() as u16).to_be_bytes().as_slice(), part].concat());
        records.collect::<Vec<_>>().concat()
    }

    fn say(port: u16, bytes: &[u8], size: usize) -> (Result<(), Reason>, Vec<u8>, bool) {
        let mut opening = Opening::new("a.example", port);
        let mut out = Vec::new();
        let result = bytes.chunks(size).try_for_each(|part| opening.feed(part, &mut out));
        (result, out, opening.is_settled())
    }

    #[test]
    fn a_tls_client_must_mean_the_name_however_its_first_message_is_cut() {
        let good = client_hello("a.example", true);
        let followed = [good.as_slice(), b"\x14\x03\x03\x00\x01\x01and more"].concat();
        let long = {
            // Extensions of a real client, and 20 kB of padding behind them.
            let mut bytes = good.clone();
            let padding = 20_000u16;
            let grow = |bytes: &mut Vec<u8>, place: usize, width: usize| {
                let old =
                    bytes[place..place + width].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                let new = (old + 4 + usize::from(padding)).to_be_bytes();
                bytes.splice(place..place + width, new[8 - width..].iter().copied());
            };
            let session = 43 + 1 + usize::from(bytes[43]);
            let suites = session + 2 + usize::from(u16::from_be_bytes([bytes[session], bytes[session + 1]]));
            let extensions = suites + 1 + usize::from(bytes[suites]);
            grow(&mut bytes, extensions, 2);
            grow(&mut bytes, 6, 3);
            bytes.extend([0, 21]);
            bytes.extend(padding.to_be_bytes());
            bytes.extend(vec![0; usize::from(padding)]);
            in_records(&bytes, 16_000)
        };
        let other = client_hello("b.example", true);
        let (other, wrong) = (in_records(&other, 90), Err(Reason::OtherServerName("b.example".to_owned())));
        let rows: [(&str, Vec<u8>, Result<(), Reason>); 11] = [
            ("a real client", good.clone(), Ok(())),
            ("in capitals", client_hello("A.EXAMPLE", true), Ok(())),
            ("with more behind it", followed, Ok(())),
            ("in records of 1 byte", in_records(&good, 1), Ok(())),
            ("in records of 77 bytes", in_records(&good, 77), Ok(())),
            ("20 kB long", long, Ok(())),
            ("another name", other.clone(), wrong.clone()),
            ("another name first", [other, good.clone()].concat(), wrong),
            ("no name", client_hello("a.example", false), Err(Reason::NoServerName)),
            ("no TLS", b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n".to_vec(), Err(Reason::NoTls)),
            ("an alert", vec![0x15, 3, 1, 0, 2, 2, 49], Err(Reason::NoTls)),
        ];
        for (what, bytes, expected) in rows {
            for size in [1, 3, 100, 5000, bytes.len()] {
                for port in [443, 8443] {
                    if port == 8443 && matches!(expected, Err(Reason::NoTls)) {
                        continue;
                    }
                    let (result, out, settled) = say(port, &bytes, size);
                    assert_eq!(result, expected, "{what} by {size} at {port}");
                    assert_eq!(settled, expected.is_ok(), "{what} by {size} at {port}");
                    let passed = if expected.is_ok() { bytes.as_slice() } else { &[] };
                    assert_eq!(out, passed, "{what} by {size} at {port}");
                }
            }
        }
    }

    #[test]
    fn half_a_first_message_lets_nothing_through_and_does_not_grow() {
        let good = client_hello("a.example", true);
        let (result, out, settled) = say(443, &good[..good.len() - 1], 50);
        assert_eq!((result, out.len(), settled), (Ok(()), 0, false));
        let endless: Vec<u8> =
            (0..2000).flat_map(|_| [0x16, 3, 1, 0, 60].into_iter().chain([1; 60])).collect();
        assert_eq!(say(443, &endless, 1000).0, Err(Reason::NoTls));
    }

    #[test]
    fn one_request_goes_out_and_nothing_behind_it() {
        let request = "POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\nbody";
        let second = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
        let bytes = [request, second].concat();
        for size in 1..bytes.len() {
            for (port, host) in [(80, "a.example"), (8080, "a.example:8080")] {
                let (result, out, settled) = say(port, bytes.as_bytes(), size);
                assert_eq!((result, settled), (Ok(()), true), "by {size}");
                let expected = format!(
                    "POST /x HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
                );
                assert_eq!(String::from_utf8(out).unwrap(), expected, "by {size}");
            }
        }
    }

    #[test]
    fn other_ports_pass_what_names_no_host_and_check_what_does() {
        let other = Err(Reason::OtherHost("b.example".to_owned()));
        let rows: [(&[u8], Result<(), Reason>, bool); 12] = [
            (b"SSH-2.0-OpenSSH_9.9\r\n", Ok(()), true),
            (b"0032git-upload-pack /x\0host=a.example\0", Ok(()), true),
            (b"EHLO me\r\n", Ok(()), true),
            (b"\0\0\0\x08\x04\xd2\x16\x2f", Ok(()), true),
            (b"\x16\x01 not TLS", Ok(()), true),
            (b"*1\r\n$4\r\nPING\r\n", Ok(()), true),
            (b"abcdefghijklmnopqrstuvwxyz", Ok(()), true),
            (b"GET ", Ok(()), false),
            (b"\x16", Ok(()), false),
            (b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", other.clone(), false),
            (b"get / HTTP/1.1\r\nHost: b.example\r\n\r\n", other, false),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Err(Reason::NoHttp("malformed")), false),
        ];
        for (bytes, expected, settled) in rows {
            for size in [1, 2, 7, bytes.len()] {
                let got = say(7777, bytes, size);
                let text = bytes.escape_ascii().to_string();
                assert_eq!((&got.0, got.2), (&expected, settled), "{text} by {size}");
                assert_eq!(got.1, if settled { bytes } else { &[] }, "{text} by {size}");
            }
        }
        let long = [b"GET /".to_vec(), vec![b'a'; 70_000]].concat();
        assert!(
            say(7777, &long, 1000).0.is_err(),
            "a line that may be a request is not waited for without end"
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_pass_where_a_host_must_be_named(
            bytes in prop::collection::vec(any::<u8>(), 0..500),
            start in prop::sample::select(vec![&b""[..], b"\x16\x03\x01\x00\x80\x01\x00\x00\x7c\x03\x03", b"GET / HTTP/1.1\r\n"]),
            size in 1usize..100,
        ) {
            let bytes = [start, &bytes].concat();
            for port in [80, 443, 7777] {
                let (_, out, _) = say(port, &bytes, size);
                prop_assert!(port == 7777 || out.is_empty());
            }
        }
    }
}
