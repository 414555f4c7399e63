//! Calls under way: each on a thread of its own, with its client to be asked, its progress told, and taken back when the client
//! no longer wants it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gate::Machine;
use gate::call::{mask, visible};
use gate::tools::{Cancel, CancelOnDrop, Stream};
use rmcp::model::{
    ElicitRequest, ElicitResult, InputRequest, InputRequiredResult, InputResponses,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval_at};

use crate::client::{Client, Question};

/// So many calls may wait for the answer of a client that calls again.
const MOST_PARKED: usize = 256;
/// How often a client that wants to know is told that a call still runs.
const TOLD_EVERY: Duration = Duration::from_millis(500);
/// The key of the one question in an `input_required`.
const QUESTION: &str = "approval";

/// What a call came to.
pub(crate) enum Came<T> {
    /// Its end.
    Done(T),
    /// The client must answer something, and call again.
    Asks(InputRequiredResult),
    /// The client took it back, or it broke off.
    Gone,
}

/// The calls of one door.
pub(crate) struct Calls<T> {
    /// Calls whose client was asked and must call again, by the names that only their clients know.
    parked: Mutex<BTreeMap<String, UnderWay<T>>>,
}

/// One call under way. Dropping it takes it back.
struct UnderWay<T> {
    done: oneshot::Receiver<T>,
    questions: mpsc::Receiver<Question>,
    open: Option<Question>,
    /// What was called: an answer to one call is none to another.
    what: String,
    _taken_back: CancelOnDrop,
}

/// Whether the client may be asked something about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    /// Where it can be.
    Put,
    /// Only by a request of ours: the answer to what it asks can be no question.
    ByRequest,
}

/// What a call's work has at hand.
pub(crate) struct At {
    pub(crate) client: Client,
    pub(crate) cancel: Cancel,
    /// The last of what comes out, for progress.
    pub(crate) last: Arc<Mutex<String>>,
}

/// The client's wish to hear of one call.
struct Progress<'a> {
    context: &'a RequestContext<RoleServer>,
    last: Arc<Mutex<String>>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Calls { parked: Mutex::default() }
    }
}

impl<T: Send + 'static> Calls<T> {
    /// Does `work` on a thread of its own, for the client of `context`. `what` names the call and its arguments.
    pub(crate) async fn run(
        &self,
        context: &RequestContext<RoleServer>,
        (what, forms): (&str, Forms),
        work: impl FnOnce(At) -> T + Send + 'static,
    ) -> Came<T> {
        let cancel = Cancel::new();
        let (ask, questions) = mpsc::channel(1);
        let client = Client {
            questions: (elicits(context) && (forms == Forms::Put || !is_new(context))).then_some(ask),
            name: context.client_info().map_or_else(|| "an MCP client".to_owned(), |info| info.name),
            cancel: cancel.clone(),
        };
        let last = Arc::<Mutex<String>>::default();
        let (send, done) = oneshot::channel();
        let at = At { client: client.clone(), cancel: cancel.clone(), last: Arc::clone(&last) };
        tokio::task::spawn_blocking(move || {
            let _nobody_waits = send.send(client.calling(|| work(at)));
        });
        let call =
            UnderWay { done, questions, open: None, what: what.to_owned(), _taken_back: cancel.on_drop() };
        self.follow(call, &Progress { context, last }).await
    }

    /// Follows work that needs no thread and asks nobody. `cancel` takes it back.
    pub(crate) async fn run_here(
        &self,
        context: &RequestContext<RoleServer>,
        what: String,
        cancel: &Cancel,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Came<T> {
        let (send, done) = oneshot::channel();
        // It outlives a client that takes it back: whoever works on it is told, and its end is written down.
        tokio::spawn(async move {
            let _nobody_waits = send.send(work.await);
        });
        let (_, questions) = mpsc::channel(1);
        let call = UnderWay { done, questions, open: None, what, _taken_back: cancel.on_drop() };
        self.follow(call, &Progress { context, last: Arc::default() }).await
    }

    /// Goes on with a call whose client was asked, and now answers.
    pub(crate) async fn resume(
        &self,
        context: &RequestContext<RoleServer>,
        what: &str,
        state: &str,
        responses: Option<InputResponses>,
    ) -> Option<Came<T>> {
        let mut call = held(&self.parked).remove(state)?;
        if call.what != what {
            return None;
        }
        if let Some(question) = call.open.take()
            && let Some(answer) = responses.and_then(|mut responses| responses.remove(QUESTION))
            && let Ok(answer) = serde_json::from_value::<ElicitResult>(answer)
        {
            let _nobody_waits = question.answer.send(answer);
        }
        Some(self.follow(call, &Progress { context, last: Arc::default() }).await)
    }

    async fn follow(&self, mut call: UnderWay<T>, progress: &Progress<'_>) -> Came<T> {
        let context = progress.context;
        let begun = Instant::now();
        let token = context.meta.get_progress_token();
        let mut told = interval_at(begun + TOLD_EVERY, TOLD_EVERY);
        let mut asking = true;
        loop {
            tokio::select! {
                done = &mut call.done => return done.map_or(Came::Gone, Came::Done),
                // Whoever takes a call back drops it, and with it all that runs for it.
                () = context.ct.cancelled() => return Came::Gone,
                question = call.questions.recv(), if asking => match question {
                    None => asking = false,
                    Some(question) if is_new(context) => return self.park(call, question),
                    Some(question) => put(context, question),
                },
                _ = told.tick(), if token.is_some() => {
                    if let Some(token) = &token {
                        let mut now = ProgressNotificationParam::new(token.clone(), begun.elapsed().as_secs_f64());
                        let last = held(&progress.last).clone();
                        if !last.is_empty() {
                            now = now.with_message(last);
                        }
                        let _gone = context.peer.notify_progress(now).await;
                    }
                }
            }
        }
    }

    /// Keeps the call until its client has the answer. The question's own deadline ends it where none comes.
    fn park(&self, mut call: UnderWay<T>, question: Question) -> Came<T> {
        // FAIL-CLOSED: without a name that nobody can guess, nobody can answer.
        let Ok(name) = Machine::random::<16>() else { return Came::Gone };
        let name = name.map(|byte| format!("{byte:02x}")).concat();
        let form = InputRequest::Elicitation(ElicitRequest::new(question.form.clone()));
        call.open = Some(question);
        let mut parked = held(&self.parked);
        parked.retain(|_, call| call.done.is_empty() && !call.done.is_terminated());
        if parked.len() >= MOST_PARKED {
            return Came::Gone;
        }
        parked.insert(name.clone(), call);
        Came::Asks(InputRequiredResult::new(Some([(QUESTION.to_owned(), form)].into()), Some(name)))
    }
}

/// Asks the client, and hands on its answer whenever that comes.
fn put(context: &RequestContext<RoleServer>, question: Question) {
    let peer = context.peer.clone();
    tokio::spawn(async move {
        // A client that goes away or refuses has not answered: the question is dropped.
        if let Ok(result) = peer.create_elicitation(question.form).await {
            let _nobody_waits = question.answer.send(result);
        }
    });
}

/// The revision of 2026-07-28 has no requests from a server.
pub(crate) fn is_new(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Whether the client has said that forms can be put to its person.
pub(crate) fn elicits(context: &RequestContext<RoleServer>) -> bool {
    let capability = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    capability.is_some_and(|capability| capability.form.is_some() || capability.url.is_none())
}

impl At {
    /// Remembers the last line of what comes out, for whoever wants to hear of progress.
    pub(crate) fn watcher(&self) -> gate::Watcher {
        let last = Arc::clone(&self.last);
        Arc::new(move |_stream: Stream, bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                // Masked before it is cut: half of a secret is one still.
                let long: String = line.chars().take(4096).collect();
                *held(&last) = visible(&mask(&long)).chars().take(200).collect();
            }
        })
    }
}

fn held<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
