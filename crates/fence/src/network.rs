//! Which connections a plan lets through: none, those to hosts that it names, or all.

use std::fmt;

/// The network as a plan has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// No connection leaves the fence. Loopback inside it works.
    Off,
    /// Only connections to these hosts. An empty list is [`Network::Off`], never "no restriction".
    Allow(Vec<Host>),
    /// As outside the fence.
    Open,
}

/// A host that may be connected to: a name, or every name below one, and the ports.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Host {
    name: String,
    below: bool,
    port: Option<u16>,
}

/// The ports of a host that is named without one: ssh, http, https, git.
pub const USUAL_PORTS: [u16; 4] = [22, 80, 443, 9418];

impl Host {
    /// Reads `name`, `*.name`, either with `:port`. The name is kept in lower case without a dot at its end.
    ///
    /// # Errors
    /// It is not a host name: empty, too long, or with a character that has no place in one.
    pub fn parse(text: &str) -> Result<Host, String> {
        let wrong = |why: &str| format!("`{}` is no host: {why}", text.escape_debug());
        let (rest, port) = match text.rsplit_once(':') {
            Some((rest, port)) => {
                let port = port.parse::<u16>().ok().filter(|port| *port != 0);
                (rest, Some(port.ok_or_else(|| wrong("its port is no number from 1 to 65535"))?))
            }
            None => (text, None),
        };
        let (name, below) = match rest.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (rest, false),
        };
        match canonical(name) {
            Some(name) => Ok(Host { name, below, port }),
            None => Err(wrong("a name has letters, digits and hyphens between single dots")),
        }
    }

    /// Whether a connection to this name and port is meant.
    #[must_use]
    pub fn covers(&self, name: &str, port: u16) -> bool {
        self.names(name) && self.opens(port)
    }

    /// Whether this name is meant, at whatever port.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        let Some(name) = canonical(name) else { return false };
        match self.below {
            true => name
                .strip_suffix(self.name.as_str())
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
            false => name == self.name,
        }
    }

    /// Whether this port is meant.
    #[must_use]
    pub fn opens(&self, port: u16) -> bool {
        match self.port {
            Some(only) => only == port,
            None => USUAL_PORTS.contains(&port),
        }
    }

    /// The one name that is meant; `None` where it is every name below one.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        (!self.below).then_some(self.name.as_str())
    }

    /// The ports that are meant.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.port.map_or_else(|| USUAL_PORTS.to_vec(), |port| vec![port])
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stars = if self.below { "*." } else { "" };
        write!(out, "{stars}{}", self.name)?;
        self.port.map_or(Ok(()), |port| write!(out, ":{port}"))
    }
}

/// A host name in lower case without its final dot; `None` if it is none. What looks like a name to one reader and like
/// another to the next (control bytes, spaces, a NUL in the middle) is none.
#[must_use]
pub fn canonical(name: &str) -> Option<String> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    ((1..=253).contains(&name.len()) && name.split('.').all(label)).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_cover_what_they_say_and_nothing_else() {
        let rows = [
            ("example.com", "example.com", 443, true),
            ("Example.COM.", "EXAMPLE.com.", 80, true),
            ("example.com", "www.example.com", 443, false),
            ("example.com", "example.com", 25, false),
            ("example.com:25", "example.com", 25, true),
            ("example.com:25", "example.com", 443, false),
            ("*.example.com", "a.example.com", 443, true),
            ("*.example.com", "b.a.example.com", 22, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", "evilexample.com", 443, false),
            ("example.com", "example.com\0.evil.net", 443, false),
            ("example.com", "evil.net\0.example.com", 443, false),
            ("*.example.com", "evil.net\0.example.com", 443, false),
            ("*.example.com", " .example.com", 443, false),
            ("*.example.com", ".example.com", 443, false),
        ];
        for (host, name, port, covered) in rows {
            let host = Host::parse(host).unwrap();
            assert_eq!(host.covers(name, port), covered, "{host} against {name:?}:{port}");
        }
    }

    #[test]
    fn what_is_no_host_name_is_refused() {
        for text in [
            "", ".", "*", "*.", "a..b", "a b", "a\0b", "a\nb", "-a", "a-", "a:0", "a:70000", "a:x", "*.*.a",
            "a/b",
        ] {
            assert!(Host::parse(text).is_err(), "{text:?}");
        }
        assert!(Host::parse(&"a".repeat(64)).is_err());
        assert!(Host::parse(&vec!["a"; 128].join(".")).is_err());
    }
}
