//! The other end of a connection, read from a URL, a host's name or a remote path.

use crate::effect::Peer;

/// What a URL names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A machine.
    Machine(Peer),
    /// A local file.
    File(String),
}

/// `scheme://user@host:port/path`, or without a scheme.
pub(crate) fn of_url(url: &str) -> Place {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme.eq_ignore_ascii_case("file") {
        let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest);
        return Place::File(path.to_owned());
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Place::Machine(of_host(rest.get(..end).unwrap_or(rest)))
}

/// `user@host:port`, lowercase host only.
pub(crate) fn of_host(text: &str) -> Peer {
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None if host.matches(':').count() > 1 => host,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if host.is_empty() || host.bytes().any(|byte| b"{}$*` \\".contains(&byte)) {
        return Peer::Unnamed;
    }
    if is_loopback(&host) { Peer::Loopback } else { Peer::Host(host) }
}

/// `host:path`, `user@host:path`, `rsync://host/…`, `host::module`; `None` for a local path.
pub(crate) fn of_remote(text: &str) -> Option<Peer> {
    if text.contains("://") {
        return match of_url(text) {
            Place::Machine(peer) => Some(peer),
            Place::File(_) => None,
        };
    }
    let (host, _) = text.split_once(':')?;
    (!host.contains('/') && !host.is_empty()).then(|| of_host(host))
}

/// Whether a certain beginning of a URL already names the whole host.
pub(crate) fn complete(prefix: &str) -> bool {
    prefix.split_once("://").map_or(prefix, |(_, rest)| rest).contains('/')
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host == "::1"
        || host == "0.0.0.0"
        || host == "ip6-localhost"
        || host.strip_prefix("127.").is_some_and(|rest| {
            rest.split('.').count() == 3 && rest.split('.').all(|part| part.parse::<u8>().is_ok())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_found() {
        for (url, expected) in [
            ("https://User:pw@Example.com:8443/x?y", Peer::Host("example.com".into())),
            ("example.com/x", Peer::Host("example.com".into())),
            ("http://localhost:3000", Peer::Loopback),
            ("http://127.0.0.1/x", Peer::Loopback),
            ("http://127.0.0.1.evil.com/", Peer::Host("127.0.0.1.evil.com".into())),
            ("http://localhost@evil.com/", Peer::Host("evil.com".into())),
            ("http://[::1]:80/", Peer::Loopback),
            ("http://evil.com?x=http://localhost/", Peer::Host("evil.com".into())),
        ] {
            assert_eq!(of_url(url), Place::Machine(expected), "{url}");
        }
        assert_eq!(of_url("file:///etc/shadow"), Place::File("/etc/shadow".into()));
        assert_eq!(of_remote("a.com:x"), Some(Peer::Host("a.com".into())));
        assert_eq!(of_remote("./a:b"), None);
        assert_eq!(of_remote("plain"), None);
    }
}
