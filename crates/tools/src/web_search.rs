//! `web_search`: asks the configured provider over HTTP.
//!
//! The answer is JSON: `{"results": [{"title", "url", "snippet", "date"?}, …]}`. Two other common forms are read as well:
//! the list at `web.results`; `content` or `description` for `snippet`; `publishedDate`, `published` or `page_age` for `date`.
//! Results without an http(s) address are left out, texts are cut at a bound, and redirects are not followed: the host that was
//! judged is the host that answers.

use call::{ErrorKind, Secret, WebSearch, visible};
use serde_json::{Value, json};
use ureq::http::Response;

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::search_provider::SearchProvider;
use crate::setting::timed;

/// The most results.
pub const MOST_RESULTS: u64 = 50;
/// The largest answer of a provider.
pub const MOST_BYTES: u64 = 2 * 1024 * 1024;
/// The longest search.
const LONGEST_QUERY: usize = 2048;
const LONGEST_TITLE: usize = 300;
const LONGEST_SNIPPET: usize = 2000;
const LONGEST_URL: usize = 2048;
const LONGEST_DATE: usize = 64;

/// Runs `web_search`. `key` is what is in the provider's variable.
#[must_use]
pub fn run(arguments: &WebSearch, provider: Option<&SearchProvider>, key: Option<&Secret>) -> Outcome {
    timed(|| {
        let provider = provider.ok_or_else(|| {
            Failure::new(
                ErrorKind::ConfigError,
                "no search provider is configured, so the web cannot be searched",
            )
        })?;
        if arguments.q.trim().is_empty() || arguments.q.len() > LONGEST_QUERY {
            return Err(Failure::validation(&format!("expected `q` to have 1 to {LONGEST_QUERY} bytes")));
        }
        let limit = usize::try_from(arguments.limit.clamp(1, MOST_RESULTS)).unwrap_or(1);
        match ask(provider, &provider.address(arguments, limit), key)? {
            Answer::Refused(outcome) => Ok(*outcome),
            Answer::Body(body) => Ok(outcome(provider, results(provider, &body, limit)?)),
        }
    })
}

enum Answer {
    Body(Vec<u8>),
    /// The provider says no, and perhaps when to come again.
    Refused(Box<Outcome>),
}

fn ask(provider: &SearchProvider, address: &str, key: Option<&Secret>) -> Result<Answer, Failure> {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(provider.timeout()))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .build();
    let mut request = ureq::Agent::new_with_config(config).get(address).header("accept", "application/json");
    if let Some(place) = provider.key_place() {
        let key = key.filter(|key| !key.is_empty()).ok_or_else(|| {
            let message =
                format!("the variable `{}`, which holds the provider's key, is not set", place.variable);
            Failure::new(ErrorKind::ConfigError, &message)
        })?;
        if !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            let message = format!("what is in the variable `{}` is no key", place.variable);
            return Err(Failure::new(ErrorKind::ConfigError, &message));
        }
        request = request.header(&place.header, format!("{}{}", place.prefix, key.expose()));
    }
    let mut response = match request.call() {
        Ok(response) => response,
        Err(error) => return failed(provider, &error),
    };
    if response.status() != 200 {
        return Ok(Answer::Refused(Box::new(refused(provider, &response))));
    }
    match response.body_mut().with_config().limit(MOST_BYTES).read_to_vec() {
        Ok(body) => Ok(Answer::Body(body)),
        Err(error) => failed(provider, &error),
    }
}

/// No answer. What the library says could repeat what was searched for, so only its kind is passed on.
fn failed(provider: &SearchProvider, error: &ureq::Error) -> Result<Answer, Failure> {
    let (kind, why) = match error {
        ureq::Error::Timeout(_) => {
            let why = format!("did not answer within {} ms", provider.timeout().as_millis());
            (ErrorKind::Timeout, why)
        }
        ureq::Error::BodyExceedsLimit(_) => {
            return Err(unreadable(provider, &format!("more than {MOST_BYTES} bytes")));
        }
        ureq::Error::HostNotFound => (ErrorKind::Unknown, "was not found".into()),
        ureq::Error::Io(error) => (ErrorKind::Unknown, format!("could not be reached: {}", error.kind())),
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) => {
            (ErrorKind::Unknown, "could not be reached safely (TLS)".into())
        }
        _ => (ErrorKind::Unknown, "could not be asked".into()),
    };
    let outcome = Outcome::error(kind, format!("`{provider}` {why}"));
    Ok(Answer::Refused(Box::new(Outcome { retryable: true, ..outcome })))
}

fn refused(provider: &SearchProvider, response: &Response<ureq::Body>) -> Outcome {
    let status = response.status();
    let code = status.as_u16();
    let (kind, why) = match code {
        401 | 403 => (ErrorKind::ConfigError, "it does not accept the key"),
        300..=399 => (ErrorKind::ConfigError, "redirects are not followed"),
        _ => (ErrorKind::Unknown, "it did not search"),
    };
    let outcome = Outcome::error(kind, format!("`{provider}` answered with status {code}: {why}"));
    let seconds =
        response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let retryable = code == 429 || status.is_server_error();
    let retry_after_ms =
        seconds.filter(|_| retryable).map(|seconds| seconds.min(86_400).saturating_mul(1000));
    Outcome { retryable, retry_after_ms, ..outcome }
}

/// What was found.
struct Found {
    results: Vec<Value>,
    /// Results that are not used, since they have no address.
    odd: usize,
    more: bool,
}

fn results(provider: &SearchProvider, body: &[u8], limit: usize) -> Result<Found, Failure> {
    let value: Value = serde_json::from_slice(body).map_err(|_| unreadable(provider, "no JSON"))?;
    let list = value.get("results").or_else(|| value.pointer("/web/results"));
    let list = list.and_then(Value::as_array).ok_or_else(|| unreadable(provider, "no list of results"))?;
    let read: Vec<Value> = list.iter().filter_map(result).collect();
    let (odd, more) = (list.len() - read.len(), read.len() > limit);
    Ok(Found { results: read.into_iter().take(limit).collect(), odd, more })
}

fn unreadable(provider: &SearchProvider, why: &str) -> Failure {
    Failure::new(ErrorKind::Unknown, &format!("`{provider}` answered with {why}"))
}

fn result(value: &Value) -> Option<Value> {
    let text = |names: &[&str], most: usize| {
        let found = names.iter().find_map(|name| value.get(name)?.as_str())?;
        Some(found.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(most).collect::<String>())
    };
    let url = value.get("url")?.as_str()?;
    let scheme = url.split_once("://")?.0.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https")
        || url.len() > LONGEST_URL
        || url.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        return None;
    }
    let mut result = json!({
        "title": text(&["title"], LONGEST_TITLE).unwrap_or_default(),
        "url": url,
        "snippet": text(&["snippet", "content", "description"], LONGEST_SNIPPET).unwrap_or_default(),
    });
    let date = text(&["date", "publishedDate", "published", "page_age"], LONGEST_DATE);
    if let (Some(date), Some(result)) = (date, result.as_object_mut()) {
        result.insert("date".into(), date.into());
    }
    Some(result)
}

fn outcome(provider: &SearchProvider, found: Found) -> Outcome {
    let mut text = String::new();
    for (at, result) in found.results.iter().enumerate() {
        let shown = |key: &str| visible(result.get(key).and_then(Value::as_str).unwrap_or_default());
        let date = match result.get("date") {
            Some(_) => format!(" ({})", shown("date")),
            None => String::new(),
        };
        text.push_str(&format!("{}. {}{date}\n   {}\n", at + 1, shown("title"), shown("url")));
        if !shown("snippet").is_empty() {
            text.push_str(&format!("   {}\n", shown("snippet")));
        }
    }
    if found.results.is_empty() {
        text.push_str("nothing was found\n");
    }
    let data = json!({"provider": provider.host(), "results": found.results, "left_out": found.odd});
    Outcome::success(text, data).truncated(found.more)
}
