//! Questions on their way to a front end: approvals are announced and may be answered by their id, and an agent's questions to a
//! person become events that a command answers.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gate::approval::{AskId, Asked, Provider, Reply, Wait};
use gate::tools::{Human, HumanAnswer, HumanQuestion};

use crate::event::{AskedHuman, Question, What};
use crate::sink::Sink;

/// How often it is seen whether a question was taken back.
const SLICE: Duration = Duration::from_millis(50);
/// How many questions to people may be open.
const MOST_OPEN: usize = 16;

/// Connects the questions of runs with their front ends. Copies are the same one.
#[derive(Clone, Default)]
pub struct Switchboard(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    runs: BTreeMap<String, Line>,
    replies: BTreeMap<u64, SyncSender<HumanAnswer>>,
    next: u64,
}

struct Line {
    sink: Sink,
    asking: Option<(Sink, String)>,
    open: Vec<AskId>,
}

impl Switchboard {
    /// No run yet.
    #[must_use]
    pub fn new() -> Switchboard {
        Switchboard::default()
    }

    /// Announces every question for approval as an event of its run. It answers none: put it before those who do.
    #[must_use]
    pub fn announcer(&self) -> Box<dyn Provider> {
        Box::new(Announcer(self.clone()))
    }

    /// Puts an agent's questions to a person as events of this run, to be answered by `Command::Reply`.
    #[must_use]
    pub fn human(&self, run: &str) -> Box<dyn Human> {
        Box::new(ByEvent { board: self.clone(), run: run.to_owned() })
    }

    pub(crate) fn connect(&self, run: &str, sink: Sink) {
        self.lines().runs.insert(run.to_owned(), Line { sink, asking: None, open: Vec::new() });
    }

    pub(crate) fn disconnect(&self, run: &str) {
        self.lines().runs.remove(run);
    }

    /// Whose call the next questions of a run are about.
    pub(crate) fn asking(&self, run: &str, sink: &Sink, call: &str) {
        if let Some(line) = self.lines().runs.get_mut(run) {
            line.asking = Some((sink.clone(), call.to_owned()));
            line.open.clear();
        }
    }

    /// The questions that were announced for the call under way, if it is this agent's.
    pub(crate) fn asked(&self, run: &str, agent: &Sink) -> Vec<AskId> {
        let lines = self.lines();
        let line = lines.runs.get(run);
        let its =
            line.filter(|line| line.asking.as_ref().is_some_and(|(sink, _)| sink.agent() == agent.agent()));
        its.map(|line| line.open.clone()).unwrap_or_default()
    }

    pub(crate) fn reply(&self, id: u64, answer: HumanAnswer) {
        if let Some(reply) = self.lines().replies.remove(&id) {
            let _gone = reply.try_send(answer);
        }
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Announcer(Switchboard);

impl Provider for Announcer {
    fn name(&self) -> &'static str {
        "announcer"
    }

    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply {
        let line = asked.run.as_deref().and_then(|run| {
            let mut lines = self.0.lines();
            let line = lines.runs.get_mut(run)?;
            line.open.push(asked.id);
            line.asking.clone()
        });
        if let Some((sink, call_id)) = line {
            let question = Question { asked: Arc::clone(asked), expires_ms: wait.expires_ms() };
            sink.tell_waiting(What::ApprovalAsked { call_id, question });
        }
        Reply::Pass
    }
}

struct ByEvent {
    board: Switchboard,
    run: String,
}

impl Human for ByEvent {
    fn ask(&self, question: &HumanQuestion, deadline: Duration) -> HumanAnswer {
        let (send, receive) = sync_channel(1);
        let (id, sink) = {
            let mut lines = self.board.lines();
            let Some(sink) = lines.runs.get(&self.run).map(|line| line.sink.clone()) else {
                return HumanAnswer::Nobody;
            };
            if lines.replies.len() >= MOST_OPEN {
                return HumanAnswer::Nobody;
            }
            lines.next = lines.next.saturating_add(1);
            let id = lines.next;
            lines.replies.insert(id, send);
            (id, sink)
        };
        sink.tell_waiting(What::HumanAsked { id, question: AskedHuman(question.clone()) });
        let mut left = deadline;
        let answer = loop {
            let slice = left.min(SLICE);
            match receive.recv_timeout(slice) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Disconnected) => break HumanAnswer::Closed,
                Err(RecvTimeoutError::Timeout) if question.cancel.is_cancelled() => {
                    break HumanAnswer::Closed;
                }
                Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(slice),
            }
            if left.is_zero() {
                break HumanAnswer::TimedOut;
            }
        };
        self.board.lines().replies.remove(&id);
        sink.tell_waiting(What::HumanSettled { id });
        answer
    }
}
