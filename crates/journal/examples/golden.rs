//! Writes the golden journal of the current form: `golden DIRECTORY`. Run once for each form that is released, never again.

#![expect(clippy::disallowed_methods, reason = "it writes the files that a test is compared with")]

use std::path::Path;

use call::{Call, Descriptors, DigestKey, Principal, RawCall, Seen, Shown};
use journal::simulated::Machine;
use journal::{
    Colour, Event, Filter, Going, Journal, Keys, Kind, Payload, Place, Reader, Settings, Who, timeline,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("golden DIRECTORY")?;
    let directory = Path::new(&directory);
    let machine = Machine::new(std::process::id().into());
    let keys = Keys::open_in(machine.volume("keys").as_ref(), &machine)?;
    let public = keys.public();
    let place = Place {
        segments: machine.volume("segments"),
        running: machine.volume("running"),
        host: machine.host(),
    };
    let (journal, _) = Journal::open_at(place, keys, Settings::default())?;
    let call = Call::parse(RawCall::command(
        "curl -H 'Authorization: Bearer abcdef0123456789abcdef' https://example.com",
    ))?;
    let seen = Seen { argv: None, complex: None, risk: "high", cwd: "/w".into() };
    let request =
        Descriptors::new().of(&call).sanitize_for_event(&call, &seen, &DigestKey::from_bytes([7; 32]));
    let tool = || Payload::new().with("tool", "Bash");
    for number in 0..70 {
        let who = Who::of(&Principal { id: "agent".into(), groups: vec!["dev".into()] });
        let about = |kind: Kind, payload: Payload| {
            Event::new(kind, payload)
                .in_session(Some(Shown::word("session-1")))
                .about(Some(Shown::of(&format!("call-{number}"))))
                .by(Some(who.clone()))
        };
        let requested = tool()
            .with("request", &request)
            .with("approval_key", request.approval_key())
            .with("decision", if number % 2 == 0 { "ask" } else { "deny" })
            .with("reason", Shown::of("it connects to `example.com`"))
            .with("rule", Payload::new().with("id", "effects.connect").with("line", 3_u32))
            .with("risk", Payload::new().with("level", "high"));
        journal.append(&about(Kind::ToolCallRequested, requested))?;
        if number % 2 == 0 {
            journal.append(&about(Kind::ApprovalRequested, tool()))?;
            journal.append(&about(
                Kind::ApprovalDecided,
                tool().with("decision", "approved").with("reason", "provider").with("by", Shown::of("alice")),
            ))?;
            journal.append(&about(Kind::ToolCallStarted, tool()))?;
            let finished =
                tool().with("outcome", "finished").with("exit_code", 0).with("duration_ms", 12_345_u64);
            journal.append(&about(Kind::ToolCallFinished, finished))?;
        } else {
            journal.append(&about(
                Kind::ToolCallFinished,
                tool().with("outcome", "denied").with("error_kind", "permission"),
            ))?;
        }
    }
    journal.append(&Event::new(Kind::RunCompleted, Payload::new()))?;
    drop(journal);
    let bytes = machine.bytes("segments", "00000001.jsonl").ok_or("no segment")?;
    let reader = Reader::on(machine.volume("segments"));
    let mut lines = String::new();
    reader.forward(&Filter::default(), |record| {
        lines.push_str(&timeline(&record, Colour::Off));
        lines.push('\n');
        Going::On
    })?;
    std::fs::write(directory.join("format-1.jsonl"), bytes)?;
    std::fs::write(directory.join("format-1.key"), public.to_hex() + "\n")?;
    std::fs::write(directory.join("format-1.head"), reader.head()?.ok_or("no head")?.to_json() + "\n")?;
    std::fs::write(directory.join("format-1.timeline"), lines)?;
    Ok(())
}
