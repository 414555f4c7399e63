//! Agents that agents start. A child has its parent's policy, session and limits, never more; its calls name the way from the
//! first agent to it (`agent/a1/a2`); only its parent steers it; ending it ends what runs for it and what it started.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use gate::call::{Arguments, Call, ErrorKind, Principal};
use gate::journal::{Kind, Payload};
use gate::tools::{Cancel, Outcome};
use gate::{Agents, call};
use serde_json::{Value, json};

use crate::calls::Caller;
use crate::control::Control;
use crate::conversation::Conversation;
use crate::event::What;
use crate::life::{Ended, Life};
use crate::offer::{Able, offers};
use crate::tree::Tree;

/// How long is waited for agents where the call says nothing, and at most.
const WAIT: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(600);
/// How often it is seen whether the wait was taken back.
const SLICE: Duration = Duration::from_millis(25);
/// So many agents a run may have had, ended ones included.
const MOST: usize = 256;

/// A child.
pub(crate) struct Colleague {
    /// Who started it, and who it is.
    parent: String,
    path: String,
    pub(crate) control: Arc<Control>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Default)]
struct Now {
    status: Status,
    text: String,
    conversation: Conversation,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Status {
    #[default]
    Running,
    Waiting,
    Completed,
    Failed,
    Closed,
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Waiting => "waiting",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Closed => "closed",
        }
    }

    const fn is_live(self) -> bool {
        matches!(self, Status::Running | Status::Waiting)
    }
}

impl State {
    fn set(&self, status: Status, text: String) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.status = status;
        now.text = text;
        drop(now);
        self.changed.notify_all();
    }

    fn status(&self) -> Status {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).status
    }
}

/// Performs the tools that start and steer agents.
#[derive(Default)]
pub(crate) struct Colleagues(OnceLock<Weak<Tree>>);

impl Colleagues {
    pub(crate) fn of(&self, tree: &Arc<Tree>) {
        let _once = self.0.set(Arc::downgrade(tree));
    }
}

impl Agents for Colleagues {
    fn perform(&self, call: &Call, cancel: &Cancel) -> Outcome {
        let Some(tree) = self.0.get().and_then(Weak::upgrade) else {
            return Outcome::error(ErrorKind::NotFound, "there is no run that agents could belong to".into());
        };
        let who = call.principal().id.as_str();
        let done = match call.arguments() {
            Arguments::SpawnAgent(spawn) => tree.spawn(who, spawn),
            Arguments::Wait(wait) => tree.wait(who, wait, cancel),
            Arguments::SendInput(send) => tree.send(who, send),
            Arguments::CloseAgent(close) => tree.close(who, &close.id),
            Arguments::ResumeAgent(resume) => tree.resume(who, &resume.id),
            _ => Err((ErrorKind::NotFound, "this is no tool for agents".to_owned())),
        };
        match done {
            Ok(data) => Outcome::success(String::new(), data),
            Err((kind, why)) => Outcome::error(kind, why),
        }
    }
}

type Done = Result<Value, (ErrorKind, String)>;

impl Tree {
    fn spawn(self: &Arc<Self>, who: &str, spawn: &call::SpawnAgent) -> Done {
        let depth = depth(who).saturating_add(1);
        if depth > self.limits.max_depth {
            let why =
                format!("agents may start agents only {} deep (agent.max_depth)", self.limits.max_depth);
            return Err((ErrorKind::Permission, why));
        }
        let control = Arc::new(Control::new());
        let state = Arc::new(State::default());
        let (id, path) = {
            let mut all = self.colleagues();
            self.room(&all)?;
            if all.len() >= MOST {
                return Err((ErrorKind::Permission, format!("a run may start at most {MOST} agents")));
            }
            let id = format!("a{}", all.len() + 1);
            let path = format!("{who}/{id}");
            let colleague = Colleague {
                parent: who.to_owned(),
                path: path.clone(),
                control: Arc::clone(&control),
                state: Arc::clone(&state),
            };
            all.insert(id.clone(), colleague);
            (id, path)
        };
        let kind = spawn.agent_type.as_deref().map(|kind| format!("(You are to act as: {kind}.)\n\n"));
        let first = format!("{}{}", kind.unwrap_or_default(), spawn.message);
        self.sink.of(who).tell_waiting(What::AgentSpawned { id: id.clone() });
        self.start(&id, path, control, state, Conversation::default(), Some(first));
        Ok(json!({"id": id, "status": "running"}))
    }

    /// Whether one more agent may live.
    fn room(&self, all: &std::collections::BTreeMap<String, Colleague>) -> Result<(), (ErrorKind, String)> {
        let live = all.values().filter(|colleague| colleague.state.status().is_live()).count();
        let most = self.limits.max_agents;
        if u64::try_from(live).unwrap_or(u64::MAX) >= most {
            let why =
                format!("{live} agents live already, which is the most (agent.max_agents); close one first");
            return Err((ErrorKind::Permission, why));
        }
        Ok(())
    }

    fn start(
        self: &Arc<Self>,
        id: &str,
        path: String,
        control: Arc<Control>,
        state: Arc<State>,
        conversation: Conversation,
        first: Option<String>,
    ) {
        let principal = Principal { id: path.clone(), groups: self.principal.groups.clone() };
        let able = Able { agents: depth(&path) < self.limits.max_depth };
        let caller = Caller {
            tree: Arc::clone(self),
            principal: principal.clone(),
            owner: owner(&self.session, &path),
            sink: self.sink.of(&path),
        };
        let mut life = Life {
            caller,
            control,
            offers: offers(&self.gate, &self.hands, able),
            saved: 0,
            conversation,
            kept: None,
            waits: true,
            steps: 0,
            measured: None,
        };
        let (tree, id, run) = (Arc::clone(self), id.to_owned(), format!("{}-{id}", self.run));
        self.runtime.spawn(async move {
            let parent = gate::call::Shown::of(&tree.run);
            let facts = Payload::new().with("parent", parent).with("agent", gate::call::Shown::of(&path));
            let recorded = tree.record(Kind::RunStarted, &run, &principal, facts);
            let ended = match recorded {
                Ok(()) => tree.run_child(&mut life, &state, first).await,
                Err(why) => Ended::Failed(crate::event::Failure::Journal, why),
            };
            let (kind, status, text) = match &ended {
                Ended::Completed => {
                    (Kind::RunCompleted, Status::Completed, life.conversation.last_words().to_owned())
                }
                Ended::Failed(reason, why) => {
                    (Kind::RunFailed, Status::Failed, format!("{}: {why}", reason.name()))
                }
                Ended::Cancelled => {
                    (Kind::RunCancelled, Status::Closed, life.conversation.last_words().to_owned())
                }
            };
            tree.hands.sessions.end_all(&life.caller.owner);
            let facts =
                Payload::new().with("steps", life.steps).with("parent", gate::call::Shown::of(&tree.run));
            let _told_by_the_first = tree.record(kind, &run, &principal, facts);
            state.now.lock().unwrap_or_else(PoisonError::into_inner).conversation = life.conversation;
            state.set(status, text);
            life.caller.sink.tell(What::AgentClosed { id }).await;
        });
    }

    /// Lives, and says when it waits.
    async fn run_child(&self, life: &mut Life, state: &Arc<State>, first: Option<String>) -> Ended {
        state.set(if first.is_some() { Status::Running } else { Status::Waiting }, String::new());
        let told = Arc::clone(state);
        life.live_telling(first, &move |waiting: Option<&str>| match waiting {
            Some(text) => told.set(Status::Waiting, text.to_owned()),
            None => told.set(Status::Running, String::new()),
        })
        .await
    }

    /// A child of whoever asks.
    fn child<T>(
        &self,
        who: &str,
        id: &str,
        of: impl FnOnce(&Colleague) -> T,
    ) -> Result<T, (ErrorKind, String)> {
        let all = self.colleagues();
        let missing = || (ErrorKind::NotFound, format!("you have started no agent `{}`", call::visible(id)));
        all.get(id).filter(|colleague| colleague.parent == who).map(of).ok_or_else(missing)
    }

    fn wait(&self, who: &str, wait: &call::Wait, cancel: &Cancel) -> Done {
        let mut states = Vec::new();
        for id in &wait.ids {
            let of = |colleague: &Colleague| (Arc::clone(&colleague.state), Arc::clone(&colleague.control));
            let (state, control) = self.child(who, id, of)?;
            states.push((id, state, control));
        }
        let patience = wait.timeout_ms.map_or(WAIT, Duration::from_millis).min(LONGEST);
        let mut left = patience;
        let mut timed_out = false;
        for (_, state, control) in &states {
            let mut now = state.now.lock().unwrap_or_else(PoisonError::into_inner);
            while now.status == Status::Running || (now.status == Status::Waiting && control.has_mail()) {
                if cancel.is_cancelled() {
                    return Err((ErrorKind::Cancelled, "the wait was taken back".into()));
                }
                if left.is_zero() {
                    timed_out = true;
                    break;
                }
                let slice = left.min(SLICE);
                let waited = state.changed.wait_timeout(now, slice).unwrap_or_else(PoisonError::into_inner);
                now = waited.0;
                if waited.1.timed_out() {
                    left = left.saturating_sub(slice);
                }
            }
        }
        let agents: serde_json::Map<String, Value> = states
            .iter()
            .map(|(id, state, _)| {
                let now = state.now.lock().unwrap_or_else(PoisonError::into_inner);
                (
                    (*id).clone(),
                    json!({"status": now.status.name(), "said": crate::result::bounded(&now.text)}),
                )
            })
            .collect();
        Ok(json!({"agents": agents, "timed_out": timed_out}))
    }

    fn send(&self, who: &str, send: &call::SendInput) -> Done {
        self.child(who, &send.id, |colleague| {
            if !colleague.state.status().is_live() {
                return Err((ErrorKind::NotFound, format!("agent `{}` has ended; resume it first", send.id)));
            }
            if send.interrupt {
                colleague.control.interrupt();
            }
            colleague.state.set(Status::Running, String::new());
            if colleague.control.say(send.message.clone()) {
                Ok(json!({"id": send.id, "status": "running"}))
            } else {
                Err((ErrorKind::Permission, "it has not heard what it was told before".to_owned()))
            }
        })?
    }

    fn close(&self, who: &str, id: &str) -> Done {
        let path = self.child(who, id, |colleague| colleague.path.clone())?;
        let below = format!("{path}/");
        for colleague in self.colleagues().values() {
            if colleague.path == path || colleague.path.starts_with(&below) {
                colleague.control.cancel();
                self.hands.sessions.end_all(&owner(&self.session, &colleague.path));
            }
        }
        // It is over when its loop says so, which is at once: whatever it waits for was taken back.
        let state = self.child(who, id, |colleague| Arc::clone(&colleague.state))?;
        let mut now = state.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = Duration::from_secs(10);
        while now.status.is_live() && !left.is_zero() {
            let waited = state.changed.wait_timeout(now, SLICE).unwrap_or_else(PoisonError::into_inner);
            now = waited.0;
            left = left.saturating_sub(SLICE);
        }
        Ok(json!({"id": id, "status": now.status.name(), "said": crate::result::bounded(&now.text)}))
    }

    fn resume(self: &Arc<Self>, who: &str, id: &str) -> Done {
        let (path, control, state) = self.child(who, id, |colleague| {
            (colleague.path.clone(), Arc::clone(&colleague.control), Arc::clone(&colleague.state))
        })?;
        if state.status().is_live() {
            return Ok(json!({"id": id, "status": state.status().name()}));
        }
        self.room(&self.colleagues())?;
        let mut conversation =
            std::mem::take(&mut state.now.lock().unwrap_or_else(PoisonError::into_inner).conversation);
        conversation.mend();
        control.revive();
        state.set(Status::Waiting, String::new());
        self.sink.of(who).tell_waiting(What::AgentSpawned { id: id.to_owned() });
        self.start(id, path, control, state, conversation, None);
        Ok(json!({"id": id, "status": "waiting"}))
    }
}

/// Whose the programs of a child are.
fn owner(session: &str, path: &str) -> String {
    format!("{session} {path}")
}

/// How deep an agent stands: the first one at 0.
fn depth(path: &str) -> u64 {
    u64::try_from(path.matches('/').count()).unwrap_or(u64::MAX)
}
