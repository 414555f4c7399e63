//! What the screen hears: of the run, and of whoever sits before it.

use std::time::Duration;

use door_agent::Mode;
use gate::approval::AskId;
use gate::tools::HumanQuestion;

use crate::question::Question;

/// Something that happened in the run, as far as it can be seen.
#[derive(Debug, Clone)]
pub enum Happening {
    /// The run begins.
    Started {
        /// Which model.
        model: String,
    },
    /// The model is asked for its next step.
    Step(u64),
    /// The model says something more.
    Text(String),
    /// What the model said in this step counts for nothing; it is asked once more.
    TextBack,
    /// The model wants to call a tool.
    Proposed {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
    },
    /// The gate has judged the call.
    Judged {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
        /// What would run or be touched.
        what: String,
        /// `allow`, `ask` or `deny`.
        decision: &'static str,
        /// Why.
        reason: String,
        /// By which rule.
        rule: String,
    },
    /// A question about the call is settled.
    Settled {
        /// The call.
        call: String,
        /// Whether it goes on.
        approved: bool,
        /// In words.
        note: String,
    },
    /// The call runs.
    Running {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
    },
    /// Output of the call.
    Output {
        /// The call.
        call: String,
        /// What it wrote.
        text: String,
    },
    /// The call has ended.
    Finished {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
        /// It did what was asked.
        ok: bool,
        /// How, in a few words.
        how: String,
        /// What it answered, where it wrote nothing meanwhile.
        result: String,
    },
    /// Somebody must say yes or no.
    Asked {
        /// What is asked.
        question: Box<Question>,
        /// How long there is.
        left: Duration,
    },
    /// Nobody needs to answer that any more.
    AskOver(AskId),
    /// The agent asks a person something.
    HumanAsked {
        /// By which it is answered.
        id: u64,
        /// What is asked.
        question: HumanQuestion,
        /// How long there is, where that is known.
        left: Option<Duration>,
    },
    /// Nobody needs to answer that any more.
    HumanOver(u64),
    /// The plan is another.
    Plan(Vec<PlanStep>),
    /// Tokens that were read and written in the whole run, what the conversation takes, and may take.
    Tokens {
        /// Read.
        input: u64,
        /// Written.
        output: u64,
        /// The conversation now.
        context: u64,
        /// The most that it may take.
        window: u64,
    },
    /// Another mode holds.
    Mode {
        /// Which.
        mode: Mode,
        /// For so long, where it ends by itself.
        left: Option<Duration>,
    },
    /// Something that a person should know.
    Notice(String),
    /// The model has nothing more to do.
    TurnEnded {
        /// It was interrupted.
        interrupted: bool,
    },
    /// The run is over, and how.
    Ended {
        /// It did what it was for.
        ok: bool,
        /// How, in words.
        how: String,
    },
    /// What is granted to this session now.
    Grants(Vec<GrantLine>),
}

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// What is to be done.
    pub step: String,
    /// Where it stands.
    pub status: StepStatus,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

/// One thing that was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantLine {
    /// By which it is taken back.
    pub id: AskId,
    /// `session`, `once`, `auto` …
    pub kind: &'static str,
    /// What.
    pub what: String,
    /// How long it still holds.
    pub left: Duration,
}

/// Anything that changes the screen.
#[derive(Debug, Clone)]
pub enum Event {
    /// In the run.
    Run(Happening),
    /// A key.
    Key(crossterm::event::KeyEvent),
    /// A text all at once. It answers nothing.
    Paste(String),
    /// The wheel: so many rows, up where it is negative.
    Wheel(i32),
    /// Time has passed.
    Tick,
    /// The process was stopped and goes on: what is shown has not been seen since.
    Resumed,
}

/// What is to be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Say this to the agent.
    Say(String),
    /// Stop what is under way.
    Interrupt,
    /// End everything.
    Quit,
    /// Answer the question.
    Answer {
        /// Which.
        id: AskId,
        /// What.
        answer: gate::approval::Answer,
    },
    /// Answer the agent.
    Reply {
        /// Which question.
        id: u64,
        /// The answer.
        answer: gate::tools::HumanAnswer,
    },
    /// Set the mode.
    SetMode(Mode),
    /// Take this grant back.
    Revoke(AskId),
    /// See what is granted now.
    ListGrants,
    /// Stop this process until it is told to go on.
    Suspend,
    /// Draw everything anew.
    Redraw,
}
