//! What whoever asks is told when it is no: one form for every route, with the status of the one table of error kinds.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gate::call::{ErrorKind, Invalid, mask, visible};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// A request that is not answered with what it asked for.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    status: StatusCode,
    kind: ErrorKind,
    message: String,
    help: Vec<String>,
    /// Members beside `error`.
    more: Vec<(&'static str, Value)>,
    /// How it could be asked instead.
    allow: Option<String>,
}

/// The form of every error.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorForm {
    /// What went wrong.
    pub(crate) error: ErrorBody,
}

/// What went wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    /// One of the error kinds: `validation`, `permission`, `not_found` and so on.
    pub(crate) kind: String,
    /// What, in a sentence.
    pub(crate) message: String,
    /// What would help.
    pub(crate) help: Vec<String>,
}

impl Refusal {
    /// With the status that the kind has.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Refusal {
        let status = StatusCode::from_u16(kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Refusal { status, kind, message: message.into(), help: Vec::new(), more: Vec::new(), allow: None }
    }

    /// With a status that says more than the kind's.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Refusal {
        self.status = status;
        self
    }

    /// With something that would help.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Refusal {
        self.help.push(help.into());
        self
    }

    /// With a member beside `error`.
    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Refusal {
        self.more.push((name, value));
        self
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
        Refusal::new(ErrorKind::Validation, message)
    }

    /// It is asked in a way that nothing at this path is.
    pub(crate) fn not_in_this_way(path: &str) -> Refusal {
        let mut refusal =
            Refusal::invalid("this cannot be asked in this way").with_status(StatusCode::METHOD_NOT_ALLOWED);
        refusal.allow = Some(crate::routes::methods_at(path));
        refusal
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Refusal {
        Refusal::new(ErrorKind::NotFound, message)
    }

    pub(crate) fn failed(message: impl Into<String>) -> Refusal {
        Refusal::new(ErrorKind::Unknown, message)
    }

    /// The answer would do no good: the request is well formed and still cannot be done.
    pub(crate) fn unfit(message: impl Into<String>) -> Refusal {
        Refusal::invalid(message).with_status(StatusCode::UNPROCESSABLE_ENTITY)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Refusal {
        Refusal::new(ErrorKind::Permission, message).with_status(StatusCode::FORBIDDEN)
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) const fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Refusal {
        Refusal::invalid(invalid.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let shown = |text: &str| visible(&mask(text));
        let mut body = json!(ErrorForm {
            error: ErrorBody {
                kind: self.kind.name().to_owned(),
                message: shown(&self.message),
                help: self.help.iter().map(|help| shown(help)).collect(),
            }
        });
        if let Value::Object(members) = &mut body {
            members.extend(self.more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        let mut response = json_with(self.status, &body);
        if let Some(allow) = self.allow.and_then(|allow| HeaderValue::try_from(allow).ok()) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// What a handler gives back.
pub(crate) type Answered = Result<Response, Refusal>;

/// An answer in JSON.
pub(crate) fn json_answer(value: &impl Serialize) -> Response {
    json_with(StatusCode::OK, value)
}

/// The same with another status.
pub(crate) fn json_with(status: StatusCode, value: &impl Serialize) -> Response {
    // Enough for most answers, so that it is not moved while it grows.
    let mut bytes = Vec::with_capacity(1024);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => bytes_with(status, bytes),
        // FAIL-CLOSED: what cannot be written down is no answer.
        Err(_) => bytes_with(
            StatusCode::INTERNAL_SERVER_ERROR,
            br#"{"error":{"kind":"unknown","message":"the answer could not be written","help":[]}}"#.to_vec(),
        ),
    }
}

fn bytes_with(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
