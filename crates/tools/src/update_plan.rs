//! `update_plan`: notes what is to be done, for each session the latest plan.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use call::{PlanStep, StepStatus, UpdatePlan, visible};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::setting::timed;

/// How many sessions' plans are kept; the one that was changed longest ago goes first.
const MOST_SESSIONS: usize = 256;
/// The most steps of a plan.
const MOST_STEPS: usize = 256;

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What is to be done, in order, and how far it is.
    pub steps: Vec<(String, StepStatus)>,
    /// Why it changed.
    pub explanation: Option<String>,
}

/// The current plan of each session.
#[derive(Debug, Default)]
pub struct Plans(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    plans: BTreeMap<String, Plan>,
    /// The sessions, the one that was changed last at the end.
    order: VecDeque<String>,
}

impl Plans {
    /// There is no plan yet.
    #[must_use]
    pub fn new() -> Plans {
        Plans::default()
    }

    /// The plan of a session.
    #[must_use]
    pub fn current(&self, session: &str) -> Option<Plan> {
        self.kept().plans.get(session).cloned()
    }

    /// The session is over.
    pub fn forget(&self, session: &str) {
        let mut kept = self.kept();
        kept.plans.remove(session);
        kept.order.retain(|other| other != session);
    }

    fn keep(&self, session: &str, plan: Plan) {
        let mut kept = self.kept();
        kept.order.retain(|other| other != session);
        kept.order.push_back(session.to_owned());
        kept.plans.insert(session.to_owned(), plan);
        if kept.order.len() > MOST_SESSIONS
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.plans.remove(&oldest);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// As text: a line for each step.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        if let Some(explanation) = &self.explanation {
            out.push_str(&format!("{}\n", visible(explanation)));
        }
        for (step, status) in &self.steps {
            let mark = match status {
                StepStatus::Pending => "[ ]",
                StepStatus::InProgress => "[>]",
                StepStatus::Completed => "[x]",
            };
            out.push_str(&format!("{mark} {}\n", visible(step)));
        }
        out
    }

    /// For programs.
    #[must_use]
    pub fn data(&self) -> Value {
        let steps = self.steps.iter().map(|(step, status)| json!({"step": step, "status": status}));
        let done = self.steps.iter().filter(|(_, status)| *status == StepStatus::Completed).count();
        json!({
            "plan": steps.collect::<Vec<_>>(),
            "explanation": self.explanation,
            "completed": done,
            "total": self.steps.len(),
        })
    }
}

/// Runs `update_plan`.
#[must_use]
pub fn run(arguments: &UpdatePlan, plans: &Plans, session: &str) -> Outcome {
    timed(|| {
        check(&arguments.plan)?;
        let steps = arguments.plan.iter().map(|step| (step.step.clone(), step.status)).collect();
        let plan = Plan { steps, explanation: arguments.explanation.clone() };
        let answer = Outcome::success(plan.text(), plan.data());
        plans.keep(session, plan);
        Ok(answer)
    })
}

fn check(steps: &[PlanStep]) -> Result<(), Failure> {
    if steps.is_empty() || steps.len() > MOST_STEPS {
        return Err(Failure::validation(&format!("expected a plan of 1 to {MOST_STEPS} steps")));
    }
    if steps.iter().any(|step| step.step.trim().is_empty()) {
        return Err(Failure::validation("a step of the plan is empty"));
    }
    if steps.iter().filter(|step| step.status == StepStatus::InProgress).count() > 1 {
        return Err(Failure::validation("expected a plan with at most one step in progress"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(steps: &[(&str, &str)]) -> UpdatePlan {
        let steps: Vec<Value> =
            steps.iter().map(|(step, status)| json!({"step": step, "status": status})).collect();
        serde_json::from_value(json!({"plan": steps, "explanation": "why"})).unwrap()
    }

    #[test]
    fn a_plan_is_kept_for_its_session_and_comes_back_as_text_and_data() {
        let plans = Plans::new();
        let steps = [("read", "completed"), ("write\u{1b}[2J", "in_progress"), ("test", "pending")];
        let answer = run(&plan(&steps), &plans, "one");
        assert_eq!(answer.stdout, "why\n[x] read\n[>] write<U+001B>[2J\n[ ] test\n");
        let data = answer.data.unwrap();
        assert_eq!(data["plan"][1], json!({"step": "write\u{1b}[2J", "status": "in_progress"}));
        assert_eq!((&data["completed"], &data["total"]), (&json!(1), &json!(3)));
        assert_eq!(plans.current("one").unwrap().steps.len(), 3);
        assert_eq!(plans.current("two"), None);
        assert!(run(&plan(&[("again", "pending")]), &plans, "one").ok);
        assert_eq!(plans.current("one").unwrap().steps.len(), 1);
        plans.forget("one");
        assert_eq!(plans.current("one"), None);
    }

    #[test]
    fn a_plan_that_is_refused_leaves_the_one_before() {
        let plans = Plans::new();
        assert!(run(&plan(&[("first", "pending")]), &plans, "s").ok);
        let many: Vec<(&str, &str)> = (0..=MOST_STEPS).map(|_| ("step", "pending")).collect();
        let wrong: [&[(&str, &str)]; 4] =
            [&[], &[("a", "in_progress"), ("b", "in_progress")], &[(" ", "pending")], &many];
        for steps in wrong {
            let answer = run(&plan(steps), &plans, "s");
            assert_eq!(answer.error_kind, Some(call::ErrorKind::Validation), "{steps:?}");
            assert_eq!(plans.current("s").unwrap().steps.len(), 1);
        }
    }

    #[test]
    fn only_so_many_sessions_are_remembered() {
        let plans = Plans::new();
        for number in 0..MOST_SESSIONS + 10 {
            assert!(run(&plan(&[("a", "pending")]), &plans, &format!("{number}")).ok);
            assert!(run(&plan(&[("a", "pending")]), &plans, "busy").ok);
        }
        assert_eq!(plans.current("0"), None);
        assert!(plans.current("busy").is_some());
        assert_eq!(plans.kept().plans.len(), MOST_SESSIONS);
        assert_eq!(plans.kept().order.len(), MOST_SESSIONS);
    }
}
