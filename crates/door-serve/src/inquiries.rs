//! `/v1/inquiries`: what agents ask a person, and the answers. Each is answered once; whoever comes second is told who was first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use gate::call::{ErrorKind, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app::App;
use crate::body::{Behind, Named, caller, json as body};
use crate::inquiry::{Inquiry, NotTaken, Words};
use crate::refusal::{Answered, Refusal, json_answer};
use crate::token::Caller;

/// The longest wait of one request.
const LONGEST_WAIT: u64 = 60;

/// What agents ask.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    pub(crate) inquiries: Vec<Inquiry>,
}

/// How it is asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Wanted {
    /// Waits so many seconds for an inquiry if there is none; whoever waits can answer.
    pub(crate) wait: Option<u64>,
}

/// An answer: one of the three.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    /// The answer, where one question was asked: a text, the label of an option, or its number from 1.
    pub(crate) answer: Option<Value>,
    /// The answers by the ids of the questions.
    pub(crate) answers: Option<BTreeMap<String, Value>>,
    /// `true`: there will be no answer.
    pub(crate) declined: Option<bool>,
}

/// What an answer came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Taken {
    pub(crate) id: String,
    pub(crate) by: String,
    pub(crate) declined: bool,
}

/// `GET /v1/inquiries`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Behind(wanted): Behind<Wanted>,
    request: Request,
) -> Answered {
    let caller = caller(&request)?;
    if let Some(wait) = wanted.wait.filter(|_| caller.may_approve) {
        let _here = app.presence.enter();
        let until = tokio::time::sleep(Duration::from_secs(wait.min(LONGEST_WAIT)));
        let (mut changes, stop) = (app.inquiries.changes(), app.stopping());
        tokio::pin!(until, stop);
        loop {
            changes.borrow_and_update();
            if !app.inquiries.all().is_empty() {
                break;
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = &mut until => break,
                () = &mut stop => break,
            }
        }
    }
    Ok(json_answer(&Listed { inquiries: app.inquiries.all() }))
}

/// `GET /v1/inquiries/{id}`
pub(crate) async fn one(State(app): State<Arc<App>>, Named(id): Named) -> Answered {
    app.inquiries.one(&id).map(|found| json_answer(&found)).ok_or_else(unknown)
}

/// `POST /v1/inquiries/{id}`
pub(crate) async fn answer(State(app): State<Arc<App>>, Named(id): Named, request: Request) -> Answered {
    let caller = caller(&request)?;
    let said: Said = serde_json::from_value(body(request).await?)
        .map_err(|error| Refusal::invalid(format!("an answer is {{answer}} or {{answers}}: {error}")))?;
    Ok(json_answer(&take(&app, &caller, &id, said)?))
}

/// Takes an answer, whichever way it came.
pub(crate) fn take(app: &App, caller: &Caller, id: &str, said: Said) -> Result<Taken, Refusal> {
    if !caller.may_approve {
        return Err(Refusal::forbidden("this token may not answer questions"));
    }
    let by = caller.name.as_deref().unwrap_or(&app.user);
    let words = match said {
        Said { answer: None, answers: None, declined: Some(true) } => Words::Declined,
        Said { answer: None, answers: Some(answers), declined: None | Some(false) } => {
            Words::Answers(answers)
        }
        Said { answer: Some(answer), answers: None, declined: None | Some(false) } => {
            Words::Answers(alone(app, id, answer)?)
        }
        _ => {
            let help = "{\"answer\": …}, {\"answers\": {ID: …}} or {\"declined\": true}";
            return Err(Refusal::invalid("an answer says one thing").help(help));
        }
    };
    let declined = matches!(words, Words::Declined);
    match app.inquiries.answer(id, &words, by) {
        Ok(()) => Ok(Taken { id: id.to_owned(), by: visible(by), declined }),
        Err(NotTaken::Unknown) => Err(unknown()),
        Err(NotTaken::Unfit(why)) => Err(Refusal::unfit(why)),
        Err(NotTaken::Answered(by)) => {
            let by = visible(&by);
            Err(Refusal::new(ErrorKind::HumanRequired, format!("it was answered before, by {by}"))
                .with_status(StatusCode::CONFLICT)
                .with("settled", json!({ "by": by })))
        }
    }
}

/// The one answer to the one question.
fn alone(app: &App, id: &str, answer: Value) -> Result<BTreeMap<String, Value>, Refusal> {
    let questions = app.inquiries.one(id).map(|inquiry| inquiry.questions);
    match questions.as_deref() {
        Some([only]) => Ok([(only.id.clone(), answer)].into()),
        Some(_) => Err(Refusal::unfit("several questions were asked; `answers` has one for each")),
        // Who was first is known elsewhere.
        None => Ok(BTreeMap::new()),
    }
}

fn unknown() -> Refusal {
    Refusal::not_found("there is no such inquiry; it may be over")
}
