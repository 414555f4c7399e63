//! Records for other programs: JSON Lines as they are, CSV, and the JSON form of OpenTelemetry logs.

use serde_json::{Value, json};

use crate::event::Kind;
use crate::record::Record;

/// A form of export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The lines as they are, chain fields and all.
    Jsonl,
    /// A table.
    Csv,
    /// OpenTelemetry logs in JSON.
    OtlpJson,
}

impl Format {
    /// All, with their names.
    pub const ALL: [(&'static str, Format); 3] =
        [("jsonl", Format::Jsonl), ("csv", Format::Csv), ("otlp-json", Format::OtlpJson)];

    /// The form with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Format> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }
}

/// Turns records into text, one after the other.
pub struct Exporter {
    format: Format,
    first: bool,
}

const COLUMNS: [&str; 17] = [
    "seq",
    "timestamp",
    "type",
    "run_id",
    "session_id",
    "call_id",
    "principal",
    "tool",
    "decision",
    "reason",
    "rule",
    "risk",
    "outcome",
    "error_kind",
    "exit_code",
    "duration_ms",
    "approval_key",
];

impl Exporter {
    /// An export in this form.
    #[must_use]
    pub const fn new(format: Format) -> Self {
        Exporter { format, first: true }
    }

    /// What comes before the first record.
    #[must_use]
    pub fn begin(&self) -> String {
        match self.format {
            Format::Jsonl => String::new(),
            Format::Csv => format!("{}\r\n", COLUMNS.join(",")),
            Format::OtlpJson => String::from(
                "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"bailiwick\"}}]},\
                 \"scopeLogs\":[{\"scope\":{\"name\":\"bailiwick.journal\"},\"logRecords\":[\n",
            ),
        }
    }

    /// A record.
    #[must_use]
    pub fn record(&mut self, record: &Record) -> String {
        let first = std::mem::take(&mut self.first);
        match self.format {
            Format::Jsonl => format!("{}\n", record.line),
            Format::Csv => csv(record),
            Format::OtlpJson => format!("{}{}", if first { "" } else { ",\n" }, otlp(record)),
        }
    }

    /// What comes after the last.
    #[must_use]
    pub const fn end(&self) -> &'static str {
        match self.format {
            Format::Jsonl | Format::Csv => "",
            Format::OtlpJson => "\n]}]}]}\n",
        }
    }
}

fn csv(record: &Record) -> String {
    let text = |name: &str| record.payload.get(name).map(plain).unwrap_or_default();
    let inner = |object: &str, name: &str| record.text_in(object, name).unwrap_or_default().to_owned();
    let cells = COLUMNS.map(|column| match column {
        "seq" => record.seq.to_string(),
        "timestamp" => record.timestamp.clone(),
        "type" => record.kind.name().to_owned(),
        "run_id" => record.run_id.clone().unwrap_or_default(),
        "session_id" => record.session_id.clone().unwrap_or_default(),
        "call_id" => record.call_id.clone().unwrap_or_default(),
        "principal" => record.principal_id().unwrap_or_default().to_owned(),
        "rule" => inner("rule", "id"),
        "risk" => inner("risk", "level"),
        other => text(other),
    });
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    format!("{}\r\n", cells.join(","))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A cell. A spreadsheet would run what begins like a formula, so that gets an apostrophe in front.
fn quoted(cell: &str) -> String {
    let number = cell.parse::<f64>().is_ok();
    let formula = !number && cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let cell = if formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r', '\'', ' ']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

fn otlp(record: &Record) -> Value {
    let nanos = format!("{}000", record.time().micros());
    let denied = record.text("decision") == Some("deny") || record.text("outcome") == Some("denied");
    let (number, severity) = match record.kind {
        Kind::SecurityViolation | Kind::JournalRepaired | Kind::RunFailed => (17, "ERROR"),
        _ if denied => (13, "WARN"),
        _ => (9, "INFO"),
    };
    let mut attributes = Vec::new();
    let mut add = |key: &str, value: Value| attributes.push(json!({"key": key, "value": value}));
    add("event.name", json!({"stringValue": record.kind.name()}));
    add("bailiwick.seq", json!({"intValue": record.seq.to_string()}));
    let ids = [("run_id", &record.run_id), ("session_id", &record.session_id), ("call_id", &record.call_id)];
    for (name, id) in ids {
        if let Some(id) = id {
            add(&format!("bailiwick.{name}"), json!({"stringValue": id}));
        }
    }
    if let Some(principal) = record.principal_id() {
        add("enduser.id", json!({"stringValue": principal}));
    }
    for (name, value) in &record.payload {
        let value = match value {
            Value::String(text) => json!({"stringValue": text}),
            Value::Bool(flag) => json!({"boolValue": flag}),
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                json!({"intValue": number.to_string()})
            }
            Value::Number(number) => json!({"doubleValue": number}),
            other => json!({"stringValue": other.to_string()}),
        };
        add(&format!("bailiwick.{name}"), value);
    }
    json!({
        "timeUnixNano": nanos,
        "observedTimeUnixNano": nanos,
        "severityNumber": number,
        "severityText": severity,
        "body": {"stringValue": record.kind.name()},
        "attributes": attributes,
    })
}
