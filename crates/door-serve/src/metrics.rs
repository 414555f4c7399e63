//! `/metrics`: counters for Prometheus. No name of a tool, a session or a person is in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use gate::policy::Decision;

use crate::app::App;
use crate::refusal::Answered;

/// Counters.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    allowed: AtomicU64,
    asked: AtomicU64,
    denied: AtomicU64,
    calls: AtomicU64,
    approved: AtomicU64,
    refused: AtomicU64,
    /// Connections that are open.
    pub(crate) connections: AtomicUsize,
    /// Connections that found no place.
    pub(crate) turned_away: AtomicU64,
}

impl Metrics {
    pub(crate) fn answered_with(&self, status: StatusCode) {
        if let Some(count) = self.answers.get(usize::from(status.as_u16() / 100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn judged(&self, decision: Decision) {
        let count = match decision {
            Decision::Allow => &self.allowed,
            Decision::Ask => &self.asked,
            Decision::Deny => &self.denied,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answered(&self, yes: bool) {
        let count = if yes { &self.approved } else { &self.refused };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// `GET /metrics`
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Answered {
    let metrics = &app.metrics;
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let pending = app.coordinator().map(|coordinator| coordinator.len()).unwrap_or_default();
    let mut out = String::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: &[(&str, u64)]| {
        out.push_str(&format!("# HELP bailiwick_{name} {help}\n# TYPE bailiwick_{name} {kind}\n"));
        for (labels, value) in rows {
            out.push_str(&format!("bailiwick_{name}{labels} {value}\n"));
        }
    };
    let classes = ["", "", "{class=\"2xx\"}", "{class=\"3xx\"}", "{class=\"4xx\"}", "{class=\"5xx\"}"];
    let answers: Vec<(&str, u64)> =
        classes.iter().zip(&metrics.answers).skip(2).map(|(class, count)| (*class, of(count))).collect();
    family("http_responses_total", "counter", "Answers by the class of their status.", &answers);
    family(
        "decisions_total",
        "counter",
        "Decisions that were asked for and not recorded.",
        &[
            ("{decision=\"allow\"}", of(&metrics.allowed)),
            ("{decision=\"ask\"}", of(&metrics.asked)),
            ("{decision=\"deny\"}", of(&metrics.denied)),
        ],
    );
    family("calls_total", "counter", "Calls of tools that came in.", &[("", of(&metrics.calls))]);
    family(
        "answers_total",
        "counter",
        "Answers to questions.",
        &[("{answer=\"yes\"}", of(&metrics.approved)), ("{answer=\"no\"}", of(&metrics.refused))],
    );
    let size = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    family("approvals_pending", "gauge", "Questions of this process that wait.", &[("", size(pending))]);
    family("approvers_connected", "gauge", "Who can answer now.", &[("", size(app.presence.count()))]);
    family(
        "connections",
        "gauge",
        "Connections that are open.",
        &[("", size(metrics.connections.load(Ordering::Relaxed)))],
    );
    family(
        "connections_refused_total",
        "counter",
        "Connections that found no place.",
        &[("", of(&metrics.turned_away))],
    );
    let mut response = Response::new(Body::from(out));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
