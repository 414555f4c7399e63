//! `bailiwick mcp`: the built-in tools for any MCP client.

use std::sync::Arc;

use gate::call::RawCall;
use gate::tools::{Outcome, Plans, Sessions};
use gate::{Gate, Hands, Machine, Terms};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, Implementation,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;

use crate::calls::{Calls, Came, Forms, elicits};
use crate::client::Person;
use crate::offer::{self, People};
use crate::result;

/// The built-in tools as an MCP server. Each session has one of its own; they share the gate.
pub struct Door {
    shared: Arc<Shared>,
    session: String,
}

struct Shared {
    gate: Arc<Gate>,
    sessions: Arc<Sessions>,
    plans: Arc<Plans>,
    calls: Calls<Outcome>,
    /// For clients that have no sessions.
    session: String,
}

impl Door {
    /// A server whose calls go through this gate.
    ///
    /// # Errors
    /// No descriptor, no thread or no randomness is to be had.
    pub fn new(gate: Arc<Gate>) -> Result<Door, String> {
        let hands = Hands::new().map_err(|error| format!("nothing can be started: {error}"))?;
        let (sessions, plans, session) = (hands.sessions, hands.plans, session_name()?);
        let shared = Shared { gate, sessions, plans, calls: Calls::default(), session: session.clone() };
        Ok(Door { shared: Arc::new(shared), session })
    }

    /// The same for another session.
    ///
    /// # Errors
    /// No randomness is to be had.
    pub fn another(&self) -> Result<Door, String> {
        Ok(Door { shared: Arc::clone(&self.shared), session: session_name()? })
    }

    /// The session that a request belongs to.
    fn session(&self, context: &RequestContext<RoleServer>) -> String {
        let version = context.protocol_version();
        let without =
            version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        if without { self.shared.session.clone() } else { self.session.clone() }
    }
}

/// A name that no other session has.
pub(crate) fn session_name() -> Result<String, String> {
    Ok(format!("mcp-{}", Machine::random::<8>()?.map(|byte| format!("{byte:02x}")).concat()))
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bailiwick", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Tools that read, write and run programs in this workspace. Each call is judged by what it would do, and programs \
                 run behind a fence. A denial says why, by which rule, and what would help: do not look for a way round it.",
            )
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
        let people = if elicits(&context) { People::Reached } else { People::None };
        Ok(ListToolsResult::with_all_items(offer::all(&self.shared.gate, people)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = Value::Object(request.arguments.unwrap_or_default());
        let what = format!("{} {args}", request.name);
        let calls = &self.shared.calls;
        let came = match &request.request_state {
            Some(state) => calls.resume(&context, &what, state, request.input_responses).await,
            None => {
                let mut raw = RawCall::new(request.name.into_owned(), args);
                raw.session = Some(self.session(&context));
                let shared = Arc::clone(&self.shared);
                let work = move |at: crate::calls::At| {
                    let mut hands = Hands::sharing(&shared.sessions, &shared.plans);
                    hands.watch = Some(at.watcher());
                    hands.human = Some(Box::new(Person(at.client)));
                    let (environment, cancel) = (Machine::environment(), at.cancel);
                    shared.gate.perform(raw, Terms { environment, cancel, ..Terms::default() }, &hands)
                };
                Some(calls.run(&context, (&what, Forms::Put), work).await)
            }
        };
        Ok(answered(came, |outcome| result::of(&outcome)))
    }
}

/// The answer to a `tools/call`.
pub(crate) fn answered<T>(
    came: Option<Came<T>>,
    result: impl FnOnce(T) -> CallToolResult,
) -> CallToolResponse {
    use gate::call::ErrorKind::{Cancelled, Validation};
    match came {
        Some(Came::Done(done)) => result(done).into(),
        Some(Came::Asks(input)) => input.into(),
        Some(Came::Gone) => result::failure(Cancelled, "the call was taken back, or broke off").into(),
        None => {
            let why =
                "no call waits for this answer: it was answered before, took too long, or was another call";
            result::failure(Validation, why).into()
        }
    }
}
