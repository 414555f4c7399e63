//! A question as every user interface gets it: what would run, what it would do, how bad that is, what may be answered.

use std::path::Path;
use std::time::Duration;

use gate::approval::{Asked, CONFIRMATION, Decision, Grant, GrantKind, rfc3339};
use gate::call::{mask, visible, visible_lines};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Where a question of this process waits.
const HERE: &str = "here";

/// A question that waits for an answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Question {
    /// Its name.
    pub(crate) id: String,
    /// The same.
    #[serde(rename = "confirmationId")]
    confirmation_id: String,
    /// The tool.
    #[serde(rename = "toolName")]
    tool_name: String,
    /// The call as it may be shown.
    args: Map<String, Value>,
    /// What would run, or be touched, as one text.
    what: String,
    /// What a yes is bound to.
    approval_key: Option<String>,
    risk: Risk,
    /// What it would do, the gravest first.
    effects: Vec<String>,
    /// Why it is asked.
    reason: String,
    /// The rule that asks.
    rule: Option<Rule>,
    asked_at: String,
    expires_at: String,
    seconds_left: u64,
    security_warning: Warning,
    /// What must be typed for a yes.
    requires_typed_confirmation: Option<String>,
    session: String,
    principal: String,
    /// What may be answered.
    pub(crate) choices: Vec<String>,
    /// The rule that a yes for always would save.
    always: Option<Always>,
    /// `here`, or `elsewhere` for a question of another process.
    waits: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Risk {
    level: String,
    factors: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Rule {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Warning {
    level: String,
    message: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Always {
    rule: String,
    also_allows: Vec<String>,
    from_history: Vec<String>,
    file: Option<String>,
}

/// When a question was put and how long it still waits.
pub(crate) struct Times {
    pub(crate) now_ms: u64,
    pub(crate) left: Duration,
    pub(crate) patience: Duration,
}

impl Question {
    /// One of this process.
    pub(crate) fn here(asked: &Asked, times: &Times, always_file: Option<&Path>) -> Question {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let expires_ms = times.now_ms.saturating_add(millis(times.left));
        let (level, message) = asked.warning();
        let (rule, file, line) = &asked.cited;
        let mut args = asked.to_json(expires_ms);
        let always = asked.always.as_ref().map(|proposal| Always {
            rule: proposal.snippet(),
            also_allows: proposal.radius().map(|radius| texts(&radius.variants)).unwrap_or_default(),
            from_history: proposal.radius().map(|radius| texts(&radius.history)).unwrap_or_default(),
            file: always_file.map(|file| visible(&file.display().to_string())),
        });
        let always = always.filter(|_| asked.confirmation.is_none());
        let choice = |decision: &Decision| match decision {
            Decision::Approved | Decision::Denied | Decision::Abort => true,
            Decision::ApprovedForSession => asked.may_grant_session(),
            Decision::ApprovedAlways => always.is_some(),
        };
        Question {
            id: asked.id.to_string(),
            confirmation_id: asked.id.to_string(),
            tool_name: visible(&mask(&asked.tool)),
            args: match args.get_mut("args").map(Value::take) {
                Some(Value::Object(args)) => args,
                _ => Map::new(),
            },
            what: asked.what(),
            approval_key: Some(asked.key.as_str().to_owned()),
            risk: Risk {
                level: asked.risk.level.name().to_owned(),
                factors: asked.risk.factors.iter().map(|factor| (*factor).to_owned()).collect(),
            },
            effects: asked.facts.effects(),
            reason: visible(asked.reason.as_str()),
            rule: Some(Rule {
                id: visible(rule.as_str()),
                file: file.as_ref().map(|file| visible(file.as_str())),
                line: line.map(u64::from),
            }),
            asked_at: rfc3339(expires_ms.saturating_sub(millis(times.patience))),
            expires_at: rfc3339(expires_ms),
            seconds_left: times.left.as_secs(),
            security_warning: Warning { level: level.to_owned(), message: visible(message.as_str()) },
            requires_typed_confirmation: asked.confirmation.map(str::to_owned),
            session: visible(&mask(&asked.session)),
            principal: visible(asked.principal.as_str()),
            choices: Decision::ALL
                .iter()
                .filter(|one| choice(one))
                .map(|one| one.name().to_owned())
                .collect(),
            always,
            waits: HERE.to_owned(),
        }
    }

    /// Whether it is one of this process.
    pub(crate) fn is_here(&self) -> bool {
        self.waits == HERE
    }

    /// One of another process, with what the journal knows of its call.
    pub(crate) fn elsewhere(grant: &Grant, record: Option<&Value>, now_ms: u64) -> Question {
        let typed = matches!(grant.kind, GrantKind::Waiting { typed: true });
        let left = u64::try_from(grant.left.as_millis()).unwrap_or(u64::MAX);
        let payload = record.and_then(|record| record.get("payload"));
        let of = |name: &str| payload.and_then(|payload| payload.get(name));
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(visible);
        let list = |value: Option<&Value>| -> Vec<String> {
            let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            items.iter().filter_map(Value::as_str).map(visible).collect()
        };
        let level = text(of("risk").and_then(|risk| risk.get("level")))
            .unwrap_or_else(|| if typed { "critical" } else { "medium" }.to_owned());
        let reason = text(of("reason")).unwrap_or_else(|| "another process asks".to_owned());
        let mut choices = vec![Decision::Approved, Decision::Denied];
        if !typed {
            choices.insert(1, Decision::ApprovedForSession);
        }
        Question {
            id: grant.id.to_string(),
            confirmation_id: grant.id.to_string(),
            tool_name: visible(&mask(&grant.tool)),
            args: of("request").and_then(Value::as_object).map(plain).unwrap_or_default(),
            what: visible_lines(grant.shown.as_str()),
            approval_key: grant.key.as_ref().map(|key| key.as_str().to_owned()),
            risk: Risk {
                level: level.clone(),
                factors: list(of("risk").and_then(|risk| risk.get("factors"))),
            },
            effects: match of("effects") {
                None => grant.about.effects.iter().map(|effect| visible(effect.as_str())).collect(),
                known => list(known),
            },
            reason: reason.clone(),
            rule: of("rule").and_then(|rule| {
                Some(Rule {
                    id: text(rule.get("id"))?,
                    file: text(rule.get("file")),
                    line: rule.get("line").and_then(Value::as_u64),
                })
            }),
            asked_at: rfc3339(grant.date_ms),
            expires_at: rfc3339(now_ms.saturating_add(left)),
            seconds_left: grant.left.as_secs(),
            security_warning: Warning {
                level: if typed { "CRITICAL".to_owned() } else { level.to_uppercase() },
                message: reason,
            },
            requires_typed_confirmation: typed.then(|| CONFIRMATION.to_owned()),
            session: visible(&mask(&grant.session)),
            principal: record
                .and_then(|record| record.get("principal")?.get("id")?.as_str())
                .map_or_else(|| "agent".to_owned(), visible),
            choices: choices.into_iter().map(|one| one.name().to_owned()).collect(),
            always: None,
            waits: "elsewhere".to_owned(),
        }
    }
}

fn texts(all: &[String]) -> Vec<String> {
    all.iter().map(|text| visible(&mask(text))).collect()
}

/// What the journal holds is masked; what could deceive in it is spelt out here.
fn plain(args: &Map<String, Value>) -> Map<String, Value> {
    let one = |value: &Value| match value {
        Value::String(text) => visible(text).into(),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map_or_else(|| item.clone(), |text| visible(text).into()))
            .collect(),
        other => other.clone(),
    };
    args.iter().map(|(name, value)| (visible(name), one(value))).collect()
}
