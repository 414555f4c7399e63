//! What a front end can tell a run.

use gate::approval::{Answer, AskId};
use gate::tools::HumanAnswer;

use crate::event::Mode;

/// Something told to a run.
#[derive(Debug, Clone)]
pub enum Command {
    /// The user says something. It begins a turn, or is heard at the next step of the one under way.
    Say(String),
    /// Stops what is under way; the run waits for what is said next. A run with one task ends cancelled.
    Interrupt,
    /// Ends the run, and everything that runs for it.
    Cancel,
    /// Ends the run once the turn is over.
    Finish,
    /// Sets how much is approved without a question.
    SetMode(Mode),
    /// Answers a question for approval (`What::ApprovalAsked`), where `approval::Queue` holds it open.
    Answer {
        /// The question.
        id: AskId,
        /// The answer.
        answer: Answer,
    },
    /// Answers a question of the agent to a person (`What::HumanAsked`).
    Reply {
        /// The question.
        id: u64,
        /// The answer.
        answer: HumanAnswer,
    },
}
