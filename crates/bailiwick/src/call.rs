//! `bailiwick call`: any built-in tool through the whole pipeline, its result as JSON.

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};

use gate::call::{Category, RawCall};
use gate::tools::{Outcome, Stream};
use gate::{Hands, Machine, Terms};
use serde_json::{Value, json};

use crate::approvers::Audience;
use crate::cli::{Call, print};
use crate::person::at_terminal;
use crate::progress::Progress;

/// The largest arguments that are read.
const MOST: u64 = 2 * 1024 * 1024;

/// Runs the command.
pub(crate) fn run(arguments: &Call) -> Result<u8, String> {
    let text = match arguments.args.as_deref() {
        Some("-") | None => read_input()?,
        Some(text) => text.to_owned(),
    };
    let args: Value = match serde_json::from_str(&text) {
        Ok(args) => args,
        Err(error) => {
            let kind = gate::call::ErrorKind::Validation;
            return answer(arguments, &Outcome::error(kind, format!("the arguments are not JSON: {error}")));
        }
    };
    let gate = arguments.setup.gate_for(None, Vec::new())?.running();
    let gate = arguments.setup.with_office(gate, &[], Audience::Terminal)?;
    let mut hands = Hands::new().map_err(|error| format!("nothing can be started: {error}"))?;
    hands.human = Some(at_terminal());
    // A question to a person has the terminal for itself.
    let human = gate::call::tool(&arguments.tool).is_some_and(|tool| tool.category == Category::Human);
    let progress = if arguments.stream || human { None } else { Progress::of(&arguments.tool) };
    if let Some(progress) = &progress {
        let (starting, coming) = (progress.seen(), progress.seen());
        hands.starting = Some(Arc::new(move || starting.starts()));
        hands.watch = Some(Arc::new(move |_, bytes| coming.comes(bytes.len())));
    }
    if arguments.stream {
        let out = Mutex::new(std::io::stdout());
        hands.watch = Some(Arc::new(move |stream, bytes| {
            let name = match stream {
                Stream::Out => "stdout",
                Stream::Error => "stderr",
            };
            let event = json!({"type": "output", "stream": name, "text": String::from_utf8_lossy(bytes)});
            if let Ok(mut out) = out.lock() {
                // A reader that has gone away misses the rest.
                let _gone = writeln!(out, "{event}").and_then(|()| out.flush());
            }
        }));
    }
    let mut raw = RawCall::new(arguments.tool.clone(), args);
    raw.session = Some(arguments.session.clone().unwrap_or_else(Machine::session));
    let terms = Terms { environment: Machine::environment(), ..Terms::default() };
    let outcome = gate.perform(raw, terms, &hands);
    drop(progress);
    answer(arguments, &outcome)
}

fn read_input() -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(MOST + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("standard input: {error}"))?;
    if text.len() as u64 > MOST {
        return Err(format!("the arguments are longer than {MOST} bytes"));
    }
    Ok(text)
}

fn answer(arguments: &Call, outcome: &Outcome) -> Result<u8, String> {
    let value = if arguments.stream {
        json!({"type": "result", "result": outcome})
    } else {
        serde_json::to_value(outcome).map_err(|error| error.to_string())?
    };
    print(format!("{value}\n").as_bytes())?;
    Ok(match outcome.error_kind {
        Some(kind) => kind.exit_code(),
        None => u8::from(!outcome.ok),
    })
}
