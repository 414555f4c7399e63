//! Calls that were started and never ended, as the journal itself has them.

use std::collections::BTreeMap;
use std::io;

use serde::Deserialize;

use crate::event::{Kind, Outcome, own_body};
use crate::line::Line;
use crate::payload::{Own, Payload, quote};
use crate::running::CallKey;
use crate::segment::{self, Lines, file_name};
use crate::time::Timestamp;
use crate::volume::{Access, Volume};

/// A call that was started.
pub(crate) struct Started {
    pub(crate) seq: u64,
    tool: Option<String>,
    run: Option<String>,
    principal: Option<Box<serde_json::value::RawValue>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    run_id: Option<String>,
    session_id: Option<String>,
    call_id: Option<String>,
    #[serde(borrow)]
    principal: Option<&'a serde_json::value::RawValue>,
    payload: Tool,
}

#[derive(Deserialize)]
struct Tool {
    tool: Option<String>,
}

/// The calls that were started after a record, and did not end.
pub(crate) fn open_after(volume: &dyn Volume, after: u64) -> io::Result<BTreeMap<CallKey, Started>> {
    let mut files = Vec::new();
    for number in segment::numbers(volume)?.into_iter().rev() {
        let file = volume.open(&file_name(number), Access::Read)?;
        let first = segment::header(file.as_ref())?.map_or(0, |header| header.seq);
        files.push(file);
        if first <= after + 1 {
            break;
        }
    }
    let mut open = BTreeMap::new();
    for file in files.iter().rev() {
        let mut lines = Lines::new(file.as_ref(), 0)?;
        while let Some(at) = lines.next()? {
            let Ok(line) = Line::read(at.bytes) else { continue };
            if line.links.seq <= after || !matches!(line.kind, Kind::ToolCallStarted | Kind::ToolCallFinished)
            {
                continue;
            }
            let Ok(named) = serde_json::from_slice::<Named<'_>>(at.bytes) else { continue };
            let Some(call) = named.call_id else { continue };
            let key = (named.session_id, call);
            if line.kind == Kind::ToolCallFinished {
                open.remove(&key);
            } else {
                let principal = named.principal.map(ToOwned::to_owned);
                let started =
                    Started { seq: line.links.seq, tool: named.payload.tool, run: named.run_id, principal };
                open.insert(key, started);
            }
        }
    }
    Ok(open)
}

impl Started {
    /// The line that closes it.
    pub(crate) fn interrupted(&self, key: &CallKey, now: Timestamp) -> String {
        let mut ids = String::new();
        let named =
            [("run_id", self.run.as_ref()), ("session_id", key.0.as_ref()), ("call_id", Some(&key.1))];
        for (name, id) in named.into_iter().filter_map(|(name, id)| Some((name, id?))) {
            ids.push_str(",\"");
            ids.push_str(name);
            ids.push_str("\":");
            quote(id, &mut ids);
        }
        if let Some(principal) = &self.principal {
            ids.push_str(",\"principal\":");
            ids.push_str(principal.get());
        }
        // What stands in the journal was masked when it was written.
        let payload = Payload::new()
            .with("tool", self.tool.clone().map(Own))
            .with("outcome", Outcome::Interrupted.name())
            .with("error_kind", "unknown")
            .with("started", self.seq);
        own_body(Kind::ToolCallFinished, now, &ids, &payload)
    }
}
