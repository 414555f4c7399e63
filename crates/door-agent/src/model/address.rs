//! Where a model is served.

use std::net::IpAddr;

/// An http or https address, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) secure: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Without a slash at its end.
    pub(crate) path: String,
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// It is none of http or https, or has what an address of a model has not: a user, a query or a fragment.
    pub fn read(text: &str) -> Result<Address, String> {
        let wrong = |why: &str| format!("`{}` {why}", gate::call::mask(text));
        let (secure, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err(wrong("is not an http or https address")),
        };
        if rest.contains(['?', '#', '@']) || rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong("has something in it that the address of a model has not"));
        }
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{}", path.trim_end_matches('/'))),
            None => (rest, String::new()),
        };
        let path = if path == "/" { String::new() } else { path };
        let usual = if secure { 443 } else { 80 };
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or_else(|| wrong("has no end of its host"))?;
                (host, after.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = match port {
            None => usual,
            Some(port) => port.parse().map_err(|_| wrong("has a port that is no number"))?,
        };
        if host.is_empty() {
            return Err(wrong("names no host"));
        }
        Ok(Address { secure, host: host.to_owned(), port, path })
    }

    /// Whether a key may be sent there: encrypted, or to this machine itself.
    #[must_use]
    pub fn keeps_secrets(&self) -> bool {
        self.secure
            || self.host == "localhost"
            || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// For the `Host` header.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == if self.secure { 443 } else { 80 } { host } else { format!("{host}:{}", self.port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart_or_refused() {
        let table = [
            ("https://api.example.com/v1/", Some((true, "api.example.com", 443, "/v1", true))),
            ("http://127.0.0.1:8080", Some((false, "127.0.0.1", 8080, "", true))),
            ("http://[::1]:9/v1", Some((false, "::1", 9, "/v1", true))),
            ("http://localhost/", Some((false, "localhost", 80, "", true))),
            ("http://models.example.com/v1", Some((false, "models.example.com", 80, "/v1", false))),
            ("ftp://x", None),
            ("https://user:pass@host/", None),
            ("https://host/?key=1", None),
            ("https://:80/", None),
            ("https://host:x/", None),
            ("https://ho st/", None),
        ];
        for (text, expected) in table {
            let read = Address::read(text).ok();
            let got = read
                .as_ref()
                .map(|a| (a.secure, a.host.as_str(), a.port, a.path.as_str(), a.keeps_secrets()));
            assert_eq!(got, expected, "{text}");
        }
        assert_eq!(Address::read("http://[::1]:9").unwrap().authority(), "[::1]:9");
        assert_eq!(Address::read("https://a.b").unwrap().authority(), "a.b");
    }
}
