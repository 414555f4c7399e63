//! `bailiwick journal`: what happened, for people and for other programs. Reading changes nothing.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate::call::visible;
use gate::journal::{
    Colour, Decisions, Exporter, Filter, Format, Going, Head, Host as _, PublicKey, Reader, Record, Stats,
    ThisHost, Timestamp, audit_entry, timeline,
};
use gate::{Desk, Machine, Wanted, load};

use crate::cli::{ExportFormat, Journal, JournalCommand, print};
use crate::setup;
use crate::terminal::Style;

/// The journal does not hang together.
const BAD: u8 = 11;
/// How often a journal that is followed is looked at.
const PAUSE: Duration = Duration::from_millis(200);
/// So many rows of each table of the statistics are shown.
const ROWS: usize = 10;

/// Runs the command.
pub(crate) fn run(arguments: &Journal) -> Result<u8, String> {
    let desk = desk()?;
    let directory = arguments.directory.clone().unwrap_or_else(|| desk.journal_directory().to_path_buf());
    let json = arguments.json;
    match &arguments.command {
        JournalCommand::Tail { lines, follow, session, since } => {
            let filter =
                Filter { since: when(since.as_deref())?, session: session.clone(), ..Filter::default() };
            tail(&directory, *lines, *follow, &filter, json)
        }
        JournalCommand::Show { call } => show(&directory, call, json),
        JournalCommand::Stats { since } => stats(&directory, since.as_deref(), json),
        JournalCommand::Verify { head, key } => {
            verify(&desk, &directory, head.as_deref(), key.as_deref(), json)
        }
        JournalCommand::Head => match reader(&directory)?.head().map_err(|error| error.to_string())? {
            Some(head) => print(format!("{}\n", head.to_json()).as_bytes()),
            None => Err("nothing is signed yet".into()),
        },
        JournalCommand::Key => print(format!("{}\n", desk.keys()?.public().to_hex()).as_bytes()),
        JournalCommand::Export { format, since, session } => {
            let filter =
                Filter { since: when(since.as_deref())?, session: session.clone(), ..Filter::default() };
            export(&directory, *format, &filter)
        }
    }
}

/// Where Bailiwick keeps its own, as the user's configuration says.
pub(crate) fn desk() -> Result<Desk, String> {
    let world = Machine::world()?;
    let config = load(&world, &Wanted::default()).map_err(|error| setup::explain(&world, &error))?;
    Desk::of(&world, &config)
}

/// The journal, to be read.
pub(crate) fn reader(directory: &Path) -> Result<Reader, String> {
    if !directory.is_dir() {
        return Err(format!("there is no journal in {}; nothing was run yet", directory.display()));
    }
    Reader::open(directory).map_err(|error| format!("{}: {error}", directory.display()))
}

/// A date, or how long ago.
pub(crate) fn when(text: Option<&str>) -> Result<Option<Timestamp>, String> {
    let Some(text) = text else { return Ok(None) };
    Timestamp::parse_or_ago(text, ThisHost.now()).map(Some).ok_or_else(|| {
        format!(
            "`{}` is neither a date (2026-01-31, 2026-01-31T12:00:00Z) nor a time ago (30m, 12h, 7d)",
            visible(text)
        )
    })
}

fn tail(directory: &Path, count: usize, follow: bool, filter: &Filter, json: bool) -> Result<u8, String> {
    let reader = reader(directory)?;
    let colour = if Style::of_stdout().is_coloured() { Colour::On } else { Colour::Off };
    // What the journal writes for itself is in its files and exports; a reader wants what happened.
    let filter = &Filter { own: json, ..filter.clone() };
    let line = |record: &Record| {
        if json { format!("{}\n", record.line) } else { format!("{}\n", timeline(record, colour)) }
    };
    let failed = |error: gate::journal::Unreadable| error.to_string();
    let mut position = reader.end().map_err(|error| error.to_string())?;
    let text: String = reader.tail(count, filter).map_err(failed)?.iter().map(line).collect();
    print(text.as_bytes())?;
    if !follow {
        return Ok(0);
    }
    loop {
        std::thread::sleep(PAUSE);
        let new = reader.new_since(&mut position).map_err(failed)?;
        let text: String = new.iter().filter(|record| filter.takes(record)).map(line).collect();
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(0),
            Err(error) => return Err(format!("standard output: {error}")),
        }
    }
}

fn show(directory: &Path, call: &str, json: bool) -> Result<u8, String> {
    let reader = reader(directory)?;
    let mut records = reader.call(call).map_err(|error| error.to_string())?;
    if records.is_empty() {
        // The beginning of a name is enough where it is nobody else's.
        let mut names: Vec<String> = Vec::new();
        reader
            .backward(&Filter::default(), |record| {
                let fits = record.call_id.filter(|id| id.starts_with(call) && !names.contains(id));
                names.extend(fits);
                if names.len() > 1 { Going::Stop } else { Going::On }
            })
            .map_err(|error| error.to_string())?;
        records = match names.as_slice() {
            [only] if !call.is_empty() => reader.call(only).map_err(|error| error.to_string())?,
            [] => return Err(format!("there is no call `{}` in the journal", visible(call))),
            _ => return Err(format!("`{}` could be several calls; write more of the id", visible(call))),
        };
    }
    if json {
        let all: Vec<serde_json::Value> = records.iter().map(Record::json).collect();
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        return print(format!("{text}\n").as_bytes());
    }
    let style = Style::of_stdout();
    let mut out = String::new();
    for record in &records {
        let _ = writeln!(out, "{}  {}", style.dim(&record.timestamp), style.green(record.kind.name()));
        for (name, value) in &record.payload {
            let text = match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let _ = writeln!(out, "  {name:<16} {}", visible(&text));
        }
    }
    if let Some(first) = records.first() {
        let _ = writeln!(
            out,
            "{}",
            style.dim(&format!(
                "call {}, session {}, for {}; records {} to {}",
                visible(first.call_id.as_deref().unwrap_or("-")),
                visible(first.session_id.as_deref().unwrap_or("-")),
                visible(first.principal_id().unwrap_or("-")),
                first.seq,
                records.last().map_or(first.seq, |last| last.seq),
            ))
        );
    }
    print(out.as_bytes())
}

fn stats(directory: &Path, since: Option<&str>, json: bool) -> Result<u8, String> {
    let filter = Filter { since: when(since)?, ..Filter::default() };
    let mut stats = Stats::default();
    reader(directory)?
        .forward(&filter, |record| {
            stats.take(&record);
            Going::On
        })
        .map_err(|error| error.to_string())?;
    if json {
        let text = serde_json::to_string_pretty(&stats).map_err(|error| error.to_string())?;
        return print(format!("{text}\n").as_bytes());
    }
    let style = Style::of_stdout();
    let mut out = String::new();
    let _ = writeln!(out, "{}", style.dim("day          allowed    asked   denied  prompts  approved"));
    for (day, sums) in &stats.days {
        let _ = writeln!(
            out,
            "{day}  {:>8} {:>8} {:>8} {:>8}  {:>8}",
            sums.allow, sums.ask, sums.deny, sums.prompts, sums.approved
        );
    }
    let tables = [
        ("why calls were asked about or denied", &stats.reasons),
        ("rules that decided", &stats.rules),
        ("how calls ended", &stats.outcomes),
        ("prompts that an allow rule would have saved", &stats.savings),
    ];
    for (title, table) in tables {
        let top = Stats::top(table, ROWS);
        if !top.is_empty() {
            let _ = writeln!(out, "\n{}", style.green(title));
        }
        for (what, count) in top {
            let _ = writeln!(out, "{count:>8}  {}", visible(what));
        }
    }
    print(out.as_bytes())
}

fn verify(
    desk: &Desk,
    directory: &Path,
    head: Option<&Path>,
    key: Option<&Path>,
    json: bool,
) -> Result<u8, String> {
    let key = match key {
        Some(path) => PublicKey::from_hex(&text_of(path)?)
            .ok_or_else(|| format!("{} is no public key: 64 hex digits are wanted", path.display()))?,
        None => desk.keys()?.public(),
    };
    let head = head
        .map(|path| {
            Head::from_json(text_of(path)?.trim()).map_err(|why| format!("{}: {why}", path.display()))
        })
        .transpose()?;
    let report = reader(directory)?.verify(&[key], head.as_ref()).map_err(|error| error.to_string())?;
    let text = if json {
        serde_json::to_string_pretty(&report).map_err(|error| error.to_string())? + "\n"
    } else {
        format!("{report}\n")
    };
    print(text.as_bytes())?;
    Ok(if report.is_good() { 0 } else { BAD })
}

fn text_of(path: &Path) -> Result<String, String> {
    let world = Machine::world()?;
    let path: PathBuf = world.cwd.join(path);
    match world.disk.read(&path) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(format!("{} does not exist", path.display())),
        Err(why) => Err(format!("{} {why}", path.display())),
    }
}

fn export(directory: &Path, format: ExportFormat, filter: &Filter) -> Result<u8, String> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let reader = reader(directory)?;
    let mut written = Ok(());
    let mut each = |one: &mut dyn FnMut(&Record) -> String, out: &mut dyn std::io::Write| {
        reader.forward(filter, |record| {
            written = out.write_all(one(&record).as_bytes());
            if written.is_ok() { Going::On } else { Going::Stop }
        })
    };
    let line = |value: serde_json::Value| format!("{value}\n");
    let done = match format {
        ExportFormat::Jsonl | ExportFormat::Csv | ExportFormat::OtlpJson => {
            let mut exporter = Exporter::new(match format {
                ExportFormat::Csv => Format::Csv,
                ExportFormat::OtlpJson => Format::OtlpJson,
                _ => Format::Jsonl,
            });
            let begun = out.write_all(exporter.begin().as_bytes());
            let done = each(&mut |record| exporter.record(record), &mut out);
            written = begun.and(written).and_then(|()| out.write_all(exporter.end().as_bytes()));
            done
        }
        ExportFormat::Audit => {
            each(&mut |record| audit_entry(record).map(line).unwrap_or_default(), &mut out)
        }
        ExportFormat::Decisions => {
            let mut decisions = Decisions::default();
            let text = |decision| serde_json::to_value(decision).map(line).unwrap_or_default();
            let done = each(&mut |record| decisions.take(record).map(text).unwrap_or_default(), &mut out);
            let rest: String = decisions.rest().into_iter().map(text).collect();
            written = written.and_then(|()| out.write_all(rest.as_bytes()));
            done
        }
    };
    done.map_err(|error| error.to_string())?;
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(0),
    }
}
