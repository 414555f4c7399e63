//! One thing that was granted, and how it is written down: each record is authenticated, so that nobody without the key can
//! make one, and bound to one start of the machine, so that none outlives it.

use std::time::Duration;

use call::{ApprovalKey, DigestKey, Shown};
use serde_json::{Map, Value};

use crate::asked::AskId;
use crate::clock::Moment;

/// The longest line that is read.
const MAX_LINE: usize = 64 * 1024;
/// What the authentication of a record is for, so that no other digest under the same key can stand for it.
const PURPOSE: &str = "approval-record";

/// What is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// The same call again, for as long as it holds.
    Session { key: ApprovalKey },
    /// One call, once. `typed`: the words that a critical call wants were typed.
    Once { key: ApprovalKey, typed: bool },
    /// Typing into what this call started.
    Cover { key: ApprovalKey, exec_session: u64 },
    /// Everything that would be asked about, or that of one tool.
    Auto { tool: Option<String> },
    /// Nothing yet: a question that nobody could be asked.
    Ask { key: ApprovalKey, typed: bool, session_grant: bool },
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) id: AskId,
    pub(crate) what: What,
    pub(crate) session: String,
    /// When it was made, and until when it holds, in the time of its start of the machine.
    pub(crate) made: Moment,
    pub(crate) until: Duration,
    /// When it was made, to be shown.
    pub(crate) date_ms: u64,
    pub(crate) by: Shown,
    pub(crate) tool: String,
    pub(crate) shown: Shown,
    pub(crate) about: About,
}

/// What a person is told of a call beside its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// What it would do, the gravest first.
    pub effects: Vec<Shown>,
    /// Where.
    pub directory: Option<Shown>,
    /// How risky it is.
    pub risk: Option<Shown>,
}

impl Record {
    /// Whether it holds now: in the same start of the machine, not before it was made, not after it ends.
    pub(crate) fn holds(&self, now: &Moment) -> bool {
        now.boot == self.made.boot && now.at >= self.made.at && now.at < self.until
    }

    /// How long it still holds.
    pub(crate) fn left(&self, now: &Moment) -> Duration {
        if self.holds(now) { self.until.saturating_sub(now.at) } else { Duration::ZERO }
    }

    /// The record as one line, authenticated.
    pub(crate) fn line(&self, digest_key: &DigestKey) -> String {
        let mut fields = self.fields();
        let mac = digest_key.digest_json(PURPOSE, &Value::Object(fields.clone()));
        fields.insert("mac".into(), mac.into());
        Value::Object(fields).to_string()
    }

    /// Reads a line. The message says why it is no record.
    pub(crate) fn read(line: &str, digest_key: &DigestKey) -> Result<Record, &'static str> {
        if line.len() > MAX_LINE {
            return Err("a line that is too long");
        }
        let Ok(Value::Object(mut fields)) = serde_json::from_str::<Value>(line) else {
            return Err("a line that is no JSON object");
        };
        let Some(Value::String(mac)) = fields.shift_remove("mac") else {
            return Err("a record that is not authenticated");
        };
        let expected = digest_key.digest_json(PURPOSE, &Value::Object(fields.clone()));
        if !same(&mac, &expected) {
            return Err("a record whose authentication is wrong");
        }
        Record::of_fields(&fields).ok_or("a record of an unknown form")
    }

    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| drop(fields.insert(name.into(), value));
        put("v", 1.into());
        let kind = match &self.what {
            What::Session { key } => {
                put("key", key.as_str().into());
                "session"
            }
            What::Once { key, typed } => {
                put("key", key.as_str().into());
                put("typed", (*typed).into());
                "once"
            }
            What::Cover { key, exec_session } => {
                put("key", key.as_str().into());
                put("exec_session", exec_session.to_string().into());
                "cover"
            }
            What::Auto { tool } => {
                put("auto_tool", tool.as_deref().map_or(Value::Null, Into::into));
                "auto"
            }
            What::Ask { key, typed, session_grant } => {
                put("key", key.as_str().into());
                put("typed", (*typed).into());
                put("session_grant", (*session_grant).into());
                "ask"
            }
        };
        put("kind", kind.into());
        put("id", self.id.to_string().into());
        put("session", self.session.as_str().into());
        put("boot", self.made.boot.as_ref().into());
        put("made_ms", millis(self.made.at).into());
        put("until_ms", millis(self.until).into());
        put("date_ms", self.date_ms.into());
        put("by", self.by.as_str().into());
        put("tool", self.tool.as_str().into());
        put("shown", self.shown.as_str().into());
        put("effects", self.about.effects.iter().map(Shown::as_str).collect());
        put("directory", self.about.directory.as_ref().map(Shown::as_str).into());
        put("risk", self.about.risk.as_ref().map(Shown::as_str).into());
        fields
    }

    fn of_fields(fields: &Map<String, Value>) -> Option<Record> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let number = |name: &str| fields.get(name).and_then(Value::as_u64);
        let truth = |name: &str| fields.get(name).and_then(Value::as_bool);
        if number("v") != Some(1) {
            return None;
        }
        let key = || text("key").and_then(ApprovalKey::from_hex);
        let what = match text("kind")? {
            "session" => What::Session { key: key()? },
            "once" => What::Once { key: key()?, typed: truth("typed")? },
            "cover" => What::Cover { key: key()?, exec_session: text("exec_session")?.parse().ok()? },
            "auto" => What::Auto {
                tool: match fields.get("auto_tool")? {
                    Value::Null => None,
                    Value::String(tool) => Some(tool.clone()),
                    _ => return None,
                },
            },
            "ask" => {
                What::Ask { key: key()?, typed: truth("typed")?, session_grant: truth("session_grant")? }
            }
            _ => return None,
        };
        Some(Record {
            id: AskId::from_hex(text("id")?)?,
            what,
            session: text("session")?.to_owned(),
            made: Moment { boot: text("boot")?.into(), at: Duration::from_millis(number("made_ms")?) },
            until: Duration::from_millis(number("until_ms")?),
            date_ms: number("date_ms")?,
            by: Shown::of(text("by")?),
            tool: text("tool")?.to_owned(),
            shown: Shown::of(text("shown")?),
            about: About {
                effects: fields
                    .get("effects")
                    .and_then(Value::as_array)
                    .map(|all| all.iter().filter_map(Value::as_str).map(Shown::of).collect())
                    .unwrap_or_default(),
                directory: text("directory").map(Shown::of),
                risk: text("risk").map(Shown::of),
            },
        })
    }
}

/// Milliseconds, rounded down: a record never holds longer for having been written down.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Compares without telling by the time taken how much is right.
fn same(one: &str, two: &str) -> bool {
    one.len() == two.len() && one.bytes().zip(two.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
