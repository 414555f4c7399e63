//! A process that writes a journal and says on its standard output what was acknowledged: for tests that kill it, fail its system
//! calls, fill its disk, or hold its lock.

#![expect(
    clippy::disallowed_methods,
    reason = "a test's other process: it fills disks and is told what to do"
)]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use call::Shown;
use journal::{Directory, Event, Journal, Keys, Kind, Payload, Settings, Sync, Volume as _, Why};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["calls", directory, keys, name, count, sync] => calls(directory, keys, name, count.parse()?, sync),
        ["lock", directory] => hold(directory),
        ["full", directory, keys] => full(directory, keys),
        _ => Err("calls DIRECTORY KEYS NAME COUNT SYNC | lock DIRECTORY | full DIRECTORY KEYS".into()),
    }
}

fn open(directory: &str, keys: &str, sync: &str) -> Result<Journal, Box<dyn std::error::Error>> {
    let sync = match sync {
        "always" => Sync::Always,
        "group" => Sync::Group,
        _ => Sync::Os,
    };
    let settings = Settings { sync, rotate_bytes: 60_000, ..Settings::default() };
    Ok(Journal::open(Path::new(directory), Keys::open(Path::new(keys))?, settings)?.0)
}

fn event(kind: Kind, call: &str) -> Event {
    Event::new(kind, Payload::new().with("tool", "shell_exec").with("outcome", "finished"))
        .about(Some(Shown::of(call)))
        .in_session(Some(Shown::word("s")))
}

/// Runs calls; says each record that was acknowledged, and each that was not.
fn calls(directory: &str, keys: &str, name: &str, count: usize, sync: &str) -> Outcome {
    let journal = open(directory, keys, sync)?;
    for number in 0..count {
        let call = format!("{name}-{number}");
        for kind in [Kind::ToolCallRequested, Kind::ToolCallStarted, Kind::ToolCallFinished] {
            let line = match journal.append(&event(kind, &call)) {
                Ok(sequence) => format!("kept {} {call} {}\n", sequence.0, kind.name()),
                Err(unavailable) => format!("denied {} {}\n", unavailable.why.name(), unavailable.message),
            };
            std::io::stdout().write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

/// Holds the lock until standard input ends.
fn hold(directory: &str) -> Outcome {
    let directory = Directory::open(Path::new(directory))?;
    directory.lock(Duration::from_secs(5))?;
    println!("held");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Fills the disk, is refused, frees it, is served.
fn full(directory: &str, keys: &str) -> Outcome {
    let journal = open(directory, keys, "group")?;
    journal.append(&event(Kind::ToolCallRequested, "before"))?;
    let filler = Path::new(directory).join("filler");
    let mut file = std::fs::File::create(&filler)?;
    // First by the block, then by the byte.
    for size in [65_536, 4_096, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
    // The last page of the segment may still have room.
    let mut accepted = 0;
    while journal.append(&event(Kind::ToolCallRequested, "filling")).is_ok() && accepted < 100 {
        accepted += 1;
    }
    for number in 0..200 {
        match journal.append(&event(Kind::ToolCallStarted, &format!("no-{number}"))) {
            Err(unavailable) if unavailable.why == Why::Full => {}
            other => return Err(format!("a full disk, and yet: {other:?}").into()),
        }
    }
    drop(file);
    std::fs::remove_file(&filler)?;
    let start = std::time::Instant::now();
    journal.append(&event(Kind::ToolCallStarted, "after"))?;
    journal.append(&event(Kind::ToolCallFinished, "after"))?;
    println!("accepted {accepted} served after {:?}", start.elapsed());
    if start.elapsed() > Duration::from_secs(1) {
        return Err("service came back too late".into());
    }
    let keys = Keys::open(Path::new(keys))?.public();
    drop(journal);
    let reader = journal::Reader::open(Path::new(directory))?;
    let report = reader.verify(&[keys], None)?;
    let calls = reader.tail(1000, &journal::Filter::default())?;
    if calls.iter().any(|record| record.call_id.as_deref().is_some_and(|call| call.starts_with("no-"))) {
        return Err("a call that was refused is in the journal".into());
    }
    println!("{report}");
    if report.is_good() { Ok(()) } else { Err("the journal is not good".into()) }
}
