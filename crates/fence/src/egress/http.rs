//! The head of an HTTP request: which host it means, and how it is written anew for that host.
//!
//! What is sent on is written from what was understood, never copied: two readers cannot see two requests in it.

use super::layout::is_address;
use super::record::Reason;
use crate::network::canonical;

/// The longest head of a request.
pub(super) const LONGEST_HEAD: usize = 64 * 1024;
const MOST_FIELDS: usize = 128;

/// A request, as far as its head says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: Target,
    /// The host of the `Host` field.
    pub(super) host: Option<Authority>,
    pub(super) body: Length,
    fields: Vec<(String, Vec<u8>)>,
    minor: u8,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A path, or `*`.
    Path(String),
    /// A path of a host: `http://host/path`.
    Absolute(Authority, String),
    /// A host, for `CONNECT`.
    Authority(Authority),
}

/// A host and perhaps a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    pub(super) name: String,
    pub(super) port: Option<u16>,
}

/// How long the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    Bytes(u64),
    Chunked,
}

/// A whole head, and what came behind it.
#[derive(Debug)]
pub(super) struct Complete {
    pub(super) head: Vec<u8>,
    pub(super) rest: Vec<u8>,
}

/// Collects bytes until a head is complete.
#[derive(Debug, Default)]
pub(super) struct Head {
    held: Vec<u8>,
    searched: usize,
}

impl Head {
    /// Takes more bytes. Nothing comes of it until the head is complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Option<Complete>, Reason> {
        self.held.extend_from_slice(bytes);
        let from = self.searched.saturating_sub(3);
        let fresh = self.held.get(from..).unwrap_or_default();
        let end = fresh.windows(4).position(|four| four == b"\r\n\r\n").map(|place| from + place + 4);
        self.searched = self.held.len();
        match end {
            Some(end) if end <= LONGEST_HEAD => {
                let rest = self.held.split_off(end);
                Ok(Some(Complete { head: std::mem::take(&mut self.held), rest }))
            }
            None if self.held.len() <= LONGEST_HEAD => Ok(None),
            Some(_) | None => Err(Reason::NoHttp("its head is too long")),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

impl Request {
    pub(super) fn parse(head: &[u8]) -> Result<Request, Reason> {
        let wrong = Reason::NoHttp;
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        match parsed.parse(head) {
            Ok(httparse::Status::Complete(length)) if length == head.len() => {}
            _ => return Err(wrong("malformed")),
        }
        let method = parsed.method.ok_or(wrong("no method"))?;
        // A lenient reader may take a lone line feed for the end of a line; here it is none.
        let line_feeds =
            head.windows(2).filter(|two| matches!(two, [before, b'\n'] if *before != b'\r')).count();
        if line_feeds > 0 || head.starts_with(b"\r") || head.starts_with(b"\n") {
            return Err(wrong("a lone line feed"));
        }
        let text = parsed.path.ok_or(wrong("no target"))?;
        // Anything but a visible character or a byte of a longer one has no place in a target.
        if text.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(wrong("a control character"));
        }
        let target = Target::parse(method, text)?;
        let minor = parsed.version.ok_or(wrong("no version"))?;
        let mut hosts = values(parsed.headers, "host");
        let host = match (hosts.next(), hosts.next()) {
            (None, _) => None,
            (Some(value), None) => Some(Authority::parse(value)?),
            (Some(_), Some(_)) => return Err(wrong("two hosts")),
        };
        let body = length(parsed.headers, minor)?;
        let named: Vec<String> = values(parsed.headers, "connection")
            .filter_map(|value| std::str::from_utf8(value).ok())
            .flat_map(|value| value.split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        // What belongs to the connection with us ends here; so does the wish for another protocol, in which requests for
        // other hosts could follow unseen.
        let ours = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.starts_with("proxy-")
                || matches!(
                    name.as_str(),
                    "host" | "connection" | "keep-alive" | "upgrade" | "http2-settings"
                )
                || (named.contains(&name) && !matches!(name.as_str(), "content-length" | "transfer-encoding"))
        };
        let fields = parsed.headers.iter().filter(|field| !ours(field.name));
        let fields = fields.map(|field| (field.name.to_owned(), field.value.to_vec())).collect();
        Ok(Request { method: method.to_owned(), target, host, body, fields, minor })
    }

    /// The head for the host itself. It asks for the connection to end with the answer.
    pub(super) fn written_for(&self, name: &str, port: u16) -> Vec<u8> {
        let path = match &self.target {
            Target::Path(path) | Target::Absolute(_, path) => path.as_str(),
            Target::Authority(_) => "/",
        };
        let port = if port == 80 { String::new() } else { format!(":{port}") };
        let mut head =
            format!("{} {path} HTTP/1.{}\r\nHost: {name}{port}\r\n", self.method, self.minor).into_bytes();
        for (name, value) in &self.fields {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"Connection: close\r\n\r\n");
        head
    }

    /// Whether the request means this host, and nothing in it means another.
    pub(super) fn must_mean(&self, name: &str, port: u16) -> Result<(), Reason> {
        let same =
            |authority: &Authority| match authority.name == name && authority.port.unwrap_or(80) == port {
                true => Ok(()),
                // Some leave the port out of the field although it is not the usual one.
                false if authority.name == name && authority.port.is_none() => Ok(()),
                false => Err(Reason::OtherHost(authority.to_string())),
            };
        match &self.target {
            Target::Path(_) => same(self.host.as_ref().ok_or(Reason::NoHost)?),
            Target::Absolute(authority, _) => {
                same(authority).and_then(|()| self.host.as_ref().map_or(Ok(()), same))
            }
            Target::Authority(_) => Err(Reason::NoHttp("a proxy's request")),
        }
    }
}

impl Target {
    fn parse(method: &str, text: &str) -> Result<Target, Reason> {
        let wrong = Err(Reason::NoHttp("an unknown kind of target"));
        if method == "CONNECT" {
            let authority = Authority::parse(text.as_bytes())?;
            return if authority.port.is_some() { Ok(Target::Authority(authority)) } else { wrong };
        }
        if text.starts_with('/') || (text == "*" && method == "OPTIONS") {
            return Ok(Target::Path(text.to_owned()));
        }
        let (scheme, rest) = match text.split_once("://") {
            Some(parts) => parts,
            None => return wrong,
        };
        if !scheme.eq_ignore_ascii_case("http") || rest.contains('#') {
            return wrong;
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Target::Absolute(Authority::parse(authority.as_bytes())?, format!("{slash}{path}")))
    }
}

impl Authority {
    pub(super) fn parse(bytes: &[u8]) -> Result<Authority, Reason> {
        let text = std::str::from_utf8(bytes).map_err(|_| Reason::NoName)?;
        if text.starts_with('[') {
            return Err(Reason::Literal);
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(number(port).ok_or(Reason::NoName)?)),
            None => (text, None),
        };
        let name = canonical(name).ok_or(Reason::NoName)?;
        match is_address(&name) {
            true => Err(Reason::Literal),
            false => Ok(Authority { name, port }),
        }
    }
}

impl std::fmt::Display for Authority {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.name)?;
        self.port.map_or(Ok(()), |port| write!(out, ":{port}"))
    }
}

/// An answer of our own, in one line of text.
pub(super) fn response(status: &str, text: &str) -> Vec<u8> {
    let length = text.len() + 1;
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
    )
    .into_bytes()
}

fn number(text: &str) -> Option<u16> {
    let digits = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

fn length(fields: &[httparse::Header<'_>], minor: u8) -> Result<Length, Reason> {
    let lengths: Vec<&[u8]> = values(fields, "content-length").collect();
    let codings: Vec<&[u8]> = values(fields, "transfer-encoding").collect();
    let wrong = Err(Reason::NoHttp("a body of unclear length"));
    match (lengths.as_slice(), codings.as_slice()) {
        ([], []) => Ok(Length::Bytes(0)),
        ([], [coding]) if coding.eq_ignore_ascii_case(b"chunked") && minor == 1 => Ok(Length::Chunked),
        ([length], []) => {
            let digits = (1..=18).contains(&length.len()) && length.iter().all(u8::is_ascii_digit);
            let number = std::str::from_utf8(length).ok().and_then(|text| text.parse().ok());
            number.filter(|_| digits).map_or(wrong, |number| Ok(Length::Bytes(number)))
        }
        _ => wrong,
    }
}

fn values<'a>(fields: &'a [httparse::Header<'a>], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_must_mean_the_host_that_was_dialled() {
        let other = |name: &str| Err(Reason::OtherHost(name.to_owned()));
        let wrong = |why| Err(Reason::NoHttp(why));
        let rows = [
            ("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", Ok(())),
            ("GET / HTTP/1.1\r\nhOST:A.Example.:80\r\n\r\n", Ok(())),
            ("GET / HTTP/1.0\r\nHost: a.example\r\n\r\n", Ok(())),
            ("OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", Ok(())),
            ("GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n", Ok(())),
            ("GET HTTP://a.example?q HTTP/1.1\r\n\r\n", Ok(())),
            ("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", other("b.example")),
            ("GET / HTTP/1.1\r\nHost: a.example:81\r\n\r\n", other("a.example:81")),
            ("GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", other("b.example")),
            ("GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n", other("b.example")),
            ("GET / HTTP/1.1\r\n\r\n", Err(Reason::NoHost)),
            ("GET / HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n", wrong("two hosts")),
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n", Err(Reason::NoName)),
            ("GET / HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n", Err(Reason::NoName)),
            ("GET / HTTP/1.1\r\nHost: u@a.example\r\n\r\n", Err(Reason::NoName)),
            ("GET http://b.example@a.example/ HTTP/1.1\r\n\r\n", Err(Reason::NoName)),
            ("GET http://a.example\\@b.example/ HTTP/1.1\r\n\r\n", Err(Reason::NoName)),
            ("GET / HTTP/1.1\r\nHost: a.example\0.b.example\r\n\r\n", wrong("malformed")),
            ("GET http://a.example\0/ HTTP/1.1\r\n\r\n", wrong("malformed")),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", Err(Reason::Literal)),
            ("GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", Err(Reason::Literal)),
            ("GET / HTTP/1.1\r\n Host: a.example\r\n\r\n", wrong("malformed")),
            ("GET / HTTP/1.1\r\nHost : a.example\r\n\r\n", wrong("malformed")),
            ("GET / HTTP/1.1\nHost: a.example\r\n\r\n", wrong("a lone line feed")),
            ("\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n", wrong("a lone line feed")),
            ("GET / HTTP/1.1\r\nX: y\r\n z\r\nHost: a.example\r\n\r\n", wrong("malformed")),
            ("PRI * HTTP/2.0\r\n\r\n", wrong("malformed")),
            ("GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", wrong("an unknown kind of target")),
            (
                "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
                wrong("an unknown kind of target"),
            ),
            ("CONNECT a.example:80 HTTP/1.1\r\nHost: a.example\r\n\r\n", wrong("a proxy's request")),
        ];
        for (head, expected) in rows {
            let got = Request::parse(head.as_bytes()).and_then(|request| request.must_mean("a.example", 80));
            assert_eq!(got, expected, "{head:?}");
        }
    }

    #[test]
    fn the_length_of_a_body_is_plain_or_the_request_is_refused() {
        let rows = [
            ("", Some(Length::Bytes(0))),
            ("Content-Length: 12\r\n", Some(Length::Bytes(12))),
            ("Transfer-Encoding: Chunked\r\n", Some(Length::Chunked)),
            ("Content-Length: 12\r\nContent-Length: 12\r\n", None),
            ("Content-Length: 1, 2\r\n", None),
            ("Content-Length: +1\r\n", None),
            ("Content-Length: 0x1\r\n", None),
            ("Content-Length:\r\n", None),
            ("Content-Length: 9999999999999999999\r\n", None),
            ("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", None),
            ("Transfer-Encoding: gzip, chunked\r\n", None),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", None),
        ];
        for (fields, expected) in rows {
            let head = format!("POST / HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n");
            let got = Request::parse(head.as_bytes()).map(|request| request.body);
            assert_eq!(got.ok(), expected, "{fields:?}");
        }
        assert!(Request::parse(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
    }

    #[test]
    fn a_request_is_written_anew_for_its_host() {
        let head = "GET http://A.example:8080/x?y HTTP/1.1\r\nhost: a.EXAMPLE:8080\r\nAccept: */*\r\nX-Hop: 1\r\n\
            Proxy-Authorization: Basic c2VjcmV0\r\nConnection: keep-alive, X-Hop, content-length\r\n\
            Upgrade: h2c\r\nHTTP2-Settings: x\r\nContent-Length: 3\r\n\r\n";
        let request = Request::parse(head.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(request.written_for("a.example", 8080)).unwrap(),
            "GET /x?y HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn a_head_is_found_however_it_is_cut_and_is_bounded() {
        let bytes = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\nrest";
        for size in 1..bytes.len() {
            let mut head = Head::default();
            let found: Vec<_> = bytes.chunks(size).filter_map(|part| head.push(part).unwrap()).collect();
            assert_eq!(found[0].head, bytes[..bytes.len() - 4], "cut at {size}");
        }
        let mut head = Head::default();
        let result = (0..200).map(|_| head.push(&[b'a'; 1000])).find(Result::is_err);
        assert!(result.is_some());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_as_the_same_request(
            middle in prop::collection::vec(prop::sample::select(
                b"GET /ht:p.*aexmlHOST\r\n\r\n \0\t,;=-_09".to_vec()), 0..60),
        ) {
            let mut head = b"POST / HTTP/1.1\r\nHost: a.example\r\nX: ".to_vec();
            head.extend(middle);
            head.extend(b"\r\n\r\n");
            if let Ok(request) = Request::parse(&head)
                && request.must_mean("a.example", 80).is_ok()
            {
                let again = Request::parse(&request.written_for("a.example", 80)).unwrap();
                prop_assert_eq!(again.must_mean("a.example", 80), Ok(()));
                prop_assert_eq!(&again.body, &request.body);
                prop_assert_eq!(&again.fields, &request.fields);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _any = Request::parse(&bytes);
            let _any = Authority::parse(&bytes);
        }
    }
}
