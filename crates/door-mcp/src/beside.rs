//! What other servers have besides tools: resources, prompts, completions, log messages. Reading is judged like every call; listing
//! and hearing of changes is not, but what the policy denies is neither listed nor listened for.
//!
//! Where there are several servers, a prompt is called `SERVER__PROMPT` and a resource `mcp:SERVER/URI`.

#![expect(deprecated, reason = "revisions before 2026-07-28 have log messages and subscriptions")]

use std::sync::Arc;

use gate::call::{ErrorKind, RawCall, mask, visible};
use gate::policy::Decision;
use gate::tools::Outcome;
use gate::{Caveat, Machine};
use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, ContentBlock, ListPromptsRequest,
    ListPromptsResult, ListResourceTemplatesRequest, ListResourceTemplatesResult, ListResourcesRequest,
    ListResourcesResult, LoggingMessageNotificationParam, PaginatedRequestParams, Prompt, Reference,
    Resource, ResourceContents, ResourceTemplate, ServerCapabilities, ServerResult, SubscribeRequest,
    SubscribeRequestParams, UnsubscribeRequest, UnsubscribeRequestParams,
};
use serde_json::{Value, json};

use crate::calls::At;
use crate::proxy::{Asked, Shared, full_name};
use crate::upstream::{Caller, Live, Upstream};

/// The most that is listed of one of several servers.
const MOST_LISTED: usize = 1000;
/// The longest name or URI that is handed on.
pub(crate) const LONGEST_NAME: usize = 8192;
/// The longest log message.
const LONGEST_LOG: usize = 16 * 1024;
/// What stands before the URI of one of several servers' resources.
const SCHEME: &str = "mcp:";

/// What reading came to.
pub(crate) type Read = Result<ServerResult, Box<Outcome>>;

/// The URI of a resource of one of several servers, as a client sees it.
pub(crate) fn shown_uri(server: &str, uri: &str) -> String {
    format!("{SCHEME}{server}/{uri}")
}

/// Something that servers list.
pub(crate) trait Listed: Sized {
    /// Whether a server that can do this has some.
    fn offered(can: &ServerCapabilities) -> bool;
    /// Asks for a page.
    fn request(page: Option<PaginatedRequestParams>) -> ClientRequest;
    /// A page, and where the next begins.
    fn page(result: ServerResult) -> Option<(Vec<Self>, Option<String>)>;
    /// The answer to a client.
    fn answer(all: Vec<Self>, next: Option<String>) -> ServerResult;
    /// Reading it: the method, and the arguments as far as they are known.
    fn reading(&self) -> (&'static str, Value);
    /// Puts the server's name in front.
    fn name(&mut self, shared: &Shared, upstream: &Upstream);
}

impl Listed for Resource {
    fn offered(can: &ServerCapabilities) -> bool {
        can.resources.is_some()
    }

    fn request(params: Option<PaginatedRequestParams>) -> ClientRequest {
        ClientRequest::ListResourcesRequest(ListResourcesRequest { params, ..Default::default() })
    }

    fn page(result: ServerResult) -> Option<(Vec<Self>, Option<String>)> {
        match result {
            ServerResult::ListResourcesResult(page) => Some((page.resources, page.next_cursor)),
            _ => None,
        }
    }

    fn answer(resources: Vec<Self>, next_cursor: Option<String>) -> ServerResult {
        let page = ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources) };
        ServerResult::ListResourcesResult(page)
    }

    fn reading(&self) -> (&'static str, Value) {
        ("resources/read", json!({"uri": self.uri}))
    }

    fn name(&mut self, shared: &Shared, upstream: &Upstream) {
        self.uri = shared.uri_of(upstream, &self.uri);
    }
}

impl Listed for ResourceTemplate {
    fn offered(can: &ServerCapabilities) -> bool {
        can.resources.is_some()
    }

    fn request(params: Option<PaginatedRequestParams>) -> ClientRequest {
        let request = ListResourceTemplatesRequest { params, ..Default::default() };
        ClientRequest::ListResourceTemplatesRequest(request)
    }

    fn page(result: ServerResult) -> Option<(Vec<Self>, Option<String>)> {
        match result {
            ServerResult::ListResourceTemplatesResult(page) => {
                Some((page.resource_templates, page.next_cursor))
            }
            _ => None,
        }
    }

    fn answer(templates: Vec<Self>, next_cursor: Option<String>) -> ServerResult {
        let all = ListResourceTemplatesResult::with_all_items(templates);
        ServerResult::ListResourceTemplatesResult(ListResourceTemplatesResult { next_cursor, ..all })
    }

    fn reading(&self) -> (&'static str, Value) {
        ("resources/read", json!({}))
    }

    fn name(&mut self, shared: &Shared, upstream: &Upstream) {
        self.uri_template = shared.uri_of(upstream, &self.uri_template);
    }
}

impl Listed for Prompt {
    fn offered(can: &ServerCapabilities) -> bool {
        can.prompts.is_some()
    }

    fn request(params: Option<PaginatedRequestParams>) -> ClientRequest {
        ClientRequest::ListPromptsRequest(ListPromptsRequest { params, ..Default::default() })
    }

    fn page(result: ServerResult) -> Option<(Vec<Self>, Option<String>)> {
        match result {
            ServerResult::ListPromptsResult(page) => Some((page.prompts, page.next_cursor)),
            _ => None,
        }
    }

    fn answer(prompts: Vec<Self>, next_cursor: Option<String>) -> ServerResult {
        let page = ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(prompts) };
        ServerResult::ListPromptsResult(page)
    }

    fn reading(&self) -> (&'static str, Value) {
        ("prompts/get", json!({"name": self.name}))
    }

    fn name(&mut self, shared: &Shared, upstream: &Upstream) {
        self.name = shared.shown_name(upstream, &self.name);
    }
}

fn failed(kind: ErrorKind, why: impl Into<String>) -> Box<Outcome> {
    Box::new(Outcome::error(kind, why.into()))
}

impl Shared {
    fn uri_of(&self, upstream: &Upstream, uri: &str) -> String {
        if upstream.one_of_several { shown_uri(&upstream.name, uri) } else { uri.to_owned() }
    }

    /// The server and the resource that a client means.
    pub(crate) fn resource<'a>(&self, uri: &'a str) -> Result<(&Arc<Upstream>, &'a str), Box<Outcome>> {
        if let Some(only) = self.only() {
            return Ok((only, uri));
        }
        let named = uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/'));
        named.and_then(|(server, uri)| Some((self.server(server)?, uri))).ok_or_else(|| {
            let why = format!(
                "there is no resource `{}`: in front of several servers a resource is called `{SCHEME}SERVER/URI`",
                visible(uri)
            );
            failed(ErrorKind::NotFound, why)
        })
    }

    /// The server and the prompt that a client means.
    pub(crate) fn prompt<'a>(&self, name: &'a str) -> Result<(&Arc<Upstream>, &'a str), Box<Outcome>> {
        self.named(name).ok_or_else(|| {
            let why = format!(
                "there is no prompt `{}`: in front of several servers a prompt is called `SERVER__PROMPT`",
                visible(name)
            );
            failed(ErrorKind::NotFound, why)
        })
    }

    /// What the servers have of this, without what the policy denies to read. Of one server a page, of several everything.
    pub(crate) fn listing<T: Listed>(
        &self,
        page: Option<PaginatedRequestParams>,
        caller: &Caller,
        at: &At,
    ) -> Read {
        if let Some(only) = self.only() {
            let live = only.live(caller, &at.cancel).map_err(|stopped| Box::new(gate::refusal(&stopped)))?;
            let (all, next) = self.page::<T>(only, &live, page, caller, at)?;
            return Ok(T::answer(all, next));
        }
        let mut all = Vec::new();
        for upstream in &self.upstreams {
            let listed = upstream
                .live(caller, &at.cancel)
                .map_err(|stopped| Box::new(gate::refusal(&stopped)))
                .and_then(|live| self.pages::<T>(upstream, &live, caller, at));
            match listed {
                Ok(listed) => all.extend(listed),
                // The others are still there.
                Err(outcome) => {
                    Machine::tell(format_args!("bailiwick: {}: {}", upstream.name, outcome.stderr));
                }
            }
        }
        Ok(T::answer(all, None))
    }

    fn pages<T: Listed>(
        &self,
        upstream: &Arc<Upstream>,
        live: &Arc<Live>,
        caller: &Caller,
        at: &At,
    ) -> Result<Vec<T>, Box<Outcome>> {
        let (mut all, mut next) = (Vec::new(), None);
        loop {
            let page = PaginatedRequestParams::default().with_cursor(next.take());
            let (some, cursor) = self.page::<T>(upstream, live, Some(page), caller, at)?;
            all.extend(some);
            if all.len() > MOST_LISTED {
                all.truncate(MOST_LISTED);
                Machine::tell(format_args!(
                    "bailiwick: {}: it lists more than {MOST_LISTED}; the rest is left out",
                    upstream.name
                ));
                return Ok(all);
            }
            match cursor {
                Some(cursor) => next = Some(cursor),
                None => return Ok(all),
            }
        }
    }

    fn page<T: Listed>(
        &self,
        upstream: &Arc<Upstream>,
        live: &Arc<Live>,
        page: Option<PaginatedRequestParams>,
        caller: &Caller,
        at: &At,
    ) -> Result<(Vec<T>, Option<String>), Box<Outcome>> {
        if !live.offers(T::offered) {
            return Ok((Vec::new(), None));
        }
        let result = match upstream.put(live, T::request(page), caller, &at.cancel) {
            Ok(result) => result,
            // Some have resources and no templates.
            Err(unanswered) if unanswered.unknown => return Ok((Vec::new(), None)),
            Err(unanswered) => return Err(failed(ErrorKind::Unknown, unanswered.why)),
        };
        let (mut all, next) = T::page(result).ok_or_else(|| {
            failed(ErrorKind::Unknown, format!("the MCP server `{}` lists something else", upstream.name))
        })?;
        all.retain(|one| {
            let (method, args) = one.reading();
            self.gate.offers(RawCall::new(full_name(upstream, method), args))
        });
        all.iter_mut().for_each(|one| one.name(self, upstream));
        Ok((all, next))
    }

    /// Something that is read: `method` is what rules call it.
    pub(crate) fn read(
        self: &Arc<Self>,
        upstream: &Arc<Upstream>,
        (method, args, request): (&str, Value, ClientRequest),
        caller: &Arc<Caller>,
        at: At,
    ) -> Read {
        let live = upstream.live(caller, &at.cancel).map_err(|stopped| Box::new(gate::refusal(&stopped)))?;
        let asked = Asked { tool: full_name(upstream, method), args, request, caveat: Caveat::default() };
        let mut result = self.through(upstream, &live, asked, caller, at, || {})?;
        match &mut result {
            ServerResult::ReadResourceResult(read) => {
                read.contents.iter_mut().for_each(|contents| self.name_contents(upstream, contents));
            }
            ServerResult::GetPromptResult(got) => {
                let blocks = got.messages.iter_mut().map(|message| &mut message.content);
                self.name_links(upstream, blocks);
            }
            _ => {}
        }
        Ok(result)
    }

    /// Resources that an answer leads to are called as this client can read them.
    pub(crate) fn name_links<'a>(
        &self,
        upstream: &Upstream,
        blocks: impl Iterator<Item = &'a mut ContentBlock>,
    ) {
        for block in blocks {
            match block {
                ContentBlock::ResourceLink(resource) => resource.uri = self.uri_of(upstream, &resource.uri),
                ContentBlock::Resource(embedded) => self.name_contents(upstream, &mut embedded.resource),
                _ => {}
            }
        }
    }

    fn name_contents(&self, upstream: &Upstream, contents: &mut ResourceContents) {
        if let ResourceContents::TextResourceContents { uri, .. }
        | ResourceContents::BlobResourceContents { uri, .. } = contents
        {
            *uri = self.uri_of(upstream, uri);
        }
    }

    /// What an argument could be. It is asked for with every key that somebody presses, so nobody is asked about it: it passes where
    /// the policy allows it.
    pub(crate) fn complete(
        self: &Arc<Self>,
        mut request: CompleteRequestParams,
        caller: &Arc<Caller>,
        at: At,
    ) -> Read {
        const METHOD: &str = "completion/complete";
        request.meta = None;
        let upstream = match &mut request.r#ref {
            Reference::Prompt(prompt) => {
                let (upstream, name) = self.prompt(&prompt.name)?;
                let name = name.to_owned();
                prompt.name = name;
                upstream
            }
            Reference::Resource(resource) => {
                let (upstream, uri) = self.resource(&resource.uri)?;
                let uri = uri.to_owned();
                resource.uri = uri;
                upstream
            }
            _ => return Err(failed(ErrorKind::Validation, "only prompts and resources have completions")),
        };
        let args = json!({"ref": request.r#ref, "argument": request.argument, "context": request.context});
        let tool = full_name(upstream, METHOD);
        let judged = self.gate.judge(RawCall::new(tool.clone(), args.clone()));
        // FAIL-CLOSED: what would be asked about does not pass.
        if !judged.is_ok_and(|judgement| judgement.ruling.decision == Decision::Allow) {
            let why = format!("completions pass where the policy allows `{tool}`");
            return Err(failed(ErrorKind::Permission, why));
        }
        let live = upstream.live(caller, &at.cancel).map_err(|stopped| Box::new(gate::refusal(&stopped)))?;
        if !live.offers(|can| can.completions.is_some()) {
            return Ok(ServerResult::CompleteResult(CompleteResult::default()));
        }
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(request));
        let asked = Asked { tool, args, request, caveat: Caveat::default() };
        self.through(upstream, &live, asked, caller, at, || {})
    }

    /// Begins, or ends, to hear when a resource changes.
    pub(crate) fn listen(&self, uri: &str, begin: bool, caller: &Caller, at: &At) -> Read {
        let (upstream, uri) = self.resource(uri)?;
        let reading = RawCall::new(full_name(upstream, "resources/read"), json!({"uri": uri}));
        if !self.gate.offers(reading) {
            return Err(failed(ErrorKind::Permission, "the policy denies to read this resource"));
        }
        let request = if begin {
            ClientRequest::SubscribeRequest(SubscribeRequest::new(SubscribeRequestParams::new(uri)))
        } else {
            ClientRequest::UnsubscribeRequest(UnsubscribeRequest::new(UnsubscribeRequestParams::new(uri)))
        };
        let live = upstream.live(caller, &at.cancel).map_err(|stopped| Box::new(gate::refusal(&stopped)))?;
        upstream
            .put(&live, request, caller, &at.cancel)
            .map_err(|unanswered| failed(ErrorKind::Unknown, unanswered.why))
    }
}

/// A log message of a server on its way to the client: it says whose it is, and holds no secret that can be recognized.
pub(crate) fn logged(
    server: &str,
    message: LoggingMessageNotificationParam,
) -> LoggingMessageNotificationParam {
    let short = |text: &str, most: usize| {
        let mut text = visible(&mask(text));
        text.truncate(text.floor_char_boundary(most));
        text
    };
    let data = match &message.data {
        Value::String(text) => short(text, LONGEST_LOG).into(),
        // What is no text any more after it was masked and cut is told as it looks.
        other => {
            let text = short(&other.to_string(), LONGEST_LOG);
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
    };
    let logger = match &message.logger {
        Some(logger) => format!("{server}/{}", short(logger, 256)),
        None => server.to_owned(),
    };
    LoggingMessageNotificationParam::new(message.level, data).with_logger(logger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::LoggingLevel;

    #[test]
    fn a_log_message_says_whose_it_is_and_is_masked_and_bounded() {
        let log = |data: Value| {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, data).with_logger("db");
            logged("files", message)
        };
        let plain = log(json!("hello"));
        assert_eq!((plain.logger.as_deref(), &plain.data), (Some("files/db"), &json!("hello")));
        assert_eq!(log(json!({"rows": 3})).data, json!({"rows": 3}));
        let secret = log(json!("Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345"));
        assert!(!secret.data.to_string().contains("abcdefghij"), "{}", secret.data);
        let hidden = log(json!("a\u{202e}b"));
        assert!(!hidden.data.to_string().contains('\u{202e}'), "{}", hidden.data);
        for long in [json!("x".repeat(1_000_000)), json!({"x": "y".repeat(1_000_000)})] {
            assert!(log(long).data.to_string().len() < 20_000);
        }
    }

    #[test]
    fn what_is_called_by_its_server_is_found_again() {
        assert_eq!(shown_uri("files", "file:///a/b"), "mcp:files/file:///a/b");
    }
}
