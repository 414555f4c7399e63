//! Starting a run, and the two ways between it and its front end.

use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use gate::call::{Principal, Shown};
use gate::journal::{Kind, Payload};
use gate::{Gate, Hands, Machine};
use tokio::sync::mpsc;

use crate::calls::Caller;
use crate::colleagues::Colleagues;
use crate::command::Command;
use crate::control::Control;
use crate::conversation::Conversation;
use crate::event::{Event, Failure, What};
use crate::instructions;
use crate::kept::Kept;
use crate::life::{Ended, Life};
use crate::limits::{Limits, Used};
use crate::model::Client;
use crate::modes::set_mode;
use crate::offer::{Able, offers};
use crate::sink::{Sink, WAITING};
use crate::switchboard::Switchboard;
use crate::tree::{SoFar, Tree};

/// How many commands wait to be heard.
const COMMANDS: usize = 64;

/// Everything that a run needs.
pub struct Start {
    /// Ready to run calls: [`Gate::running`], with an office.
    pub gate: Arc<Gate>,
    /// What its tools share. Who starts other agents is put in here.
    pub hands: Hands,
    /// The model.
    pub client: Arc<Client>,
    /// How far it may go.
    pub limits: Limits,
    /// Its name: [`run_name`], or the one that is taken up again.
    pub run: String,
    /// The session that grants belong to. One that is new has none.
    pub session: String,
    /// On whose behalf.
    pub principal: Principal,
    /// The environment that programs may get something of. Leave the model's key out.
    pub environment: Vec<(OsString, OsString)>,
    /// Where questions go; its announcer is among the gate's providers.
    pub board: Switchboard,
    /// Where what is said is kept, if it is.
    pub kept: Option<Kept>,
    /// What was said before, where the run is taken up again.
    pub conversation: Conversation,
    /// What the model is told about its work, beside what Bailiwick tells it.
    pub instructions: Option<String>,
    /// What kind of run.
    pub manner: Manner,
}

/// What kind of run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Manner {
    /// It has this to do, and ends when that is done. Without a task it goes on with what was said before.
    Task(Option<String>),
    /// It waits for what is said, turn by turn.
    Chat,
}

/// The two ways between a run and its front end.
pub struct Handle {
    /// What happens. The last event of the agent `agent` says how the run ended; then nothing comes any more.
    pub events: mpsc::Receiver<Event>,
    /// What it is told.
    pub commands: mpsc::Sender<Command>,
}

/// A name for a run.
///
/// # Errors
/// There is no randomness.
pub fn run_name() -> Result<String, String> {
    let [a, b, c, d, e, f] = Machine::random::<6>()?;
    Ok(format!("run-{a:02x}{b:02x}-{c:02x}{d:02x}-{e:02x}{f:02x}"))
}

/// Starts a run. A tokio runtime must be current.
///
/// # Errors
/// It cannot be written down that it begins: then it does not.
pub fn start(start: Start) -> Result<Handle, String> {
    let (send_events, events) = mpsc::channel(WAITING);
    let (commands, heard) = mpsc::channel(COMMANDS);
    let Start { gate, mut hands, client, limits, run, session, principal, environment, board, .. } = start;
    let name = principal.id.clone();
    let sink = Sink::new(send_events, &name);
    let colleagues = Arc::new(Colleagues::default());
    let able = Able { agents: limits.max_agents > 0 && limits.max_depth > 0 };
    if able.agents {
        hands.agents = Some(Arc::clone(&colleagues) as Arc<dyn gate::Agents>);
    }
    let instructions = instructions::text(&gate, start.instructions.as_deref());
    let tree = Arc::new(Tree {
        gate,
        hands: Arc::new(hands),
        client,
        limits,
        run,
        session,
        principal: principal.clone(),
        environment,
        board,
        instructions,
        sink: sink.clone(),
        used: Used::default(),
        admitting: Mutex::default(),
        root: Arc::new(Control::new()),
        runtime: tokio::runtime::Handle::current(),
        so_far: SoFar::default(),
    });
    colleagues.of(&tree);
    tree.board.connect(&tree.run, sink.clone());
    let resumed = !start.conversation.messages.is_empty();
    let facts = Payload::new()
        .with("model", Shown::of(tree.client.model()))
        .with("resumed", resumed.then_some(true))
        .with("conversation_sha256", start.kept.as_ref().map(Kept::digest));
    tree.record(Kind::RunStarted, &tree.run, &principal, facts)?;
    let caller =
        Caller { tree: Arc::clone(&tree), principal, owner: format!("{} {name}", tree.session), sink };
    let life = Life {
        caller,
        control: Arc::clone(&tree.root),
        offers: offers(&tree.gate, &tree.hands, able),
        saved: start.conversation.messages.len(),
        conversation: start.conversation,
        kept: start.kept,
        waits: start.manner == Manner::Chat,
        steps: 0,
        measured: None,
    };
    let first = match start.manner {
        Manner::Task(task) => task,
        Manner::Chat => None,
    };
    let steering = tokio::spawn(steer(Arc::clone(&tree), heard));
    tokio::spawn(async move {
        whole(&tree, life, first, resumed).await;
        steering.abort();
    });
    Ok(Handle { events, commands })
}

/// A run from its first event to its last.
async fn whole(tree: &Arc<Tree>, mut life: Life, first: Option<String>, resumed: bool) {
    let sink = life.caller.sink.clone();
    let started = What::RunStarted {
        run_id: tree.run.clone(),
        model: tree.client.model().to_owned(),
        tools: life.offers.len(),
        resumed,
    };
    sink.tell(started).await;
    let clock = tokio::spawn({
        let tree = Arc::clone(tree);
        async move {
            tokio::select! {
                () = tokio::time::sleep(tree.limits.wall) => {
                    let why = format!("it ran for {} ms, which is the longest (agent.wall_ms)", tree.limits.wall.as_millis());
                    tree.fail(Failure::WallTime, why);
                }
                // Nobody sees what it does any more.
                () = tree.sink.closed() => tree.root.cancel(),
            }
        }
    });
    let ended = life.live(first).await;
    clock.abort();
    // Whatever children still do is over with the run, and so is what was left running.
    let controls: Vec<Arc<Control>> =
        tree.colleagues().values().map(|colleague| Arc::clone(&colleague.control)).collect();
    controls.iter().for_each(|control| control.cancel());
    end_programs(tree, &life.caller.owner).await;
    tree.board.disconnect(&tree.run);
    if let Some(office) = tree.gate.office() {
        office.guard.forget(&tree.run);
    }
    let digest = life.kept.as_ref().map(Kept::digest);
    let facts = Payload::new()
        .with("steps", life.steps)
        .with("output_tokens", tree.used.output())
        .with("conversation_sha256", digest);
    let (kind, facts, what) = match ended {
        Ended::Completed => {
            let text = life.conversation.last_words().to_owned();
            (Kind::RunCompleted, facts, What::RunCompleted { text, steps: life.steps })
        }
        Ended::Failed(reason, message) => {
            let facts = facts.with("error_kind", reason.name()).with("reason", Shown::of(&message));
            (Kind::RunFailed, facts, What::RunFailed { reason, message })
        }
        Ended::Cancelled => (Kind::RunCancelled, facts, What::RunCancelled {}),
    };
    if let Err(text) = tree.record(kind, &tree.run, &life.caller.principal, facts) {
        sink.tell(What::Notice { text }).await;
    }
    sink.tell(what).await;
}

async fn end_programs(tree: &Arc<Tree>, owner: &str) {
    let (hands, owner) = (Arc::clone(&tree.hands), owner.to_owned());
    // It waits for their ends, which is nothing for a thread that others need.
    let _broke_off = tokio::task::spawn_blocking(move || hands.sessions.end_all(&owner)).await;
}

/// Hears commands as long as the run lives.
async fn steer(tree: Arc<Tree>, mut commands: mpsc::Receiver<Command>) {
    while let Some(command) = commands.recv().await {
        match command {
            Command::Say(text) => {
                if !tree.root.say(text) {
                    let text = "too much was said that has not been heard yet".to_owned();
                    tree.sink.tell(What::Notice { text }).await;
                }
            }
            Command::Interrupt => tree.root.interrupt(),
            Command::Cancel => tree.root.cancel(),
            Command::Finish => tree.root.finish(),
            Command::SetMode(mode) => {
                let shared = Arc::clone(&tree);
                let set = tokio::task::spawn_blocking(move || {
                    let by = shared.gate.world().user.clone().unwrap_or_else(|| "somebody".into());
                    set_mode(&shared.gate, &shared.session, mode, &by)
                });
                let what = match set.await {
                    Ok(Ok(left)) => What::ModeChanged { mode, seconds_left: left.map(|left| left.as_secs()) },
                    Ok(Err(text)) => What::Notice { text },
                    Err(_) => What::Notice { text: "the mode could not be set".into() },
                };
                tree.sink.tell(what).await;
            }
            Command::Answer { id, answer } => {
                let Some(office) = tree.gate.office() else { continue };
                if let Err(unresolved) = office.approver.coordinator().resolve(id, &answer) {
                    tree.sink.tell(What::Notice { text: unresolved.to_string() }).await;
                }
            }
            Command::Reply { id, answer } => tree.board.reply(id, answer),
        }
    }
    // Whoever could have said something more is gone: what is under way is finished.
    tree.root.finish();
}
