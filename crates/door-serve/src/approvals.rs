//! `/v1/approvals`: questions that wait, of this process and of others of the user, and answers to them. Each is settled once;
//! whoever comes second is told who was first.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use gate::GrantChange;
use gate::approval::{Answer, AskId, Decision, Extent, Grant, GrantKind, NotGranted, Outcome, Unresolved};
use gate::call::{ErrorKind, Shown, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::App;
use crate::body::{Behind, Named, caller, json};
use crate::events::blocking;
use crate::question::{Question, Times};
use crate::refusal::{Answered, Refusal, json_answer};
use crate::token::Caller;

/// So many are listed unless more are asked for.
const LISTED: usize = 1_000;
/// The longest wait of one request.
const LONGEST_WAIT: u64 = 60;
/// So many of the last records are looked at for a question that is not known yet.
const JUST_WRITTEN: usize = 64;
/// So many answers to questions of other processes are remembered.
const REMEMBERED: usize = 1_024;

/// The questions that wait.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    pub(crate) approvals: Vec<Question>,
    /// How many more there are.
    pub(crate) more: usize,
}

/// How they are asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Wanted {
    /// Waits so many seconds for a question if there is none; whoever waits can answer.
    pub(crate) wait: Option<u64>,
    /// At most so many.
    pub(crate) limit: Option<usize>,
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    /// `approved`, `approved_for_session`, `approved_always`, `denied` or `abort`.
    #[schemars(extend("enum" = ["approved", "approved_for_session", "approved_always", "denied", "abort"]))]
    pub(crate) decision: String,
    /// Why.
    pub(crate) reason: Option<String>,
    /// The typed words, where some are wanted.
    pub(crate) confirmation: Option<String>,
}

/// What an answer came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Resolved {
    pub(crate) id: String,
    pub(crate) decision: String,
    pub(crate) by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// Who answered the last questions of other processes.
#[derive(Default)]
pub(crate) struct Settled {
    inner: Mutex<Remembered>,
    /// Held from the moment that a question is taken away until its answer is remembered: whoever comes between the two would find
    /// neither.
    settling: Mutex<()>,
}

#[derive(Default)]
struct Remembered {
    answers: BTreeMap<AskId, (Decision, String)>,
    order: VecDeque<AskId>,
}

impl Settled {
    fn note(&self, id: AskId, decision: Decision, by: &str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.order.len() >= REMEMBERED
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.answers.remove(&oldest);
        }
        inner.answers.insert(id, (decision, by.to_owned()));
        inner.order.push_back(id);
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.settling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, id: AskId) -> Option<(Decision, String)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).answers.get(&id).cloned()
    }
}

/// `GET /v1/approvals`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Behind(wanted): Behind<Wanted>,
    request: Request,
) -> Answered {
    let caller = caller(&request)?;
    let limit = wanted.limit.unwrap_or(LISTED).min(10_000);
    if let Some(wait) = wanted.wait.filter(|_| caller.may_approve) {
        let _here = app.presence.enter();
        let until = tokio::time::sleep(Duration::from_secs(wait.min(LONGEST_WAIT)));
        tokio::pin!(until);
        let (mut changes, stop) = (app.presence.changes(), app.stopping());
        tokio::pin!(stop);
        loop {
            changes.borrow_and_update();
            let found = all(&app, limit).await?;
            if !found.approvals.is_empty() {
                return Ok(json_answer(&found));
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = &mut until => break,
                () = &mut stop => break,
            }
        }
    }
    Ok(json_answer(&all(&app, limit).await?))
}

/// Every question that waits, the most urgent first.
pub(crate) async fn all(app: &Arc<App>, limit: usize) -> Result<Listed, Refusal> {
    let app = Arc::clone(app);
    blocking(move || {
        let office = app.office()?;
        let coordinator = office.approver.coordinator();
        let (now_ms, patience) = (coordinator.clock().date_ms(), patience(&app));
        let mut here = coordinator.pending();
        here.sort_by_key(|(_, left)| *left);
        let waiting: Vec<Grant> = waiting(&app)?;
        let count = here.len() + waiting.len();
        let mut approvals: Vec<Question> = here
            .iter()
            .take(limit)
            .map(|(asked, left)| {
                Question::here(asked, &Times { now_ms, left: *left, patience }, app.always_file.as_deref())
            })
            .collect();
        let room = limit.saturating_sub(approvals.len());
        approvals.extend(waiting.iter().take(room).map(|grant| elsewhere(&app, grant, now_ms)));
        let more = count.saturating_sub(approvals.len());
        Ok(Listed { approvals, more })
    })
    .await?
}

fn patience(app: &App) -> Duration {
    Duration::from_millis(app.gates.first().config().approval_timeout_ms())
}

fn waiting(app: &App) -> Result<Vec<Grant>, Refusal> {
    let mut all = app.grants()?.list(None);
    all.retain(|grant| matches!(grant.kind, GrantKind::Waiting { .. }));
    let unknown =
        |grant: &Grant| grant.key.as_ref().is_some_and(|key| app.recent.call(key.as_str()).is_none());
    if all.iter().any(unknown) {
        app.recent.catch_up(&app.reader, JUST_WRITTEN);
    }
    Ok(all)
}

fn elsewhere(app: &App, grant: &Grant, now_ms: u64) -> Question {
    let record = grant.key.as_ref().and_then(|key| app.recent.call(key.as_str()));
    Question::elsewhere(grant, record.as_deref(), now_ms)
}

/// `GET /v1/approvals/{id}`
pub(crate) async fn one(State(app): State<Arc<App>>, Named(id): Named) -> Answered {
    let id = read_id(&id)?;
    let found = blocking(move || question(&app, id)).await??;
    Ok(json_answer(&found))
}

fn read_id(text: &str) -> Result<AskId, Refusal> {
    AskId::from_hex(text).ok_or_else(unknown)
}

fn unknown() -> Refusal {
    Refusal::not_found("there is no such question")
}

/// One question that waits.
pub(crate) fn question(app: &App, id: AskId) -> Result<Question, Refusal> {
    let coordinator = app.office()?.approver.coordinator();
    let now_ms = coordinator.clock().date_ms();
    if let Some((asked, left)) = coordinator.pending_one(id) {
        let times = Times { now_ms, left, patience: patience(app) };
        return Ok(Question::here(&asked, &times, app.always_file.as_deref()));
    }
    let grant = waiting(app)?.into_iter().find(|grant| grant.id == id).ok_or_else(unknown)?;
    Ok(elsewhere(app, &grant, now_ms))
}

/// `POST /v1/approvals/{id}`
pub(crate) async fn resolve(State(app): State<Arc<App>>, Named(id): Named, request: Request) -> Answered {
    let caller = caller(&request)?;
    let said: Said = serde_json::from_value(json(request).await?).map_err(|error| {
        Refusal::invalid(format!("an answer is {{decision, reason?, confirmation?}}: {error}"))
    })?;
    let resolved = blocking(move || answer(&app, &caller, &id, &said)).await??;
    Ok(json_answer(&resolved))
}

/// Answers a question, wherever it waits.
pub(crate) fn answer(app: &App, caller: &Caller, id: &str, said: &Said) -> Result<Resolved, Refusal> {
    if !caller.may_approve {
        return Err(Refusal::forbidden("this token may not answer questions"));
    }
    let id = read_id(id)?;
    let Some(decision) = Decision::from_name(&said.decision) else {
        return Err(Refusal::invalid(format!("`{}` is no decision", visible(&said.decision)))
            .help("approved, approved_for_session, approved_always, denied, abort"));
    };
    let by = caller.name.as_deref().unwrap_or(&app.user);
    let open = question(app, id).ok();
    if let Some(open) = &open
        && !open.choices.iter().any(|choice| choice == decision.name())
    {
        return Err(Refusal::unfit(format!("`{}` is not offered for this question", decision.name()))
            .help(format!("offered are {}", open.choices.join(", "))));
    }
    // One that was here when it was looked for may be settled by now: who won is known here, and nowhere else.
    let resolved = if open.as_ref().is_none_or(Question::is_here) {
        resolve_here(app, id, decision, by, said)
    } else {
        resolve_elsewhere(app, id, decision, by, said)
    };
    app.presence.changed();
    if resolved.is_ok() {
        app.metrics.answered(decision.is_yes());
    }
    resolved
}

fn resolve_here(
    app: &App,
    id: AskId,
    decision: Decision,
    by: &str,
    said: &Said,
) -> Result<Resolved, Refusal> {
    let mut answer = Answer::new(decision, by);
    if let Some(words) = &said.confirmation {
        answer = answer.typing(words);
    }
    if let Some(reason) = &said.reason {
        answer = answer.noting(reason);
    }
    match app.office()?.approver.coordinator().resolve(id, &answer) {
        Ok(outcome) => Ok(told(&outcome)),
        Err(Unresolved::Settled(outcome)) => Err(too_late(outcome.decision(), outcome.by().as_str())),
        Err(Unresolved::Unknown) => {
            let _turn = app.settled.turn();
            Err(app.settled.get(id).map_or_else(unknown, |(decision, by)| too_late(decision, &by)))
        }
        Err(Unresolved::Invalid(why)) => Err(Refusal::unfit(why.to_string())),
    }
}

fn resolve_elsewhere(
    app: &App,
    id: AskId,
    decision: Decision,
    by: &str,
    said: &Said,
) -> Result<Resolved, Refusal> {
    let (grants, by) = (app.grants()?, Shown::of(by));
    let extent = match decision {
        Decision::Approved => Some(Extent::Once),
        Decision::ApprovedForSession => Some(Extent::Session),
        Decision::Denied => None,
        Decision::Abort | Decision::ApprovedAlways => {
            return Err(Refusal::unfit("this can only be approved, approved for the session, or denied"));
        }
    };
    let turn = app.settled.turn();
    let done = match extent {
        Some(extent) => grants
            .approve(id, extent, &by, said.confirmation.as_deref())
            .map(|grant| (GrantChange::Added, grant)),
        None => {
            let waiting = waiting(app)?.into_iter().find(|grant| grant.id == id);
            match waiting {
                // Somebody may approve it at this very moment: then there is nothing left to deny.
                Some(grant) => grants.withdraw(id).map(|()| (GrantChange::Revoked, grant)),
                None => Err(NotGranted::Unknown),
            }
        }
    };
    match done {
        Ok((change, grant)) => {
            app.settled.note(id, decision, by.as_str());
            drop(turn);
            record(app, change, &grant)?;
            let note = matches!(change, GrantChange::Added).then(|| "it may be tried again".to_owned());
            Ok(Resolved {
                id: id.to_string(),
                decision: decision.name().to_owned(),
                by: visible(by.as_str()),
                note,
            })
        }
        Err(NotGranted::Unknown) => {
            Err(app.settled.get(id).map_or_else(unknown, |(decision, by)| too_late(decision, &by)))
        }
        Err(why @ (NotGranted::NotTyped(_) | NotGranted::OnlyOnce)) => Err(Refusal::unfit(why.to_string())),
        Err(why @ NotGranted::NotKept(_)) => Err(Refusal::failed(why.to_string())),
    }
}

/// Writes down that a grant was given or taken back.
pub(crate) fn record(app: &App, change: GrantChange, grant: &Grant) -> Result<(), Refusal> {
    app.gates.first().record_grant(change, grant).map_err(Refusal::failed)
}

pub(crate) fn told(outcome: &Outcome) -> Resolved {
    Resolved {
        id: outcome.id().to_string(),
        decision: outcome.decision().name().to_owned(),
        by: visible(outcome.by().as_str()),
        note: outcome.note().map(|note| visible(note.as_str())),
    }
}

fn too_late(decision: Decision, by: &str) -> Refusal {
    let by = visible(by);
    Refusal::new(ErrorKind::HumanRequired, format!("it was settled before: {} by {by}", decision.name()))
        .with_status(StatusCode::CONFLICT)
        .with("settled", json!({ "decision": decision.name(), "by": by }))
}
