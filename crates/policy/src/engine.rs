//! What an external policy engine answered. Asking it is somebody else's job; here its words are read, strictly.

use serde_json::Value;

use crate::decision::Decision;
use crate::obligation::Obligation;

/// The largest answer that is read.
pub const MAX_ANSWER: usize = 64 * 1024;

/// How the engine was consulted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Consultation {
    /// None is configured.
    #[default]
    NotConfigured,
    /// One is configured, but this is a rehearsal that contacts nobody.
    NotContacted,
    /// It answered.
    Answered(Answer),
    /// It could not be reached, was too slow, or answered nonsense: a denial.
    Failed(String),
}

/// A well-formed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it says.
    pub decision: Decision,
    /// Why, in its words.
    pub reason: String,
    /// On which terms.
    pub obligations: Vec<Obligation>,
}

impl Answer {
    /// Reads an answer's body. The seed form is `{decision: ALLOW | DENY | REQUIRE_USER_CONFIRMATION, reason, obligations}`;
    /// AuthZEN's `{decision: true | false, context}` is understood too.
    ///
    /// # Errors
    /// What is wrong with the answer, in words. FAIL-CLOSED: whoever gets this denies.
    pub fn parse(body: &[u8]) -> Result<Answer, String> {
        if body.len() > MAX_ANSWER {
            return Err(format!("its answer is longer than {MAX_ANSWER} bytes"));
        }
        let value: Value =
            serde_json::from_slice(body).map_err(|error| format!("its answer is not JSON: {error}"))?;
        let Value::Object(map) = value else {
            return Err("its answer is not a JSON object".into());
        };
        let context_reason =
            map.get("context").and_then(|context| context.get("reason")).and_then(Value::as_str);
        let decision = match map.get("decision") {
            Some(Value::String(word)) => match word.as_str() {
                "ALLOW" => Decision::Allow,
                "DENY" => Decision::Deny,
                "REQUIRE_USER_CONFIRMATION" => Decision::Ask,
                other => {
                    let shown: String = other.chars().take(40).collect();
                    return Err(format!("its decision `{shown}` is not known"));
                }
            },
            Some(Value::Bool(true)) => Decision::Allow,
            Some(Value::Bool(false)) if context_reason == Some("approval_required") => Decision::Ask,
            Some(Value::Bool(false)) => Decision::Deny,
            Some(_) => return Err("its `decision` is neither a word nor true or false".into()),
            None => return Err("its answer has no `decision`".into()),
        };
        let reason = match map.get("reason") {
            None | Some(Value::Null) => context_reason.unwrap_or("the policy engine gave no reason").into(),
            Some(Value::String(text)) => text.chars().take(500).collect(),
            Some(_) => return Err("its `reason` is not text".into()),
        };
        let mut obligations = Vec::new();
        match map.get("obligations") {
            None | Some(Value::Null) => {}
            Some(Value::Array(items)) => {
                for item in items {
                    let name = item
                        .as_str()
                        .or_else(|| item.get("type").and_then(Value::as_str))
                        .or_else(|| item.get("id").and_then(Value::as_str));
                    let Some(name) = name else {
                        return Err("one of its obligations has no name".into());
                    };
                    let Some(obligation) = Obligation::from_name(name) else {
                        let shown: String = name.chars().take(40).collect();
                        return Err(format!("nobody here can honour its obligation `{shown}`"));
                    };
                    obligations.push(obligation);
                }
            }
            Some(_) => return Err("its `obligations` is not a list".into()),
        }
        Ok(Answer { decision, reason, obligations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_strictly() {
        for (body, expected) in [
            (r#"{"decision":"ALLOW","reason":"ok"}"#, Ok(Decision::Allow)),
            (r#"{"decision":"DENY"}"#, Ok(Decision::Deny)),
            (r#"{"decision":"REQUIRE_USER_CONFIRMATION","obligations":[]}"#, Ok(Decision::Ask)),
            (r#"{"decision":"ALLOW","obligations":["log_after_execution"]}"#, Ok(Decision::Allow)),
            (r#"{"decision":"ALLOW","obligations":[{"type":"require_sandbox"}]}"#, Ok(Decision::Allow)),
            (r#"{"decision":true}"#, Ok(Decision::Allow)),
            (r#"{"decision":false}"#, Ok(Decision::Deny)),
            (r#"{"decision":false,"context":{"reason":"approval_required"}}"#, Ok(Decision::Ask)),
            (r#"{"decision":"allow"}"#, Err(())),
            (r#"{"decision":1}"#, Err(())),
            (r#"{"allow":true}"#, Err(())),
            (r#"[]"#, Err(())),
            ("", Err(())),
            ("ALLOW", Err(())),
            (r#"{"decision":"ALLOW","obligations":["send_flowers"]}"#, Err(())),
            (r#"{"decision":"ALLOW","obligations":"log"}"#, Err(())),
            (r#"{"decision":"ALLOW","obligations":[7]}"#, Err(())),
            (r#"{"decision":"ALLOW","reason":7}"#, Err(())),
        ] {
            let got = Answer::parse(body.as_bytes()).map(|answer| answer.decision).map_err(|_| ());
            assert_eq!(got, expected, "{body}");
        }
    }
}
