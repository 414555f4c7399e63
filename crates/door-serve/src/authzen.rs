//! The AuthZEN Authorization API 1.0. A question that a person must answer is a denial that says so and names the request
//! that waits for the answer; whoever asks again after a yes is let through, once.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header;
use gate::call::{ErrorKind, RawCall, mask, visible};
use gate::policy::Decision;
use gate::{Considered, Hearing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::{caller, json as body};
use crate::check::judge;
use crate::events::blocking;
use crate::refusal::{Answered, Refusal, json_answer};
use crate::seed::Wanted;
use crate::token::Caller;

/// So many evaluations at once.
const MOST: usize = 1_000;

/// A question about one subject, action and resource.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
pub(crate) struct Evaluation {
    subject: Subject,
    action: Action,
    resource: Resource,
    /// `cwd`, `session_id` and `safety` are understood.
    context: Option<Map<String, Value>>,
}

/// Several questions; what stands outside the list holds for all of them that do not say otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
pub(crate) struct Evaluations {
    subject: Option<Subject>,
    action: Option<Action>,
    resource: Option<Resource>,
    context: Option<Map<String, Value>>,
    evaluations: Option<Vec<Map<String, Value>>>,
    options: Option<Options>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
struct Subject {
    #[schemars(length(min = 1))]
    r#type: String,
    #[schemars(length(min = 1))]
    id: String,
    /// `groups` are understood.
    properties: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
struct Action {
    #[schemars(length(min = 1))]
    name: String,
    properties: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
struct Resource {
    /// `tool`, or `command` with a text for bash as its id.
    #[schemars(length(min = 1))]
    r#type: String,
    #[schemars(length(min = 1))]
    id: String,
    /// `args` are the arguments of the tool.
    properties: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the form is described here; what comes is read strictly, key by key")]
struct Options {
    #[schemars(extend("enum" = ["execute_all", "deny_on_first_deny", "permit_on_first_permit"]))]
    evaluations_semantic: Option<String>,
}

/// A decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Decided {
    decision: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Map<String, Value>>,
}

/// Decisions, in the order of the questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AllDecided {
    evaluations: Vec<Decided>,
}

/// Where what is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Metadata {
    policy_decision_point: String,
    access_evaluation_endpoint: String,
    access_evaluations_endpoint: String,
}

/// When several evaluations end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Semantic {
    ExecuteAll,
    DenyOnFirstDeny,
    PermitOnFirstPermit,
}

/// `GET /.well-known/authzen-configuration`
pub(crate) async fn metadata(request: Request) -> Answered {
    // The guard let only names of our own pass.
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    Ok(json_answer(&Metadata {
        policy_decision_point: format!("http://{host}"),
        access_evaluation_endpoint: format!("http://{host}/access/v1/evaluation"),
        access_evaluations_endpoint: format!("http://{host}/access/v1/evaluations"),
    }))
}

/// `POST /access/v1/evaluation`
pub(crate) async fn evaluation(State(app): State<Arc<App>>, request: Request) -> Answered {
    let caller = caller(&request)?;
    let members = object(body(request).await?)?;
    Ok(json_answer(&decide(&app, &members, &caller).await?))
}

/// `POST /access/v1/evaluations`
pub(crate) async fn evaluations(State(app): State<Arc<App>>, request: Request) -> Answered {
    let caller = caller(&request)?;
    let mut members = object(body(request).await?)?;
    let semantic = semantic(members.shift_remove("options"))?;
    let questions = match members.shift_remove("evaluations") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(Refusal::invalid("`evaluations` must be an array")),
    };
    if questions.len() > MOST {
        return Err(Refusal::unfit(format!("more than {MOST} evaluations")));
    }
    // Without a list it is one question like any other.
    if questions.is_empty() {
        return Ok(json_answer(&decide(&app, &members, &caller).await?));
    }
    let mut decided = Vec::new();
    for question in questions {
        let Value::Object(own) = question else {
            return Err(Refusal::invalid("an evaluation must be an object"));
        };
        let mut whole = members.clone();
        whole.extend(own);
        let one = match decide(&app, &whole, &caller).await {
            Ok(one) => one,
            // FAIL-CLOSED: what cannot be read is denied, and does not take the others with it.
            Err(refusal) => Decided::no([(
                "error",
                json!({"status": refusal.status().as_u16(), "message": visible(&mask(refusal.message()))}),
            )]),
        };
        let last = match semantic {
            Semantic::ExecuteAll => false,
            Semantic::DenyOnFirstDeny => !one.decision,
            Semantic::PermitOnFirstPermit => one.decision,
        };
        decided.push(one);
        if last {
            break;
        }
    }
    Ok(json_answer(&AllDecided { evaluations: decided }))
}

fn object(value: Value) -> Result<Map<String, Value>, Refusal> {
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(Refusal::invalid("a question is a JSON object")),
    }
}

fn semantic(options: Option<Value>) -> Result<Semantic, Refusal> {
    let options = match options {
        None | Some(Value::Null) => return Ok(Semantic::ExecuteAll),
        Some(Value::Object(options)) => options,
        Some(_) => return Err(Refusal::invalid("`options` must be an object")),
    };
    match options.get("evaluations_semantic") {
        None | Some(Value::Null) => Ok(Semantic::ExecuteAll),
        Some(Value::String(word)) if word == "execute_all" => Ok(Semantic::ExecuteAll),
        Some(Value::String(word)) if word == "deny_on_first_deny" => Ok(Semantic::DenyOnFirstDeny),
        Some(Value::String(word)) if word == "permit_on_first_permit" => Ok(Semantic::PermitOnFirstPermit),
        Some(_) => Err(Refusal::invalid(
            "`options.evaluations_semantic` is `execute_all`, `deny_on_first_deny` or `permit_on_first_permit`",
        )),
    }
}

impl Decided {
    fn no<const COUNT: usize>(context: [(&str, Value); COUNT]) -> Decided {
        let context = context.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Decided { decision: false, context: Some(context) }
    }
}

async fn decide(app: &Arc<App>, request: &Map<String, Value>, caller: &Caller) -> Result<Decided, Refusal> {
    let wanted = match Wanted::of_authzen(request, caller) {
        Ok(wanted) => wanted,
        // Well formed, and about something that nobody here can judge.
        Err(refusal) if refusal.status() == axum::http::StatusCode::UNPROCESSABLE_ENTITY => {
            return Ok(Decided::no([
                ("reason", "not_understood".into()),
                ("message", visible(refusal.message()).into()),
            ]));
        }
        Err(refusal) => return Err(refusal),
    };
    let (raw, safety) = (wanted.raw.clone(), wanted.safety.clone());
    let judgement = match judge(app, wanted).await {
        Ok(judgement) => judgement,
        Err(refusal) if refusal.kind() == ErrorKind::Validation && safety.is_none() => {
            return Ok(Decided::no([
                ("reason", "validation".into()),
                ("message", visible(&mask(refusal.message())).into()),
            ]));
        }
        Err(refusal) => return Err(refusal),
    };
    app.metrics.judged(judgement.ruling.decision);
    let ruling = &judgement.ruling;
    let mut context = Map::new();
    context.insert("message".into(), ruling.reason.clone().into());
    context.insert("rule".into(), ruling.rule.id.to_string().into());
    context.insert("risk".into(), ruling.risk.level.name().into());
    let obligations: Vec<&str> = ruling.obligations.iter().map(|obligation| obligation.name()).collect();
    if !obligations.is_empty() {
        context.insert("obligations".into(), obligations.into());
    }
    let decision = match ruling.decision {
        Decision::Allow => true,
        Decision::Deny => {
            context.insert("reason".into(), "denied".into());
            false
        }
        Decision::Ask => petition(app, raw, &mut context).await?,
    };
    Ok(Decided { decision, context: Some(context) })
}

/// Looks for a yes that stands; without one the question waits under its name, and it is no for now.
async fn petition(app: &Arc<App>, raw: RawCall, context: &mut Map<String, Value>) -> Result<bool, Refusal> {
    let gate = Arc::clone(&app.hosted);
    let hearing =
        Hearing { asks: false, again: false, gated_again: false, passing: false, told_before: false };
    let considered = blocking(move || gate.consider(vec![raw], hearing)).await?;
    app.presence.changed();
    match considered {
        Considered::Allowed { reason, .. } => {
            context.insert("reason".into(), "approved".into());
            context.insert("message".into(), visible(&reason).into());
            Ok(true)
        }
        Considered::Asked(stopped) => {
            context.insert("reason".into(), "approval_required".into());
            if let Some(id) = stopped.pending {
                let request = json!({
                    "id": id,
                    "status": "pending",
                    "endpoint": format!("/v1/approvals/{id}"),
                    "completion": "re-evaluation",
                });
                context.insert("access_request".into(), request);
            }
            Ok(false)
        }
        Considered::Denied(stopped) => {
            context.insert("reason".into(), "denied".into());
            context.insert("message".into(), visible(&mask(&stopped.why)).into());
            Ok(false)
        }
    }
}
