//! `/v1/stats`: what the journal adds up to, and how it went over time.

use std::sync::Arc;

use axum::extract::{Query, State};
use gate::journal::{Filter, Going, Host as _, Kind, Record, Stats, ThisHost, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::events::blocking;
use crate::history::when;
use crate::refusal::{Answered, Refusal, json_answer};

/// So many stretches of time at most.
const BUCKETS: i64 = 96;
/// How long a stretch may be, in seconds.
const STEPS: [i64; 12] =
    [60, 300, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400, 604_800, 2_592_000, 31_536_000];
const SECOND: i64 = 1_000_000;

/// From when on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Wanted {
    /// A date, or a time ago (`30m`, `24h`, `7d`); the last 24 hours unless said otherwise.
    since: Option<String>,
}

/// Decisions of a stretch of time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Stretch {
    from: String,
    allow: u64,
    ask: u64,
    deny: u64,
}

/// The whole answer: the members of the statistics, and these.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Records that were counted.
    records: u64,
    /// Decisions by day.
    days: Value,
    /// How often each reason was given for asking or denying.
    reasons: Value,
    /// How often each rule decided.
    rules: Value,
    /// How calls ended.
    outcomes: Value,
    /// Prompts that an allow rule would have saved, by program.
    savings: Value,
    /// Calls that needed nobody: allowed by the policy, or covered by an earlier yes.
    prompts_saved: u64,
    /// Decisions over time.
    series: Vec<Stretch>,
}

/// `GET /v1/stats`
pub(crate) async fn stats(State(app): State<Arc<App>>, Query(wanted): Query<Wanted>) -> Answered {
    let now = ThisHost.now();
    let since = when(wanted.since.as_deref())?
        .unwrap_or_else(|| Timestamp::from_micros(now.micros() - 86_400 * SECOND));
    let answer = blocking(move || {
        let filter = Filter { since: Some(since), own: false, ..Filter::default() };
        let (mut sums, mut series, mut saved) = (Stats::default(), Series::new(since, now), 0);
        let read = app.reader.forward(&filter, |record| {
            sums.take(&record);
            series.take(&record);
            saved += u64::from(needed_nobody(&record));
            Going::On
        });
        read.map_err(|error| Refusal::failed(error.to_string()))?;
        Ok::<Answer, Refusal>(Answer {
            records: sums.records,
            days: table(&sums.days),
            reasons: table(&sums.reasons),
            rules: table(&sums.rules),
            outcomes: table(&sums.outcomes),
            savings: table(&sums.savings),
            prompts_saved: saved,
            series: series.stretches,
        })
    })
    .await??;
    Ok(json_answer(&answer))
}

fn table(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn needed_nobody(record: &Record) -> bool {
    match record.kind {
        Kind::ToolCallRequested => record.text("decision") == Some("allow"),
        Kind::ApprovalDecided => matches!(record.text("reason"), Some("cached" | "auto_approve")),
        _ => false,
    }
}

/// Stretches of equal length, from a round time on.
struct Series {
    first: i64,
    step: i64,
    stretches: Vec<Stretch>,
}

impl Series {
    fn new(since: Timestamp, now: Timestamp) -> Series {
        let (from, to) = (since.micros() / SECOND, (now.micros() / SECOND).max(since.micros() / SECOND));
        let fits = |step: &i64| to / step - from / step < BUCKETS;
        let step = STEPS.into_iter().find(fits).unwrap_or(31_536_000);
        let first = from / step;
        let last = (to / step).min(first + BUCKETS - 1);
        let stretch = |number: i64| Stretch {
            from: Timestamp::from_micros(number * step * SECOND).to_string(),
            allow: 0,
            ask: 0,
            deny: 0,
        };
        Series { first, step, stretches: (first..=last).map(stretch).collect() }
    }

    fn take(&mut self, record: &Record) {
        if record.kind != Kind::ToolCallRequested {
            return;
        }
        let number = record.time().micros() / SECOND / self.step - self.first;
        let Some(stretch) = usize::try_from(number).ok().and_then(|number| self.stretches.get_mut(number))
        else {
            return;
        };
        match record.text("decision") {
            Some("allow") => stretch.allow += 1,
            Some("ask") => stretch.ask += 1,
            _ => stretch.deny += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_fits_into_96_stretches_that_reach_to_now() {
        let now = Timestamp::parse("2026-11-16T12:34:56Z").unwrap();
        for ago in ["1m", "30m", "1h", "24h", "48h", "7d", "90d", "1000d", "9000d"] {
            let since = Timestamp::parse_or_ago(ago, now).unwrap();
            let series = Series::new(since, now);
            assert!((1..=96).contains(&series.stretches.len()), "{ago}: {}", series.stretches.len());
            let last = Timestamp::parse(&series.stretches.last().unwrap().from).unwrap();
            assert!(last <= now && now.micros() < last.micros() + series.step * SECOND, "{ago}");
            assert!(Timestamp::parse(&series.stretches[0].from).unwrap() <= since, "{ago}");
        }
    }
}
