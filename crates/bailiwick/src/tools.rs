//! `bailiwick tools`: what can be called, and with which arguments.

use std::fmt::Write;

use gate::call::{Tool, tools};

use crate::cli::{Tools, print};

/// Runs the command.
pub(crate) fn run(arguments: &Tools) -> Result<u8, String> {
    let chosen: Vec<&Tool> = tools()
        .iter()
        .filter(|tool| match &arguments.name {
            Some(name) => tool.name == name,
            None => !tool.host,
        })
        .collect();
    if chosen.is_empty() {
        let name = arguments.name.as_deref().unwrap_or_default();
        return Err(format!("there is no tool `{name}`; `bailiwick tools` lists them"));
    }
    if arguments.json {
        let all: Vec<serde_json::Value> = chosen
            .iter()
            .map(|tool| {
                serde_json::json!({
                    "name": tool.name,
                    "category": tool.category.name(),
                    "description": tool.about,
                    "arguments": tool.schema(),
                })
            })
            .collect();
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        return print(format!("{text}\n").as_bytes());
    }
    let mut out = String::new();
    for tool in chosen {
        let _ = writeln!(out, "{:<20} {:<8} {}", tool.name, tool.category.name(), tool.about);
        if arguments.name.is_some() {
            let schema = serde_json::to_string_pretty(&tool.schema()).map_err(|error| error.to_string())?;
            let _ = writeln!(out, "\n{schema}");
        }
    }
    print(out.as_bytes())
}
