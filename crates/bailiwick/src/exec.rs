//! `bailiwick exec`: gate, fence, run, as if the program were run bare.

use std::io::IsTerminal;

use gate::call::{RawCall, visible};
use gate::fence::{Blocked, Console, End, Outcome};
use gate::{Machine, Stopped};

use crate::cli::{Exec, print};
use crate::plan;

/// A protected name was made: the program's own code would hide it.
const REFUSED: u8 = 126;
/// Time was up, as `timeout` has it.
const LATE: u8 = 124;
/// So many refusals are told one by one.
const TOLD: usize = 12;

/// Runs the command.
pub(crate) fn run(arguments: &Exec) -> Result<u8, String> {
    let gate = arguments.setup.gate_for(None, arguments.terms()?)?.running();
    let begun = if arguments.plan { None } else { gate.begin() };
    let raw = RawCall::new("shell_exec", serde_json::json!({ "argv": arguments.command }));
    let judgement = gate.judge(raw).map_err(|invalid| invalid.to_string())?;
    let mut permit = match gate.permit(&judgement, Machine::environment(), std::io::stdin().is_terminal()) {
        Ok(permit) => permit,
        Err(stopped) => return Ok(explain(&stopped)),
    };
    if arguments.plan {
        return print(plan::text(&permit, gate.config()).as_bytes());
    }
    if arguments.time.is_none() && Console::of_this_process().is_some_and(|console| console.is_in_use()) {
        permit.untimed();
    }
    match permit.run_begun(begun) {
        Ok(outcome) => Ok(finish(&outcome)),
        Err(stopped) => Ok(explain(&stopped)),
    }
}

fn explain(stopped: &Stopped) -> u8 {
    eprintln!("bailiwick: {} ({}, by {})", visible(&stopped.why), stopped.kind, stopped.by);
    for help in &stopped.help {
        eprintln!("  help: {}", visible(help));
    }
    stopped.kind.exit_code()
}

fn finish(outcome: &Outcome) -> u8 {
    for blocked in outcome.blocked.iter().take(TOLD) {
        eprintln!("bailiwick: {}", visible(&blocked.to_string()));
        if let Some(remedy) = blocked.remedy() {
            eprintln!("  to allow it: {}", visible(&remedy));
        }
    }
    if outcome.blocked.len() > TOLD {
        eprintln!("bailiwick: {} more were refused", outcome.blocked.len() - TOLD);
    }
    if outcome.blocked.iter().any(|blocked| matches!(blocked, Blocked::Made(..) | Blocked::Left(..))) {
        return REFUSED;
    }
    match outcome.end {
        End::Code(code) => code,
        End::TimedOut => {
            eprintln!("bailiwick: the time was up (`--time` or `sandbox.limits.wall_ms`)");
            LATE
        }
        End::Signal(signal) => {
            // Whoever waits for this process sees what it would have seen of the program.
            gate::fence::end_by(signal);
            u8::try_from(signal.saturating_add(128)).unwrap_or(u8::MAX)
        }
    }
}
