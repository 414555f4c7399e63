//! `/v1/grants`: what was approved for now, what waits, and taking it back.

use std::sync::Arc;

use axum::extract::{Request, State};
use gate::GrantChange;
use gate::approval::{AskId, Grant, GrantKind, NotGranted, rfc3339};
use gate::call::{mask, visible, visible_lines};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::approvals::record;
use crate::body::{Named, caller};
use crate::events::blocking;
use crate::refusal::{Answered, Refusal, json_answer};

/// What was granted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    grants: Vec<Row>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    id: String,
    /// `session`, `once`, `typing`, `auto` or `waiting`.
    kind: String,
    tool: String,
    what: String,
    session: String,
    by: String,
    since: String,
    seconds_left: u64,
}

/// What was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Revoked {
    revoked: usize,
}

impl Row {
    fn of(grant: &Grant) -> Row {
        let (kind, tool) = match &grant.kind {
            GrantKind::Session => ("session", None),
            GrantKind::Once => ("once", None),
            GrantKind::Cover(_) => ("typing", None),
            GrantKind::Auto(tool) => ("auto", Some(tool.as_deref().unwrap_or("*"))),
            GrantKind::Waiting { .. } => ("waiting", None),
        };
        Row {
            id: grant.id.to_string(),
            kind: kind.to_owned(),
            tool: visible(&mask(tool.unwrap_or(&grant.tool))),
            what: visible_lines(grant.shown.as_str()),
            session: visible(&mask(&grant.session)),
            by: visible(grant.by.as_str()),
            since: rfc3339(grant.date_ms),
            seconds_left: grant.left.as_secs(),
        }
    }
}

/// `GET /v1/grants`
pub(crate) async fn list(State(app): State<Arc<App>>) -> Answered {
    let grants = blocking(move || app.grants().map(|grants| grants.list(None))).await??;
    Ok(json_answer(&Listed { grants: grants.iter().map(Row::of).collect() }))
}

/// `DELETE /v1/grants/{id}`
pub(crate) async fn revoke(State(app): State<Arc<App>>, Named(id): Named, request: Request) -> Answered {
    if !caller(&request)?.may_approve {
        return Err(Refusal::forbidden("this token may not take back grants"));
    }
    let unknown = || Refusal::not_found("there is no such grant");
    let id = AskId::from_hex(&id).ok_or_else(unknown)?;
    let revoked = blocking(move || {
        let grants = app.grants()?;
        let grant = grants.list(None).into_iter().find(|grant| grant.id == id).ok_or_else(unknown)?;
        let count = grants.revoke(id).map_err(|why| match why {
            NotGranted::Unknown => unknown(),
            why => Refusal::failed(why.to_string()),
        })?;
        record(&app, GrantChange::Revoked, &grant)?;
        app.presence.changed();
        Ok::<usize, Refusal>(count)
    })
    .await??;
    Ok(json_answer(&Revoked { revoked }))
}
