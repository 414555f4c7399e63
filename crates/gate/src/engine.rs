//! Asking an external policy engine. It is asked once, quickly, and without detours: no redirect, no proxy from the
//! environment, a bounded answer. Whatever goes wrong is a failed consultation, and a failed consultation is a denial.

use std::time::Duration;

use call::Request;
use effects::Analysis;
use policy::{Answer, Consultation, MAX_ANSWER};
use serde_json::{Value, json};

/// What is sent: who asks, for what, in which context. Secrets have been masked before.
pub(crate) fn body(call: &call::Call, request: &Request, analysis: &Analysis, cwd: &str) -> Value {
    let (principal, hidden) = (call.principal(), analysis.hidden());
    json!({
        "principal": {"id": principal.id, "groups": principal.groups},
        "action": "tool:execute",
        "resource": {
            "type": "tool",
            "name": call.tool(),
            "attributes": {"args": request.fields()},
        },
        "context": {
            "session_id": call.session(),
            "cwd": cwd,
            "risk": analysis.risk.level.name(),
            "effects": analysis
                .parts
                .iter()
                .flat_map(|part| &part.effects)
                .map(|effect| hidden.effect(effect))
                .collect::<Vec<_>>(),
        },
    })
}

/// Asks.
pub(crate) fn consult(url: &str, timeout_ms: u64, body: &Value) -> Consultation {
    match post(url, timeout_ms, body) {
        Ok(bytes) => match Answer::parse(&bytes) {
            Ok(answer) => Consultation::Answered(answer),
            Err(why) => Consultation::Failed(why),
        },
        Err(why) => Consultation::Failed(why),
    }
}

fn post(url: &str, timeout_ms: u64, body: &Value) -> Result<Vec<u8>, String> {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_millis(timeout_ms)))
        .max_redirects(0)
        .max_redirects_will_error(true)
        .http_status_as_error(true)
        .proxy(None)
        .build();
    let agent = ureq::Agent::new_with_config(config);
    let failed = |error: ureq::Error| match error {
        ureq::Error::Timeout(_) => format!("it did not answer within {timeout_ms} ms"),
        ureq::Error::StatusCode(code) => format!("it answered with status {code}"),
        other => format!("it could not be reached: {other}"),
    };
    let mut response =
        agent.post(url).header("content-type", "application/json").send(body.to_string()).map_err(failed)?;
    if response.status() != 200 {
        return Err(format!("it answered with status {}", response.status().as_u16()));
    }
    let limit = u64::try_from(MAX_ANSWER).unwrap_or(u64::MAX);
    response.body_mut().with_config().limit(limit).read_to_vec().map_err(|error| match error {
        ureq::Error::BodyExceedsLimit(_) => format!("its answer is longer than {MAX_ANSWER} bytes"),
        other => failed(other),
    })
}
