//! `GET /v1/events`: the journal as it is written, by all processes of the user. A reader that comes back says which record it
//! saw last and gets exactly what follows. Whoever can answer also hears what agents ask, without a number: that is no record.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use gate::journal::{Position, Record};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::app::App;
use crate::body::{Behind, Pieces, caller};
use crate::inquiry::Known;
use crate::presence::Present;
use crate::refusal::{Answered, Refusal};

/// A sign of life goes out so often.
const BEAT: Duration = Duration::from_secs(15);
/// A reader that takes nothing for so long is let go.
const PATIENCE: Duration = Duration::from_secs(30);
/// So many records are read at a time.
const AT_ONCE: usize = 128;
/// So many pieces wait for a reader.
const WAITING: usize = 4;

/// What an event stream is asked for with.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Wanted {
    /// `1`: whoever reads the stream can answer questions.
    pub(crate) approver: Option<String>,
}

/// The route.
pub(crate) async fn stream(
    State(app): State<Arc<App>>,
    Behind(wanted): Behind<Wanted>,
    request: Request,
) -> Answered {
    let caller = caller(&request)?;
    let last = match request.headers().get("last-event-id") {
        None => None,
        Some(value) => Some(
            value
                .to_str()
                .ok()
                .and_then(|text| text.parse::<u64>().ok())
                .ok_or_else(|| Refusal::invalid("`Last-Event-ID` is the number of a record"))?,
        ),
    };
    let present =
        (wanted.approver.as_deref() == Some("1") && caller.may_approve).then(|| app.presence.enter());
    // Where it begins is settled before the answer does: what is written from now on is in it.
    let reader = Arc::clone(&app.reader);
    let position = blocking(move || match last {
        Some(seq) => reader.after(seq).map_err(|error| error.to_string()),
        None => reader.end().map_err(|error| error.to_string()),
    })
    .await?
    .map_err(Refusal::failed)?;
    let (send, body) = Pieces::queue(WAITING);
    tokio::spawn(feed(app, position, present, send));
    Ok(event_stream(body))
}

/// An answer that is a stream of events.
pub(crate) fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Work that waits for the disk.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Refusal::failed("it broke off"))
}

async fn feed(app: Arc<App>, mut position: Position, present: Option<Present>, send: mpsc::Sender<Bytes>) {
    let hears = present.is_some();
    let _here = present;
    let (mut asked, mut known) = (app.inquiries.changes(), Known::default());
    asked.mark_changed();
    let mut news = app.follower.news();
    let stop = app.stopping();
    tokio::pin!(stop);
    let mut beat = tokio::time::interval(BEAT);
    if !piece(&send, Bytes::from_static(b"retry: 1000\n: open\n\n")).await {
        return;
    }
    loop {
        // Whatever is written after this mark wakes us again.
        news.borrow_and_update();
        let reader = Arc::clone(&app.reader);
        let read = blocking(move || {
            let records = reader.some_since(&mut position, AT_ONCE);
            (records, position)
        });
        let Ok((Ok(records), now)) = read.await else {
            // A journal that cannot be read ends the stream: better than one with a hole.
            return;
        };
        position = now;
        let full = records.len() == AT_ONCE;
        if !records.is_empty() {
            let text: String = records.iter().map(event).collect();
            if !piece(&send, Bytes::from(text)).await {
                return;
            }
        }
        if full {
            continue;
        }
        loop {
            tokio::select! {
                changed = news.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                Ok(()) = asked.changed(), if hears => {
                    let text = told(&mut known, &app);
                    if !text.is_empty() && !piece(&send, Bytes::from(text)).await {
                        return;
                    }
                }
                _ = beat.tick() => if !piece(&send, Bytes::from_static(b": beat\n\n")).await { return },
                () = send.closed() => return,
                () = &mut stop => return,
            }
        }
    }
}

/// What agents ask, and what of it is over.
fn told(known: &mut Known, app: &App) -> String {
    let (new, over) = known.news(&app.inquiries);
    let new = new.iter().map(|inquiry| format!("event: inquiry_opened\ndata: {}\n\n", json!(inquiry)));
    let over = over.iter().map(|id| format!("event: inquiry_closed\ndata: {}\n\n", json!({ "id": id })));
    new.chain(over).collect()
}

/// One record as an event. A line of the journal has no line end in it.
pub(crate) fn event(record: &Record) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", record.seq, record.kind.name(), record.line)
}

/// Hands a piece over, unless the reader takes nothing any more.
pub(crate) async fn piece(send: &mpsc::Sender<Bytes>, piece: Bytes) -> bool {
    matches!(tokio::time::timeout(PATIENCE, send.send(piece)).await, Ok(Ok(())))
}
