//! A ruling as programs read it: the answer of `check` as JSON, whichever door it goes out by.

use std::borrow::Cow;

use call::{Invalid, mask};
use effects::Analysis;
use policy::Decision;
use serde::Serialize;

use crate::Judgement;

/// One ruling, as programs read it. It is written straight from the judgement.
#[derive(Debug, Serialize)]
pub struct Answer<'a> {
    decision: &'static str,
    reason: Cow<'a, str>,
    rule: Rule<'a>,
    risk: Risk<'a>,
    effects: Vec<EffectView>,
    parts: Vec<Cow<'a, str>>,
    step: u8,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    help: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    security_warning: Option<Warning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_typed_confirmation: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    obligations: Vec<&'static str>,
    needs_fence: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trace: Vec<Trace<'a>>,
}

#[derive(Debug, Serialize)]
struct Rule<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Risk<'a> {
    level: &'static str,
    factors: &'a [&'static str],
}

#[derive(Debug, Serialize)]
struct Warning<'a> {
    level: &'static str,
    message: &'a str,
}

#[derive(Debug, Serialize)]
struct EffectView {
    effect: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    part: usize,
}

#[derive(Debug, Serialize)]
struct Trace<'a> {
    step: u8,
    about: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    note: &'a str,
}

impl<'a> Answer<'a> {
    /// The answer to a call that was judged.
    #[must_use]
    pub fn of(judgement: &'a Judgement, explain: bool) -> Answer<'a> {
        let ruling = &judgement.ruling;
        let typed = ruling.decision == Decision::Ask
            && (ruling.warning.as_ref().is_some_and(|warning| warning.level == "CRITICAL")
                || ruling.obligations.contains(&policy::Obligation::TypedConfirmation));
        Answer {
            decision: ruling.decision.name(),
            reason: Cow::Borrowed(&ruling.reason),
            rule: Rule {
                id: &ruling.rule.id,
                file: ruling.rule.at.as_ref().map(|at| at.file.as_ref()),
                line: ruling.rule.at.as_ref().map(|at| at.line).filter(|line| *line > 0),
            },
            risk: Risk { level: ruling.risk.level.name(), factors: &ruling.risk.factors },
            effects: effects(&judgement.analysis),
            parts: judgement.analysis.parts.iter().map(|part| mask(&part.text)).collect(),
            step: ruling.step as u8,
            help: &ruling.help,
            security_warning: ruling
                .warning
                .as_ref()
                .map(|warning| Warning { level: warning.level, message: &warning.message }),
            requires_typed_confirmation: typed.then_some("I confirm"),
            obligations: ruling.obligations.iter().map(|obligation| obligation.name()).collect(),
            needs_fence: ruling.needs_fence,
            error_kind: (ruling.decision == Decision::Deny).then_some("permission"),
            trace: if explain {
                ruling
                    .trace
                    .iter()
                    .map(|line| Trace {
                        step: line.step as u8,
                        about: line.step.about(),
                        decision: line.decision.map(Decision::name),
                        note: &line.note,
                    })
                    .collect()
            } else {
                Vec::new()
            },
        }
    }

    /// The answer to a call that is malformed.
    #[must_use]
    pub fn invalid(invalid: &Invalid) -> Answer<'static> {
        Answer::refused("validation", invalid.to_string())
    }

    /// The answer where no call could be judged.
    #[must_use]
    pub fn refused(kind: &'static str, reason: String) -> Answer<'static> {
        Answer {
            decision: "deny",
            reason: Cow::Owned(reason),
            rule: Rule { id: kind, file: None, line: None },
            risk: Risk { level: "low", factors: &[] },
            effects: Vec::new(),
            parts: Vec::new(),
            step: 1,
            help: &[],
            security_warning: None,
            requires_typed_confirmation: None,
            obligations: Vec::new(),
            needs_fence: false,
            error_kind: Some(kind),
            trace: Vec::new(),
        }
    }
}

fn effects(analysis: &Analysis) -> Vec<EffectView> {
    let hidden = analysis.hidden();
    let mut all = Vec::new();
    for (part, found) in analysis.parts.iter().enumerate() {
        all.extend(found.effects.iter().map(|effect| EffectView {
            effect: hidden.effect(effect),
            class: effect.class().map(effects::Class::key),
            part,
        }));
    }
    all
}
