//! The smallest start: one command of a model, gated, fenced and written down, and what the model gets back.
//!
//!     cargo run --example first_call -- 'ls -la'

use std::path::Path;

use gate::call::RawCall;
use gate::{Gate, Hands, Machine, Terms};

fn main() -> Result<(), String> {
    let command = std::env::args().nth(1).unwrap_or_else(|| "echo hello".into());
    // Nobody can be asked here, so a call that must be asked about is refused, and the refusal says how to approve it.
    let gate = Gate::of_this_machine(Path::new("."), None, Vec::new())?;
    let hands = Hands::new().map_err(|error| error.to_string())?;
    let mut call = RawCall::new("shell_command", serde_json::json!({ "command": command }));
    call.session = Some("first-call".into());
    let terms = Terms { environment: Machine::environment(), ..Terms::default() };
    let outcome = gate.perform(call, terms, &hands);
    println!("{}", serde_json::to_string_pretty(&outcome).map_err(|error| error.to_string())?);
    Ok(())
}
