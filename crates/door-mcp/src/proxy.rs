//! `bailiwick mcp proxy`: other people's MCP servers, with the gate in front of them. Every `tools/call`, `resources/read` and
//! `prompts/get` is judged, asked about and written down before the server hears of it.

use std::sync::{Arc, Mutex, PoisonError};

use gate::call::{ErrorKind, RawCall};
use gate::tools::{Outcome, Plans, Sessions};
use gate::{Caveat, Gate, Hands, Terms};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest,
    GetPromptRequest, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    ListPromptsRequest, ListPromptsResult, ListResourceTemplatesRequest, ListResourceTemplatesResult,
    ListResourcesRequest, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    ServerResult, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};

use crate::calls::{At, Calls, Came, Forms};
use crate::client::Person;
use crate::door::{answered, session_name};
use crate::upstream::{Caller, Upstream};
use crate::{bounded, result};

/// What stands between the name of a server and that of its tool, where there are several servers.
const BETWEEN: &str = "__";

/// Other servers, behind the gate.
pub struct Proxy {
    shared: Arc<Shared>,
}

struct Shared {
    gate: Arc<Gate>,
    upstreams: Vec<Arc<Upstream>>,
    sessions: Arc<Sessions>,
    plans: Arc<Plans>,
    session: String,
    /// The most bytes of a result.
    most: usize,
    tools: Calls<CallToolResult>,
    lists: Calls<Result<Vec<Tool>, String>>,
    others: Calls<Result<ServerResult, Box<Outcome>>>,
}

/// What a server is asked, once the gate has let it through.
struct Asked {
    /// The tool that rules and the journal know.
    tool: String,
    args: Value,
    request: ClientRequest,
    caveat: Caveat,
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
    pub fn new(gate: Arc<Gate>, upstreams: Vec<Upstream>, session: String) -> Result<Proxy, String> {
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
        };
        Ok(Proxy { shared: Arc::new(shared) })
    }
}

impl Shared {
    /// The one server, where there is one: what has no name of its own can only be its.
    fn only(&self) -> Option<&Arc<Upstream>> {
        match self.upstreams.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What a client calls a tool.
    fn shown_name(&self, upstream: &Upstream, tool: &str) -> String {
        match self.only() {
            Some(_) => tool.to_owned(),
            None => format!("{}{BETWEEN}{tool}", upstream.name),
        }
    }

    /// The server and the tool that a client means.
    fn named<'a>(&self, name: &'a str) -> Option<(&Arc<Upstream>, &'a str)> {
        if let Some(only) = self.only() {
            return Some((only, name));
        }
        let (server, tool) = name.split_once(BETWEEN)?;
        self.upstreams.iter().find(|upstream| upstream.name == server).map(|upstream| (upstream, tool))
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
        let args = Value::Object(request.arguments.clone().unwrap_or_default());
        let mut params = CallToolRequestParams::new(tool.name.clone());
        params.arguments = request.arguments;
        let asked = Asked {
            tool: full_name(upstream, name),
            args,
            request: ClientRequest::CallToolRequest(CallToolRequest::new(params)),
            caveat: live.known.caveat(&upstream.name, &tool),
        };
        let accept = {
            let live = Arc::clone(&live);
            move || live.known.accept(&tool)
        };
        match self.through(upstream, &live, asked, caller, at, accept) {
            Ok(ServerResult::CallToolResult(result)) => bounded::pass(result, &upstream.name, self.most),
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
    fn through(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        live: &Arc<crate::upstream::Live>,
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
                        let failed = matches!(&result, ServerResult::CallToolResult(result) if result.is_error == Some(true));
                        *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                        if failed {
                            Outcome::error(ErrorKind::Unknown, "the tool failed".into())
                        } else {
                            Outcome::success(String::new(), Value::Null)
                        }
                    }
                    Err(why) => Outcome::error(ErrorKind::Unknown, why),
                }
            }
        };
        let mut hands = Hands::sharing(&self.sessions, &self.plans);
        hands.human = Some(Box::new(Person(at.client)));
        hands.elsewhere = Some(Arc::new(elsewhere));
        let mut raw = RawCall::new(tool, args);
        raw.session = Some(self.session.clone());
        let terms = Terms { cancel: at.cancel, caveat, ..Terms::default() };
        let outcome = self.gate.perform(raw, terms, &hands);
        let answered = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answered.ok_or_else(|| Box::new(outcome))
    }

    /// Something of the only server that is no tool: `method` is what rules call it.
    fn read(
        self: &Arc<Self>,
        (method, args, request): (&str, Value, ClientRequest),
        caller: &Arc<Caller>,
        at: At,
    ) -> Result<ServerResult, Box<Outcome>> {
        let Some(upstream) = self.only() else {
            let why = "resources and prompts pass where the proxy stands in front of one server";
            return Err(Box::new(Outcome::error(ErrorKind::NotFound, why.into())));
        };
        let live = upstream.live(caller, &at.cancel).map_err(|stopped| Box::new(gate::refusal(&stopped)))?;
        let asked = Asked { tool: full_name(upstream, method), args, request, caveat: Caveat::default() };
        self.through(upstream, &live, asked, caller, at, || {})
    }

    /// What the only server lists besides tools. Nothing is read by that.
    fn listing(
        &self,
        request: ClientRequest,
        caller: &Caller,
        at: &At,
    ) -> Result<ServerResult, Box<Outcome>> {
        let nothing = || Box::new(Outcome::error(ErrorKind::NotFound, "there is nothing to list".into()));
        let upstream = self.only().ok_or_else(nothing)?;
        let live = upstream.live(caller, &at.cancel).map_err(|stopped| Box::new(gate::refusal(&stopped)))?;
        upstream
            .put(&live, request, caller, &at.cancel)
            .map_err(|why| Box::new(Outcome::error(ErrorKind::Unknown, why)))
    }
}

/// What rules and the journal call a tool.
fn full_name(upstream: &Upstream, tool: &str) -> String {
    format!("mcp__{}__{tool}", upstream.name)
}

fn caller(context: &RequestContext<RoleServer>) -> Arc<Caller> {
    Arc::new(Caller { peer: context.peer.clone(), token: context.meta.get_progress_token() })
}

impl Proxy {
    async fn listed(
        &self,
        request: ClientRequest,
        context: &RequestContext<RoleServer>,
    ) -> Option<ServerResult> {
        let (shared, caller) = (Arc::clone(&self.shared), caller(context));
        shared.only()?;
        let work = move |at: At| shared.listing(request, &caller, &at);
        match self.shared.others.run(context, ("list", Forms::ByRequest), work).await {
            Came::Done(Ok(result)) => Some(result),
            // A server that has none says so with an error.
            Came::Done(Err(_)) | Came::Asks(_) | Came::Gone => None,
        }
    }

    async fn read(
        &self,
        context: &RequestContext<RoleServer>,
        asked: (&'static str, Value, ClientRequest),
        again: (Option<String>, Option<rmcp::model::InputResponses>),
    ) -> Result<Came<ServerResult>, ErrorData> {
        let what = format!("{} {}", asked.0, asked.1);
        let came = match again {
            (Some(state), responses) => self.shared.others.resume(context, &what, &state, responses).await,
            (None, _) => {
                let (shared, caller) = (Arc::clone(&self.shared), caller(context));
                let work = move |at: At| shared.read(asked, &caller, at);
                Some(self.shared.others.run(context, (&what, Forms::Put), work).await)
            }
        };
        match came {
            Some(Came::Done(Ok(result))) => Ok(Came::Done(result)),
            Some(Came::Asks(input)) => Ok(Came::Asks(input)),
            Some(Came::Done(Err(outcome))) => {
                let kind = outcome.error_kind.map_or("unknown", ErrorKind::name);
                let data = json!({"bailiwick": {"error_kind": kind}});
                Err(ErrorData::invalid_request(format!("Bailiwick: {}", outcome.stderr), Some(data)))
            }
            Some(Came::Gone) | None => Err(ErrorData::invalid_request("the request was taken back", None)),
        }
    }
}

/// A server answered with something else than it was asked for.
fn other() -> ErrorData {
    ErrorData::internal_error("the server answered with something else", None)
}

impl ServerHandler for Proxy {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = match self.shared.only() {
            Some(_) => tools.enable_resources().enable_prompts().build(),
            None => tools.build(),
        };
        let names: Vec<&str> = self.shared.upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("bailiwick-proxy", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!(
                "Tools of {}, behind Bailiwick. Each call is judged before its server hears of it. A denial says why, by which \
                 rule, and what would help: do not look for a way round it.",
                names.join(", ")
            ))
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
                let work = move |at: At| shared.call(request, &caller, at);
                Some(self.shared.tools.run(&context, (&what, Forms::Put), work).await)
            }
        };
        Ok(answered(came, |result| result))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let request = ListResourcesRequest { params: request, ..Default::default() };
        match self.listed(ClientRequest::ListResourcesRequest(request), &context).await {
            Some(ServerResult::ListResourcesResult(result)) => Ok(result),
            _ => Ok(ListResourcesResult::default()),
        }
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let request = ListResourceTemplatesRequest { params: request, ..Default::default() };
        match self.listed(ClientRequest::ListResourceTemplatesRequest(request), &context).await {
            Some(ServerResult::ListResourceTemplatesResult(result)) => Ok(result),
            _ => Ok(ListResourceTemplatesResult::default()),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let request = ListPromptsRequest { params: request, ..Default::default() };
        match self.listed(ClientRequest::ListPromptsRequest(request), &context).await {
            Some(ServerResult::ListPromptsResult(result)) => Ok(result),
            _ => Ok(ListPromptsResult::default()),
        }
    }

    async fn read_resource(
        &self,
        mut request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let again = (request.request_state.take(), request.input_responses.take());
        let params = ReadResourceRequestParams::new(request.uri.clone());
        let asked = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        match self.read(&context, ("resources/read", json!({"uri": request.uri}), asked), again).await? {
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
        let args = json!({"name": request.name, "arguments": request.arguments});
        request.meta = None;
        let asked = ClientRequest::GetPromptRequest(GetPromptRequest::new(request));
        match self.read(&context, ("prompts/get", args, asked), again).await? {
            Came::Done(ServerResult::GetPromptResult(result)) => {
                self.small(result).map(GetPromptResponse::Complete)
            }
            Came::Asks(input) => Ok(input.into()),
            _ => Err(other()),
        }
    }
}

impl Proxy {
    /// What is read, unless it is larger than any result may be.
    fn small<T: Measured>(&self, result: T) -> Result<T, ErrorData> {
        let size = result.size();
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

/// How large something is on its way to the client.
trait Measured {
    fn size(&self) -> usize;
}

impl Measured for ReadResourceResult {
    fn size(&self) -> usize {
        serde_json::to_string(self).map_or(usize::MAX, |text| text.len())
    }
}

impl Measured for GetPromptResult {
    fn size(&self) -> usize {
        serde_json::to_string(self).map_or(usize::MAX, |text| text.len())
    }
}
