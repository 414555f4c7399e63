//! The same records in the forms that audit readers know: attempts, approvals and violations, and one line for each decision.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::event::Kind;
use crate::record::Record;

/// The record as one of the three kinds of audit entry (`tool_attempt`, `approval`, `security_violation`), if it is one.
#[must_use]
pub fn audit_entry(record: &Record) -> Option<Value> {
    let tool = record.text("tool");
    let level = record.text_in("risk", "level");
    let own = match record.kind {
        Kind::ToolCallRequested => json!({
            "event": "tool_attempt",
            "tool_name": tool,
            "tool_input": record.payload.get("request"),
            "classification": {"risk_level": level, "effects": record.payload.get("effects")},
            "decision": record.text("decision"),
        }),
        Kind::ApprovalDecided => json!({
            "event": "approval",
            "tool_name": tool,
            "approved": record.text("decision").is_some_and(is_yes),
            "user_id": record.text("by").or_else(|| record.principal_id()),
        }),
        Kind::SecurityViolation => json!({
            "event": "security_violation",
            "tool_name": tool,
            "reason": record.text("reason"),
            "risk_level": level,
        }),
        _ => return None,
    };
    let mut entry = Map::new();
    entry.insert("timestamp".into(), record.timestamp.clone().into());
    entry.insert("session_id".into(), record.session_id.clone().into());
    if let Value::Object(own) = own {
        entry.extend(own);
    }
    Some(Value::Object(entry))
}

/// An answer that lets the call run.
#[must_use]
pub fn is_yes(decision: &str) -> bool {
    matches!(decision, "approved" | "approved_for_session" | "approved_always")
}

/// The name of a record as the gate's listeners know it.
#[must_use]
pub fn gate_event(record: &Record) -> Option<&'static str> {
    match (record.kind, record.text("decision"), record.text("outcome")) {
        (Kind::ToolCallRequested, Some("ask"), _) => Some("tool_gated"),
        (Kind::ToolCallStarted, ..) => Some("tool_allowed"),
        (Kind::ToolCallFinished, _, Some("denied")) => Some("tool_denied"),
        _ => None,
    }
}

/// What became of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// When it was asked for.
    pub timestamp: String,
    /// On whose behalf.
    pub principal: Option<String>,
    /// What was to be done.
    pub action: &'static str,
    /// With which tool.
    pub resource: Option<String>,
    /// The session, and the call.
    pub session_id: Option<String>,
    /// The call.
    pub call_id: Option<String>,
    /// What the policy said: `allow`, `ask`, `deny`.
    pub policy_decision: Option<String>,
    /// What a person, or whoever stood for one, said.
    pub user_decision: Option<String>,
    /// `allow` or `deny`; nothing while it is open.
    pub final_outcome: Option<&'static str>,
    /// How it ended: `finished`, `denied`, `aborted`, `interrupted`.
    pub ended: Option<String>,
}

/// Puts the records of each call together. Feed it records in order.
#[derive(Default)]
pub struct Decisions {
    open: BTreeMap<(Option<String>, Option<String>), Decision>,
}

/// So many calls may be under way at once; beyond, the oldest by name is given out as it is.
const MOST_OPEN: usize = 10_000;

impl Decisions {
    /// Takes a record; gives what is complete with it.
    pub fn take(&mut self, record: &Record) -> Option<Decision> {
        let key = (record.session_id.clone(), record.call_id.clone());
        match record.kind {
            Kind::ToolCallRequested => {
                let decision = Decision {
                    timestamp: record.timestamp.clone(),
                    principal: record.principal_id().map(ToOwned::to_owned),
                    action: "tool:execute",
                    resource: record.text("tool").map(ToOwned::to_owned),
                    session_id: record.session_id.clone(),
                    call_id: record.call_id.clone(),
                    policy_decision: record.text("decision").map(ToOwned::to_owned),
                    user_decision: None,
                    final_outcome: None,
                    ended: None,
                };
                let before = self.open.insert(key, decision);
                before.or_else(|| {
                    if self.open.len() > MOST_OPEN { Some(self.open.pop_first()?.1) } else { None }
                })
            }
            Kind::ApprovalDecided => {
                self.open.get_mut(&key)?.user_decision = record.text("decision").map(ToOwned::to_owned);
                None
            }
            Kind::ToolCallStarted => {
                self.open.get_mut(&key)?.final_outcome = Some("allow");
                None
            }
            Kind::ToolCallFinished => {
                let mut decision = self.open.remove(&key)?;
                decision.final_outcome.get_or_insert("deny");
                decision.ended = record.text("outcome").map(ToOwned::to_owned);
                Some(decision)
            }
            _ => None,
        }
    }

    /// What is still open.
    #[must_use]
    pub fn rest(self) -> Vec<Decision> {
        self.open.into_values().collect()
    }
}
