//! `bailiwick run`: a model does a task, unattended.

use std::io::{Read as _, Write as _};

use door_agent::{Command, Event, Handle, Manner, What};
use gate::call::visible_lines;
use tokio::signal::unix::{SignalKind, signal};

use crate::agent_setup::runtime;
use crate::cli::Run;
use crate::narration::Narration;
use crate::transport::Transport;

/// The longest task.
const LONGEST: u64 = 1024 * 1024;
/// The code of a run that was cancelled.
pub(crate) const CANCELLED: u8 = 130;

/// Runs the command.
pub(crate) fn run(arguments: &Run) -> Result<u8, String> {
    let task = match arguments.task.as_deref() {
        Some("-") => Some(read_task()?),
        other => other.map(str::to_owned),
    };
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        let prepared = arguments.agent.prepare(Transport::Run)?;
        let run = prepared.run.clone();
        let handle = prepared.start(Manner::Task(task), None)?;
        watch(handle, &run, arguments.json).await
    });
    // A thread that waits for something that nobody needs any more does not hold the end up.
    runtime.shutdown_background();
    code
}

fn read_task() -> Result<String, String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST + 1).read_to_string(&mut text);
    read.map_err(|error| format!("standard input: {error}"))?;
    if text.len() as u64 > LONGEST { Err("the task is too long".into()) } else { Ok(text) }
}

/// Shows what happens until it is over. A signal cancels it; a second one does not wait.
async fn watch(mut handle: Handle, run: &str, json: bool) -> Result<u8, String> {
    let failed = |error: std::io::Error| format!("signals cannot be heard: {error}");
    let mut interrupts = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut ends = signal(SignalKind::terminate()).map_err(failed)?;
    let mut narration = Narration::of_stderr();
    let mut cancelled = false;
    if !json {
        narration.line(&format!("{run}: to take it up again, `bailiwick run --resume {run}`"));
    }
    loop {
        let event = tokio::select! {
            event = handle.events.recv() => event,
            _ = interrupts.recv() => { stop(&handle, &mut cancelled)?; continue }
            _ = ends.recv() => { stop(&handle, &mut cancelled)?; continue }
        };
        let Some(event) = event else { return Err("the run broke off".into()) };
        if json {
            let line = serde_json::to_string(&event).map_err(|error| error.to_string())?;
            print(&format!("{line}\n"));
        } else {
            show(&event, &mut narration);
        }
        if let Some(code) = ended(&event) {
            return Ok(code);
        }
    }
}

fn stop(handle: &Handle, cancelled: &mut bool) -> Result<(), String> {
    if *cancelled {
        return Err("it was not waited for".into());
    }
    *cancelled = true;
    let _over_already = handle.commands.try_send(Command::Cancel);
    Ok(())
}

/// The exit code, where this was the last event.
fn ended(event: &Event) -> Option<u8> {
    if event.agent.contains('/') {
        return None;
    }
    match &event.what {
        What::RunCompleted { .. } => Some(0),
        What::RunFailed { reason, .. } => Some(reason.exit_code()),
        What::RunCancelled {} => Some(CANCELLED),
        _ => None,
    }
}

/// The model's words are the output; everything else is told beside it.
fn show(event: &Event, narration: &mut Narration) {
    match &event.what {
        What::TextDelta { text } if !event.agent.contains('/') => print(&visible_lines(text)),
        What::StepStarted { step } if *step > 1 && !event.agent.contains('/') => print("\n"),
        What::RunCompleted { .. } => print("\n"),
        _ => narration.tell(event),
    }
}

/// A reader that has gone away misses the rest.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
