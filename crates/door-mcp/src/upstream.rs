//! Another MCP server: started behind the fence, by a call that the gate lets through like every other; started again, after a
//! while, when it has ended.
//!
//! It is served as a client that can do nothing: its requests for sampling and elicitation are refused, and it has no roots. A form of its own
//! could be taken for one of Bailiwick's. What it tells by itself (progress, changes, log messages) is handed on.

#![expect(deprecated, reason = "revisions before 2026-07-28 have log messages and subscriptions")]

use std::io::{BufRead as _, BufReader, PipeReader, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gate::call::{ErrorKind, RawCall, mask, visible};
use gate::fence::{End, Reins};
use gate::policy::Server;
use gate::tools::Cancel;
use gate::{Gate, Machine, Pins, Stopped, Terms};
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, ElicitRequestParams, ElicitResult, ErrorCode,
    Implementation, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ResourceUpdatedNotificationParam, ServerCapabilities,
    ServerResult, SetLevelRequestParams, Tool,
};
use rmcp::service::{
    NotificationContext, Peer, PeerRequestOptions, RequestContext, RoleClient, RoleServer, RunningService,
    ServiceError, serve_client,
};
use rmcp::{ClientHandler, ErrorData};
use serde_json::{Map, json};
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::beside::{LONGEST_NAME, logged, shown_uri};
use crate::lines::Lines;
use crate::pinned::Known;

/// The longest message of a server.
const LONGEST: usize = 32 * 1024 * 1024;
/// How long a server may take to say what it is.
const STARTS_WITHIN: Duration = Duration::from_secs(60);
/// How long one call may take where nobody takes it back.
const LONGEST_CALL: Duration = Duration::from_secs(3600);
/// The most tools of one server.
const MOST_TOOLS: usize = 1000;
/// How long is waited before a server that has ended is started again, at first and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));

/// One other server.
pub struct Upstream {
    pub(crate) name: String,
    server: Server,
    gate: Arc<Gate>,
    pins: Arc<Pins>,
    session: String,
    state: Mutex<State>,
    progress: Arc<Forwarding>,
    /// Whether it is one of several: what it names then has its name in front.
    pub(crate) one_of_several: bool,
}

/// Whether it runs.
#[derive(Default)]
struct State {
    live: Option<Arc<Live>>,
    ended: u32,
    not_before: Option<Instant>,
}

/// A server that runs.
pub(crate) struct Live {
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Upward>>>,
    reins: Reins,
    pub(crate) tools: Vec<Tool>,
    pub(crate) known: Known,
    stale: Arc<AtomicBool>,
    end: Arc<Mutex<Option<String>>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

/// Who is told of the progress of which call, and of changes.
#[derive(Default)]
struct Forwarding {
    calls: Mutex<Vec<(ProgressToken, Peer<RoleServer>, ProgressToken)>>,
    clients: Mutex<Option<Peer<RoleServer>>>,
    /// Whether the client's revision has log messages by themselves.
    hears_logs: AtomicBool,
    /// What the client wants to hear of, since it said so.
    level: Mutex<Option<LoggingLevel>>,
}

/// What a server sees of us.
struct Upward {
    forwarding: Arc<Forwarding>,
    stale: Arc<AtomicBool>,
    /// The server's name, and whether it is one of several.
    name: String,
    one_of_several: bool,
}

/// Why a server has not answered.
pub(crate) struct Unanswered {
    pub(crate) why: String,
    /// It does not know what it was asked for.
    pub(crate) unknown: bool,
}

/// Whose call it is, for progress.
pub(crate) struct Caller {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) token: Option<ProgressToken>,
    /// Whether its revision has log messages by themselves.
    pub(crate) hears_logs: bool,
}

impl Upstream {
    /// A server that is started when it is first needed.
    #[must_use]
    pub fn new(server: Server, gate: Arc<Gate>, pins: Arc<Pins>, session: String) -> Upstream {
        let name = server.name.clone();
        let (state, progress) = (Mutex::default(), Arc::default());
        Upstream { name, server, gate, pins, session, state, progress, one_of_several: false }
    }

    /// The server, started if it does not run. It must be called from a thread that may wait.
    pub(crate) fn live(&self, caller: &Caller, cancel: &Cancel) -> Result<Arc<Live>, Stopped> {
        self.heard_by(caller);
        // Whoever else needs it meanwhile waits for the same start.
        let mut state = held(&self.state);
        if let Some(live) = &state.live {
            if live.runs() && !live.stale.load(Ordering::Acquire) {
                return Ok(Arc::clone(live));
            }
            if live.runs() {
                let again = self.listed(live);
                if let Ok(again) = again {
                    state.live = Some(Arc::clone(&again));
                    return Ok(again);
                }
            }
            state.live = None;
            self.ended(&mut state);
        }
        if let Some(left) = state.not_before.and_then(|moment| moment.checked_duration_since(Instant::now()))
        {
            let why = format!(
                "the MCP server `{}` has ended {} times; it is started again in {} ms",
                self.name,
                state.ended,
                left.as_millis()
            );
            return Err(Stopped::new(ErrorKind::Unknown, gate::By::Gate, why));
        }
        match self.start(cancel) {
            Ok(live) => {
                let live = Arc::new(live);
                state.live = Some(Arc::clone(&live));
                Ok(live)
            }
            Err(stopped) => {
                // Whoever was refused may be approved at once; what broke is not tried without end.
                if stopped.kind == ErrorKind::Unknown {
                    self.ended(&mut state);
                }
                Err(stopped)
            }
        }
    }

    /// The server, where it runs and nothing about it has to be waited for.
    pub(crate) fn live_now(&self, caller: &Caller) -> Option<Arc<Live>> {
        let state = self.state.try_lock().ok()?;
        let live = state.live.as_ref().filter(|live| live.runs() && !live.stale.load(Ordering::Acquire))?;
        self.heard_by(caller);
        Some(Arc::clone(live))
    }

    /// Whoever calls last hears of changes and of what the server says.
    fn heard_by(&self, caller: &Caller) {
        *held(&self.progress.clients) = Some(caller.peer.clone());
        self.progress.hears_logs.store(caller.hears_logs, Ordering::Release);
    }

    fn ended(&self, state: &mut State) {
        let wait = BACK_OFF.0.saturating_mul(1_u32.checked_shl(state.ended.min(16)).unwrap_or(u32::MAX));
        state.ended = state.ended.saturating_add(1);
        // The first time it is started again at once.
        if state.ended > 1 {
            state.not_before = Some(Instant::now() + wait.min(BACK_OFF.1));
        }
    }

    /// The call that starts it.
    fn call(&self) -> RawCall {
        let mut args = Map::new();
        args.insert("argv".into(), json!(self.server.command));
        if !self.server.env.is_empty() {
            let env: Map<_, _> =
                self.server.env.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            args.insert("env".into(), env.into());
        }
        if let Some(cwd) = &self.server.cwd {
            args.insert("cwd".into(), json!(cwd));
        }
        args.insert("justification".into(), json!(format!("starts the MCP server `{}`", self.name)));
        let mut raw = RawCall::new("shell_exec", args.into());
        raw.session = Some(self.session.clone());
        raw
    }

    fn start(&self, cancel: &Cancel) -> Result<Live, Stopped> {
        let broken = |why: String| Stopped::new(ErrorKind::Unknown, gate::By::Gate, why);
        let terms = Terms {
            environment: Machine::environment(),
            // A server lives as long as its client.
            untimed: true,
            cancel: cancel.clone(),
            hosts: self.server.network.clone(),
            ..Terms::default()
        };
        let permit = self.gate.admit(self.call(), terms)?;
        let pipes = || std::io::pipe().map_err(|error| broken(format!("no pipe is to be had: {error}")));
        let ((their_input, our_input), (our_output, their_output), (our_errors, their_errors)) =
            (pipes()?, pipes()?, pipes()?);
        let reins = Reins::new(None).map_err(|error| broken(format!("nothing can be started: {error}")))?;
        let end = Arc::<Mutex<Option<String>>>::default();
        let thread = {
            let (end, reins) = (Arc::clone(&end), reins.clone());
            let streams = [their_input.into(), their_output.into(), their_errors.into()];
            let serve = move || {
                let how = match permit.serve(streams, &reins) {
                    Ok(outcome) => match outcome.end {
                        End::Code(code) => format!("ended with code {code}"),
                        End::Signal(signal) => format!("was ended by signal {signal}"),
                        End::TimedOut => "took too long".into(),
                    },
                    Err(stopped) => format!(
                        "could not be started: {} ({}, by {})",
                        stopped.why,
                        stopped.kind,
                        stopped.by.name()
                    ),
                };
                *held(&end) = Some(how);
            };
            std::thread::Builder::new()
                .name("server".into())
                .spawn(serve)
                .map_err(|error| broken(format!("no thread is to be had: {error}")))?
        };
        let name = self.name.clone();
        let _told = std::thread::Builder::new().name("errors".into()).spawn(move || tell(&name, our_errors));
        let stale = Arc::new(AtomicBool::new(false));
        let upward = Upward {
            forwarding: Arc::clone(&self.progress),
            stale: Arc::clone(&stale),
            name: self.name.clone(),
            one_of_several: self.one_of_several,
        };
        let level = *held(&self.progress.level);
        let connected = Handle::current().block_on(async {
            let read = pipe::Receiver::from_owned_fd(our_output.into()).map_err(|error| error.to_string())?;
            let write = pipe::Sender::from_owned_fd(our_input.into()).map_err(|error| error.to_string())?;
            let serving = serve_client(upward, (Lines::new(read, LONGEST), write));
            let service = tokio::time::timeout(STARTS_WITHIN, serving)
                .await
                .map_err(|_| "it says nothing".to_owned())?
                .map_err(|error| error.to_string())?;
            let tools = list(service.peer()).await?;
            if let Some(level) = level.filter(|_| offers(service.peer(), |can| can.logging.is_some())) {
                // A server that does not want to know is as talkative as it likes.
                let _ignored = tokio::time::timeout(STARTS_WITHIN, set_level(service.peer(), level)).await;
            }
            Ok::<_, String>((service, tools))
        });
        let (service, tools) = match connected {
            Ok(connected) => connected,
            Err(why) => {
                reins.end();
                let _ended = thread.join();
                let how = held(&end).clone().unwrap_or_default();
                let why = visible(&mask(&why));
                return Err(broken(format!("the MCP server `{}` {how}: {why}", self.name)));
            }
        };
        let known = Known::meet(&self.pins, &self.pin_name(), &tools);
        Ok(Live {
            peer: service.peer().clone(),
            service: Mutex::new(Some(service)),
            reins,
            tools,
            known,
            stale,
            end,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// The same server with the tools that it has now.
    fn listed(&self, live: &Arc<Live>) -> Result<Arc<Live>, String> {
        live.stale.store(false, Ordering::Release);
        let tools = Handle::current().block_on(list(&live.peer))?;
        let known = Known::meet(&self.pins, &self.pin_name(), &tools);
        Ok(Arc::new(Live {
            peer: live.peer.clone(),
            service: Mutex::new(held(&live.service).take()),
            reins: live.reins.clone(),
            tools,
            known,
            stale: Arc::clone(&live.stale),
            end: Arc::clone(&live.end),
            thread: Mutex::new(held(&live.thread).take()),
        }))
    }

    /// By which its tools are remembered: another program under the same name is another server.
    fn pin_name(&self) -> String {
        json!([self.name, self.server.command]).to_string()
    }

    /// Puts a request to the server, and waits for its answer. It must be called from a thread that may wait.
    pub(crate) fn put(
        &self,
        live: &Live,
        request: ClientRequest,
        caller: &Caller,
        cancel: &Cancel,
    ) -> Result<ServerResult, Unanswered> {
        Handle::current()
            .block_on(self.answer(live, request, caller, cancel))
            .map_err(|error| self.unanswered(live, error))
    }

    /// The same from where nobody may wait. Why it has not answered is [`Upstream::unanswered`]'s to say.
    pub(crate) async fn answer(
        &self,
        live: &Live,
        request: ClientRequest,
        caller: &Caller,
        cancel: &Cancel,
    ) -> Result<ServerResult, ServiceError> {
        let taken_back = Arc::new(Notify::new());
        let _hooked = {
            let taken_back = Arc::clone(&taken_back);
            cancel.hook(move || taken_back.notify_one())
        };
        let options = PeerRequestOptions::with_timeout(LONGEST_CALL);
        let handle = live.peer.send_request_with_option(request, options).await?;
        let _forwarded = self.progress.during(&handle.progress_token, caller);
        let (id, peer) = (handle.id.clone(), live.peer.clone());
        tokio::select! {
            answer = handle.await_response() => answer,
            () = taken_back.notified() => {
                let reason = Some("the client took the call back".to_owned());
                let _gone = peer.notify_cancelled(rmcp::model::CancelledNotificationParam::new(Some(id), reason.clone())).await;
                Err(ServiceError::Cancelled { reason })
            }
        }
    }

    /// Why a server has not answered. It must be called from a thread that may wait.
    pub(crate) fn unanswered(&self, live: &Live, error: ServiceError) -> Unanswered {
        let unknown =
            matches!(&error, ServiceError::McpError(error) if error.code == ErrorCode::METHOD_NOT_FOUND);
        let why = match error {
            ServiceError::McpError(error) => {
                format!("the MCP server `{}` says: {}", self.name, visible(&mask(&error.message)))
            }
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                // Its end is known a moment after its streams are closed.
                live.settle();
                format!("the MCP server `{}` {}", self.name, live.how())
            }
            other => format!("the MCP server `{}`: {}", self.name, visible(&other.to_string())),
        };
        Unanswered { why, unknown }
    }

    /// Remembers how much the client wants to hear, for this server and for the next start of it. A server that does not run is
    /// not started for that.
    pub(crate) fn level(&self, level: LoggingLevel) {
        *held(&self.progress.level) = Some(level);
        let live = held(&self.state).live.clone();
        if let Some(live) = live.filter(|live| live.runs() && live.offers(|can| can.logging.is_some())) {
            let told = tokio::time::timeout(STARTS_WITHIN, set_level(&live.peer, level));
            let _ignored = Handle::current().block_on(told);
        }
    }
}

async fn set_level(peer: &Peer<RoleClient>, level: LoggingLevel) -> Result<(), ServiceError> {
    peer.set_level(SetLevelRequestParams::new(level)).await
}

/// Whether a server has said that it can do something.
fn offers(peer: &Peer<RoleClient>, look: impl FnOnce(&ServerCapabilities) -> bool) -> bool {
    peer.peer_info().is_some_and(|info| look(&info.capabilities))
}

impl Live {
    fn runs(&self) -> bool {
        held(&self.end).is_none() && !self.peer.is_transport_closed()
    }

    /// Whether it has said that it can do something.
    pub(crate) fn offers(&self, look: impl FnOnce(&ServerCapabilities) -> bool) -> bool {
        offers(&self.peer, look)
    }

    /// The tool of this name, where it has one.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    fn how(&self) -> String {
        held(&self.end).clone().unwrap_or_else(|| "closed its streams".into())
    }

    /// A server whose streams are closed is no server: it ends.
    fn settle(&self) {
        self.reins.end();
        for _ in 0..50 {
            if held(&self.end).is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // A list of tools was made anew: the server itself is another's now.
        let Some(thread) = held(&self.thread).take() else { return };
        drop(held(&self.service).take());
        self.reins.end();
        let _ended = thread.join();
    }
}

/// All tools that can be named.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    if peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let mut tools = Vec::new();
    let mut cursor = None;
    loop {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = tokio::time::timeout(STARTS_WITHIN, peer.list_tools(Some(page)))
            .await
            .map_err(|_| "it does not say which tools it has".to_owned())?
            .map_err(|error| error.to_string())?;
        tools.extend(page.tools.into_iter().filter(|tool| can_be_named(&tool.name)));
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() >= MOST_TOOLS {
            tools.truncate(MOST_TOOLS);
            return Ok(tools);
        }
    }
}

/// Whether rules can name a tool, and nothing else is named like it.
fn can_be_named(name: &str) -> bool {
    let sound = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(sound) && !name.starts_with('_')
}

/// What a server writes beside the protocol, line by line, as whoever runs the proxy may see it.
fn tell(name: &str, errors: PipeReader) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match errors.by_ref().take(4096).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => Machine::tell(format_args!(
                "[{name}] {}",
                visible(&mask(String::from_utf8_lossy(&line).trim_end()))
            )),
        }
    }
}

impl Forwarding {
    /// Hands progress on as long as the answer lives.
    fn during(self: &Arc<Self>, theirs: &ProgressToken, caller: &Caller) -> Forwarded {
        if let Some(ours) = &caller.token {
            held(&self.calls).push((theirs.clone(), caller.peer.clone(), ours.clone()));
        }
        Forwarded { forwarding: Arc::clone(self), token: theirs.clone() }
    }
}

struct Forwarded {
    forwarding: Arc<Forwarding>,
    token: ProgressToken,
}

impl Drop for Forwarded {
    fn drop(&mut self) {
        held(&self.forwarding.calls).retain(|(theirs, _, _)| *theirs != self.token);
    }
}

impl ClientHandler for Upward {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("bailiwick", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "elicitation/create", None))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let found = held(&self.forwarding.calls)
            .iter()
            .find(|(theirs, _, _)| *theirs == params.progress_token)
            .map(|(_, peer, ours)| (peer.clone(), ours.clone()));
        let Some((peer, ours)) = found else { return };
        let mut now = ProgressNotificationParam::new(ours, params.progress);
        now.total = params.total;
        now.message = params.message.map(|text| visible(&mask(&text)).chars().take(200).collect());
        let _gone = peer.notify_progress(now).await;
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.stale.store(true, Ordering::Release);
        if let Some(client) = self.client() {
            let _gone = client.notify_tool_list_changed().await;
        }
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        if let Some(client) = self.client() {
            let _gone = client.notify_resource_list_changed().await;
        }
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        if let Some(client) = self.client() {
            let _gone = client.notify_prompt_list_changed().await;
        }
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let Some(client) = self.client().filter(|_| params.uri.len() <= LONGEST_NAME) else { return };
        let uri = if self.one_of_several { shown_uri(&self.name, &params.uri) } else { params.uri };
        let _gone = client.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let hears = self.forwarding.hears_logs.load(Ordering::Acquire);
        let Some(client) = self.client().filter(|_| hears) else { return };
        let _gone = client.notify_logging_message(logged(&self.name, params)).await;
    }
}

impl Upward {
    fn client(&self) -> Option<Peer<RoleServer>> {
        held(&self.forwarding.clients).clone()
    }
}

fn held<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
