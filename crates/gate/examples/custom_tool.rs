//! A tool of one's own beside the built-in ones, and a function that is asked for approval.
//!
//!     cargo run --example custom_tool

use std::path::Path;

use gate::approval::{Answer, Callback, Decision, Reply};
use gate::call::RawCall;
use gate::tools::Outcome;
use gate::{CustomTool, Gate, Hands, Terms};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the model must give. Anything else is a `validation` error.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Weather {
    /// The city.
    city: String,
}

fn main() -> Result<(), String> {
    let weather = CustomTool::new("Tell the weather", |wanted: Weather, _cancel| {
        let text = format!("it rains in {}\n", wanted.city);
        Outcome::success(text, serde_json::json!({ "city": wanted.city }))
    });
    // Nothing is known of what the tool does, so each call is asked about; this function says yes to it for the session.
    let approve = Callback::new(|asked| {
        let decision = if asked.tool == "weather" { Decision::ApprovedForSession } else { Decision::Denied };
        Reply::Answer(Answer::new(decision, "the example"))
    });
    let gate = Gate::of_this_machine(Path::new("."), None, vec![Box::new(approve)])?
        .with_tool("weather", weather, None)
        .map_err(|taken| taken.to_string())?;
    let hands = Hands::new().map_err(|error| error.to_string())?;
    for args in [
        serde_json::json!({"city": "Bergen"}),
        serde_json::json!({"city": "Bergen"}),
        serde_json::json!({"town": "Bergen"}),
    ] {
        let mut call = RawCall::new("weather", args);
        call.session = Some("custom-tool".into());
        let outcome = gate.perform(call, Terms::default(), &hands);
        println!("{} {}{}", outcome.ok, outcome.stdout, outcome.stderr);
    }
    Ok(())
}
