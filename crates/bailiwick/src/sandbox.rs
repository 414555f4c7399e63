//! `bailiwick sandbox status`: what the fence holds on this machine, part by part, each tried and not looked up.

use std::fmt::Write;

use gate::fence::status::{self, Part};

use crate::cli::{Sandbox, SandboxCommand, print};
use crate::terminal::Style;

/// Runs the command. Its code is 1 where no backend holds an ordinary plan.
pub(crate) fn run(arguments: &Sandbox) -> Result<u8, String> {
    let SandboxCommand::Status { json } = arguments.command;
    let parts = status::parts();
    if json {
        let rows: Vec<serde_json::Value> = parts.iter().map(row).collect();
        let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
        print((text + "\n").as_bytes())?;
    } else {
        print(table(&parts, Style::of_stdout()).as_bytes())?;
    }
    Ok(u8::from(!parts.iter().any(|part| part.whole && part.held.is_ok())))
}

fn row(part: &Part) -> serde_json::Value {
    let (held, says) = match &part.held {
        Ok(how) => (true, how),
        Err(why) => (false, why),
    };
    serde_json::json!({"part": part.name, "held": held, "backend": part.whole, "says": says})
}

fn table(parts: &[Part], style: Style) -> String {
    let mut out = String::new();
    for part in parts {
        let (mark, says) = match &part.held {
            Ok(how) => (style.green("yes"), how),
            Err(why) => (style.red("no "), why),
        };
        // Writing to a string does not fail.
        let _ = writeln!(out, "{mark}  {:<39} {says}", part.name);
    }
    out
}
