//! A record as it is read back.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::event::Kind;
use crate::line::Line;
use crate::time::Timestamp;

/// A record of the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number.
    pub seq: u64,
    /// What kind of thing happened.
    pub kind: Kind,
    /// When: RFC 3339, UTC, microseconds.
    pub timestamp: String,
    /// The run that it belongs to.
    pub run_id: Option<String>,
    /// The session that it belongs to.
    pub session_id: Option<String>,
    /// The call that it is about.
    pub call_id: Option<String>,
    /// On whose behalf: `id`, `groups`, `agent`.
    pub principal: Option<Map<String, Value>>,
    /// What there is to say.
    pub payload: Map<String, Value>,
    /// The line, without its end.
    pub line: String,
}

#[derive(Deserialize)]
struct Members {
    run_id: Option<String>,
    session_id: Option<String>,
    call_id: Option<String>,
    principal: Option<Map<String, Value>>,
    payload: Map<String, Value>,
}

impl Record {
    /// Reads a line; its form and its hash must be right.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(line: &[u8]) -> Result<Record, &'static str> {
        let read = Line::read(line).map_err(crate::line::Malformed::message)?;
        let text = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8")?;
        let members: Members = serde_json::from_str(text).map_err(|_| "the line is not JSON")?;
        Ok(Record {
            seq: read.links.seq,
            kind: read.kind,
            timestamp: read.timestamp.to_owned(),
            run_id: members.run_id,
            session_id: members.session_id,
            call_id: members.call_id,
            principal: members.principal,
            payload: members.payload,
            line: text.to_owned(),
        })
    }

    /// A text of the payload.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.payload.get(name)?.as_str()
    }

    /// A text of an object in the payload: `rule.id`, `risk.level`.
    #[must_use]
    pub fn text_in(&self, object: &str, name: &str) -> Option<&str> {
        self.payload.get(object)?.get(name)?.as_str()
    }

    /// A number of the payload.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        self.payload.get(name)?.as_i64()
    }

    /// The name of the principal.
    #[must_use]
    pub fn principal_id(&self) -> Option<&str> {
        self.principal.as_ref()?.get("id")?.as_str()
    }

    /// When it happened.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        Timestamp::parse(&self.timestamp).unwrap_or_default()
    }

    /// The whole record as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.line).unwrap_or_default()
    }
}
