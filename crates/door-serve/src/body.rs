//! Bodies: those that come in are read whole within bounds of size and time; those that go out in pieces come from a queue
//! that holds only a few.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use gate::call::{ErrorKind, strict_json};
use http_body::Frame;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::refusal::Refusal;
use crate::token::Caller;

/// The largest body.
pub(crate) const LARGEST: usize = 1024 * 1024;
/// So long may it take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who asks. The guard has put it there.
pub(crate) fn caller(request: &Request) -> Result<Caller, Refusal> {
    // FAIL-CLOSED: a request that came by another way has no rights.
    request.extensions().get::<Caller>().cloned().ok_or_else(|| Refusal::forbidden("nobody asks"))
}

/// The body as JSON: strictly read, no key twice, nested 64 deep at most.
pub(crate) async fn json(request: Request) -> Result<Value, Refusal> {
    let (head, body) = request.into_parts();
    json_of(&head.headers, body).await
}

/// The same of a body and the headers that came before it.
pub(crate) async fn json_of(
    headers: &HeaderMap,
    body: impl http_body::Body<Data = Bytes> + Unpin,
) -> Result<Value, Refusal> {
    let too_large = || {
        Refusal::invalid(format!("the body is larger than {LARGEST} bytes"))
            .with_status(StatusCode::PAYLOAD_TOO_LARGE)
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > LARGEST as u64) {
        return Err(too_large());
    }
    let mut body = std::pin::pin!(whole(body));
    // Most bodies have come with their head: then there is nothing to wait for, and no time to be kept.
    let whole = match std::future::poll_fn(|context| Poll::Ready(body.as_mut().poll(context))).await {
        Poll::Ready(whole) => Ok(whole),
        Poll::Pending => tokio::time::timeout(PATIENCE, body).await,
    };
    match whole {
        Ok(Some(bytes)) => Ok(strict_json(&bytes)?),
        // Either it is too long or whoever sent it went away, who will not read this.
        Ok(None) => Err(too_large()),
        Err(_) => Err(Refusal::new(ErrorKind::Timeout, "the body takes too long")
            .with_status(StatusCode::REQUEST_TIMEOUT)),
    }
}

/// All of a body; most come in one piece, which is not copied.
async fn whole(mut body: impl http_body::Body<Data = Bytes> + Unpin) -> Option<Bytes> {
    let mut first = Bytes::new();
    let mut all: Option<Vec<u8>> = None;
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(piece) = frame.ok()?.into_data() else { continue };
        let so_far = all.as_ref().map_or(first.len(), Vec::len);
        if so_far + piece.len() > LARGEST {
            return None;
        }
        match &mut all {
            Some(all) => all.extend_from_slice(&piece),
            None if first.is_empty() => first = piece,
            None => all = Some([&first[..], &piece[..]].concat()),
        }
    }
    Some(all.map_or(first, Bytes::from))
}

/// What stands behind the `?`, or a refusal in our own form.
pub(crate) struct Behind<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Behind<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(read)| Behind(read))
            .map_err(|_| Refusal::invalid("what stands behind the `?` is not what this takes"))
    }
}

/// The part of a path that varies, or a refusal in our own form.
pub(crate) struct Named(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = Path::<String>::from_request_parts(parts, state).await;
        read.map(|Path(name)| Named(name)).map_err(|_| Refusal::not_found("there is nothing of that name"))
    }
}

/// A body whose pieces come from a queue.
pub(crate) struct Pieces(mpsc::Receiver<Bytes>);

impl Pieces {
    /// The queue, and the body that it feeds. It holds so many pieces.
    pub(crate) fn queue(most: usize) -> (mpsc::Sender<Bytes>, Body) {
        let (send, receive) = mpsc::channel(most);
        (send, Body::new(Pieces(receive)))
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
