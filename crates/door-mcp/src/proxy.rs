//! `bailiwick mcp proxy`: other people's MCP servers, with the gate in front of them. Every `tools/call`, `resources/read` and
//! `prompts/get` is judged, asked about and written down before the server hears of it.

#![expect(deprecated, reason = "revisions before 2026-07-28 have log messages and subscriptions")]

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use gate::call::{ErrorKind, RawCall};
use gate::tools::{Outcome, Plans, Sessions};
use gate::{Caveat, Gate, Hands, Terms};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, GetPromptRequest,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt,
    ReadResourceRequest, ReadResourceRequestParams, ReadResourceResponse, Resource, ResourceTemplate,
    ServerCapabilities, ServerConfig, ServerResult, SetLevelRequestParams, SubscribeRequestParams, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Map, Value, json};

use crate::at_once::Turn;
use crate::beside::{Listed, Read};
use crate::calls::{At, Calls, Came, Forms, is_new};
use crate::client::Person;
use crate::door::{answered, session_name};
use crate::upstream::{Caller, Live, Upstream};
use crate::{bounded, result};

/// What stands between the name of a server and that of its tool, where there are several servers.
const BETWEEN: &str = "__";

/// Other servers, behind the gate.
pub struct Proxy {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) gate: Arc<Gate>,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    sessions: Arc<Sessions>,
    plans: Arc<Plans>,
    session: String,
    /// The most bytes of a result.
    most: usize,
    tools: Calls<CallToolResult>,
    lists: Calls<Result<Vec<Tool>, String>>,
    others: Calls<Read>,
    /// How many calls of tools are under way.
    under_way: Arc<AtomicUsize>,
}

/// What a server is asked, once the gate has let it through.
pub(crate) struct Asked {
    /// The tool that rules and the journal know.
    pub(crate) tool: String,
    pub(crate) args: Value,
    pub(crate) request: ClientRequest,
    pub(crate) caveat: Caveat,
}

impl Proxy {
    /// A name for the session that its servers and its calls belong to.
    ///
    /// # Errors
    /// No randomness is to be had.
    pub fn session() -> Result<String, String> {
        session_name()
    }

    /// In front of these servers.
    ///
    /// # Errors
    /// No descriptor or no thread is to be had.
    pub fn new(gate: Arc<Gate>, mut upstreams: Vec<Upstream>, session: String) -> Result<Proxy, String> {
        let several = upstreams.len() > 1;
        upstreams.iter_mut().for_each(|upstream| upstream.one_of_several = several);
        let hands = Hands::new().map_err(|error| format!("nothing can be started: {error}"))?;
        let most = usize::try_from(gate.config().limits().output_bytes.value).unwrap_or(usize::MAX);
        let shared = Shared {
            gate,
            upstreams: upstreams.into_iter().map(Arc::new).collect(),
            sessions: hands.sessions,
            plans: hands.plans,
            session,
            most,
            tools: Calls::default(),
            lists: Calls::default(),
            others: Calls::default(),
            under_way: Arc::default(),
        };
        Ok(Proxy { shared: Arc::new(shared) })
    }
}

impl Shared {
    /// The one server, where there is one: what has no name of its own can only be its.
    pub(crate) fn only(&self) -> Option<&Arc<Upstream>> {
        match self.upstreams.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What a client calls a tool.
    pub(crate) fn shown_name(&self, upstream: &Upstream, tool: &str) -> String {
        match self.only() {
            Some(_) => tool.to_owned(),
            None => format!("{}{BETWEEN}{tool}", upstream.name),
        }
    }

    /// The server and the tool that a client means.
    pub(crate) fn named<'a>(&self, name: &'a str) -> Option<(&Arc<Upstream>, &'a str)> {
        if let Some(only) = self.only() {
            return Some((only, name));
        }
        let (server, tool) = name.split_once(BETWEEN)?;
        self.server(server).map(|upstream| (upstream, tool))
    }

    /// The server of this name.
    pub(crate) fn server(&self, name: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.name == name)
    }

    /// The tools of all servers that the policy does not deny.
    fn list(&self, caller: &Caller, at: &At) -> Result<Vec<Tool>, String> {
        let mut all = Vec::new();
        for upstream in &self.upstreams {
            let live = match upstream.live(caller, &at.cancel) {
                Ok(live) => live,
                Err(stopped) if self.only().is_some() => return Err(gate::refusal(&stopped).stderr),
                Err(stopped) => {
                    gate::Machine::tell(format_args!(
                        "bailiwick: {}: {}",
                        upstream.name,
                        gate::refusal(&stopped).stderr
                    ));
                    continue;
                }
            };
            for tool in &live.tools {
                let name = full_name(upstream, &tool.name);
                if self.gate.offers(RawCall::new(name, json!({}))) {
                    let mut shown = live.known.shown(tool);
                    shown.name = self.shown_name(upstream, &tool.name).into();
                    all.push(shown);
                }
            }
        }
        Ok(all)
    }

    /// One `tools/call`.
    fn call(
        self: &Arc<Self>,
        request: CallToolRequestParams,
        caller: &Arc<Caller>,
        at: At,
    ) -> CallToolResult {
        let Some((upstream, name)) = self.named(&request.name) else {
            return result::failure(ErrorKind::NotFound, &format!("there is no tool `{}`", request.name));
        };
        let live = match upstream.live(caller, &at.cancel) {
            Ok(live) => live,
            Err(stopped) => return result::of(&gate::refusal(&stopped)),
        };
        let Some(tool) = live.tool(name).cloned() else {
            let why = format!("the MCP server `{}` has no tool `{name}`", upstream.name);
            return result::failure(ErrorKind::NotFound, &why);
        };
        let asked = Asked::of_tool(upstream, &live, &tool, request.arguments);
        let accept = {
            let live = Arc::clone(&live);
            move || live.known.accept(&tool)
        };
        let answered = self.through(upstream, &live, asked, caller, at, accept);
        self.handed_back(upstream, answered)
    }

    /// What came of a call, as its client gets it.
    pub(crate) fn handed_back(
        &self,
        upstream: &Upstream,
        answered: Result<ServerResult, Box<Outcome>>,
    ) -> CallToolResult {
        match answered {
            Ok(ServerResult::CallToolResult(mut result)) => {
                self.name_links(upstream, result.content.iter_mut());
                bounded::pass(result, &upstream.name, self.most)
            }
            Ok(_) => {
                let why = format!(
                    "the MCP server `{}` answered with something that is no result of a tool",
                    upstream.name
                );
                result::failure(ErrorKind::Unknown, &why)
            }
            Err(outcome) => result::of(&outcome),
        }
    }

    /// A request through the gate to its server.
    pub(crate) fn through(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        live: &Arc<Live>,
        asked: Asked,
        caller: &Arc<Caller>,
        at: At,
        accepted: impl Fn() + Send + Sync + 'static,
    ) -> Result<ServerResult, Box<Outcome>> {
        let Asked { tool, args, request, caveat } = asked;
        let answer = Arc::<Mutex<Option<ServerResult>>>::default();
        let elsewhere = {
            let (answer, upstream, live) = (Arc::clone(&answer), Arc::clone(upstream), Arc::clone(live));
            let (caller, request) = (Arc::clone(caller), Mutex::new(Some(request)));
            move |_tool: &str, _args: &Value, cancel: &gate::tools::Cancel| {
                accepted();
                let Some(request) = request.lock().unwrap_or_else(PoisonError::into_inner).take() else {
                    return Outcome::error(ErrorKind::Unknown, "the call was made before".into());
                };
                match upstream.put(&live, request, &caller, cancel) {
                    Ok(result) => {
                        let outcome = outcome_of(&result);
                        *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                        outcome
                    }
                    Err(unanswered) => Outcome::error(ErrorKind::Unknown, unanswered.why),
                }
            }
        };
        let mut hands = Hands::sharing(&self.sessions, &self.plans);
        hands.human = Some(Box::new(Person(at.client)));
        hands.elsewhere = Some(Arc::new(elsewhere));
        let raw = self.raw(tool, args);
        let terms = Terms { cancel: at.cancel, caveat, ..Terms::default() };
        let outcome = self.gate.perform(raw, terms, &hands);
        let answered = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answered.ok_or_else(|| Box::new(outcome))
    }
}

impl Shared {
    /// A call of this session.
    pub(crate) fn raw(&self, tool: String, args: Value) -> RawCall {
        let mut raw = RawCall::new(tool, args);
        raw.session = Some(self.session.clone());
        raw
    }
}

impl Asked {
    /// A call of a tool.
    pub(crate) fn of_tool(
        upstream: &Upstream,
        live: &Live,
        tool: &Tool,
        arguments: Option<Map<String, Value>>,
    ) -> Asked {
        let args = Value::Object(arguments.clone().unwrap_or_default());
        let mut params = CallToolRequestParams::new(tool.name.clone());
        params.arguments = arguments;
        Asked {
            tool: full_name(upstream, &tool.name),
            args,
            request: ClientRequest::CallToolRequest(CallToolRequest::new(params)),
            caveat: live.known.caveat(&upstream.name, tool),
        }
    }
}

/// What the journal is told of an answer: the server's own words are the client's.
pub(crate) fn outcome_of(answer: &ServerResult) -> Outcome {
    match answer {
        ServerResult::CallToolResult(result) if result.is_error == Some(true) => {
            Outcome::error(ErrorKind::Unknown, "the tool failed".into())
        }
        _ => Outcome::success(String::new(), Value::Null),
    }
}

/// What rules and the journal call a tool.
pub(crate) fn full_name(upstream: &Upstream, tool: &str) -> String {
    format!("mcp__{}__{tool}", upstream.name)
}

fn caller(context: &RequestContext<RoleServer>) -> Arc<Caller> {
    Arc::new(Caller {
        peer: context.peer.clone(),
        token: context.meta.get_progress_token(),
        hears_logs: !is_new(context),
    })
}

impl Proxy {
    /// Does something with the servers besides calling their tools, on a thread of its own.
    async fn beside(
        &self,
        context: &RequestContext<RoleServer>,
        what: &str,
        work: impl FnOnce(&Arc<Shared>, &Arc<Caller>, At) -> Read + Send + 'static,
    ) -> Result<ServerResult, ErrorData> {
        let (shared, caller) = (Arc::clone(&self.shared), caller(context));
        let work = move |at: At| work(&shared, &caller, at);
        match self.shared.others.run(context, (what, Forms::ByRequest), work).await {
            Came::Done(Ok(result)) => Ok(result),
            Came::Done(Err(outcome)) => Err(refused(&outcome)),
            Came::Asks(_) | Came::Gone => Err(ErrorData::invalid_request("the request was taken back", None)),
        }
    }

    async fn listed<T: Listed>(
        &self,
        page: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        self.beside(context, "list", move |shared, caller, at| shared.listing::<T>(page, caller, &at)).await
    }

    async fn read(
        &self,
        context: &RequestContext<RoleServer>,
        what: String,
        again: (Option<String>, Option<rmcp::model::InputResponses>),
        work: impl FnOnce(&Arc<Shared>, &Arc<Caller>, At) -> Read + Send + 'static,
    ) -> Result<Came<ServerResult>, ErrorData> {
        let came = match again {
            (Some(state), responses) => self.shared.others.resume(context, &what, &state, responses).await,
            (None, _) => {
                let (shared, caller) = (Arc::clone(&self.shared), caller(context));
                let work = move |at: At| work(&shared, &caller, at);
                Some(self.shared.others.run(context, (&what, Forms::Put), work).await)
            }
        };
        match came {
            Some(Came::Done(Ok(result))) => Ok(Came::Done(result)),
            Some(Came::Asks(input)) => Ok(Came::Asks(input)),
            Some(Came::Done(Err(outcome))) => Err(refused(&outcome)),
            Some(Came::Gone) | None => Err(ErrorData::invalid_request("the request was taken back", None)),
        }
    }

    async fn listens(
        &self,
        uri: String,
        begin: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let work =
            move |shared: &Arc<Shared>, caller: &Arc<Caller>, at: At| shared.listen(&uri, begin, caller, &at);
        self.beside(context, "listen", work).await.map(drop)
    }
}

/// What came of a request that is no call of a tool, where it did not come to its end.
fn refused(outcome: &Outcome) -> ErrorData {
    let kind = outcome.error_kind.map_or("unknown", ErrorKind::name);
    let data = json!({"bailiwick": {"error_kind": kind}});
    ErrorData::invalid_request(format!("Bailiwick: {}", outcome.stderr), Some(data))
}

/// A server answered with something else than it was asked for.
fn other() -> ErrorData {
    ErrorData::internal_error("the server answered with something else", None)
}

impl ServerHandler for Proxy {
    fn get_info(&self) -> ServerConfig {
        // What a server really has is known when it runs: what it does not have is empty.
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .enable_logging()
            .build();
        let names: Vec<&str> = self.shared.upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("bailiwick-proxy", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!(
                "Tools of {}, behind Bailiwick. Each call is judged before its server hears of it. A denial says why, by which \
                 rule, and what would help: do not look for a way round it.",
                names.join(", ")
            ))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(result::not_understood(&request.method))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (shared, caller) = (Arc::clone(&self.shared), caller(&context));
        let work = move |at: At| shared.list(&caller, &at);
        match self.shared.lists.run(&context, ("tools/list", Forms::ByRequest), work).await {
            Came::Done(Ok(tools)) => Ok(ListToolsResult::with_all_items(tools)),
            Came::Done(Err(why)) => {
                gate::Machine::tell(format_args!("bailiwick: {why}"));
                Err(ErrorData::invalid_request(format!("Bailiwick: {why}"), None))
            }
            Came::Asks(_) | Came::Gone => Err(ErrorData::invalid_request("the request was taken back", None)),
        }
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let what = format!("{} {}", request.name, json!(request.arguments));
        let came = match request.request_state.take() {
            Some(state) => self.shared.tools.resume(&context, &what, &state, request.input_responses).await,
            None => {
                let (shared, caller) = (Arc::clone(&self.shared), caller(&context));
                let turn = Turn::of(&self.shared.under_way);
                Some(match shared.at_once(&request, what.len(), &caller, turn) {
                    Ok((cancel, work)) => self.shared.tools.run_here(&context, what, &cancel, work).await,
                    Err(turn) => {
                        let work = move |at: At| {
                            let _turn = turn;
                            shared.call(request, &caller, at)
                        };
                        self.shared.tools.run(&context, (&what, Forms::Put), work).await
                    }
                })
            }
        };
        Ok(answered(came, |result| result))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        match self.listed::<Resource>(request, &context).await? {
            ServerResult::ListResourcesResult(result) => self.small(result),
            _ => Err(other()),
        }
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        match self.listed::<ResourceTemplate>(request, &context).await? {
            ServerResult::ListResourceTemplatesResult(result) => self.small(result),
            _ => Err(other()),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        match self.listed::<Prompt>(request, &context).await? {
            ServerResult::ListPromptsResult(result) => self.small(result),
            _ => Err(other()),
        }
    }

    async fn read_resource(
        &self,
        mut request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let again = (request.request_state.take(), request.input_responses.take());
        let what = format!("resources/read {}", request.uri);
        let work = move |shared: &Arc<Shared>, caller: &Arc<Caller>, at: At| {
            let (upstream, uri) = shared.resource(&request.uri)?;
            let params = ReadResourceRequestParams::new(uri);
            let asked = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
            shared.read(upstream, ("resources/read", json!({"uri": uri}), asked), caller, at)
        };
        match self.read(&context, what, again, work).await? {
            Came::Done(ServerResult::ReadResourceResult(result)) => {
                self.small(result).map(ReadResourceResponse::Complete)
            }
            Came::Asks(input) => Ok(input.into()),
            _ => Err(other()),
        }
    }

    async fn get_prompt(
        &self,
        mut request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let again = (request.request_state.take(), request.input_responses.take());
        let what = format!("prompts/get {} {}", request.name, json!(request.arguments));
        let work = move |shared: &Arc<Shared>, caller: &Arc<Caller>, at: At| {
            let (upstream, name) = shared.prompt(&request.name)?;
            let args = json!({"name": name, "arguments": request.arguments});
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = request.arguments.clone();
            let asked = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
            shared.read(upstream, ("prompts/get", args, asked), caller, at)
        };
        match self.read(&context, what, again, work).await? {
            Came::Done(ServerResult::GetPromptResult(result)) => {
                self.small(result).map(GetPromptResponse::Complete)
            }
            Came::Asks(input) => Ok(input.into()),
            _ => Err(other()),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let work =
            move |shared: &Arc<Shared>, caller: &Arc<Caller>, at: At| shared.complete(request, caller, at);
        match self.beside(&context, "complete", work).await? {
            ServerResult::CompleteResult(result) => self.small(result),
            _ => Err(other()),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.listens(request.uri, true, &context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.listens(request.uri, false, &context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (shared, level) = (Arc::clone(&self.shared), request.level);
        let told = tokio::task::spawn_blocking(move || {
            shared.upstreams.iter().for_each(|upstream| upstream.level(level));
        });
        told.await.map_err(|_| ErrorData::internal_error("it broke off", None))
    }
}

impl Proxy {
    /// What is read, unless it is larger than any result may be.
    fn small<T: serde::Serialize>(&self, result: T) -> Result<T, ErrorData> {
        let size = serde_json::to_string(&result).map_or(usize::MAX, |text| text.len());
        if size > self.shared.most {
            let why = format!(
                "Bailiwick: the answer has {size} bytes, more than {} (`sandbox.limits.output_bytes`)",
                self.shared.most
            );
            return Err(ErrorData::invalid_request(why, None));
        }
        Ok(result)
    }
}
