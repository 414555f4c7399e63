//! `bailiwick policy`: what holds, who set it, and whether it does what its author expects.

use std::fmt::Write;
use std::path::Path;

use gate::policy::{Decision, reference, schema};

use crate::cli::{Policy, PolicyCommand, Setup, TestSetup, print};
use crate::replay;
use crate::terminal::Style;

/// Runs the command.
pub(crate) fn run(arguments: &Policy) -> Result<u8, String> {
    match &arguments.command {
        PolicyCommand::Show { json, setup } => show(setup, *json),
        PolicyCommand::Test { file, setup } => test(file, setup),
        PolicyCommand::Schema => {
            let text = serde_json::to_string_pretty(&schema()).map_err(|error| error.to_string())?;
            print(format!("{text}\n").as_bytes())
        }
        PolicyCommand::Replay { since, journal, json, setup } => {
            replay::run(setup, since.as_deref(), journal.as_deref(), *json)
        }
        PolicyCommand::Reference => print(reference().as_bytes()),
    }
}

fn show(setup: &Setup, json: bool) -> Result<u8, String> {
    let gate = setup.gate(None)?;
    let lines = gate.config().shown();
    if json {
        let all: Vec<serde_json::Value> = lines
            .iter()
            .map(|line| {
                serde_json::json!({
                    "key": line.key,
                    "value": gate::call::mask(&line.value),
                    "file": &*line.at.file,
                    "line": (line.at.line > 0).then_some(line.at.line),
                })
            })
            .collect();
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        return print(format!("{text}\n").as_bytes());
    }
    let style = Style::of_stdout();
    let mut out = String::new();
    let files: Vec<String> = gate.config().files().map(|(_, file)| file.to_owned()).collect();
    if files.is_empty() {
        let _ = writeln!(out, "No configuration file: the built-in profile dev holds.\n");
    }
    for line in lines {
        let value = gate::call::visible(&gate::call::mask(&line.value));
        let _ = writeln!(out, "{:<38} {value:<24} {}", line.key, style.dim(&format!("# {}", line.at)));
    }
    print(out.as_bytes())
}

fn test(file: &Path, test: &TestSetup) -> Result<u8, String> {
    // The file alone, above what is built in: it passes or fails the same on every machine.
    let setup = Setup {
        config: Some(file.to_path_buf()),
        profile: None,
        mode: None,
        read_only: false,
        no_sandbox: test.no_sandbox,
        cwd: test.cwd.clone(),
        workspace: None,
        more: crate::cli::More::default(),
    };
    let gate = setup.gate_alone()?;
    let style = Style::of_stdout();
    let examples: usize = gate
        .config()
        .rules()
        .map(|rule| rule.examples().matching.len() + rule.examples().not_matching.len())
        .sum();
    let mut failures = gate.check_examples();
    let (cases, failed) = gate.check_cases();
    failures.extend(failed);
    let mut out = String::new();
    for failure in &failures {
        let _ = writeln!(
            out,
            "{} {}: {}",
            style.red("FAIL"),
            failure.at,
            gate::call::visible(&gate::call::mask(&failure.call))
        );
        let _ = writeln!(out, "  expected  {}", failure.expected);
        let _ = writeln!(out, "  got       {}", gate::call::visible(&gate::call::mask(&failure.got)));
        let trace = failure.judgement.iter().flat_map(|judgement| &judgement.ruling.trace);
        for line in trace {
            let decision = line.decision.map_or("–", Decision::name);
            let note = gate::call::visible(&line.note);
            let _ =
                writeln!(out, "    {:>2}  {:<28} {decision:<5}  {note}", line.step as u8, line.step.about());
        }
    }
    let total = examples + cases;
    let _ = writeln!(out, "{} passed, {} failed", total.saturating_sub(failures.len()), failures.len());
    print(out.as_bytes())?;
    Ok(u8::from(!failures.is_empty()))
}
