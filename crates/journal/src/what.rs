//! What a call was about, in one line, from its sanitized request.

use serde_json::{Map, Value};

use crate::record::Record;

/// The request of a record, if it has one.
pub(crate) fn request(record: &Record) -> Option<&Map<String, Value>> {
    record.payload.get("request")?.as_object()
}

/// The words of a command, where the request has them.
pub(crate) fn words(request: &Map<String, Value>) -> Option<Vec<&str>> {
    let argv = request.get("argv").or_else(|| request.get("intent")?.get("argv"))?.as_array()?;
    let words: Vec<&str> = argv.iter().filter_map(Value::as_str).collect();
    (!words.is_empty()).then_some(words)
}

/// A command, a path, a question: what a person would call the call.
pub(crate) fn of(record: &Record) -> Option<String> {
    let request = request(record)?;
    let text = |name: &str| request.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let list = |name: &str| {
        let items = request.get(name)?.as_array()?.iter().filter_map(Value::as_str);
        Some(items.collect::<Vec<_>>().join(" "))
    };
    const TEXTS: [&str; 12] = [
        "command",
        "cmd",
        "path",
        "file_path",
        "dir_path",
        "pattern",
        "url",
        "q",
        "question",
        "skill_mention",
        "ends",
        "message",
    ];
    list("argv")
        .or_else(|| TEXTS.iter().find_map(|name| text(name)))
        .or_else(|| list("file_paths"))
        .or_else(|| request.get("session_id").map(|session| format!("session {session}")))
}

/// The program of a command, with its subcommand where it has one: what an allow rule would name.
pub(crate) fn program(record: &Record) -> Option<String> {
    let request = request(record)?;
    let words = words(request).or_else(|| {
        let command = request.get("command").or_else(|| request.get("cmd"))?.as_str()?;
        Some(command.split_whitespace().take(2).collect())
    })?;
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let plain = |word: &&&str| {
        !word.is_empty()
            && word.len() <= 24
            && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
            && !word.starts_with('-')
    };
    Some(match rest.first().filter(plain) {
        Some(subcommand) => format!("{program} {subcommand}"),
        None => program.to_owned(),
    })
}
