//! Who is asked when an agent searches the web: an address with places for what is searched, and how a key is sent.
//!
//! The address is a template such as `https://search.example/api?q={q}&count={limit}&days={recency}`: `{q}`, `{limit}` and
//! `{recency}` (in days) are whole values of its query. A part of the query with `{recency}` is left out where none is asked
//! for. The address is https, or http to this machine; places in it stand in the query only, so that what an agent searches for
//! can never choose another host.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use call::{ErrorKind, WebSearch};
use ureq::http::Uri;

use crate::failure::Failure;

/// The longest template.
const LONGEST_TEMPLATE: usize = 2048;
/// How long an answer may take, if nothing is said, and at most.
const TIMEOUT: Duration = Duration::from_secs(10);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Who is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchProvider {
    /// The address, without the query.
    base: String,
    host: String,
    parts: Vec<Part>,
    key: Option<KeyPlace>,
    timeout: Duration,
}

/// How a key is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPlace {
    pub(crate) variable: String,
    pub(crate) header: String,
    pub(crate) prefix: &'static str,
}

/// A part of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// With `=`, if it has a value.
    name: String,
    value: PartValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PartValue {
    Given(String),
    Query,
    Limit,
    Recency,
}

impl SearchProvider {
    /// Reads the template of an address.
    ///
    /// # Errors
    /// `config_error`: it is not as this file says.
    pub fn new(template: &str) -> Result<SearchProvider, Failure> {
        let (base, query) =
            template.split_once('?').ok_or_else(|| wrong("expected a query with `{q}` in it"))?;
        if template.len() > LONGEST_TEMPLATE || !template.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("expected an address of plain characters"));
        }
        if base.contains(['{', '}', '#', '\\']) || query.contains('#') {
            return Err(wrong("places such as `{q}` stand in the query only, and there is no fragment"));
        }
        let host = checked_host(base)?;
        let parts: Vec<Part> = query.split('&').map(part).collect::<Result<_, _>>()?;
        if !parts.iter().any(|part| part.value == PartValue::Query) {
            return Err(wrong("expected a query with `{q}` in it"));
        }
        Ok(SearchProvider { base: base.to_owned(), host, parts, key: None, timeout: TIMEOUT })
    }

    /// The key is in this variable, and is sent as this header: `authorization` gets `Bearer ` before it.
    ///
    /// # Errors
    /// `config_error`: this is no name of a variable or of a header.
    pub fn with_key(mut self, variable: &str, header: &str) -> Result<SearchProvider, Failure> {
        let plain = |text: &str, also: u8| {
            (1..=128).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == also)
                && !text.starts_with(|first: char| first.is_ascii_digit())
        };
        if !plain(variable, b'_') || !plain(header, b'-') {
            return Err(wrong("expected the names of a variable and of a header"));
        }
        let header = header.to_ascii_lowercase();
        // These say where a message goes and how long it is.
        if ["host", "content-length", "transfer-encoding", "connection", "upgrade"].contains(&header.as_str())
        {
            return Err(wrong("this header cannot hold a key"));
        }
        let prefix = if header == "authorization" { "Bearer " } else { "" };
        self.key = Some(KeyPlace { variable: variable.to_owned(), header, prefix });
        Ok(self)
    }

    /// How long an answer may take, up to a minute.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> SearchProvider {
        self.timeout = timeout.clamp(Duration::from_millis(1), LONGEST_TIMEOUT);
        self
    }

    /// The host that a search connects to: what the gate judges.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The variable that the key is in.
    #[must_use]
    pub fn key_variable(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.variable.as_str())
    }

    pub(crate) fn key_place(&self) -> Option<&KeyPlace> {
        self.key.as_ref()
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The address of one search.
    pub(crate) fn address(&self, search: &WebSearch, limit: usize) -> String {
        let mut parts = Vec::new();
        for part in &self.parts {
            let value = match &part.value {
                PartValue::Given(value) => value.clone(),
                PartValue::Query => encoded(&search.q),
                PartValue::Limit => limit.to_string(),
                PartValue::Recency => match search.recency {
                    Some(days) => days.to_string(),
                    None => continue,
                },
            };
            parts.push(format!("{}{value}", part.name));
        }
        format!("{}?{}", self.base, parts.join("&"))
    }
}

fn wrong(message: &str) -> Failure {
    Failure::new(ErrorKind::ConfigError, &format!("the address of the search provider: {message}"))
}

/// The host, in small letters, if the address is https or stays on this machine.
fn checked_host(base: &str) -> Result<String, Failure> {
    let uri: Uri = base.parse().map_err(|_| wrong("expected an address"))?;
    let authority = uri.authority().ok_or_else(|| wrong("expected a host"))?;
    let host = authority.host().to_ascii_lowercase();
    if authority.as_str().contains('@') {
        return Err(wrong("names and passwords do not belong into it"));
    }
    if host.is_empty() {
        return Err(wrong("expected a host"));
    }
    match uri.scheme_str() {
        Some("https") => Ok(host),
        Some("http") if is_loopback(&host) => Ok(host),
        Some("http") => Err(wrong("http is for this machine only: expected https")),
        _ => Err(wrong("expected https")),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn part(text: &str) -> Result<Part, Failure> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (format!("{name}="), value),
        None => (String::new(), text),
    };
    let value = match value {
        "{q}" => PartValue::Query,
        "{limit}" => PartValue::Limit,
        "{recency}" => PartValue::Recency,
        given if given.contains(['{', '}']) => {
            return Err(wrong("expected `{q}`, `{limit}` and `{recency}` as whole values"));
        }
        given => PartValue::Given(given.to_owned()),
    };
    if name.contains(['{', '}']) || (name.is_empty() && !matches!(value, PartValue::Given(_))) {
        return Err(wrong("expected `{q}`, `{limit}` and `{recency}` as whole values"));
    }
    Ok(Part { name, value })
}

/// Everything but letters, digits and `-_.~` as `%XX`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

impl fmt::Display for SearchProvider {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.host)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn search(q: &str, recency: Option<u64>) -> WebSearch {
        serde_json::from_value(json!({"q": q, "recency": recency})).unwrap()
    }

    #[test]
    fn an_address_is_made_from_its_template() {
        let template = "https://Search.example/api?q={q}&n={limit}&days={recency}&format=json";
        let provider = SearchProvider::new(template).unwrap();
        assert_eq!(provider.host(), "search.example");
        let table = [
            ("rust", None, "https://Search.example/api?q=rust&n=5&format=json"),
            (
                "a&b=c #ü/..",
                Some(0),
                "https://Search.example/api?q=a%26b%3Dc%20%23%C3%BC%2F..&n=5&days=0&format=json",
            ),
            ("{limit}", Some(7), "https://Search.example/api?q=%7Blimit%7D&n=5&days=7&format=json"),
        ];
        for (q, recency, expected) in table {
            assert_eq!(provider.address(&search(q, recency), 5), expected);
        }
    }

    #[test]
    fn only_https_and_this_machine_are_asked() {
        for good in [
            "https://a.example?q={q}",
            "https://a.example:8443/x/y?k=v&q={q}",
            "http://127.0.0.1:8080/?q={q}",
            "http://127.9.9.9/?q={q}",
            "http://[::1]:1/?q={q}",
            "http://localhost:9/s?q={q}",
        ] {
            assert!(SearchProvider::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "?q={q}",
            "/s?q={q}",
            "https://?q={q}",
            "https://a.example/",
            "https://a.example/?q=x",
            "http://a.example/?q={q}",
            "http://10.0.0.1/?q={q}",
            "http://127.0.0.1.evil.example/?q={q}",
            "http://localhost.evil.example/?q={q}",
            "http://127.0.0.1@evil.example/?q={q}",
            "http://[::2]/?q={q}",
            "http://0.0.0.0/?q={q}",
            "http://2130706433/?q={q}",
            "https://user:pass@a.example/?q={q}",
            "https://{q}.example/?q={q}",
            "https://a.example/{q}?q={q}",
            "https://a.example/?q={q}#x",
            "https://a.example/#?q={q}",
            "https://a.example/?q=x{q}",
            "https://a.example/?{q}=x&q={q}",
            "https://a.example/?{q}",
            "https://a.example/?q={q}&x={other}",
            "ftp://a.example/?q={q}",
            "file:///etc/passwd?q={q}",
            "javascript:x?q={q}",
            "https://a.example/?q={q} x",
            "https://a.example\\@b.example/?q={q}",
            "https://a.example/?q={q}\r\nx: y",
        ] {
            let failure = SearchProvider::new(bad).expect_err(bad);
            let outcome = crate::outcome::Outcome::from(failure);
            assert_eq!(outcome.error_kind, Some(ErrorKind::ConfigError), "{bad}");
        }
    }

    #[test]
    fn a_key_goes_where_a_key_can_go() {
        let provider = || SearchProvider::new("https://a.example/?q={q}").unwrap();
        assert_eq!(provider().key_variable(), None);
        let with = provider().with_key("SEARCH_KEY", "X-Token").unwrap();
        assert_eq!(with.key_variable(), Some("SEARCH_KEY"));
        for (variable, header) in
            [("A", "Host"), ("A", "x: y"), ("A=B", "x"), ("", "x"), ("A", ""), ("A", "x\r\ny"), ("1", "x")]
        {
            assert!(provider().with_key(variable, header).is_err(), "{variable} {header}");
        }
    }

    proptest! {
        /// Whatever is searched for, the address stays with its host, its path and its number of parts.
        #[test]
        fn what_is_searched_for_stays_in_its_place(q in "\\PC{1,40}|[&?#/%=@:{}\\\\ ]{1,20}") {
            let provider = SearchProvider::new("https://a.example/x?q={q}&z=1").unwrap();
            let address = provider.address(&search(&q, None), 3);
            let uri: Uri = address.parse().unwrap();
            prop_assert_eq!(uri.host(), Some("a.example"));
            prop_assert_eq!(uri.path(), "/x");
            prop_assert_eq!(uri.query().unwrap().split('&').count(), 2);
        }

        #[test]
        fn no_template_is_too_odd(template in "(https?://)?[a-z{}?&=#@:./\\[\\]]{0,30}|\\PC{0,30}") {
            let _ = SearchProvider::new(&template);
        }
    }
}
