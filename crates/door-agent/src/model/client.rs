//! Asks a model, as often as it makes sense.
//!
//! Too many requests, a server that fails, a connection that breaks, also midway, are tried again after a while that grows, with
//! a random part, or after the while that the server names. What the request itself is to blame for is not.

use std::time::Duration;

use http_body_util::Full;
use hyper::Request as Http;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use serde_json::Value;

use super::http::{self, Answer, Connections};
use super::reply::{Assembly, Unfit};
use super::sse::Events;
use super::{Model, Piece, Provider, Reply, Request, anthropic, openai};

/// How often a request is made.
const ATTEMPTS: u32 = 6;
/// The first while, and the longest.
const FIRST: Duration = Duration::from_millis(400);
const LONGEST: Duration = Duration::from_secs(30);
/// A server that wants a longer while than this is not waited for.
const PATIENCE: Duration = Duration::from_secs(180);
/// Nothing comes for so long: the stream is broken.
const SILENCE: Duration = Duration::from_secs(120);
/// So much of an error's text is read.
const ERROR_BYTES: usize = 16 * 1024;

/// A model that can be asked.
pub struct Client {
    model: Model,
    connections: Connections,
    key: Option<HeaderValue>,
    first: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The conversation is too long for the model.
    TooLong(String),
    /// The key, the address or the model's name is wrong.
    Setup(String),
    /// Anything else, after all attempts.
    Failed(String),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::TooLong(why) | Wrong::Setup(why) | Wrong::Failed(why) => out.write_str(why),
        }
    }
}

/// What happens while an answer comes.
pub(crate) enum Heard {
    /// More text.
    Text(String),
    /// It is tried again: what was heard counts for nothing.
    Again { attempt: u32, wait: Duration, reason: String },
}

/// How one attempt went wrong.
enum Failed {
    Again { after: Option<Duration>, why: String },
    For(Wrong),
}

impl Client {
    /// A client for this model.
    ///
    /// # Errors
    /// The key would go over the network unencrypted, or cannot stand in a header; TLS cannot be used.
    pub fn new(model: Model) -> Result<Client, String> {
        if model.key.is_some() && !model.address.keeps_secrets() {
            return Err(format!(
                "the key would be sent to `{}` unencrypted; use an https address",
                model.address.authority()
            ));
        }
        let key = match &model.key {
            None => None,
            Some(key) => {
                let text = match model.provider {
                    Provider::OpenAi => format!("Bearer {}", key.expose()),
                    Provider::Anthropic => key.expose().to_owned(),
                };
                let mut value = HeaderValue::from_str(&text)
                    .map_err(|_| "the key is not one: it has control characters")?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let connections = Connections::new(model.address.clone())?;
        Ok(Client { model, connections, key, first: FIRST })
    }

    /// With another first while between attempts.
    #[must_use]
    pub fn waiting_first(mut self, first: Duration) -> Client {
        self.first = first;
        self
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model.name
    }

    /// Asks, and tells what is heard meanwhile. Dropping the future closes the connection.
    pub(crate) async fn ask(
        &self,
        request: &Request<'_>,
        heard: &mut (dyn FnMut(Heard) -> Told + Send),
    ) -> Result<Reply, Wrong> {
        let body = match self.model.provider {
            Provider::OpenAi => serde_json::to_vec(&openai::Body::of(&self.model.name, request)),
            Provider::Anthropic => serde_json::to_vec(&anthropic::Body::of(&self.model.name, request)),
        };
        let body = body.map_err(|error| Wrong::Failed(format!("the request cannot be written: {error}")))?;
        let body = Bytes::from(body);
        let mut attempt = 1;
        loop {
            let (after, why) = match self.attempt(body.clone(), heard).await {
                Ok(reply) => return Ok(reply),
                Err(Failed::For(wrong)) => return Err(wrong),
                Err(Failed::Again { after, why }) => (after, why),
            };
            if attempt >= ATTEMPTS {
                return Err(Wrong::Failed(format!("{why} (tried {attempt} times)")));
            }
            if after.is_some_and(|after| after > PATIENCE) {
                return Err(Wrong::Failed(format!(
                    "{why} (the server wants a longer wait than is made here)"
                )));
            }
            let wait = after.unwrap_or_else(|| self.backoff(attempt));
            heard(Heard::Again { attempt, wait, reason: why }).await;
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    /// Doubles with each attempt; half of it is random, so that many agents do not come back at one moment.
    fn backoff(&self, attempt: u32) -> Duration {
        let whole = self.first.saturating_mul(1 << attempt.saturating_sub(1).min(10)).min(LONGEST);
        let random = gate::Machine::random::<1>().map_or(128, |[byte]| byte);
        whole / 2 + whole.mul_f64(f64::from(random) / 512.0)
    }

    async fn attempt(
        &self,
        body: Bytes,
        heard: &mut (dyn FnMut(Heard) -> Told + Send),
    ) -> Result<Reply, Failed> {
        let request = self.request(body).map_err(|why| Failed::For(Wrong::Setup(why)))?;
        let again = |why: String| Failed::Again { after: None, why: self.clean(&why) };
        let mut answer = self.connections.send(request).await.map_err(|http::NoAnswer(why)| again(why))?;
        if !answer.response.status().is_success() {
            return Err(self.refused(answer).await);
        }
        let (mut events, mut assembly) = (Events::default(), Assembly::default());
        while !assembly.is_ended() {
            let bytes = match tokio::time::timeout(SILENCE, http::more(&mut answer)).await {
                Ok(Some(Ok(bytes))) => bytes,
                Ok(Some(Err(why))) => return Err(again(format!("the answer broke off: {why}"))),
                Ok(None) => break,
                Err(_) => return Err(again("the answer stopped coming".into())),
            };
            let all = events.take(&bytes).map_err(|_| again("the answer has no end of line".into()))?;
            for data in all {
                let pieces = match self.model.provider {
                    Provider::OpenAi => openai::pieces(&data),
                    Provider::Anthropic => anthropic::pieces(&data),
                };
                for piece in pieces.map_err(|why| again(format!("the answer cannot be read: {why}")))? {
                    if let Piece::Text(text) = &piece {
                        heard(Heard::Text(text.clone())).await;
                    }
                    assembly.add(piece).map_err(|unfit| match unfit {
                        Unfit::TooLong => Failed::For(Wrong::Failed("the answer is too long".into())),
                        Unfit::TooManyCalls => {
                            Failed::For(Wrong::Failed("the answer has too many calls".into()))
                        }
                        Unfit::Said { retry: true, message } => again(message),
                        Unfit::Said { retry: false, message } => {
                            Failed::For(Wrong::Failed(self.clean(&message)))
                        }
                    })?;
                }
            }
        }
        let ended = assembly.is_ended();
        let reply = assembly.finish().ok_or_else(|| again("the answer broke off".into()))?;
        // What was read to its end leaves its connection free; the chunk that ends the body is still to come.
        if ended
            && let Ok(None) = tokio::time::timeout(Duration::from_millis(50), http::more(&mut answer)).await
        {
            self.connections.keep(answer);
        }
        Ok(reply)
    }

    fn request(&self, body: Bytes) -> Result<Http<Full<Bytes>>, String> {
        let address = &self.model.address;
        let below = match self.model.provider {
            Provider::OpenAi => openai::PATH,
            // The base is written with the version by some, without it by most.
            Provider::Anthropic if address.path.ends_with("/v1") => "/messages",
            Provider::Anthropic => anthropic::PATH,
        };
        let mut request = Http::post(format!("{}{below}", address.path))
            .header(HOST, address.authority())
            .header(CONTENT_TYPE, "application/json")
            .header("accept", "text/event-stream")
            .header("user-agent", concat!("bailiwick/", env!("CARGO_PKG_VERSION")));
        request = match (self.model.provider, &self.key) {
            (Provider::OpenAi, Some(key)) => request.header(AUTHORIZATION, key),
            (Provider::Anthropic, Some(key)) => request.header("x-api-key", key),
            (_, None) => request,
        };
        if self.model.provider == Provider::Anthropic {
            request = request.header("anthropic-version", anthropic::VERSION);
        }
        request.body(Full::new(body)).map_err(|error| format!("the request cannot be made: {error}"))
    }

    /// What a refusal means.
    async fn refused(&self, mut answer: Answer) -> Failed {
        let status = answer.response.status().as_u16();
        let header = |name: &str| {
            answer.response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let milliseconds = header("retry-after-ms").and_then(|text| text.trim().parse().ok());
        let seconds = header("retry-after").and_then(|text| text.trim().parse::<f64>().ok());
        let after = milliseconds
            .map(Duration::from_millis)
            .or_else(|| seconds.filter(|seconds| (0.0..=1e6).contains(seconds)).map(Duration::from_secs_f64));
        let mut text = Vec::new();
        while text.len() < ERROR_BYTES
            && let Ok(Some(Ok(bytes))) =
                tokio::time::timeout(Duration::from_secs(10), http::more(&mut answer)).await
        {
            text.extend_from_slice(&bytes);
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let said = serde_json::from_str::<Value>(&text)
            .ok()
            .and_then(|value| value.get("error")?.get("message")?.as_str().map(str::to_owned))
            .unwrap_or_else(|| text.chars().take(300).collect());
        let why = format!("{status}: {}", self.clean(said.trim()));
        let lower = text.to_lowercase();
        let too_long = ["context_length", "context length", "prompt is too long", "maximum context"]
            .iter()
            .any(|words| lower.contains(words));
        match status {
            400 | 413 if too_long => Failed::For(Wrong::TooLong(why)),
            408 | 409 | 425 | 429 | 500..=599 => Failed::Again { after, why },
            401 | 403 | 404 => Failed::For(Wrong::Setup(why)),
            300..=399 => Failed::For(Wrong::Setup(format!("{why}: redirects are not followed"))),
            _ => Failed::For(Wrong::Failed(why)),
        }
    }

    /// A server may repeat the key that it did not like.
    fn clean(&self, text: &str) -> String {
        let text = match &self.model.key {
            Some(key) if !key.is_empty() => text.replace(key.expose(), gate::call::MASKED),
            _ => text.to_owned(),
        };
        gate::call::visible(&gate::call::mask(&text))
    }
}

/// What is told may have to wait for whoever hears it.
pub(crate) type Told = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
