//! `bailiwick policy replay`: the calls of the journal, judged anew. Nothing runs, and nothing is written down.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gate::call::visible;
use gate::journal::{Filter, Going, Kind, Record};
use gate::policy::Decision;
use gate::{Gate, past};
use serde_json::{Value, json};

use crate::cli::{Setup, print};
use crate::journal_command::{desk, reader, when};
use crate::terminal::Style;

/// One call whose ruling would be another.
struct Change {
    call: String,
    tool: String,
    what: String,
    was: Decision,
    now: Decision,
    rule: String,
    reason: String,
    whole: bool,
}

/// Sums.
#[derive(Default)]
struct Sums {
    judged: u64,
    in_part: u64,
    left_out: u64,
}

/// Runs the command.
pub(crate) fn run(
    setup: &Setup,
    since: Option<&str>,
    journal: Option<&Path>,
    json: bool,
) -> Result<u8, String> {
    let mut gates = Gates { setup, here: setup.gate(None)?, there: BTreeMap::new() };
    let directory = match journal {
        Some(directory) => directory.to_path_buf(),
        None => desk()?.journal_directory().to_path_buf(),
    };
    let filter = Filter { since: when(since)?, ..Filter::default() };
    let (mut changes, mut sums) = (Vec::new(), Sums::default());
    reader(&directory)?
        .forward(&filter, |record| {
            if record.kind == Kind::ToolCallRequested {
                match again(&mut gates, &record) {
                    Some((change, whole)) => {
                        sums.judged += 1;
                        sums.in_part += u64::from(!whole);
                        changes.extend(change);
                    }
                    None => sums.left_out += 1,
                }
            }
            Going::On
        })
        .map_err(|error| error.to_string())?;
    let text = if json { as_json(&changes, &sums)? } else { as_text(&changes, &sums) };
    print(text.as_bytes())
}

/// The gates of the directories that calls were made in: each has its own workspace, and with it its own configuration.
struct Gates<'a> {
    setup: &'a Setup,
    here: Gate,
    there: BTreeMap<String, Option<Gate>>,
}

/// So many directories are kept.
const MOST_DIRECTORIES: usize = 64;

impl Gates<'_> {
    /// The gate of a directory; nothing where its configuration does not hold.
    fn of(&mut self, directory: Option<&str>) -> Option<&Gate> {
        let Some(directory) = directory else { return Some(&self.here) };
        if self.there.len() >= MOST_DIRECTORIES && !self.there.contains_key(directory) {
            self.there.clear();
        }
        let setup = self.setup;
        let gate = self.there.entry(directory.to_owned());
        gate.or_insert_with(|| setup.gate(Some(directory)).ok()).as_ref()
    }
}

/// Judges a call anew: the change, if there is one, and whether the journal told all of the call. `None`: it told too little.
fn again(gates: &mut Gates<'_>, record: &Record) -> Option<(Option<Change>, bool)> {
    let was = Decision::from_name(record.text("decision")?)?;
    let tool = record.text("tool")?;
    let Some(Value::Object(request)) = record.payload.get("request") else { return None };
    let mut worst: Option<(Decision, gate::policy::Ruling, bool)> = None;
    for past in past(tool, request)? {
        let judgement = gates.of(past.call.cwd.as_deref())?.judge(past.call).ok()?;
        let decision = judgement.ruling.decision;
        if worst.as_ref().is_none_or(|(known, ..)| decision > *known) {
            worst = Some((decision, judgement.ruling, past.whole));
        }
    }
    let (now, ruling, whole) = worst?;
    let change = (now != was).then(|| Change {
        call: record.call_id.clone().unwrap_or_default(),
        tool: tool.to_owned(),
        what: what(request),
        was,
        now,
        rule: match &ruling.rule.at {
            Some(at) => format!("{} ({at})", ruling.rule.id),
            None => ruling.rule.id.to_string(),
        },
        reason: ruling.reason,
        whole,
    });
    Some((change, whole))
}

fn what(request: &serde_json::Map<String, Value>) -> String {
    let words = |value: &Value| match value {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let first = ["argv", "command", "cmd", "path", "file_path", "dir_path", "file_paths"];
    first.iter().find_map(|name| request.get(*name)).map(words).unwrap_or_default()
}

fn as_json(changes: &[Change], sums: &Sums) -> Result<String, String> {
    let changed: Vec<Value> = changes
        .iter()
        .map(|change| {
            json!({
                "call_id": visible(&change.call),
                "tool": visible(&change.tool),
                "what": visible(&change.what),
                "was": change.was.name(),
                "now": change.now.name(),
                "rule": visible(&change.rule),
                "reason": visible(&change.reason),
                "in_part": !change.whole,
            })
        })
        .collect();
    let all = json!({"judged": sums.judged, "in_part": sums.in_part, "left_out": sums.left_out, "changed": changed});
    serde_json::to_string_pretty(&all).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn as_text(changes: &[Change], sums: &Sums) -> String {
    let style = Style::of_stdout();
    let paint = |decision: Decision| match decision {
        Decision::Allow => style.green("allow"),
        Decision::Ask => style.yellow("ask  "),
        Decision::Deny => style.red("deny "),
    };
    let mut out = String::new();
    for change in changes {
        let part = if change.whole { "" } else { "  (judged by what the journal holds of it)" };
        let _ =
            writeln!(out, "{} -> {}  {}{part}", paint(change.was), paint(change.now), visible(&change.what));
        let _ = writeln!(
            out,
            "{}",
            style.dim(&format!("    {}; {}", visible(&change.reason), visible(&change.rule)))
        );
    }
    let _ = writeln!(
        out,
        "{} of {} calls would be ruled otherwise; {} could be judged only in part, {} not at all",
        changes.len(),
        sums.judged,
        sums.in_part,
        sums.left_out
    );
    out
}
