//! `/v1/policy` and `/v1/tools`: what holds and who says so, and what can be called.

use std::sync::Arc;

use axum::extract::State;
use gate::call::{mask, tools, visible};
use gate::policy::{At, Config, Origin};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::refusal::{Answered, json_answer};

/// What holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Policy {
    profile: String,
    layers: Vec<LayerRow>,
    settings: Vec<SettingRow>,
    rules: Vec<RuleRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LayerRow {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SettingRow {
    key: String,
    value: String,
    from: From,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RuleRow {
    id: String,
    action: String,
    /// The rule as it is written.
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    from: From,
}

#[derive(Debug, Serialize, JsonSchema)]
struct From {
    layer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// The tools.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tools {
    tools: Vec<ToolRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ToolRow {
    name: String,
    category: String,
    description: String,
    /// The JSON Schema of its arguments.
    schema: Value,
}

/// `GET /v1/policy`
pub(crate) async fn policy(State(app): State<Arc<App>>) -> Answered {
    let gate = app.gates.main()?;
    Ok(json_answer(&shown(gate.config())))
}

fn shown(config: &Config) -> Policy {
    let files: Vec<(Origin, &str)> = config.files().collect();
    let from = |at: &At| {
        let origin = files.iter().find(|(_, file)| **file == *at.file).map(|(origin, _)| *origin);
        From {
            layer: name(origin.unwrap_or(Origin::BuiltIn)).to_owned(),
            file: origin.map(|_| visible(&at.file)),
            line: Some(at.line).filter(|line| *line > 0),
        }
    };
    let mut layers = vec![LayerRow { name: name(Origin::BuiltIn).to_owned(), file: None }];
    for (origin, file) in &files {
        let row = LayerRow { name: name(*origin).to_owned(), file: Some(visible(file)) };
        if !layers.iter().any(|known| known.file == row.file) {
            layers.push(row);
        }
    }
    let lines = config.shown();
    let text = |value: &str| visible(&mask(value));
    let rules = config.rules().map(|rule| RuleRow {
        id: visible(&rule.name),
        action: rule.action.name().to_owned(),
        what: lines.iter().find(|line| line.at == rule.at).map(|line| text(&line.value)).unwrap_or_default(),
        reason: rule.reason.as_deref().map(text),
        from: from(&rule.at),
    });
    Policy {
        profile: config.profile().value.name().to_owned(),
        layers,
        rules: rules.collect(),
        settings: lines
            .iter()
            .filter(|line| line.key != "rules")
            .map(|line| SettingRow { key: line.key.clone(), value: text(&line.value), from: from(&line.at) })
            .collect(),
    }
}

const fn name(origin: Origin) -> &'static str {
    match origin {
        Origin::BuiltIn => "built-in",
        Origin::Managed => "managed",
        Origin::User => "user",
        Origin::Workspace => "workspace",
        Origin::Given => "--config",
        Origin::Flags => "flags",
        Origin::Request => "request",
    }
}

/// `GET /v1/tools`
pub(crate) async fn list_tools() -> Answered {
    let row = |tool: &gate::call::Tool| ToolRow {
        name: tool.name.to_owned(),
        category: tool.category.name().to_owned(),
        description: tool.about.to_owned(),
        schema: tool.schema().clone(),
    };
    Ok(json_answer(&Tools { tools: tools().iter().filter(|tool| !tool.host).map(row).collect() }))
}
