//! The calls of one answer of the model: judged and asked about one after the other, run together, answered in its order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gate::call::{ApprovalKey, ErrorKind, Principal, RawCall, Request, mask, visible};
use gate::tools::{Cancel, Outcome, Stream};
use gate::{By, Judgement, Permit, Stopped, Terms, Watcher, refusal};
use serde_json::Value;

use crate::control::{Control, Halt};
use crate::conversation::{ToolResult, ToolUse};
use crate::event::{End, Failure, Ruled, What};
use crate::offer::exists;
use crate::result::{bounded, for_model};
use crate::sink::Sink;
use crate::tree::Tree;

/// So much of one call's output is told while it runs.
const LIVE_BYTES: usize = 1024 * 1024;
/// So many effects of a call are told.
const MOST_EFFECTS: usize = 32;

/// Who makes calls.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) tree: Arc<Tree>,
    pub(crate) principal: Principal,
    /// Whose the programs are that are left running, and the plan.
    pub(crate) owner: String,
    pub(crate) sink: Sink,
}

/// One call on its way.
struct OneCall {
    caller: Caller,
    id: String,
    tool: String,
    cancel: Cancel,
}

impl Caller {
    /// Makes the calls. Whoever halts the agent ends them all.
    pub(crate) async fn make(&self, uses: &[ToolUse], control: &Control) -> Vec<ToolResult> {
        let cancels: Vec<Cancel> = uses.iter().map(|_| Cancel::new()).collect();
        let mut work = std::pin::pin!(self.make_all(uses, &cancels, control));
        tokio::select! {
            results = &mut work => return results,
            _halt = control.halted() => {}
        }
        cancels.iter().for_each(Cancel::cancel);
        self.tree.withdraw(&self.sink);
        work.await
    }

    async fn make_all(&self, uses: &[ToolUse], cancels: &[Cancel], control: &Control) -> Vec<ToolResult> {
        let mut running = Vec::new();
        for (use_, cancel) in uses.iter().zip(cancels) {
            let call = OneCall {
                caller: self.clone(),
                id: self.tree.next_call(),
                tool: use_.name.clone(),
                cancel: cancel.clone(),
            };
            self.sink
                .tell(What::ToolProposed { call_id: call.id.clone(), tool: visible(&mask(&use_.name)) })
                .await;
            running.push((use_, self.begin(call, use_, control).await));
        }
        let mut results = Vec::new();
        for (use_, begun) in running {
            let outcome = match begun {
                Begun::Over(outcome) => *outcome,
                Begun::Running(work) => work
                    .await
                    .unwrap_or_else(|_| Outcome::error(ErrorKind::Unknown, "the call broke off".into())),
            };
            results.push(for_model(&use_.id, &use_.name, &outcome));
        }
        results
    }

    /// Brings a call past the gate, and starts it.
    async fn begin(&self, call: OneCall, use_: &ToolUse, control: &Control) -> Begun {
        if control.halt() != Halt::No {
            return call.over(Outcome::error(ErrorKind::Cancelled, "the call was taken back".into())).await;
        }
        if !exists(&self.tree.gate, &use_.name) {
            let why = format!("there is no tool `{}`", visible(&mask(&use_.name)));
            return call.over(Outcome::error(ErrorKind::Validation, why)).await;
        }
        let args = match arguments(&use_.arguments) {
            Ok(args) => args,
            Err(why) => return call.over(Outcome::error(ErrorKind::Validation, why)).await,
        };
        let raw = RawCall {
            tool: use_.name.clone(),
            args,
            cwd: None,
            session: Some(self.tree.session.clone()),
            principal: self.principal.clone(),
            id: Some(call.id.clone()),
        };
        let admitted = tokio::task::spawn_blocking(move || {
            let admitted = call.admit(raw);
            (call, admitted)
        });
        match admitted.await {
            Ok((call, Ok(permit))) => Begun::Running(tokio::task::spawn_blocking(move || call.run(permit))),
            Ok((call, Err(outcome))) => call.over(*outcome).await,
            Err(_) => Begun::Over(Box::new(Outcome::error(ErrorKind::Unknown, "the call broke off".into()))),
        }
    }
}

enum Begun {
    Over(Box<Outcome>),
    Running(tokio::task::JoinHandle<Outcome>),
}

impl OneCall {
    /// From the call to leave to run it, on a thread that may wait for people.
    fn admit(&self, raw: RawCall) -> Result<Permit, Box<Outcome>> {
        let Caller { tree, sink, .. } = &self.caller;
        let _one_after_the_other = tree.admitting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.cancel.is_cancelled() {
            return Err(Box::new(Outcome::error(ErrorKind::Cancelled, "the call was taken back".into())));
        }
        tree.board.asking(&tree.run, sink, &self.id);
        let key: Arc<std::sync::OnceLock<ApprovalKey>> = Arc::default();
        let told = {
            let (sink, id, tool, key) = (sink.clone(), self.id.clone(), self.tool.clone(), Arc::clone(&key));
            Box::new(move |judgement: &Judgement, request: &Request| {
                let _first = key.set(request.approval_key());
                let request = Value::Object(request.fields().clone());
                sink.tell_waiting(What::ToolJudged { call_id: id, tool, request, ruling: ruled(judgement) });
            })
        };
        let terms = Terms {
            environment: tree.environment.clone(),
            run: Some(tree.run.clone()),
            cancel: self.cancel.clone(),
            told: Some(told),
            ..Terms::default()
        };
        let admitted = tree.gate.admit(raw, terms);
        if let Some(id) = tree.board.asked(&tree.run, sink).first() {
            let (approved, note) = match &admitted {
                Ok(_) => (true, String::new()),
                Err(stopped) => (false, visible(&mask(&stopped.why))),
            };
            let (call_id, confirmation_id) = (self.id.clone(), id.to_string());
            sink.tell_waiting(What::ApprovalSettled { call_id, confirmation_id, approved, note });
        }
        admitted.map_err(|stopped| {
            self.judge_the_run(&stopped, key.get());
            Box::new(refusal(&stopped))
        })
    }

    /// Whether the run is over with this refusal.
    fn judge_the_run(&self, stopped: &Stopped, key: Option<&ApprovalKey>) {
        let tree = &self.caller.tree;
        if self.cancel.is_cancelled() {
            return;
        }
        let denied_again = || {
            // The same call denied by a rule again and again is a loop as much as one that a person denies.
            let guard = tree.gate.office().map(|office| &office.guard);
            stopped.by == By::Policy
                && key.zip(guard).is_some_and(|(key, guard)| {
                    guard.denied(&tree.run, key) == gate::approval::RunState::Ended
                })
        };
        let why = visible(&mask(&stopped.why));
        if stopped.ends_run || denied_again() {
            tree.fail(Failure::ApprovalDenied, format!("`{}` was denied: {why}", self.tool));
        } else if stopped.by == By::Approval && stopped.kind == ErrorKind::ConfigError {
            let help = "configure `approval.rules` or `approval.command`, or use `bailiwick chat`";
            tree.fail(
                Failure::ConfigError,
                format!("`{}` must be approved, and nobody can: {why}; {help}", self.tool),
            );
        } else if stopped.by == By::Journal {
            tree.fail(Failure::Journal, why);
        }
    }

    /// Runs it, on a thread of its own.
    fn run(self, permit: Permit) -> Outcome {
        let Caller { tree, sink, owner, .. } = &self.caller;
        sink.tell_waiting(What::ToolStarted { call_id: self.id.clone(), tool: self.tool.clone() });
        let watch = self.watcher();
        let outcome = permit.perform_watched(&tree.gate, owner, &tree.hands, &self.cancel, Some(&watch));
        if self.tool == "update_plan"
            && outcome.ok
            && let Some(plan) = &outcome.data
        {
            sink.tell_waiting(What::PlanChanged { plan: plan.clone() });
        }
        sink.tell_waiting(self.finished(&outcome));
        outcome
    }

    fn watcher(&self) -> Watcher {
        let (sink, id, told) = (self.caller.sink.clone(), self.id.clone(), AtomicUsize::new(0));
        Arc::new(move |stream, bytes: &[u8]| {
            let before = told.fetch_add(bytes.len(), Ordering::Relaxed);
            if before >= LIVE_BYTES {
                return;
            }
            let stream = match stream {
                Stream::Out => "stdout",
                Stream::Error => "stderr",
            };
            let text = String::from_utf8_lossy(bytes).into_owned();
            sink.tell_waiting(What::ToolOutput { call_id: id.clone(), stream, text });
        })
    }

    /// It ends without having run.
    async fn over(self, outcome: Outcome) -> Begun {
        self.caller.sink.tell(self.finished(&outcome)).await;
        Begun::Over(Box::new(outcome))
    }

    fn finished(&self, outcome: &Outcome) -> What {
        let refused = |name: &str| {
            let text = outcome.data.as_ref()?.get(name)?.as_str()?;
            Some(text.to_owned())
        };
        let failed = outcome.error_kind.is_some();
        let message = failed.then(|| bounded(&visible_text(&outcome.stderr)));
        What::ToolFinished {
            call_id: self.id.clone(),
            tool: visible(&mask(&self.tool)),
            end: End {
                ok: outcome.ok,
                error_kind: outcome.error_kind.map(ErrorKind::name),
                exit_code: outcome.exit_code,
                duration_ms: outcome.duration_ms,
                truncated: outcome.truncated,
                denied_by: if failed { refused("denied_by") } else { None },
                rule: if failed { refused("rule") } else { None },
                message,
            },
        }
    }
}

fn visible_text(text: &str) -> String {
    gate::call::visible_lines(&mask(text))
}

fn ruled(judgement: &Judgement) -> Ruled {
    let ruling = &judgement.ruling;
    let place = ruling.rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    let effects = judgement.analysis.parts.iter().flat_map(|part| &part.effects);
    let hidden = judgement.analysis.hidden();
    Ruled {
        decision: ruling.decision.name(),
        reason: visible(&mask(&ruling.reason)),
        rule: visible(&format!("{}{place}", ruling.rule.id)),
        risk: ruling.risk.level.name(),
        factors: ruling.risk.factors.iter().map(|factor| visible(&mask(factor))).collect(),
        effects: effects.take(MOST_EFFECTS).map(|effect| visible(&hidden.effect(effect))).collect(),
    }
}

/// The arguments as the model wrote them. What is no object is an error that quotes it.
fn arguments(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match gate::call::strict_json(text.as_bytes()) {
        Ok(Value::Object(members)) => Ok(Value::Object(members)),
        Ok(_) => Err("the arguments are no JSON object".into()),
        Err(invalid) => {
            let start: String = text.chars().take(200).collect();
            Err(format!("the arguments are no JSON object: {invalid}; they begin: {start}"))
        }
    }
}
