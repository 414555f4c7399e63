//! The tools that touch nothing: questions to a person, and the plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Kind;
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::Intent;
use crate::invalid::Invalid;

/// Arguments of `ask_human`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskHuman {
    /// What to ask.
    #[schemars(length(min = 1))]
    pub question: String,
    /// Answers to choose from.
    pub choices: Option<Vec<String>>,
    /// What helps to answer.
    pub context: Option<Map<String, Value>>,
}

impl Kind for AskHuman {
    const NAME: &'static str = "ask_human";
    const CATEGORY: Category = Category::Human;
    const ABOUT: &'static str = "Asks a person.";

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Nothing]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.prose("question", &self.question);
        if let Some(choices) = &self.choices {
            form.prose_json("choices", &choices.iter().map(String::as_str).collect());
        }
        if let Some(context) = &self.context {
            form.prose_json("context", &Value::Object(context.clone()));
        }
    }
}

/// Arguments of `request_user_input`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestUserInput {
    /// What to ask.
    #[schemars(length(min = 1))]
    pub questions: Vec<Question>,
}

/// One question of `request_user_input`.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// By which its answer is known.
    #[schemars(length(min = 1))]
    pub id: String,
    /// A few words.
    #[schemars(length(min = 1))]
    pub header: String,
    /// The question.
    #[schemars(length(min = 1))]
    pub question: String,
    /// Answers to choose from.
    pub options: Option<Vec<Choice>>,
}

/// One answer to choose.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The answer.
    #[schemars(length(min = 1))]
    pub label: String,
    /// What it means.
    pub description: Option<String>,
}

impl Kind for RequestUserInput {
    const NAME: &'static str = "request_user_input";
    const CATEGORY: Category = Category::Human;
    const ABOUT: &'static str = "Asks a person several questions at once.";

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Nothing]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.prose_json("questions", &serde_json::to_value(&self.questions).unwrap_or_default());
    }
}

/// Arguments of `update_plan`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdatePlan {
    /// The steps, at most one of them in progress.
    #[schemars(length(min = 1))]
    pub plan: Vec<PlanStep>,
    /// Why it changed.
    pub explanation: Option<String>,
}

/// One step of a plan.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// What is to be done.
    #[schemars(length(min = 1))]
    pub step: String,
    /// How far it is.
    pub status: StepStatus,
}

/// How far a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}

impl Kind for UpdatePlan {
    const NAME: &'static str = "update_plan";
    const CATEGORY: Category = Category::None;
    const ABOUT: &'static str = "Notes what is to be done and how far it is.";

    fn check(&self) -> Result<(), Invalid> {
        let running = self.plan.iter().filter(|step| step.status == StepStatus::InProgress).count();
        if running > 1 {
            let got = format!("{running}");
            return Err(Invalid::new("a plan with at most one step in progress", got).in_key("plan"));
        }
        Ok(())
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Nothing]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.prose_json("plan", &serde_json::to_value(&self.plan).unwrap_or_default());
        if let Some(explanation) = &self.explanation {
            form.prose("explanation", explanation);
        }
    }
}
