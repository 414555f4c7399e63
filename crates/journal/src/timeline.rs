//! A record as a line for people: time, session, tool, what, verdict, who, how long. Nothing in it can act on a terminal.

use call::visible;

use crate::event::Kind;
use crate::record::Record;
use crate::what;

/// Whether colours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// As escape sequences for terminals.
    On,
    /// Plain text.
    Off,
}

/// Longer descriptions lose their middle.
const LONGEST: usize = 120;

/// The record as a line for people.
#[must_use]
pub fn timeline(record: &Record, colour: Colour) -> String {
    let paint = |code: &str, text: &str| match colour {
        Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
        Colour::Off => text.to_owned(),
    };
    let date = record.timestamp.get(..10).unwrap_or_default();
    let time = record.timestamp.get(11..19).unwrap_or_default();
    let session: String = visible(record.session_id.as_deref().unwrap_or("-")).chars().take(8).collect();
    let tool = visible(record.text("tool").unwrap_or("-"));
    let what = shortened(&visible(&what(record)));
    let (code, verdict) = verdict(record);
    let mut line = format!(
        "{} {} {} {} {what}",
        paint("2", &format!("{date} {time}")),
        paint("36", &format!("{session:<8}")),
        paint("1", &format!("{tool:<14}")),
        paint(code, &format!("{:<9}", visible(&verdict))),
    );
    if let Some(who) = who(record) {
        line.push_str(&paint("2", &format!("  by {}", visible(&who))));
    }
    if let Some(took) = record.number("duration_ms") {
        line.push_str(&paint("2", &format!("  {}", duration(took))));
    }
    line
}

fn what(record: &Record) -> String {
    let reason = || record.text("reason").map(ToOwned::to_owned);
    let said = match record.kind {
        Kind::ToolCallFinished => record
            .number("exit_code")
            .map(|code| format!("exit code {code}"))
            .or_else(|| record.text("error_kind").map(ToOwned::to_owned)),
        Kind::JournalRepaired => {
            record.number("bytes").map(|bytes| format!("{bytes} bytes of an unfinished line taken off"))
        }
        Kind::Checkpoint => record.number("records").map(|records| format!("{records} records signed for")),
        Kind::Segment => record.number("segment").map(|number| format!("segment {number}")),
        _ => what::of(record),
    };
    said.or_else(reason).unwrap_or_default()
}

/// The colour's code, and the word.
fn verdict(record: &Record) -> (&'static str, String) {
    let word = record.text("decision").or_else(|| record.text("outcome"));
    let word = match (record.kind, word) {
        (Kind::ToolCallRequested | Kind::ApprovalDecided | Kind::ToolCallFinished, Some(word)) => word,
        (Kind::ToolCallStarted, _) => "started",
        (Kind::ApprovalRequested, _) => "asking",
        (kind, _) => kind.name(),
    };
    let code = match word {
        "allow" | "approved" | "approved_for_session" | "approved_always" | "started" => "32",
        "ask" | "asking" | "aborted" | "interrupted" | "journal_repaired" => "33",
        "deny" | "denied" | "abort" | "security_violation" | "run_failed" => "31",
        _ => "0",
    };
    (code, word.to_owned())
}

fn who(record: &Record) -> Option<String> {
    let by = match record.kind {
        Kind::ToolCallRequested => record.text_in("rule", "id"),
        Kind::ApprovalDecided => record.text("by").or_else(|| record.text("reason")),
        _ => None,
    };
    by.or_else(|| record.principal_id()).map(ToOwned::to_owned)
}

/// Both ends stay: what a command does is often at its end.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let half = LONGEST / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head} …[{} more]… {tail}", count - 2 * half)
}

fn duration(milliseconds: i64) -> String {
    match milliseconds {
        ..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
    }
}
