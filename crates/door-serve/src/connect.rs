//! `GET /v1/connect`: the two-way interface, a WebSocket. Questions go out as `onToolCallRequest`, decisions come in; what agents
//! ask goes out as `onInquiry`, answers come in. Whoever is connected counts as somebody who can answer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::{RequestExt as _, response::IntoResponse as _};
use gate::approval::AskId;
use gate::call::strict_json;
use serde_json::{Value, json};

use crate::app::App;
use crate::approvals::{Said, all, answer, told};
use crate::body::caller;
use crate::events::blocking;
use crate::inquiries;
use crate::inquiry::Known;
use crate::refusal::{Answered, Refusal};
use crate::token::Caller;

/// The longest message that is read.
const LONGEST: usize = 64 * 1024;
/// A message that is not taken for so long ends the connection.
const PATIENCE: Duration = Duration::from_secs(30);
/// A sign of life goes out so often; two that stay without an answer end the connection.
const BEAT: Duration = Duration::from_secs(15);
/// Changes that come close together are told together.
const TOGETHER: Duration = Duration::from_millis(20);
/// So many questions are told of.
const MOST: usize = 10_000;

/// The route.
pub(crate) async fn connect(State(app): State<Arc<App>>, mut request: Request) -> Answered {
    let caller = caller(&request)?;
    if !caller.may_approve {
        return Err(Refusal::forbidden("this token may not answer questions"));
    }
    let upgrade: Result<WebSocketUpgrade, Response> = request.extract_parts().await.map_err(
        |rejection: axum::extract::ws::rejection::WebSocketUpgradeRejection| {
            Refusal::invalid("this is a WebSocket: it wants an `Upgrade`")
                .with_status(rejection.into_response().status())
                .into_response()
        },
    );
    match upgrade {
        Ok(upgrade) => Ok(upgrade
            .max_message_size(LONGEST)
            .max_frame_size(LONGEST)
            .on_upgrade(move |socket| converse(app, caller, socket))),
        Err(response) => Ok(response),
    }
}

async fn converse(app: Arc<App>, caller: Caller, mut socket: WebSocket) {
    let _here = app.presence.enter();
    let (mut changes, stop) = (app.presence.changes(), app.stopping());
    tokio::pin!(stop);
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut beat = tokio::time::interval(BEAT);
    let mut unanswered = 0_u32;
    let (mut asked, mut inquiries) = (app.inquiries.changes(), Known::default());
    asked.mark_changed();
    if !tell_changes(&app, &mut known, &mut socket).await {
        return;
    }
    loop {
        tokio::select! {
            message = socket.recv() => {
                unanswered = 0;
                let reply = match message {
                    Some(Ok(Message::Text(text))) => decide(&app, &caller, text.as_str().as_bytes()).await,
                    Some(Ok(Message::Binary(_))) => rejected(None, "messages are text"),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                };
                if !say(&mut socket, Message::Text(reply.to_string().into())).await {
                    return;
                }
            }
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                tokio::time::sleep(TOGETHER).await;
                changes.borrow_and_update();
                if !tell_changes(&app, &mut known, &mut socket).await {
                    return;
                }
            }
            Ok(()) = asked.changed() => {
                if !tell_inquiries(&app, &mut inquiries, &mut socket).await {
                    return;
                }
            }
            _ = beat.tick() => {
                unanswered += 1;
                if unanswered > 3 || !say(&mut socket, Message::Ping(bytes::Bytes::new())).await {
                    return;
                }
            }
            () = &mut stop => {
                say(&mut socket, Message::Close(None)).await;
                return;
            }
        }
    }
}

async fn say(socket: &mut WebSocket, message: Message) -> bool {
    matches!(tokio::time::timeout(PATIENCE, socket.send(message)).await, Ok(Ok(())))
}

/// Tells of questions that are new and of those that are settled.
async fn tell_changes(app: &Arc<App>, known: &mut BTreeSet<String>, socket: &mut WebSocket) -> bool {
    let Ok(listed) = all(app, MOST).await else { return false };
    let now: BTreeSet<String> = listed.approvals.iter().map(|question| question.id.clone()).collect();
    for question in listed.approvals.iter().filter(|question| !known.contains(&question.id)) {
        let message = json!({"type": "onToolCallRequest", "request": question});
        if !say(socket, Message::Text(message.to_string().into())).await {
            return false;
        }
    }
    for gone in known.difference(&now) {
        let (decision, by) = AskId::from_hex(gone).and_then(|id| settled(app, id)).unwrap_or_default();
        let message = json!({"type": "settled", "id": gone, "decision": decision, "by": by});
        if !say(socket, Message::Text(message.to_string().into())).await {
            return false;
        }
    }
    *known = now;
    true
}

/// Tells what agents ask, and what of it is over.
async fn tell_inquiries(app: &App, known: &mut Known, socket: &mut WebSocket) -> bool {
    let (new, over) = known.news(&app.inquiries);
    let new = new.iter().map(|inquiry| json!({"type": "onInquiry", "inquiry": inquiry}));
    let over = over.iter().map(|id| json!({"type": "inquiryClosed", "id": id}));
    for message in new.chain(over) {
        if !say(socket, Message::Text(message.to_string().into())).await {
            return false;
        }
    }
    true
}

fn settled(app: &App, id: AskId) -> Option<(String, String)> {
    let here = app.coordinator().ok()?.settled(id).map(|outcome| told(&outcome));
    let here = here.map(|told| (told.decision, told.by));
    here.or_else(|| app.settled.get(id).map(|(decision, by)| (decision.name().to_owned(), by)))
}

async fn decide(app: &Arc<App>, caller: &Caller, text: &[u8]) -> Value {
    let Ok(Value::Object(mut members)) = strict_json(text) else {
        return rejected(None, "a message is a JSON object");
    };
    let kind = members.shift_remove("type");
    let Some(Value::String(id)) = members.shift_remove("id") else {
        return rejected(None, "a decision names the question by its `id`");
    };
    if kind.as_ref().and_then(Value::as_str) == Some("answer") {
        let said = serde_json::from_value::<inquiries::Said>(Value::Object(members));
        let Ok(said) = said else {
            return rejected(Some(&id), "an answer is {type, id, answer | answers | declined}");
        };
        return match inquiries::take(app, caller, &id, said) {
            Ok(taken) => json!({"type": "accepted", "id": id, "by": taken.by}),
            Err(refusal) => rejected(Some(&id), refusal.message()),
        };
    }
    if kind.as_ref().and_then(Value::as_str) != Some("decision") {
        return rejected(Some(&id), "only messages of the types `decision` and `answer` are understood");
    }
    let said: Said = match serde_json::from_value(Value::Object(members)) {
        Ok(said) => said,
        Err(_) => return rejected(Some(&id), "a decision is {type, id, decision, reason?, confirmation?}"),
    };
    let (app, caller, named) = (Arc::clone(app), caller.clone(), id.clone());
    match blocking(move || answer(&app, &caller, &named, &said)).await {
        Ok(Ok(resolved)) => {
            json!({"type": "accepted", "id": id, "decision": resolved.decision, "by": resolved.by})
        }
        Ok(Err(refusal)) | Err(refusal) => rejected(Some(&id), refusal.message()),
    }
}

fn rejected(id: Option<&str>, why: &str) -> Value {
    json!({"type": "rejected", "id": id.map(gate::call::visible), "reason": gate::call::visible(why)})
}
