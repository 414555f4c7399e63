//! The tools that start and steer other agents.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Kind;
use crate::bounds::check_id;
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::Intent;
use crate::invalid::Invalid;

fn agent(what: &str) -> Vec<Intent> {
    vec![Intent::Agent { what: what.into() }]
}

/// Arguments of `spawn_agent`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpawnAgent {
    /// What it is to do.
    #[schemars(length(min = 1))]
    pub message: String,
    /// Which kind of agent.
    pub agent_type: Option<String>,
}

impl Kind for SpawnAgent {
    const NAME: &'static str = "spawn_agent";
    const CATEGORY: Category = Category::Agent;
    const ABOUT: &'static str = "Starts another agent.";

    fn intents(&self) -> Vec<Intent> {
        agent("starts an agent")
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.prose("message", &self.message);
        if let Some(agent_type) = &self.agent_type {
            form.text("agent_type", agent_type);
        }
    }
}

/// Arguments of `wait`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The agents.
    #[schemars(length(min = 1))]
    pub ids: Vec<String>,
    /// At most so long.
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
}

impl Kind for Wait {
    const NAME: &'static str = "wait";
    const CATEGORY: Category = Category::Agent;
    const ABOUT: &'static str = "Waits for agents.";

    fn check(&self) -> Result<(), Invalid> {
        for (at, id) in self.ids.iter().enumerate() {
            check_id(id).map_err(|error| error.in_item(at).in_key("ids"))?;
        }
        Ok(())
    }

    fn intents(&self) -> Vec<Intent> {
        // Whoever waits for what it has started itself touches nothing.
        vec![Intent::Nothing]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.words("ids", &self.ids);
        if let Some(timeout_ms) = self.timeout_ms {
            form.shown("timeout_ms", timeout_ms);
        }
    }
}

/// Arguments of `send_input`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendInput {
    /// The agent.
    #[schemars(length(min = 1))]
    pub id: String,
    /// What it is told.
    #[schemars(length(min = 1))]
    pub message: String,
    /// Whether it stops what it does.
    #[serde(default)]
    pub interrupt: bool,
}

impl Kind for SendInput {
    const NAME: &'static str = "send_input";
    const CATEGORY: Category = Category::Agent;
    const ABOUT: &'static str = "Tells an agent something.";

    fn check(&self) -> Result<(), Invalid> {
        check_id(&self.id).map_err(|error| error.in_key("id"))
    }

    fn intents(&self) -> Vec<Intent> {
        agent("steers an agent")
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("id", &self.id);
        form.prose("message", &self.message);
        form.value("interrupt", self.interrupt);
    }
}

/// Arguments of `close_agent`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseAgent {
    /// The agent.
    #[schemars(length(min = 1))]
    pub id: String,
}

impl Kind for CloseAgent {
    const NAME: &'static str = "close_agent";
    const CATEGORY: Category = Category::Agent;
    const ABOUT: &'static str = "Ends an agent.";

    fn check(&self) -> Result<(), Invalid> {
        check_id(&self.id).map_err(|error| error.in_key("id"))
    }

    fn intents(&self) -> Vec<Intent> {
        // So does whoever ends it.
        vec![Intent::Nothing]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("id", &self.id);
    }
}

/// Arguments of `resume_agent`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeAgent {
    /// The agent.
    #[schemars(length(min = 1))]
    pub id: String,
}

impl Kind for ResumeAgent {
    const NAME: &'static str = "resume_agent";
    const CATEGORY: Category = Category::Agent;
    const ABOUT: &'static str = "Takes an ended agent up again.";

    fn check(&self) -> Result<(), Invalid> {
        check_id(&self.id).map_err(|error| error.in_key("id"))
    }

    fn intents(&self) -> Vec<Intent> {
        agent("resumes an agent")
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.text("id", &self.id);
    }
}
