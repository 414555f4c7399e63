//! From flags to a run of an agent: the gate, whoever is asked, the model, and what was said before.

use std::ffi::OsString;
use std::sync::Arc;

use door_agent::{
    Address, Client, Conversation, Handle, Kept, Limits, Manner, Model, Provider, Start, Switchboard,
};
use gate::call::Principal;
use gate::tools::Human;
use gate::{Desk, Gate, Hands, Machine};

use crate::approvers::{Audience, approvers};
use crate::cli::AgentArgs;
use crate::transport::Transport;

/// Everything for one run, before it starts.
pub(crate) struct Prepared {
    pub(crate) gate: Arc<Gate>,
    pub(crate) run: String,
    pub(crate) session: String,
    board: Switchboard,
    client: Arc<Client>,
    limits: Limits,
    environment: Vec<(OsString, OsString)>,
    kept: Kept,
    conversation: Conversation,
}

impl AgentArgs {
    /// What the flags of the model stand for, as entries of `agent`.
    fn entries(&self) -> Result<Vec<String>, String> {
        let quoted = |text: &String| serde_json::to_string(text).map_err(|error| error.to_string());
        let mut entries = Vec::new();
        for (key, value) in [
            ("provider", &self.provider),
            ("base_url", &self.base_url),
            ("model", &self.model),
            ("key_env", &self.key_env),
        ] {
            if let Some(value) = value {
                entries.push(format!("{key}: {}", quoted(value)?));
            }
        }
        entries.extend(self.max_steps.map(|steps| format!("max_steps: {steps}")));
        entries.extend(self.time.map(|time| format!("wall_ms: {time}")));
        Ok(entries)
    }

    /// Prepares a run.
    pub(crate) fn prepare(&self, transport: Transport) -> Result<Prepared, String> {
        let mut setup = self.safety.setup(transport)?;
        setup.more.agent = self.entries()?;
        let gate = setup.gate_for(None, Vec::new())?.running();
        let (client, key_env) = client(&gate)?;
        let limits = Limits::from(gate.config().agent());
        let board = Switchboard::new();
        let audience = match transport {
            Transport::Tui => Audience::Screen,
            _ if transport.defaults().asks_in_place => Audience::Terminal,
            _ => Audience::Nobody,
        };
        let desk = Desk::of(gate.world(), gate.config())?;
        let mut providers = approvers(&gate, &desk, &audience)?;
        if !providers.is_empty() {
            providers.insert(0, board.announcer());
        }
        let journal = desk.journal_directory().to_path_buf();
        let gate = setup.with_office_of(gate, &[], &audience, providers)?;
        let (run, kept, conversation) = match &self.resume {
            Some(run) => {
                let (kept, conversation) = Kept::take_up(&gate, &journal, run)?;
                (run.clone(), kept, conversation)
            }
            None => {
                let run = door_agent::run_name()?;
                let kept = Kept::create(&gate, &run)?;
                (run, kept, Conversation::default())
            }
        };
        // What was granted in an earlier life of the run belongs to that one's session.
        let [a, b] = Machine::random::<2>()?;
        let session = format!("{run}-{a:02x}{b:02x}");
        let environment =
            Machine::environment().into_iter().filter(|(name, _)| name.to_str() != Some(&key_env)).collect();
        let gate = Arc::new(gate);
        let client = Arc::new(client);
        Ok(Prepared { gate, run, session, board, client, limits, environment, kept, conversation })
    }
}

impl Prepared {
    /// Whoever answers the agent's questions by command.
    pub(crate) fn human(&self) -> Box<dyn Human> {
        self.board.human(&self.run)
    }

    /// Starts it; a tokio runtime is current.
    pub(crate) fn start(self, manner: Manner, human: Option<Box<dyn Human>>) -> Result<Handle, String> {
        let mut hands = Hands::new().map_err(|error| format!("nothing can be started: {error}"))?;
        hands.human = human;
        door_agent::start(Start {
            gate: self.gate,
            hands,
            client: self.client,
            limits: self.limits,
            run: self.run,
            session: self.session,
            principal: Principal::default(),
            environment: self.environment,
            board: self.board,
            kept: Some(self.kept),
            conversation: self.conversation,
            instructions: None,
            manner,
        })
    }
}

/// The model that the configuration names, and the variable that its key was in.
fn client(gate: &Gate) -> Result<(Client, String), String> {
    let settings = gate.config().agent();
    let name = settings.provider.as_ref().map_or("anthropic", |provider| provider.value.as_str());
    let provider = Provider::from_name(name).ok_or_else(|| {
        format!("`agent.provider` is openai or anthropic, not `{}`", gate::call::visible(name))
    })?;
    let model = settings
        .model
        .as_ref()
        .ok_or("which model? Say `--model NAME`, or `agent: {provider, model}` in your configuration")?;
    let base = settings.base_url.as_ref().map_or(provider.base_url(), |url| url.value.as_str());
    let key_env = settings.key_env.as_ref().map_or(provider.key_env(), |name| name.value.as_str()).to_owned();
    let address = Address::read(base)?;
    let key = Machine::secret(&key_env);
    if key.is_none() && settings.base_url.is_none() {
        return Err(format!(
            "the key is missing: set {key_env}, or name another variable with `agent.key_env`"
        ));
    }
    let client = Client::new(Model { provider, address, name: model.value.clone(), key })?;
    Ok((client, key_env))
}

/// A runtime for one run.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("nothing can be started: {error}"))
}
