//! What all requests share.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use gate::approval::{Coordinator, Grants};
use gate::journal::Reader;
use gate::tools::{Plans, Sessions};
use gate::{Gate, Hands, Office};
use tokio::sync::{Semaphore, watch};

use crate::approvals::Settled;
use crate::follow::{Follower, Recent};
use crate::gates::{Gates, Loader};
use crate::guard::Hosts;
use crate::inquiry::Inquiries;
use crate::metrics::Metrics;
use crate::presence::Presence;
use crate::refusal::Refusal;
use crate::routes;
use crate::token::Tokens;

/// So many calls of tools may be under way, those that wait for an answer counted.
const MOST_CALLS: usize = 1000;

/// Everything that a server is made of.
pub struct Setup {
    /// The gate of the server's directory, with an office whose console is [`Presence::provider`].
    pub gate: Gate,
    /// The same gate with an office that asks nobody: a question that is put to it waits under its name.
    pub hosted: Gate,
    /// Makes gates for other directories and for what single requests tighten.
    pub loader: Box<dyn Loader>,
    /// Who is there to answer.
    pub presence: Arc<Presence>,
    /// Where the journal is.
    pub journal: PathBuf,
    /// Where a yes for always is saved.
    pub always_file: Option<PathBuf>,
    /// Who has the main token.
    pub user: String,
    /// The tokens, and where they are read anew from.
    pub tokens: Tokens,
    /// The directory of the tokens.
    pub token_directory: Option<PathBuf>,
}

/// Where somebody listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An address with its port.
    Address(std::net::SocketAddr),
    /// A socket in the file system.
    Socket(PathBuf),
}

/// What all requests share.
pub struct App {
    pub(crate) gates: Gates,
    pub(crate) hosted: Arc<Gate>,
    pub(crate) presence: Arc<Presence>,
    pub(crate) inquiries: Arc<Inquiries>,
    pub(crate) reader: Arc<Reader>,
    pub(crate) follower: Follower,
    pub(crate) recent: Arc<Recent>,
    pub(crate) settled: Settled,
    pub(crate) metrics: Metrics,
    pub(crate) always_file: Option<PathBuf>,
    pub(crate) user: String,
    pub(crate) calls: Arc<Semaphore>,
    stop: watch::Sender<bool>,
    sessions: Arc<Sessions>,
    plans: Arc<Plans>,
    tokens: RwLock<Tokens>,
    token_directory: Option<PathBuf>,
    hosts: RwLock<Hosts>,
}

impl App {
    /// Puts a server together.
    ///
    /// # Errors
    /// The gate has no office, the journal cannot be read, or there is no thread to be had.
    pub fn new(setup: Setup) -> Result<Arc<App>, String> {
        if setup.gate.office().is_none() || setup.hosted.office().is_none() {
            return Err("the gate has nobody to ask and nowhere to write".into());
        }
        let reader =
            Reader::open(&setup.journal).map_err(|error| format!("{}: {error}", setup.journal.display()))?;
        let reader = Arc::new(reader);
        let recent = Arc::new(Recent::default());
        let follower =
            Follower::start(Arc::clone(&reader), Arc::clone(&recent), Arc::clone(&setup.presence))?;
        let hands = Hands::new().map_err(|error| format!("nothing can be started: {error}"))?;
        let (stop, _) = watch::channel(false);
        Ok(Arc::new(App {
            gates: Gates::new(Arc::new(setup.gate), setup.loader),
            hosted: Arc::new(setup.hosted),
            inquiries: Inquiries::new(Arc::clone(&setup.presence)),
            presence: setup.presence,
            reader,
            follower,
            recent,
            settled: Settled::default(),
            metrics: Metrics::default(),
            always_file: setup.always_file,
            user: setup.user,
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
            stop,
            sessions: hands.sessions,
            plans: hands.plans,
            tokens: RwLock::new(setup.tokens),
            token_directory: setup.token_directory,
            hosts: RwLock::default(),
        }))
    }

    /// The routes over this.
    pub fn router(self: &Arc<Self>) -> Router {
        routes::router(Arc::clone(self))
    }

    /// The open questions.
    ///
    /// # Errors
    /// There is no office.
    pub fn coordinator(&self) -> Result<&Coordinator, String> {
        self.gates
            .first()
            .office()
            .map(|office| office.approver.coordinator())
            .ok_or_else(|| "no office".into())
    }

    /// Denies what is open, ends what runs, and lets go of every connection.
    pub fn shut_down(&self) {
        if let Ok(coordinator) = self.coordinator() {
            coordinator.shutdown();
        }
        self.stop.send_replace(true);
    }

    /// Comes when the server ends.
    pub(crate) fn stopping(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stop = self.stop.subscribe();
        async move { drop(stop.wait_for(|stop| *stop).await) }
    }

    pub(crate) fn office(&self) -> Result<&Office, Refusal> {
        self.gates.first().office().ok_or_else(|| Refusal::failed("nobody can be asked"))
    }

    pub(crate) fn grants(&self) -> Result<&Arc<Grants>, Refusal> {
        self.office().map(|office| &office.grants)
    }

    /// Hands for one call, which share what lasts longer than it.
    pub(crate) fn hands(&self) -> Hands {
        Hands::sharing(&self.sessions, &self.plans)
    }

    pub(crate) fn with_tokens<T>(&self, look: impl FnOnce(&Tokens, &Hosts) -> T) -> T {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let hosts = self.hosts.read().unwrap_or_else(PoisonError::into_inner);
        look(&tokens, &hosts)
    }

    pub(crate) fn called(&self, hosts: Hosts) {
        *self.hosts.write().unwrap_or_else(PoisonError::into_inner) = hosts;
    }

    /// FAIL-CLOSED: nobody is left who could answer what is open, so it is refused. A yes may still be given to the next try.
    fn forsake(&self) {
        let Ok(coordinator) = self.coordinator() else { return };
        for id in self.presence.forsaken() {
            let _settled_meanwhile = coordinator.forsake(id, "whoever could answer went away");
        }
    }

    /// Looks at what may have changed on disk.
    pub(crate) fn refresh(&self) {
        self.gates.refresh();
        self.forsake();
        if let Some(directory) = &self.token_directory
            && let Ok(tokens) = Tokens::open(directory)
        {
            *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        }
    }
}
