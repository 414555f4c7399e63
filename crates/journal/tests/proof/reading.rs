//! Reading back: the last records, one call, what is new, sums, exports, and lines for people. SEC-2: digests are no oracle.

use call::{Call, Descriptors, DigestKey, Principal, RawCall, Request, Seen, Shown, sha256_hex};
use journal::simulated::Machine;
use journal::{
    Colour, Decisions, Event, Exporter, Filter, Format, Going, Kind, Payload, Record, Stats, Sync, Timestamp,
    Who, audit_entry, gate_event, timeline,
};
use serde_json::{Value, json};

use crate::stage::{event, open, reader, records, settings};

fn request(raw: RawCall, key: &DigestKey) -> Request {
    let call = Call::parse(raw).unwrap();
    let descriptors = Descriptors::new();
    let seen = Seen { argv: None, complex: None, risk: "low", cwd: "/w".into() };
    descriptors.of(&call).sanitize_for_event(&call, &seen, key)
}

/// The events of a call that was asked about and approved.
fn approved(call: &str, words: &[&str]) -> Vec<Event> {
    let request = request(
        RawCall::new("shell_exec", json!({"argv": words, "cwd": "/w"})),
        &DigestKey::from_bytes([1; 32]),
    );
    let key = request.approval_key();
    let requested = Payload::new()
        .with("tool", "shell_exec")
        .with("request", request)
        .with("approval_key", &key)
        .with("decision", "ask")
        .with("reason", "a rule asks")
        .with("rule", Payload::new().with("id", "ask-first"))
        .with("risk", Payload::new().with("level", "medium"));
    let decided = Payload::new()
        .with("tool", "shell_exec")
        .with("approval_key", &key)
        .with("decision", "approved")
        .with("reason", "provider")
        .with("by", Shown::of("alice"));
    let finished = Payload::new()
        .with("tool", "shell_exec")
        .with("outcome", "finished")
        .with("exit_code", 0)
        .with("duration_ms", 1_234_u64);
    let who = Who::of(&Principal { id: "bob".into(), groups: vec!["dev".into()] });
    [
        (Kind::ToolCallRequested, requested),
        (Kind::ApprovalRequested, Payload::new().with("tool", "shell_exec").with("approval_key", &key)),
        (Kind::ApprovalDecided, decided),
        (Kind::ToolCallStarted, Payload::new().with("tool", "shell_exec")),
        (Kind::ToolCallFinished, finished),
    ]
    .into_iter()
    .map(|(kind, payload)| {
        Event::new(kind, payload)
            .about(Some(Shown::of(call)))
            .in_session(Some(Shown::word("session-1")))
            .by(Some(who.clone()))
    })
    .collect()
}

fn written() -> Machine {
    let machine = Machine::new(2);
    let (journal, _) = open(&machine, settings(Sync::Group, 6_000)).unwrap();
    for (call, words) in [
        ("c1", &["git", "push", "origin"][..]),
        ("c2", &["git", "push", "--tags"]),
        ("c3", &["make"]),
        ("c4", &["echo", "\u{1b}[2J\u{202e}x"]),
    ] {
        for event in approved(call, words) {
            journal.append(&event).unwrap();
        }
    }
    machine
}

fn own(all: Vec<Record>) -> Vec<(String, Kind)> {
    all.into_iter().filter_map(|record| Some((record.call_id?, record.kind))).collect()
}

#[test]
fn forward_and_backward_give_the_same_records() {
    let reader = reader(&written());
    let forward = records(&reader);
    let mut backward = Vec::new();
    let each = |record| {
        backward.push(record);
        Going::On
    };
    reader.backward(&Filter::default(), each).unwrap();
    backward.reverse();
    assert_eq!(forward, backward);
    assert!(
        forward.len() > 22 && forward.iter().any(|record| record.kind == Kind::Segment && record.seq > 1)
    );
    for count in [0, 1, 3, 1000] {
        let tail = reader.tail(count, &Filter::default()).unwrap();
        assert_eq!(tail, forward[forward.len() - count.min(forward.len())..]);
    }
}

#[test]
fn calls_sessions_and_times_are_found() {
    let machine = written();
    let reader = reader(&machine);
    let all = records(&reader);
    assert_eq!(reader.call("c2").unwrap().len(), 5);
    assert!(reader.call("c").unwrap().is_empty());
    let middle = all[all.len() / 2].time();
    let filter = Filter { since: Some(middle), ..Filter::default() };
    let since = reader.tail(1000, &filter).unwrap();
    let expected = all.iter().filter(|record| record.time() >= middle).count();
    assert!(expected > 5 && expected < all.len() - 5);
    assert_eq!(since.len(), expected);
    let filter = Filter { session: Some("session-1".into()), ..Filter::default() };
    assert_eq!(reader.tail(1000, &filter).unwrap().len(), 20);
    let filter = Filter { since: Some(Timestamp::from_micros(i64::MAX)), ..Filter::default() };
    assert!(reader.tail(1000, &filter).unwrap().is_empty());
}

#[test]
fn what_is_new_comes_once_and_over_segments() {
    let machine = Machine::new(2);
    let (journal, _) = open(&machine, settings(Sync::Os, 2_000)).unwrap();
    let reader = reader(&machine);
    let mut position = reader.end().unwrap();
    let mut seen = Vec::new();
    for number in 0..30 {
        journal.append(&event(Kind::RunStarted, &format!("r{number}"))).unwrap();
        if number % 4 == 0 {
            seen.extend(own(reader.new_since(&mut position).unwrap()));
        }
    }
    seen.extend(own(reader.new_since(&mut position).unwrap()));
    let expected: Vec<_> = (0..30).map(|number| (format!("r{number}"), Kind::RunStarted)).collect();
    assert_eq!(seen, expected);
    assert!(reader.new_since(&mut position).unwrap().is_empty());
}

#[test]
fn sums_say_what_an_allow_rule_would_have_saved() {
    let mut stats = Stats::default();
    records(&reader(&written())).iter().for_each(|record| stats.take(record));
    assert_eq!(Stats::top(&stats.savings, 1), [("git push", 2)]);
    assert_eq!(stats.savings.get("make"), Some(&1));
    let day = stats.days.values().next().unwrap();
    assert_eq!((day.allow, day.ask, day.deny, day.prompts, day.approved), (0, 4, 0, 4, 4));
    assert_eq!(Stats::top(&stats.rules, 5), [("ask-first", 4)]);
    assert_eq!(Stats::top(&stats.reasons, 5), [("a rule asks", 4)]);
    assert_eq!(stats.outcomes.get("finished"), Some(&4));
}

#[test]
fn audit_readers_find_their_forms() {
    let all = records(&reader(&written()));
    let entries: Vec<Value> = all.iter().filter_map(audit_entry).collect();
    assert_eq!(entries[0]["event"], "tool_attempt");
    assert_eq!(entries[0]["tool_name"], "shell_exec");
    assert_eq!(entries[0]["decision"], "ask");
    assert_eq!(entries[0]["classification"]["risk_level"], "medium");
    assert_eq!(entries[0]["tool_input"]["argv"], json!(["git", "push", "origin"]));
    assert_eq!(
        (&entries[1]["event"], &entries[1]["approved"], &entries[1]["user_id"]),
        (&json!("approval"), &json!(true), &json!("alice"))
    );
    let events: Vec<_> = all.iter().filter_map(gate_event).take(2).collect();
    assert_eq!(events, ["tool_gated", "tool_allowed"]);

    let mut decisions = Decisions::default();
    let done: Vec<_> = all.iter().filter_map(|record| decisions.take(record)).collect();
    assert_eq!(done.len(), 4);
    let first = serde_json::to_value(&done[0]).unwrap();
    for (name, value) in [
        ("principal", "bob"),
        ("action", "tool:execute"),
        ("resource", "shell_exec"),
        ("policy_decision", "ask"),
        ("user_decision", "approved"),
        ("final_outcome", "allow"),
    ] {
        assert_eq!(first[name], value);
    }
    assert!(decisions.rest().is_empty());
}

#[test]
fn exports_are_well_formed() {
    let all = records(&reader(&written()));
    let text = |format: Format| {
        let mut exporter = Exporter::new(format);
        let mut text = exporter.begin();
        for record in &all {
            text.push_str(&exporter.record(record));
        }
        text + exporter.end()
    };
    let lines = text(Format::Jsonl);
    assert!(lines.lines().zip(&all).all(|(line, record)| line == record.line));
    let table = text(Format::Csv);
    assert_eq!(table.lines().count(), all.len() + 1);
    assert!(table.lines().next().unwrap().starts_with("seq,timestamp,type,"));
    let otlp: Value = serde_json::from_str(&text(Format::OtlpJson)).unwrap();
    let logs = otlp["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
    assert_eq!(logs.len(), all.len());
    assert!(logs.iter().all(|log| log["timeUnixNano"].as_str().is_some_and(|time| time.len() == 19)));
}

#[test]
fn a_line_for_people_cannot_act_on_a_terminal() {
    let all = records(&reader(&written()));
    for record in &all {
        let line = timeline(record, Colour::Off);
        assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
    let line =
        timeline(all.iter().rfind(|record| record.kind == Kind::ToolCallRequested).unwrap(), Colour::On);
    assert!(line.contains("echo <U+001B>[2J<U+202E>x") && line.contains("\u{1b}[33mask"), "{line:?}");
    let finished =
        timeline(all.iter().find(|record| record.kind == Kind::ToolCallFinished).unwrap(), Colour::Off);
    assert!(finished.ends_with("finished  exit code 0  by bob  1.2 s"), "{finished:?}");
}

/// Whoever has the journal and a list of candidates cannot confirm one.
#[test]
fn digests_in_the_journal_confirm_no_guess() {
    let machine = Machine::new(6);
    let (journal, _) = open(&machine, settings(Sync::Os, 1 << 20)).unwrap();
    let key = crate::stage::keys(&machine).unwrap().digest_key();
    let code = "271828";
    let typed = request(RawCall::new("write_stdin", json!({"session_id": 1, "chars": code})), &key);
    let words = json!({"argv": ["env"], "cwd": "/w", "env": {"PIN": code}});
    let environment = request(RawCall::new("shell_exec", words), &key);
    for request in [typed, environment] {
        journal
            .append(&Event::new(Kind::ToolCallRequested, Payload::new().with("request", request)))
            .unwrap();
    }
    let text: String = records(&reader(&machine))
        .iter()
        .map(|record| record.payload.get("request").map(Value::to_string).unwrap_or_default())
        .collect();
    assert!(text.contains("chars_digest") && text.contains("env_digest") && !text.contains(code));
    let digests: Vec<&str> = text
        .split('"')
        .filter(|word| word.len() >= 32 && word.bytes().all(|b| b.is_ascii_hexdigit()))
        .collect();
    assert!(digests.len() >= 2);
    for candidate in (0..1_000_000).step_by(7).chain([271_828]) {
        let code = format!("{candidate:06}");
        for guess in [code.clone(), format!("PIN={code}"), format!("{{\"PIN\":\"{code}\"}}")] {
            let hash = sha256_hex(guess.as_bytes());
            assert!(!digests.iter().any(|digest| digest.starts_with(&hash[..16])), "{guess}");
        }
    }
}
