//! The short way of a `tools/call`: while no other is under way, and where the policy allows it by itself, the thread that read it
//! judges it, writes it down, and sends it on. A thread of its own would be two more to wake before the server hears of it, and two
//! more before the client hears of the server. Nothing but the disk is waited for here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gate::call::ErrorKind;
use gate::tools::{Cancel, Outcome};
use gate::{Entrusted, refusal};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientRequest};

use crate::proxy::{Asked, Shared, outcome_of};
use crate::result;
use crate::upstream::{Caller, Live, Upstream};

/// What is longer takes long to judge.
const SHORT: usize = 16 * 1024;

/// One of the calls that are under way, until it is dropped.
pub(crate) struct Turn(Arc<AtomicUsize>);

impl Turn {
    pub(crate) fn of(all: &Arc<AtomicUsize>) -> Turn {
        all.fetch_add(1, Ordering::AcqRel);
        Turn(Arc::clone(all))
    }

    fn is_alone(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A call that was let through, on its way to its server.
struct Sent {
    upstream: Arc<Upstream>,
    live: Arc<Live>,
    entrusted: Entrusted,
    turn: Turn,
}

impl Shared {
    /// Lets a call through at once: what takes it back, and what is left to be done. Where it cannot be, its turn is given back and
    /// nothing has happened.
    pub(crate) fn at_once(
        self: &Arc<Self>,
        request: &CallToolRequestParams,
        length: usize,
        caller: &Arc<Caller>,
        turn: Turn,
    ) -> Result<(Cancel, impl Future<Output = CallToolResult> + Send + use<>), Turn> {
        if length > SHORT || !turn.is_alone() {
            return Err(turn);
        }
        let Some((upstream, live, asked)) = self.ready(request, caller) else { return Err(turn) };
        let Some(let_through) = self.gate.entrust(self.raw(asked.tool, asked.args), &asked.caveat) else {
            return Err(turn);
        };
        let cancel = Cancel::new();
        let (shared, caller, taken_back) = (Arc::clone(self), Arc::clone(caller), cancel.clone());
        let work = async move {
            match let_through {
                Ok(entrusted) => {
                    let sent = Sent { upstream, live, entrusted, turn };
                    shared.sent(sent, asked.request, &caller, &taken_back).await
                }
                Err(stopped) => result::of(&refusal(&stopped)),
            }
        };
        Ok((cancel, work))
    }

    /// What is asked of which server, where that runs and has the tool.
    fn ready(
        &self,
        request: &CallToolRequestParams,
        caller: &Caller,
    ) -> Option<(Arc<Upstream>, Arc<Live>, Asked)> {
        let (upstream, name) = self.named(&request.name)?;
        let live = upstream.live_now(caller)?;
        let asked = Asked::of_tool(upstream, &live, live.tool(name)?, request.arguments.clone());
        Some((Arc::clone(upstream), live, asked))
    }

    /// Puts a call to its server, and writes down what came of it before its client hears of it.
    async fn sent(
        &self,
        sent: Sent,
        request: ClientRequest,
        caller: &Caller,
        cancel: &Cancel,
    ) -> CallToolResult {
        let Sent { upstream, live, entrusted, turn } = sent;
        let answered = upstream.answer(&live, request, caller, cancel).await;
        let answered = match answered {
            // The server is known to others too: letting go of it here does not end it.
            Ok(answer) if turn.is_alone() && Arc::strong_count(&live) > 1 => {
                entrusted.ended(&outcome_of(&answer));
                return self.handed_back(&upstream, Ok(answer));
            }
            answered => answered,
        };
        // Whoever else writes may hold the journal while the disk works, and a server that is gone takes a while to end.
        let server = Arc::clone(&upstream);
        let ended = tokio::task::spawn_blocking(move || {
            let (answered, outcome) = match answered {
                Ok(answer) => {
                    let outcome = outcome_of(&answer);
                    (Ok(answer), outcome)
                }
                Err(error) => {
                    let why = server.unanswered(&live, error).why;
                    let outcome = Outcome::error(ErrorKind::Unknown, why);
                    (Err(Box::new(outcome.clone())), outcome)
                }
            };
            entrusted.ended(&outcome);
            drop((live, turn));
            answered
        });
        let broken_off = |_| Err(Box::new(Outcome::error(ErrorKind::Unknown, "the call broke off".into())));
        self.handed_back(&upstream, ended.await.unwrap_or_else(broken_off))
    }
}
