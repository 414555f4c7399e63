//! Bodies: those that come in are read whole within bounds of size and time; those that go out in pieces come from a queue
//! that holds only a few.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use bytes::Bytes;
use gate::call::{ErrorKind, strict_json};
use http_body::Frame;
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
    let too_large = || {
        Refusal::invalid(format!("the body is larger than {LARGEST} bytes"))
            .with_status(StatusCode::PAYLOAD_TOO_LARGE)
    };
    let announced =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > LARGEST as u64) {
        return Err(too_large());
    }
    let read = axum::body::to_bytes(request.into_body(), LARGEST);
    match tokio::time::timeout(PATIENCE, read).await {
        Ok(Ok(bytes)) => Ok(strict_json(&bytes)?),
        // Either it is too long or whoever sent it went away, who will not read this.
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(Refusal::new(ErrorKind::Timeout, "the body takes too long")
            .with_status(StatusCode::REQUEST_TIMEOUT)),
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
