//! What the journal costs: a decision without and with a sync, many writers at once, a short process's whole share, reading back.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gate::call::{Call, Descriptors, DigestKey, RawCall, Request, Seen, Shown};
use journal::{Event, Filter, Journal, Keys, Kind, Payload, Reader, Settings, Sync};

use crate::{median, shown};

const WRITERS: u64 = 64;
const RECORDS: usize = 1_000_000;
const ROUNDS: u32 = 6;

pub(crate) fn compare() -> Result<(), String> {
    let place = Place::make()?;
    println!();
    println!("The journal");
    let row = |what: &str, figure: String, goal: &str| println!("  {what:<70} {figure:>16} {goal:>16}");

    let decision = decision()?;
    let journal = place.journal("os", Sync::Os)?;
    let one = median(2_000, || journal.append(&decision));
    row("one decision journalled without a sync", shown(one), "≤ 8 µs");

    let sync = place.journal("always", Sync::Always)?;
    let group = place.journal("group", Sync::Group)?;
    // In turns, so that both see the same disk.
    let (mut alone, mut together) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        let span = Duration::from_millis(500);
        alone += rate(span, 1, &|| sync.append(&decision).is_ok()) / f64::from(ROUNDS);
        together += rate(span, WRITERS, &|| group.append(&decision).is_ok()) / f64::from(ROUNDS);
    }
    row("one sync for each record", format!("{alone:.0} a second"), "");
    row("64 writers that share syncs", format!("{together:.0} a second"), "");
    row("  in proportion", format!("{:.1} ×", together / alone), "≥ 20 ×");

    let keys = place.0.join("keys");
    let directory = place.0.join("os");
    let events: Vec<Event> = (0..4).map(|_| decision.clone()).collect();
    let settings = Settings { sync: Sync::Os, ..Settings::default() };
    let whole = median(500, || -> Result<(), journal::Unavailable> {
        let (journal, _) = Journal::open(&directory, Keys::open(&keys)?, settings)?;
        journal.append_sealed(&events).map(drop)
    });
    row("a short process: keys, open, four records, checkpoint, close (no sync)", shown(whole), "≤ 100 µs");

    let million = place.journal("million", Sync::Os)?;
    let batch: Vec<Event> = (0..1_000).map(|_| decision.clone()).collect();
    for _ in 0..RECORDS / batch.len() {
        million.append_all(&batch).map_err(|error| error.to_string())?;
    }
    drop(million);
    let directory = place.0.join("million");
    let reader = Reader::open(&directory).map_err(|error| error.to_string())?;
    let public = Keys::open(&keys).map_err(|error| error.to_string())?.public();
    let report = reader.verify(std::slice::from_ref(&public), None).map_err(|error| error.to_string())?;
    if !report.is_good() {
        return Err(report.to_string());
    }
    let time = median(3, || reader.verify(std::slice::from_ref(&public), None));
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let records = report.records as f64;
    row("verify", format!("{:.0} records/s", records / time.as_secs_f64()), "≥ 500,000");
    let tail = median(21, || {
        Reader::open(&directory)
            .map(|reader| reader.tail(20, &Filter::default()).map(|records| records.len()))
    });
    row("the last 20 of 1,000,000 records", shown(tail), "≤ 50 ms");
    Ok(())
}

/// A decision as the gate writes it.
fn decision() -> Result<Event, String> {
    let call = Call::parse(RawCall::command("cargo test --workspace 2>&1 | tail -20"))
        .map_err(|error| error.to_string())?;
    let descriptors = Descriptors::new();
    let seen = Seen { argv: None, complex: None, risk: "low", cwd: "/work/project".into() };
    let request: Request =
        descriptors.of(&call).sanitize_for_event(&call, &seen, &DigestKey::from_bytes([7; 32]));
    let payload = Payload::new()
        .with("tool", "Bash")
        .with("approval_key", request.approval_key())
        .with("request", request)
        .with("decision", "allow")
        .with("reason", Shown::of("every part of it is allowed"))
        .with("risk", Payload::new().with("level", "low"));
    Ok(Event::new(Kind::ToolCallRequested, payload)
        .in_session(Some(Shown::word("session")))
        .about(Some(Shown::of("toolu_01A09q90qw90lq917835lq9"))))
}

/// How often so many threads together can do something in a second.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn rate(span: Duration, threads: u64, work: &(dyn Fn() -> bool + std::marker::Sync)) -> f64 {
    let done = AtomicU64::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while start.elapsed() < span && work() {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let done = done.into_inner() as f64;
    done / start.elapsed().as_secs_f64()
}

/// Directories that go with the value.
struct Place(PathBuf);

impl Place {
    /// Beside the build, on a disk: syncs of a file system in memory cost nothing.
    fn make() -> Result<Place, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let parent = own.parent().unwrap_or(Path::new("."));
        let path = parent.join(format!("bench-journal-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Place(path))
    }

    fn journal(&self, name: &str, sync: Sync) -> Result<Journal, String> {
        let keys = Keys::open(&self.0.join("keys")).map_err(|error| error.to_string())?;
        let settings = Settings { sync, ..Settings::default() };
        Journal::open(&self.0.join(name), keys, settings)
            .map(|(journal, _)| journal)
            .map_err(|error| error.to_string())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
