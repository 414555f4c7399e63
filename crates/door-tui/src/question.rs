//! A question for approval, as it is put on the screen. Everything in it is masked and made visible.

use gate::approval::{AskId, Asked, Proposal, place};
use gate::call::{ApprovalKey, mask, visible, visible_lines};
use serde_json::Value;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// By which it is answered.
    pub id: AskId,
    /// What a yes is bound to.
    pub key: Option<ApprovalKey>,
    /// `LOW` to `CRITICAL`.
    pub level: &'static str,
    /// Who wants it.
    pub principal: String,
    /// With which tool.
    pub tool: String,
    /// What would run or be touched, whole.
    pub what: String,
    /// What it would do.
    pub effects: Vec<String>,
    /// How risky it is, and why.
    pub risk: String,
    /// Why it is asked.
    pub reason: String,
    /// By which rule.
    pub rule: String,
    /// Where.
    pub place: Option<String>,
    /// What must be typed for a yes.
    pub confirmation: Option<&'static str>,
    /// Whether a yes may hold for the session.
    pub session: bool,
    /// The rule that `always` would save, and what else it would allow.
    pub always: Option<(String, Vec<String>)>,
    /// Everything else: titles, and texts beneath them.
    pub more: Vec<(String, String)>,
}

impl Question {
    /// The question as it was put.
    #[must_use]
    pub fn of(asked: &Asked) -> Question {
        let level = asked.warning().0;
        let factors = asked.risk.factors.join(", ");
        let risk = match (asked.risk.level.name(), factors.as_str()) {
            (level, "") => level.to_owned(),
            (level, factors) => format!("{level}: {factors}"),
        };
        let always = asked.always.as_ref().filter(|_| asked.confirmation.is_none()).map(|proposal| {
            let radius = Proposal::radius_lines(proposal).iter().map(|line| shown(line)).collect();
            (visible_lines(&proposal.snippet()), radius)
        });
        Question {
            id: asked.id,
            key: Some(asked.key.clone()),
            level,
            principal: shown(asked.principal.as_str()),
            tool: shown(&asked.tool),
            what: asked.what(),
            effects: asked.facts.effects(),
            risk: shown(&risk),
            reason: shown(asked.reason.as_str()),
            rule: shown(asked.rule.as_str()),
            place: place(asked),
            confirmation: asked.confirmation,
            session: asked.may_grant_session(),
            always,
            more: more(asked),
        }
    }
}

fn more(asked: &Asked) -> Vec<(String, String)> {
    let mut more = Vec::new();
    for (name, value) in asked.request.fields() {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        more.push((format!("The call: {}", shown(name)), visible_lines(&mask(&text))));
    }
    more.push(("What would run".into(), asked.facts.commands().join("\n")));
    let classes: Vec<String> = asked
        .facts
        .classes()
        .iter()
        .map(|class| format!("{}: would {}", class.key(), class.about()))
        .collect();
    more.push(("What kinds of effects these are".into(), classes.join("\n")));
    let bound = format!("key {}\nsession {}\nquestion {}", asked.key, shown(&asked.session), asked.id);
    more.push(("What a yes is bound to".into(), bound));
    more
}

fn shown(text: &str) -> String {
    visible(&mask(text))
}
