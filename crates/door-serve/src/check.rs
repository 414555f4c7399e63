//! `POST /v1/check`: may it run? Nothing runs, nobody is asked. A judgement takes microseconds, so it is made where the
//! request is read.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use bytes::Bytes;
use gate::call::RawCall;
use gate::policy::Decision;
use gate::{Answer, Gate, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::App;
use crate::body::{caller, json_of};
use crate::refusal::{Answered, Refusal, json_answer};
use crate::seed::Wanted;
use crate::token::Caller;

/// A call to be judged: ours, or a security layer's question to its policy engine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
pub(crate) enum Asked {
    /// A line of `check --jsonl`.
    Line(Line),
    /// A security layer's question.
    SecurityLayer(SecurityLayer),
}

/// A call: `command`, or `tool` and `args`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
pub(crate) struct Line {
    /// A command for bash.
    command: Option<String>,
    /// The name of a tool.
    tool: Option<String>,
    /// Its arguments.
    args: Option<Map<String, Value>>,
    /// The working directory of whoever asks.
    cwd: Option<String>,
    /// The session that it belongs to.
    session: Option<String>,
    /// Who asks: a name, or `{id, groups}`. It counts only with a token that may name others.
    principal: Option<Value>,
    /// By which its asker knows it.
    id: Option<String>,
    /// Keys of `safety`, for this request alone; they may only tighten.
    safety: Option<Map<String, Value>>,
    /// Also the steps of the decision.
    explain: Option<bool>,
}

/// `{principal, action: "tool:execute", resource{type: "tool", name, attributes{args}}, context}`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
pub(crate) struct SecurityLayer {
    principal: Option<Value>,
    #[schemars(extend("const" = "tool:execute"))]
    action: String,
    resource: Map<String, Value>,
    context: Option<Map<String, Value>>,
}

/// The answer to a security layer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Said {
    decision: &'static str,
    reason: String,
    obligations: Vec<&'static str>,
}

/// `POST /v1/check`
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request) -> Answered {
    let caller = caller(&request)?;
    let (head, body) = request.into_parts();
    answer(&app, &caller, &head.headers, body).await
}

/// The same without what a router and its extractors put around a request.
pub(crate) async fn answer(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: impl http_body::Body<Data = Bytes> + Unpin,
) -> Answered {
    // Whoever looks only for a decision finds one: what cannot be read is denied.
    let denied = |refusal: Refusal, layered: bool| {
        let decision = if layered { "DENY" } else { "deny" };
        let reason = refusal.message().to_owned();
        refusal.with("decision", decision.into()).with("reason", reason.into())
    };
    let members = match json_of(headers, body).await {
        Ok(Value::Object(members)) => members,
        Ok(_) => return Err(denied(Refusal::invalid("a call is a JSON object"), false)),
        Err(refusal) => return Err(denied(refusal, false)),
    };
    let layered = members.contains_key("resource");
    let read =
        if layered { Wanted::of_security_layer(members, caller) } else { Wanted::line(members, caller) };
    let wanted = read.map_err(|refusal| denied(refusal, layered))?;
    let explain = wanted.explain;
    let judgement = judge(app, wanted).await.map_err(|refusal| denied(refusal, layered))?;
    app.metrics.judged(judgement.ruling.decision);
    let ruling = &judgement.ruling;
    if !layered {
        return Ok(json_answer(&Answer::of(&judgement, explain)));
    }
    let decision = match ruling.decision {
        Decision::Allow => "ALLOW",
        Decision::Ask => "REQUIRE_USER_CONFIRMATION",
        Decision::Deny => "DENY",
    };
    let obligations = ruling.obligations.iter().map(|obligation| obligation.name()).collect();
    Ok(json_answer(&Said { decision, reason: ruling.reason.clone(), obligations }))
}

/// Judges a call by the gate of its directory.
pub(crate) async fn judge(app: &App, wanted: Wanted) -> Result<Judgement, Refusal> {
    let gate = app.gates.of(wanted.raw.cwd.as_deref(), wanted.safety.as_ref())?;
    judge_by(gate, RawCall { cwd: None, ..wanted.raw }).await
}

async fn judge_by(gate: Arc<Gate>, raw: RawCall) -> Result<Judgement, Refusal> {
    // Only an external engine takes so long that others would have to wait for it.
    let judged = if gate.config().engine().is_some() {
        crate::events::blocking(move || gate.judge(raw)).await?
    } else {
        gate.judge(raw)
    };
    Ok(judged?)
}
