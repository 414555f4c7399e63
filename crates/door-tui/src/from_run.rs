//! What a run tells, as what the screen hears. Children's calls are shown with their names; their words are not.

use std::time::Duration;

use door_agent::{End, Event, What};
use gate::approval::{AskId, Clock, SystemClock, what_of};
use serde_json::Value;

use crate::happening::{Happening, PlanStep, StepStatus};
use crate::question::Question;

/// Reads events of a run.
pub(crate) struct Reader {
    clock: SystemClock,
    patience: Duration,
}

impl Reader {
    /// `patience` is how long a person has for an agent's question.
    pub(crate) fn new(patience: Duration) -> Reader {
        Reader { clock: SystemClock, patience }
    }

    /// What the screen hears of it.
    pub(crate) fn read(&self, event: Event) -> Vec<Happening> {
        let child = event.agent.split_once('/').map(|(_, child)| child.to_owned());
        let call = |id: String| format!("{} {id}", event.agent);
        let tool = |name: String| match &child {
            Some(child) => format!("{child}: {name}"),
            None => name,
        };
        let root = child.is_none();
        let one = match event.what {
            What::RunStarted { model, resumed, run_id, .. } if root => {
                let mut all = vec![Happening::Started { model }];
                if resumed {
                    all.push(Happening::Notice(format!("{run_id} is taken up again")));
                }
                return all;
            }
            What::StepStarted { step } if root => Happening::Step(step),
            What::TextDelta { text } if root => Happening::Text(text),
            What::Retrying { attempt, wait_ms, reason } if root => {
                let notice = format!("the model: {reason}; attempt {attempt}, again in {wait_ms} ms");
                return vec![Happening::TextBack, Happening::Notice(notice)];
            }
            What::ToolProposed { call_id, tool: name } => {
                Happening::Proposed { call: call(call_id), tool: tool(name) }
            }
            What::ToolJudged { call_id, tool: name, request, ruling } => Happening::Judged {
                call: call(call_id),
                tool: tool(name),
                what: request.as_object().map(what_of).unwrap_or_default(),
                decision: ruling.decision,
                reason: ruling.reason,
                rule: ruling.rule,
            },
            What::ApprovalAsked { question, .. } => {
                let left = question.expires_ms.saturating_sub(self.clock.date_ms());
                let left = Duration::from_millis(left);
                Happening::Asked { question: Box::new(Question::of(&question.asked)), left }
            }
            What::ApprovalSettled { call_id, confirmation_id, approved, note } => {
                let settled = Happening::Settled { call: call(call_id), approved, note };
                let over = AskId::from_hex(&confirmation_id).map(Happening::AskOver);
                return over.into_iter().chain([settled]).collect();
            }
            What::ToolStarted { call_id, tool: name } => {
                Happening::Running { call: call(call_id), tool: tool(name) }
            }
            What::ToolOutput { call_id, text, .. } => Happening::Output { call: call(call_id), text },
            What::ToolFinished { call_id, tool: name, end } => Happening::Finished {
                call: call(call_id),
                tool: tool(name),
                ok: end.ok,
                how: how(&end),
                result: end.message.unwrap_or_default(),
            },
            What::HumanAsked { id, question } => {
                Happening::HumanAsked { id, question: question.0, left: Some(self.patience) }
            }
            What::HumanSettled { id } => Happening::HumanOver(id),
            What::PlanChanged { plan } if root => Happening::Plan(plan_of(&plan)),
            What::Tokens { total_input, total_output, context, .. } if root => Happening::Tokens {
                input: total_input,
                output: total_output,
                context: context.0,
                window: context.1,
            },
            What::Compacted { before, after, how } => Happening::Notice(format!(
                "the conversation was shortened ({how}): about {before} tokens, now {after}"
            )),
            What::ModeChanged { mode, seconds_left } => {
                Happening::Mode { mode, left: seconds_left.map(Duration::from_secs) }
            }
            What::Notice { text } => Happening::Notice(text),
            What::AgentSpawned { id } => Happening::Notice(format!("agent {id} was started")),
            What::AgentClosed { id } => Happening::Notice(format!("agent {id} has ended")),
            What::TurnEnded { interrupted, .. } if root => Happening::TurnEnded { interrupted },
            What::RunCompleted { .. } if root => Happening::Ended { ok: true, how: "the run is over".into() },
            What::RunFailed { reason, message } if root => {
                Happening::Ended { ok: false, how: format!("the run failed: {}: {message}", reason.name()) }
            }
            What::RunCancelled {} if root => {
                Happening::Ended { ok: false, how: "the run was cancelled".into() }
            }
            _ => return Vec::new(),
        };
        vec![one]
    }
}

/// How a call came out, in a few words.
fn how(end: &End) -> String {
    let what = match (end.error_kind, end.exit_code) {
        (Some(kind), _) => kind.to_owned(),
        (None, Some(code)) => format!("exit {code}"),
        (None, None) if end.ok => "done".to_owned(),
        (None, None) => "failed".to_owned(),
    };
    let cut = if end.truncated { ", cut" } else { "" };
    format!("{what} in {}.{} s{cut}", end.duration_ms / 1000, end.duration_ms % 1000 / 100)
}

fn plan_of(plan: &Value) -> Vec<PlanStep> {
    let steps = plan.get("plan").and_then(Value::as_array);
    let text =
        |step: &Value, name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let step = |step: &Value| PlanStep {
        step: text(step, "step"),
        status: match text(step, "status").as_str() {
            "completed" => StepStatus::Completed,
            "in_progress" => StepStatus::InProgress,
            _ => StepStatus::Pending,
        },
    };
    steps.into_iter().flatten().map(step).collect()
}
