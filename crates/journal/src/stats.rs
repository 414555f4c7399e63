//! What a journal adds up to: decisions and prompts by day, the commonest reasons and rules, and which allow rule would have saved
//! how many prompts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::event::Kind;
use crate::record::Record;
use crate::view::is_yes;
use crate::what;

/// So many different things of one kind are counted; the rest is counted together.
const MOST: usize = 5_000;
const OTHERS: &str = "(others)";

/// Sums over records.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Records that were counted.
    pub records: u64,
    /// Decisions by day.
    pub days: BTreeMap<String, Day>,
    /// How often each reason was given for asking or denying.
    pub reasons: BTreeMap<String, u64>,
    /// How often each rule decided.
    pub rules: BTreeMap<String, u64>,
    /// How calls ended.
    pub outcomes: BTreeMap<String, u64>,
    /// Prompts that an allow rule for this program would have saved: it was asked about, and the answer was yes.
    pub savings: BTreeMap<String, u64>,
    #[serde(skip)]
    asked: BTreeMap<(Option<String>, Option<String>), String>,
}

/// Sums over a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Day {
    /// Calls that were allowed.
    pub allow: u64,
    /// Calls that were asked about.
    pub ask: u64,
    /// Calls that were denied.
    pub deny: u64,
    /// Questions that reached somebody.
    pub prompts: u64,
    /// Answers that let a call run.
    pub approved: u64,
}

impl Stats {
    /// Adds a record.
    pub fn take(&mut self, record: &Record) {
        self.records += 1;
        let day = self.days.entry(record.time().date()).or_default();
        let key = (record.session_id.clone(), record.call_id.clone());
        match record.kind {
            Kind::ToolCallRequested => {
                let decision = record.text("decision");
                match decision {
                    Some("allow") => day.allow += 1,
                    Some("ask") => day.ask += 1,
                    _ => day.deny += 1,
                }
                if decision != Some("allow")
                    && let Some(reason) = record.text("reason")
                {
                    count(&mut self.reasons, reason);
                }
                if let Some(rule) = record.text_in("rule", "id") {
                    count(&mut self.rules, rule);
                }
                if decision == Some("ask")
                    && self.asked.len() < MOST
                    && let Some(program) =
                        what::program(record).or_else(|| record.text("tool").map(ToOwned::to_owned))
                {
                    self.asked.insert(key, program);
                }
            }
            Kind::ApprovalRequested => day.prompts += 1,
            Kind::ApprovalDecided => {
                let yes = record.text("decision").is_some_and(is_yes);
                day.approved += u64::from(yes);
                // A cached or automatic yes was no prompt.
                if let Some(program) = self.asked.remove(&key)
                    && yes
                    && record.text("reason") == Some("provider")
                {
                    count(&mut self.savings, &program);
                }
            }
            Kind::ToolCallFinished => {
                self.asked.remove(&key);
                count(&mut self.outcomes, record.text("outcome").unwrap_or("unknown"));
            }
            _ => {}
        }
    }

    /// The commonest of a table, most first.
    #[must_use]
    pub fn top(table: &BTreeMap<String, u64>, count: usize) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> = table.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.truncate(count);
        all
    }
}

fn count(table: &mut BTreeMap<String, u64>, name: &str) {
    let name = if table.len() < MOST || table.contains_key(name) { name } else { OTHERS };
    *table.entry(name.to_owned()).or_default() += 1;
}
