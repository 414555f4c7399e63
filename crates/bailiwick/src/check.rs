//! `bailiwick check`: decide, explain, run nothing.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};

use gate::call::{ErrorKind, RawCall};
use gate::policy::Decision;
use gate::{Answer, Gate, Judgement};

use crate::cli::{Check, print};
use crate::human;
use crate::terminal::Style;

/// The longest line of `--jsonl`: the arguments' own bound, doubled for JSON's escapes.
const MAX_LINE: usize = 2 * 1024 * 1024;
/// How many working directories `--jsonl` keeps a gate for.
const MAX_GATES: usize = 64;

/// Runs the command.
pub(crate) fn run(arguments: &Check) -> Result<u8, String> {
    if arguments.jsonl {
        return lines(arguments);
    }
    let raw = match &arguments.tool {
        Some(tool) => match serde_json::from_str(&arguments.args) {
            Ok(args) => Ok(RawCall::new(tool.clone(), args)),
            Err(error) => Err(format!("--args is not JSON: {error}")),
        },
        None => Ok(RawCall::command(arguments.command.join(" "))),
    };
    let raw = match raw {
        Ok(raw) => raw,
        Err(why) => return refuse(arguments, &Answer::refused("validation", why.clone()), &why),
    };
    let gate = arguments.setup.gate(None)?.contacting_the_engine(arguments.engine);
    match gate.judge(raw) {
        Ok(judgement) => show(arguments, &judgement),
        Err(invalid) => refuse(arguments, &Answer::invalid(&invalid), &invalid.to_string()),
    }
}

fn show(arguments: &Check, judgement: &Judgement) -> Result<u8, String> {
    let text = if arguments.json {
        json(&Answer::of(judgement, arguments.explain))?
    } else {
        let command = arguments.tool.is_none().then(|| arguments.command.join(" "));
        human::answer(judgement, command.as_deref(), arguments.explain, Style::of_stdout())
    };
    print(text.as_bytes())?;
    Ok(exit_code(judgement.ruling.decision))
}

fn refuse(arguments: &Check, answer: &Answer<'_>, why: &str) -> Result<u8, String> {
    if arguments.json {
        print(json(answer)?.as_bytes())?;
    } else {
        let style = Style::of_stdout();
        print(format!("{}  malformed call: {}\n", style.red("deny"), gate::call::visible(why)).as_bytes())?;
    }
    Ok(ErrorKind::Validation.exit_code())
}

const fn exit_code(decision: Decision) -> u8 {
    match decision {
        Decision::Allow => 0,
        Decision::Ask => 10,
        Decision::Deny => 11,
    }
}

fn json(answer: &Answer<'_>) -> Result<String, String> {
    serde_json::to_string(answer).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// One answer for each line, in order.
fn lines(arguments: &Check) -> Result<u8, String> {
    let mut gates = Gates { arguments, by_directory: HashMap::new() };
    // The configuration that holds here is checked before anything is read: a broken one refuses to start.
    gates.of(None)?;
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut output = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = u64::try_from(MAX_LINE + 1).unwrap_or(u64::MAX);
        let read = (&mut input)
            .take(limit)
            .read_until(b'\n', &mut line)
            .map_err(|error| format!("standard input: {error}"))?;
        if read == 0 {
            break;
        }
        let written = if line.len() > MAX_LINE && line.last() != Some(&b'\n') {
            skip_line(&mut input)?;
            let why = format!("the line is longer than {MAX_LINE} bytes");
            serde_json::to_writer(&mut output, &Answer::refused("validation", why))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        } else {
            answer_line(&mut gates, &line, &mut output)
        };
        let written = written
            .map_err(std::io::Error::from)
            .and_then(|()| output.write_all(b"\n"))
            // Whoever waits for this answer before asking on gets it at once.
            .and_then(|()| if input.buffer().is_empty() { output.flush() } else { Ok(()) });
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(0),
            Err(error) => return Err(format!("standard output: {error}")),
        }
    }
    match output.flush() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}"))
        }
        _ => Ok(0),
    }
}

fn answer_line(gates: &mut Gates<'_>, line: &[u8], output: impl Write) -> serde_json::Result<()> {
    let raw = match RawCall::from_json(line) {
        Ok(raw) => raw,
        Err(invalid) => return serde_json::to_writer(output, &Answer::invalid(&invalid)),
    };
    let explain = gates.arguments.explain;
    match gates.of(raw.cwd.as_deref()).map(|gate| gate.judge(RawCall { cwd: None, ..raw })) {
        Ok(Ok(judgement)) => serde_json::to_writer(output, &Answer::of(&judgement, explain)),
        Ok(Err(invalid)) => serde_json::to_writer(output, &Answer::invalid(&invalid)),
        // FAIL-CLOSED: the workspace that the line names has a configuration that does not hold together.
        Err(why) => serde_json::to_writer(output, &Answer::refused("config_error", why)),
    }
}

/// Reads on to the end of a line that is too long to be kept.
fn skip_line(input: &mut impl BufRead) -> Result<(), String> {
    loop {
        let buffer = input.fill_buf().map_err(|error| format!("standard input: {error}"))?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |at| at + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// A gate for each working directory that the lines name: another directory may be another workspace.
struct Gates<'a> {
    arguments: &'a Check,
    by_directory: HashMap<Option<String>, Gate>,
}

impl Gates<'_> {
    fn of(&mut self, cwd: Option<&str>) -> Result<&Gate, String> {
        let key = cwd.map(str::to_owned);
        if !self.by_directory.contains_key(&key) && self.by_directory.len() >= MAX_GATES {
            self.by_directory.clear();
        }
        match self.by_directory.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let gate = self.arguments.setup.gate(cwd)?.contacting_the_engine(self.arguments.engine);
                Ok(entry.insert(gate))
            }
        }
    }
}
