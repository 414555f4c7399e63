//! A run with a scripted model, and what it told.

use serde_json::Value;

use crate::home::{Home, Ran};
use crate::scripted::Server;

/// The key that must never come out.
pub(crate) const KEY: &str = "sk-canary-7Hq2mXv9Lr4Tz8Wd1Bn6";

/// What a run with `--json` told.
pub(crate) struct Told {
    pub(crate) ran: Ran,
    pub(crate) events: Vec<Value>,
}

/// The flags that name the model.
pub(crate) fn flags(server: &Server) -> Vec<String> {
    let base = server.base_url();
    [
        "--provider",
        server.protocol.name(),
        "--model",
        "scripted",
        "--base-url",
        &base,
        "--key-env",
        "MODEL_KEY",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// `bailiwick run --json TASK` with the profile `dev`.
pub(crate) fn run(home: &Home, server: &Server, more: &[&str]) -> Told {
    let mut all = vec!["run", "--json", "--profile", "dev", "do it"];
    all.extend(more);
    run_with(home, server, &all)
}

/// A command with the model's flags.
pub(crate) fn run_with(home: &Home, server: &Server, words: &[&str]) -> Told {
    let named = flags(server);
    let mut all: Vec<&str> = words.to_vec();
    all.extend(named.iter().map(String::as_str));
    let ran = run_knowing(home, &all);
    let events = ran.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Told { ran, events }
}

/// Runs the binary without a terminal, with the key in its environment.
pub(crate) fn run_knowing(home: &Home, words: &[&str]) -> Ran {
    home.alone(words).env("MODEL_KEY", KEY).output().expect("the binary").into()
}

impl Told {
    /// The events of this type.
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    /// The types of the first agent's events, without those that only say how it goes.
    pub(crate) fn order(&self) -> Vec<&str> {
        let quiet = ["tokens", "step_started", "text_delta", "tool_output"];
        let own = self.events.iter().filter(|event| event["agent"] == "agent");
        own.filter_map(|event| event["type"].as_str()).filter(|kind| !quiet.contains(kind)).collect()
    }

    pub(crate) fn last(&self) -> &Value {
        self.events.last().unwrap_or(&Value::Null)
    }

    pub(crate) fn run_id(&self) -> String {
        self.of("run_started")[0]["run_id"].as_str().expect("a run").to_owned()
    }
}
