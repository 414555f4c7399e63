//! Many calls at once on tokio: output as it comes, a call that is taken back, and a clean end.
//!
//!     cargo run --example many_at_once

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gate::call::RawCall;
use gate::{Gate, Hands, Machine, Terms};

#[tokio::main]
async fn main() -> Result<(), String> {
    let gate = Arc::new(Gate::of_this_machine(Path::new("."), None, Vec::new())?);
    let mut hands = Hands::new().map_err(|error| error.to_string())?;
    hands.watch = Some(Arc::new(|_, bytes| print!("{}", String::from_utf8_lossy(bytes))));
    let hands = Arc::new(hands);
    let call = |command: String| {
        let mut call = RawCall::new("shell_command", serde_json::json!({ "command": command }));
        call.session = Some("many-at-once".into());
        let terms = Terms { environment: Machine::environment(), ..Terms::default() };
        gate.call(call, terms, &hands)
    };
    let all: Vec<_> = (1..=8).map(|number| tokio::spawn(call(format!("echo number {number}")))).collect();
    for one in all {
        let outcome = one.await.map_err(|error| error.to_string())?;
        assert!(outcome.ok, "{}", outcome.stderr);
    }
    // Whoever stops waiting takes the call back: the program ends.
    let slow = tokio::time::timeout(Duration::from_millis(300), call("sleep 987".into())).await;
    println!("{}", if slow.is_err() { "taken back" } else { "it ended by itself" });
    Ok(())
}
