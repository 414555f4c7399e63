//! `/v1/journal`: what happened, newest first, searched; and the whole story of one call.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use gate::journal::{Filter, Going, Host as _, Kind, Record, ThisHost, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::events::blocking;
use crate::refusal::{Answered, Refusal, json_answer};

/// So many records are looked at for one answer; where they end, the next one goes on.
const LOOKED_AT: usize = 50_000;
const MOST: usize = 1_000;

/// What is looked for. All conditions must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Wanted {
    /// At most so many records; 100 unless said otherwise, 1,000 at most.
    limit: Option<usize>,
    /// Only records before this number.
    before: Option<u64>,
    /// Of this session.
    session: Option<String>,
    /// Of this call.
    call: Option<String>,
    /// With this tool.
    tool: Option<String>,
    /// With this decision: `allow`, `ask`, `deny`, `approved`, `denied` and so on.
    decision: Option<String>,
    /// With this text anywhere in the record.
    q: Option<String>,
    /// Not older than this: a date, or a time ago (`30m`, `12h`, `7d`).
    since: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    records: Vec<Value>,
    /// Where the next page begins.
    next_before: Option<u64>,
}

/// The records of one call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Story {
    records: Vec<Value>,
}

/// A date, or a time ago.
pub(crate) fn when(text: Option<&str>) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    Timestamp::parse_or_ago(text, ThisHost.now())
        .map(Some)
        .ok_or_else(|| Refusal::invalid("`since` is a date (2026-01-31) or a time ago (30m, 12h, 7d)"))
}

/// `GET /v1/journal`
pub(crate) async fn search(State(app): State<Arc<App>>, Query(wanted): Query<Wanted>) -> Answered {
    let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let filter = Filter {
        since: when(wanted.since.as_deref())?,
        session: some(&wanted.session),
        call: some(&wanted.call),
        own: false,
    };
    let limit = wanted.limit.unwrap_or(100).clamp(1, MOST);
    let found = blocking(move || {
        let mut found = Found { records: Vec::new(), next_before: None };
        let (mut looked_at, mut last) = (0, None);
        let read = app.reader.backward(&filter, |record| {
            if wanted.before.is_some_and(|before| record.seq >= before) {
                return Going::On;
            }
            if found.records.len() == limit || looked_at == LOOKED_AT {
                found.next_before = last;
                return Going::Stop;
            }
            looked_at += 1;
            last = Some(record.seq);
            if fits(&wanted, &record) {
                found.records.push(record.json());
            }
            Going::On
        });
        read.map(|()| found).map_err(|error| Refusal::failed(error.to_string()))
    })
    .await??;
    Ok(json_answer(&found))
}

fn fits(wanted: &Wanted, record: &Record) -> bool {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let decided = matches!(record.kind, Kind::ToolCallRequested | Kind::ApprovalDecided);
    given(&wanted.tool).is_none_or(|tool| record.text("tool") == Some(&tool))
        && given(&wanted.decision)
            .is_none_or(|decision| decided && record.text("decision") == Some(&decision))
        && given(&wanted.q).is_none_or(|q| record.line.to_lowercase().contains(&q.to_lowercase()))
}

/// `GET /v1/journal/calls/{id}`
pub(crate) async fn story(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answered {
    let records = blocking(move || app.reader.call(&id)).await?;
    let records = records.map_err(|error| Refusal::failed(error.to_string()))?;
    if records.is_empty() {
        return Err(Refusal::not_found("there is no such call in the journal"));
    }
    Ok(json_answer(&Story { records: records.iter().map(Record::json).collect() }))
}
