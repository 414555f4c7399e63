//! The one table of what can be asked. The router, the document of the interface and the test that every route wants its token
//! are made from it.

use std::sync::Arc;

use axum::Router;
use axum::http::Uri;
use axum::routing::{MethodRouter, delete, get, post};
use schemars::{Schema, SchemaGenerator};

use crate::app::App;
use crate::page::{self, FILES};
use crate::refusal::Refusal;
use crate::{
    approvals, authzen, calls, check, connect, events, grants, health, history, inquiries, inquiry, metrics,
    openapi, policy, stats,
};

/// What a route is asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Looks.
    Get,
    /// Asks or changes something.
    Post,
    /// Takes something back.
    Delete,
}

impl Method {
    /// The word in a request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }
}

/// What must be shown for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Open,
    /// A token.
    Token,
}

/// What an answer is.
#[derive(Clone, Copy)]
pub(crate) enum Gives {
    /// JSON of this form.
    Json(fn(&mut SchemaGenerator) -> Schema),
    /// Something else.
    Other(&'static str),
}

/// One route.
pub struct Route {
    /// How it is asked.
    pub method: Method,
    /// Where; `{name}` is a part that varies.
    pub path: &'static str,
    /// Who may.
    pub access: Access,
    /// What it is for.
    pub about: &'static str,
    /// What comes in.
    pub(crate) takes: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// What may stand behind a `?`.
    pub(crate) query: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// What comes out.
    pub(crate) gives: Gives,
    /// Statuses that it can have besides those that every route can.
    pub(crate) statuses: &'static [u16],
    handler: fn() -> MethodRouter<Arc<App>>,
}

fn form<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const PLAIN: Route = Route {
    method: Method::Get,
    path: "",
    access: Access::Token,
    about: "",
    takes: None,
    query: None,
    gives: Gives::Other("application/json"),
    statuses: &[],
    handler: MethodRouter::new,
};

/// Every route but the files of the page.
pub const ROUTES: &[Route] = &[
    Route {
        path: "/healthz",
        access: Access::Open,
        about: "Whether the server answers",
        gives: Gives::Json(form::<health::Health>),
        handler: || get(health::health),
        ..PLAIN
    },
    Route {
        path: "/metrics",
        about: "Counters for Prometheus",
        gives: Gives::Other("text/plain"),
        handler: || get(metrics::metrics),
        ..PLAIN
    },
    Route { path: "/openapi.json", about: "This document", handler: || get(openapi::openapi), ..PLAIN },
    Route {
        method: Method::Post,
        path: CHECK,
        about: "Whether a call may run; nothing runs and nobody is asked",
        takes: Some(form::<check::Asked>),
        statuses: &[422, 500],
        handler: || post(check::check),
        ..PLAIN
    },
    Route {
        method: Method::Post,
        path: "/access/v1/evaluation",
        about: "AuthZEN: one decision",
        takes: Some(form::<authzen::Evaluation>),
        gives: Gives::Json(form::<authzen::Decided>),
        statuses: &[422, 500],
        handler: || post(authzen::evaluation),
        ..PLAIN
    },
    Route {
        method: Method::Post,
        path: "/access/v1/evaluations",
        about: "AuthZEN: several decisions",
        takes: Some(form::<authzen::Evaluations>),
        statuses: &[422, 500],
        handler: || post(authzen::evaluations),
        ..PLAIN
    },
    Route {
        path: "/.well-known/authzen-configuration",
        about: "AuthZEN: where what is",
        gives: Gives::Json(form::<authzen::Metadata>),
        handler: || get(authzen::metadata),
        ..PLAIN
    },
    Route {
        method: Method::Post,
        path: "/v1/calls",
        about: "Runs a built-in tool: past the gate, behind the fence. With `Accept: text/event-stream` events as they happen",
        takes: Some(form::<calls::Asked>),
        statuses: &[404, 409, 422, 429, 499, 500, 504],
        handler: || post(calls::call),
        ..PLAIN
    },
    Route {
        path: "/v1/approvals",
        about: "Questions that wait for an answer",
        query: Some(form::<approvals::Wanted>),
        gives: Gives::Json(form::<approvals::Listed>),
        handler: || get(approvals::list),
        ..PLAIN
    },
    Route {
        path: "/v1/approvals/{id}",
        about: "One question",
        gives: Gives::Json(form::<crate::question::Question>),
        statuses: &[404],
        handler: || get(approvals::one),
        ..PLAIN
    },
    Route {
        method: Method::Post,
        path: "/v1/approvals/{id}",
        about: "Answers a question; the first answer counts",
        takes: Some(form::<approvals::Said>),
        gives: Gives::Json(form::<approvals::Resolved>),
        statuses: &[404, 409, 422],
        handler: || post(approvals::resolve),
        ..PLAIN
    },
    Route {
        path: "/v1/inquiries",
        about: "What agents ask a person",
        query: Some(form::<inquiries::Wanted>),
        gives: Gives::Json(form::<inquiries::Listed>),
        handler: || get(inquiries::list),
        ..PLAIN
    },
    Route {
        path: "/v1/inquiries/{id}",
        about: "One of them",
        gives: Gives::Json(form::<inquiry::Inquiry>),
        statuses: &[404],
        handler: || get(inquiries::one),
        ..PLAIN
    },
    Route {
        method: Method::Post,
        path: "/v1/inquiries/{id}",
        about: "Answers an agent; the first answer counts, and goes to the agent alone",
        takes: Some(form::<inquiries::Said>),
        gives: Gives::Json(form::<inquiries::Taken>),
        statuses: &[404, 409, 422],
        handler: || post(inquiries::answer),
        ..PLAIN
    },
    Route {
        path: "/v1/grants",
        about: "What was approved for now, and what waits",
        gives: Gives::Json(form::<grants::Listed>),
        handler: || get(grants::list),
        ..PLAIN
    },
    Route {
        method: Method::Delete,
        path: "/v1/grants/{id}",
        about: "Takes a grant back",
        gives: Gives::Json(form::<grants::Revoked>),
        statuses: &[404],
        handler: || delete(grants::revoke),
        ..PLAIN
    },
    Route {
        path: "/v1/events",
        about: "The journal as it is written; `Last-Event-ID` goes on after that record",
        query: Some(form::<events::Wanted>),
        gives: Gives::Other("text/event-stream"),
        handler: || get(events::stream),
        ..PLAIN
    },
    Route {
        path: "/v1/journal",
        about: "What happened, newest first",
        query: Some(form::<history::Wanted>),
        gives: Gives::Json(form::<history::Found>),
        handler: || get(history::search),
        ..PLAIN
    },
    Route {
        path: "/v1/journal/calls/{id}",
        about: "The whole story of one call",
        gives: Gives::Json(form::<history::Story>),
        statuses: &[404],
        handler: || get(history::story),
        ..PLAIN
    },
    Route {
        path: "/v1/stats",
        about: "What the journal adds up to",
        query: Some(form::<stats::Wanted>),
        gives: Gives::Json(form::<stats::Answer>),
        handler: || get(stats::stats),
        ..PLAIN
    },
    Route {
        path: "/v1/policy",
        about: "What holds, and which file and line says so",
        gives: Gives::Json(form::<policy::Policy>),
        statuses: &[500],
        handler: || get(policy::policy),
        ..PLAIN
    },
    Route {
        path: "/v1/tools",
        about: "The tools and the JSON Schemas of their arguments",
        gives: Gives::Json(form::<policy::Tools>),
        handler: || get(policy::list_tools),
        ..PLAIN
    },
    Route {
        path: "/v1/connect",
        about: "The two-way interface: a WebSocket",
        gives: Gives::Other("application/json"),
        statuses: &[101, 426],
        handler: || get(connect::connect),
        ..PLAIN
    },
];

/// Whether a path needs no token.
pub(crate) fn is_open(path: &str) -> bool {
    FILES.iter().any(|file| file.path == path)
        || ROUTES.iter().any(|route| route.access == Access::Open && route.path == path)
}

/// Whether a request asks for a decision, as the table has it.
pub(crate) fn is_check(method: &axum::http::Method, uri: &Uri) -> bool {
    *method == axum::http::Method::POST && uri.path() == CHECK
}

const CHECK: &str = "/v1/check";

/// The methods that something at this path is asked with.
fn methods_of(path: &str) -> Vec<&'static str> {
    let same = |route: &&Route| {
        let (mut given, mut known) = (path.split('/'), route.path.split('/'));
        loop {
            match (given.next(), known.next()) {
                (None, None) => return true,
                (Some(given), Some(known)) if given == known || known.starts_with('{') => {}
                _ => return false,
            }
        }
    };
    ROUTES.iter().filter(same).map(|route| route.method.name()).collect()
}

/// The same as a header lists them.
pub(crate) fn methods_at(path: &str) -> String {
    let names = methods_of(path);
    // The files of the page can only be read.
    if names.is_empty() { Method::Get.name().to_owned() } else { names.join(", ") }
}

/// There is something at this path, and it is never asked in this way.
pub(crate) fn is_wrong_way(method: &str, path: &str) -> bool {
    // What can be read can be looked at without its body.
    let method = if method == "HEAD" { "GET" } else { method };
    // Most requests are what the table has, letter by letter.
    if ROUTES.iter().any(|route| route.path == path && route.method.name() == method) {
        return false;
    }
    let names = methods_of(path);
    !names.is_empty() && !names.contains(&method)
}

/// The table as a router.
pub(crate) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, (route.handler)());
    }
    for file in FILES {
        router = router.route(file.path, get(page::file));
    }
    let elsewhere = || async { Refusal::not_found("there is nothing here") };
    let otherwise = |uri: Uri| async move { Refusal::not_in_this_way(uri.path()) };
    router.fallback(elsewhere).method_not_allowed_fallback(otherwise).with_state(app)
}
