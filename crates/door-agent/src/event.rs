//! What a run tells whoever shows it, in the order in which it happens.
//!
//! Nothing in an event is a secret of ours: requests are sanitized as for the journal, and the model's key is in none. What the
//! model and the tools say is theirs: whoever shows it on a terminal makes it visible first (`call::visible_lines`).

use std::sync::Arc;

use gate::approval::{AskId, Asked};
use gate::tools::HumanQuestion;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Something that happened in a run.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    /// Which agent: `agent`, or the path of a child (`agent/a1`).
    #[serde(serialize_with = "text")]
    pub agent: Arc<str>,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

fn text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// What happened.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum What {
    /// A run, or a child, begins.
    RunStarted {
        /// The run.
        run_id: String,
        /// The model.
        model: String,
        /// How many tools it is offered.
        tools: usize,
        /// It is taken up again.
        resumed: bool,
    },
    /// The model is asked for its next step.
    StepStarted {
        /// From 1.
        step: u64,
    },
    /// The model says something more.
    TextDelta {
        /// What.
        text: String,
    },
    /// The request is made once more: what was said in this step so far counts for nothing.
    Retrying {
        /// From 1.
        attempt: u32,
        /// After this time.
        wait_ms: u64,
        /// Why.
        reason: String,
    },
    /// The model wants to call a tool.
    ToolProposed {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
    },
    /// The gate has judged the call.
    ToolJudged {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The call as it may be shown.
        request: Value,
        /// What the policy says.
        ruling: Ruled,
    },
    /// Somebody is asked. Answer with `Command::Answer`, if no provider does.
    ApprovalAsked {
        /// The call.
        call_id: String,
        /// The question.
        question: Question,
    },
    /// The question is settled.
    ApprovalSettled {
        /// The call.
        call_id: String,
        /// The question.
        confirmation_id: String,
        /// Whether the call goes on.
        approved: bool,
        /// In words.
        note: String,
    },
    /// The call runs.
    ToolStarted {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
    },
    /// Output of a call while it runs.
    ToolOutput {
        /// The call.
        call_id: String,
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// The text; bytes that are none are replaced.
        text: String,
    },
    /// The call has ended, or was refused.
    ToolFinished {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// How it came out.
        end: End,
    },
    /// A person is asked by the agent. Answer with `Command::Reply`.
    HumanAsked {
        /// By which it is answered.
        id: u64,
        /// What is asked.
        question: AskedHuman,
    },
    /// That question is over.
    HumanSettled {
        /// The question.
        id: u64,
    },
    /// The plan is another.
    PlanChanged {
        /// `{plan: [{step, status}], explanation, completed, total}`
        plan: Value,
    },
    /// What the model has read and written.
    Tokens {
        /// In this step.
        input: u64,
        /// In this step.
        output: u64,
        /// In the whole run, children included.
        total_input: u64,
        /// In the whole run, children included.
        total_output: u64,
        /// How many the conversation takes now, and how many it may take.
        context: (u64, u64),
    },
    /// The conversation grew too long and was shortened.
    Compacted {
        /// Tokens before, about.
        before: u64,
        /// Tokens after, about.
        after: u64,
        /// `summary`, or `dropped` where only old outputs were left out.
        how: &'static str,
    },
    /// Another mode holds.
    ModeChanged {
        /// The mode.
        mode: Mode,
        /// For so long, where it ends by itself.
        seconds_left: Option<u64>,
    },
    /// Something that a person should know.
    Notice {
        /// What.
        text: String,
    },
    /// A child was started.
    AgentSpawned {
        /// The child.
        id: String,
    },
    /// A child was ended, or ended itself.
    AgentClosed {
        /// The child.
        id: String,
    },
    /// The model has nothing more to do: it waits for what is said next.
    TurnEnded {
        /// Its last words.
        text: String,
        /// It was interrupted.
        interrupted: bool,
    },
    /// The run did what it was for.
    RunCompleted {
        /// The model's last words.
        text: String,
        /// Steps.
        steps: u64,
    },
    /// The run could not go on.
    RunFailed {
        /// Why, in a word.
        reason: Failure,
        /// Why.
        message: String,
    },
    /// Somebody stopped the run.
    RunCancelled {},
}

/// What the policy says of a call.
#[derive(Debug, Clone, Serialize)]
pub struct Ruled {
    /// `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// Why.
    pub reason: String,
    /// By which rule.
    pub rule: String,
    /// `low` to `critical`.
    pub risk: &'static str,
    /// What makes it risky.
    pub factors: Vec<String>,
    /// What it would do.
    pub effects: Vec<String>,
}

/// How a call came out.
#[derive(Debug, Clone, Serialize)]
pub struct End {
    /// It did what was asked.
    pub ok: bool,
    /// Why it did not.
    pub error_kind: Option<&'static str>,
    /// The code of a program.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// Something was left out.
    pub truncated: bool,
    /// Who refused it: gate, policy, approval, fence or journal.
    pub denied_by: Option<String>,
    /// The rule that did.
    pub rule: Option<String>,
    /// What went wrong, masked.
    pub message: Option<String>,
}

/// A question for approval: for programs as CONTRACTS have it, for a front end in Rust as it is.
#[derive(Debug, Clone)]
pub struct Question {
    /// As it was put.
    pub asked: Arc<Asked>,
    /// When it is over, as a date in milliseconds.
    pub expires_ms: u64,
}

impl Question {
    /// By which it is answered.
    #[must_use]
    pub fn id(&self) -> AskId {
        self.asked.id
    }
}

impl Serialize for Question {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.asked.to_json(self.expires_ms).serialize(serializer)
    }
}

/// A question of the agent to a person.
#[derive(Debug, Clone)]
pub struct AskedHuman(pub HumanQuestion);

impl Serialize for AskedHuman {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let items: Vec<Value> = self
            .0
            .items
            .iter()
            .map(|item| {
                let options: Vec<Value> = item
                    .options
                    .iter()
                    .map(|option| serde_json::json!({"label": option.label, "description": option.description}))
                    .collect();
                serde_json::json!({
                    "id": item.id, "header": item.header, "question": item.question, "options": options,
                })
            })
            .collect();
        map.serialize_entry("questions", &items)?;
        map.end()
    }
}

/// How much is approved without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// What the policy asks about is asked about.
    #[default]
    Default,
    /// Writing files is approved.
    Edit,
    /// Everything that would be asked about is approved. What is denied stays denied.
    Auto,
}

impl Mode {
    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Default => "default",
            Mode::Edit => "edit",
            Mode::Auto => "auto",
        }
    }
}

/// Why a run could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The same call was denied twice, or somebody ended the run at a question.
    ApprovalDenied,
    /// Something must be approved and nobody is configured who could, or the model cannot be used as configured.
    ConfigError,
    /// `agent.max_steps`
    MaxSteps,
    /// `agent.wall_ms`
    WallTime,
    /// `agent.output_tokens`
    OutputBudget,
    /// The model could not be reached, or what it said could not be understood.
    Model,
    /// The journal cannot be written.
    Journal,
}

impl Failure {
    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Failure::ApprovalDenied => "approval_denied",
            Failure::ConfigError => "config_error",
            Failure::MaxSteps => "max_steps",
            Failure::WallTime => "wall_time",
            Failure::OutputBudget => "output_budget",
            Failure::Model => "model",
            Failure::Journal => "journal_unavailable",
        }
    }

    /// The exit code of a command whose run failed so.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Failure::Model => 1,
            Failure::MaxSteps | Failure::OutputBudget => 3,
            Failure::WallTime => 124,
            Failure::ConfigError | Failure::Journal => 125,
            Failure::ApprovalDenied => 126,
        }
    }
}
