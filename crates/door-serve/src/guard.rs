//! What a request must be before any route sees it: for this host, from no foreign page, with a token, in JSON if it changes
//! something.
//!
//! A page in the user's browser can send requests here, also under a name that its owner lets lead to 127.0.0.1. It cannot
//! choose `Host`, `Origin` and `Sec-Fetch-Site`, and it does not have the token.

use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version, header};
use gate::call::ErrorKind;

use crate::refusal::Refusal;
use crate::routes;
use crate::token::{Caller, Tokens};

/// The names by which this server may be called.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    /// A loopback address with its port, and what stands for it.
    #[must_use]
    pub fn loopback(port: u16) -> Hosts {
        Hosts {
            names: vec![format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")],
        }
    }

    /// A socket in the file system has no name of its own; clients write this one.
    #[must_use]
    pub fn socket() -> Hosts {
        Hosts { names: vec!["localhost".into()] }
    }

    /// And this one.
    #[must_use]
    pub fn and(mut self, name: impl Into<String>) -> Hosts {
        self.names.push(name.into());
        self
    }

    fn has(&self, name: &[u8]) -> bool {
        self.names.iter().any(|known| known.as_bytes() == name)
    }
}

/// The head of a request.
pub(crate) struct Head<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) version: Version,
    pub(crate) headers: &'a HeaderMap,
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Lets a request pass, with what its token may. What needs none passes with nothing.
pub(crate) fn pass(head: &Head<'_>, hosts: &Hosts, tokens: &Tokens) -> Result<Option<Caller>, Refusal> {
    named_right(head, hosts)?;
    from_no_foreign_page(head, hosts)?;
    if routes::is_open(head.uri.path()) {
        return match *head.method {
            Method::GET | Method::HEAD => Ok(None),
            _ => Err(Refusal::not_in_this_way(head.uri.path())),
        };
    }
    let caller = bearer(head.headers).and_then(|token| tokens.caller(token)).ok_or_else(|| {
        Refusal::new(ErrorKind::Permission, "this needs a bearer token in its `Authorization`")
            .with_status(StatusCode::UNAUTHORIZED)
            .help("`bailiwick serve` prints where the token is")
    })?;
    in_json(head)?;
    Ok(Some(caller.clone()))
}

/// The only value of a header; more than one is none.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&[u8]> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    all.next().is_none().then(|| first.as_bytes())
}

fn named_right(head: &Head<'_>, hosts: &Hosts) -> Result<(), Refusal> {
    let named = only(head.headers, header::HOST).is_some_and(|host| hosts.has(host));
    // A whole address in the request line would count above `Host`; nobody needs it here.
    let plain = head.uri.authority().is_none() && head.uri.scheme().is_none();
    if named && plain && head.version == Version::HTTP_11 {
        return Ok(());
    }
    // FAIL-CLOSED: whoever came by another name came by somebody else's.
    Err(Refusal::forbidden("the request is not addressed to this server by a name of its own"))
}

fn from_no_foreign_page(head: &Head<'_>, hosts: &Hosts) -> Result<(), Refusal> {
    let own_origin = |origin: &[u8]| origin.strip_prefix(b"http://").is_some_and(|host| hosts.has(host));
    let origin = !head.headers.contains_key(header::ORIGIN)
        || only(head.headers, header::ORIGIN).is_some_and(own_origin);
    let site = !head.headers.contains_key(FETCH_SITE)
        || only(head.headers, FETCH_SITE).is_some_and(|site| site == b"same-origin" || site == b"none");
    if origin && site { Ok(()) } else { Err(Refusal::forbidden("the request comes from another page")) }
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    only(headers, header::AUTHORIZATION)?.strip_prefix(b"Bearer ")
}

/// What changes something is JSON, which no form of a foreign page can send unasked.
fn in_json(head: &Head<'_>) -> Result<(), Refusal> {
    let is_json = |kind: &[u8]| {
        let kind = std::str::from_utf8(kind).unwrap_or_default();
        let (kind, parameters) = kind.split_once(';').unwrap_or((kind, "charset=utf-8"));
        kind.trim().eq_ignore_ascii_case("application/json")
            && parameters.trim().eq_ignore_ascii_case("charset=utf-8")
    };
    if routes::is_wrong_way(head.method.as_str(), head.uri.path()) {
        return Err(Refusal::not_in_this_way(head.uri.path()));
    }
    let given = head.headers.contains_key(header::CONTENT_TYPE);
    let json = only(head.headers, header::CONTENT_TYPE).is_some_and(is_json);
    let encoded = head.headers.contains_key(header::CONTENT_ENCODING);
    let fits = match *head.method {
        Method::GET | Method::HEAD => true,
        Method::DELETE => !given || json,
        Method::POST => json && !encoded,
        _ => {
            return Err(Refusal::not_in_this_way(head.uri.path()));
        }
    };
    if fits {
        return Ok(());
    }
    Err(Refusal::invalid("the body must be `application/json`")
        .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE))
}
