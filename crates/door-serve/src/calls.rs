//! `POST /v1/calls`: a built-in tool through the whole gate. Whoever goes away takes the call back; with
//! `Accept: text/event-stream` events and output come as they happen, and the result last.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use gate::call::{ErrorKind, RawCall, mask, visible};
use gate::journal::Position;
use gate::tools::{Outcome, Stream};
use gate::{Calling, Gate, Machine, Terms};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::app::App;
use crate::body::{Pieces, caller, json as body};
use crate::events::{blocking, event, event_stream, piece};
use crate::inquiry::Asker;
use crate::refusal::{Answered, Refusal, json_with};
use crate::seed::Wanted;

/// So many pieces of output wait for a reader; the program waits with them.
const WAITING: usize = 64;

/// A call of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
pub(crate) struct Asked {
    /// The name of the tool.
    tool: String,
    /// Its arguments.
    args: Option<Map<String, Value>>,
    /// The session that it belongs to.
    session: Option<String>,
    /// Its working directory.
    cwd: Option<String>,
    /// Who asks: a name, or `{id, groups}`. It counts only with a token that may name others.
    principal: Option<Value>,
    /// By which its asker knows it.
    id: Option<String>,
    /// Keys of `safety`, for this request alone; they may only tighten.
    safety: Option<Map<String, Value>>,
}

/// `POST /v1/calls`
pub(crate) async fn call(State(app): State<Arc<App>>, request: Request) -> Answered {
    let caller = caller(&request)?;
    if !caller.may_call {
        return Err(Refusal::forbidden("this token may not have tools run"));
    }
    let streamed = request
        .headers()
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.split(',').any(|kind| kind.trim().starts_with("text/event-stream")));
    let Value::Object(members) = body(request).await? else {
        return Err(Refusal::invalid("a call is a JSON object"));
    };
    if !members.contains_key("tool") {
        return Err(Refusal::invalid("a call has a `tool` and its `args`"));
    }
    let wanted = Wanted::line(members, &caller)?;
    let gate = app.gates.of(wanted.raw.cwd.as_deref(), wanted.safety.as_ref())?;
    let mut raw = RawCall { cwd: None, ..wanted.raw };
    if raw.id.is_none() {
        raw.id = Some(fresh_id()?);
    }
    let id = gate.shown_identifier(raw.id.as_deref().unwrap_or_default()).as_str().to_owned();
    let place = Arc::clone(&app.calls).try_acquire_owned().map_err(|_| {
        Refusal::failed("too many calls are under way").with_status(StatusCode::TOO_MANY_REQUESTS)
    })?;
    app.metrics.called();
    if streamed {
        return stream(app, gate, raw, id, place).await;
    }
    let calling = start(&app, &gate, raw, &id, None);
    let stop = app.stopping();
    tokio::pin!(stop);
    let outcome = tokio::select! {
        outcome = calling => outcome,
        // Dropping it ends what runs for it.
        () = &mut stop => Outcome::error(ErrorKind::Cancelled, "the server shuts down".into()),
    };
    drop(place);
    Ok(result(&app, &outcome, &id))
}

/// A name for a call: random, in the form of a UUID.
fn fresh_id() -> Result<String, Refusal> {
    let bytes: [u8; 16] = Machine::random().map_err(Refusal::failed)?;
    let version = |number: u128| number & !(0xf << 76) & !(0x3 << 62) | 4 << 76 | 2 << 62;
    let digits = format!("{:032x}", version(u128::from_be_bytes(bytes)));
    let mut id = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
            id.push('-');
        }
        id.push(digit);
    }
    Ok(id)
}

fn start(app: &App, gate: &Arc<Gate>, raw: RawCall, id: &str, watch: Option<gate::Watcher>) -> Calling {
    let mut hands = app.hands();
    hands.watch = watch;
    hands.human = Some(app.inquiries.human(Asker {
        tool: raw.tool.clone(),
        call: id.to_owned(),
        session: raw.session.clone().unwrap_or_default(),
        principal: raw.principal.id.clone(),
    }));
    let terms = Terms { environment: Machine::environment(), ..Terms::default() };
    gate.call(raw, terms, &Arc::new(hands))
}

/// The result of a tool, with the status of its error kind, and the error in the form that all errors have.
fn result(app: &App, outcome: &Outcome, id: &str) -> Response {
    let kind = outcome.error_kind;
    let status = kind.map_or(StatusCode::OK, |kind| {
        StatusCode::from_u16(kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    });
    json_with(status, &told(app, outcome, id))
}

fn told(app: &App, outcome: &Outcome, id: &str) -> Value {
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    if let Value::Object(members) = &mut value {
        members.insert("call_id".into(), id.into());
    }
    if let (Value::Object(members), Some(kind)) = (&mut value, outcome.error_kind) {
        let mut lines = outcome.stderr.lines();
        let message = visible(&mask(lines.next().unwrap_or_default()));
        let mut help: Vec<String> =
            lines.filter_map(|line| line.strip_prefix("help: ")).map(|line| visible(&mask(line))).collect();
        if kind == ErrorKind::HumanRequired && app.presence.count() == 0 {
            help.push("nobody is at the console: `bailiwick serve` prints where to open it".to_owned());
        }
        members.insert("error".into(), json!({"kind": kind.name(), "message": message, "help": help}));
    }
    value
}

async fn stream(
    app: Arc<App>,
    gate: Arc<Gate>,
    raw: RawCall,
    id: String,
    place: OwnedSemaphorePermit,
) -> Answered {
    let reader = Arc::clone(&app.reader);
    let position =
        blocking(move || reader.end()).await?.map_err(|error| Refusal::failed(error.to_string()))?;
    let (send, body) = Pieces::queue(WAITING);
    let output = send.clone();
    let watch: gate::Watcher = Arc::new(move |stream, bytes: &[u8]| {
        let name = match stream {
            Stream::Out => "stdout",
            Stream::Error => "stderr",
        };
        let data = json!({"stream": name, "text": String::from_utf8_lossy(bytes)});
        // The program waits for a slow reader; one that has gone away misses the rest.
        let _gone = output.blocking_send(Bytes::from(format!("event: output\ndata: {data}\n\n")));
    });
    let calling = start(&app, &gate, raw, &id, Some(watch));
    tokio::spawn(async move {
        let _place = place;
        follow(&app, calling, position, &id, &send).await;
    });
    Ok(event_stream(body))
}

/// The records of one call as they are written, then its result.
async fn follow(
    app: &Arc<App>,
    calling: Calling,
    mut position: Position,
    id: &str,
    send: &mpsc::Sender<Bytes>,
) {
    let (mut news, stop) = (app.follower.news(), app.stopping());
    tokio::pin!(calling, stop);
    let outcome = loop {
        tokio::select! {
            outcome = &mut calling => break outcome,
            _ = news.changed() => if !records(app, &mut position, id, send).await { return },
            () = send.closed() => return,
            () = &mut stop => {
                break Outcome::error(ErrorKind::Cancelled, "the server shuts down".into());
            }
        }
    };
    if records(app, &mut position, id, send).await {
        let result = told(app, &outcome, id);
        piece(send, Bytes::from(format!("event: result\ndata: {result}\n\n"))).await;
    }
}

async fn records(app: &Arc<App>, position: &mut Position, id: &str, send: &mpsc::Sender<Bytes>) -> bool {
    loop {
        let (reader, mut from) = (Arc::clone(&app.reader), *position);
        let read = blocking(move || (reader.some_since(&mut from, 256), from)).await;
        let Ok((Ok(found), now)) = read else { return false };
        *position = now;
        let text: String =
            found.iter().filter(|record| record.call_id.as_deref() == Some(id)).map(event).collect();
        if !text.is_empty() && !piece(send, Bytes::from(text)).await {
            return false;
        }
        if found.len() < 256 {
            return true;
        }
    }
}
