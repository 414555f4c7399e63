//! Whoever called, as somebody who can be asked: the gate's question goes to the person in front of the client.
//!
//! The gate asks on the thread of the call, so each such thread knows its own client. A client that is not asked, goes away,
//! declines or answers nonsense has said no.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use gate::approval::{Asked, Provider, Reply, Wait};
use gate::tools::Cancel;
use rmcp::model::{ElicitRequestParams, ElicitResult};
use tokio::sync::mpsc::Sender;

use crate::form;

/// A question on its way to the client, and where its answer goes. Whoever drops it has not answered.
pub(crate) struct Question {
    pub(crate) form: ElicitRequestParams,
    pub(crate) answer: SyncSender<ElicitResult>,
}

/// The client of the call on this thread.
#[derive(Clone)]
pub(crate) struct Client {
    /// Takes questions; nothing where the client cannot be asked.
    pub(crate) questions: Option<Sender<Question>>,
    /// What it calls itself.
    pub(crate) name: String,
    pub(crate) cancel: Cancel,
}

thread_local! {
    static HERE: RefCell<Option<Client>> = const { RefCell::new(None) };
}

impl Client {
    /// Does something with this client as the one who can be asked on this thread.
    pub(crate) fn calling<T>(self, work: impl FnOnce() -> T) -> T {
        /// Threads are used again: the next call has another client.
        struct Gone;
        impl Drop for Gone {
            fn drop(&mut self) {
                HERE.with(|here| here.borrow_mut().take());
            }
        }
        HERE.with(|here| *here.borrow_mut() = Some(self));
        let _gone = Gone;
        work()
    }

    fn here() -> Option<Client> {
        HERE.with(|here| here.borrow().clone())
    }

    /// Puts a form to the person. Nothing comes back where they could not be asked, went away, or the time was up.
    fn put(&self, form: ElicitRequestParams, over: impl Fn() -> bool) -> Put {
        let Some(questions) = &self.questions else { return Put::Nobody };
        let (answer, answered) = sync_channel(1);
        if questions.blocking_send(Question { form, answer }).is_err() {
            return Put::Gone;
        }
        loop {
            match answered.recv_timeout(Duration::from_millis(50)) {
                Ok(result) => return Put::Answered(result),
                Err(RecvTimeoutError::Disconnected) => return Put::Gone,
                Err(RecvTimeoutError::Timeout) if self.cancel.is_cancelled() => return Put::Gone,
                Err(RecvTimeoutError::Timeout) if over() => return Put::Late,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// What came of putting a form.
enum Put {
    Answered(ElicitResult),
    Nobody,
    Gone,
    Late,
}

/// Asks the person in front of the client that called.
#[derive(Debug, Clone, Copy, Default)]
pub struct Elicitation;

impl Provider for Elicitation {
    fn name(&self) -> &'static str {
        "mcp client"
    }

    fn ask(&self, asked: &Arc<Asked>, wait: &Wait<'_>) -> Reply {
        let Some(client) = Client::here() else { return Reply::Pass };
        let Some(form) = form::question(asked, wait.expires_ms()) else {
            return Reply::Failed("the question cannot be put into a form".into());
        };
        match client.put(form, || wait.is_over()) {
            Put::Answered(result) => Reply::Answer(form::answer(asked, &result, &client.name)),
            Put::Nobody => Reply::Pass,
            Put::Gone => Reply::Failed("the client went away without an answer".into()),
            // The deadline speaks for itself.
            Put::Late => Reply::Held,
        }
    }
}

/// Puts an agent's own questions to the person in front of its client.
pub(crate) struct Person(pub(crate) Client);

impl gate::tools::Human for Person {
    fn ask(&self, question: &gate::tools::HumanQuestion, deadline: Duration) -> gate::tools::HumanAnswer {
        use gate::tools::HumanAnswer;
        let Some(form) = form::of_items(question) else { return HumanAnswer::Closed };
        let end = tokio::time::Instant::now() + deadline;
        match self.0.put(form, || tokio::time::Instant::now() >= end) {
            Put::Answered(result) => form::given(question, &result),
            Put::Nobody => HumanAnswer::Nobody,
            Put::Gone => HumanAnswer::Closed,
            Put::Late => HumanAnswer::TimedOut,
        }
    }
}
