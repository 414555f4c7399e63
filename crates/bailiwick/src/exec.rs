//! `bailiwick exec`: gate, fence, run, as if the program were run bare.

use std::io::IsTerminal;

use gate::call::{Principal, RawCall, visible};
use gate::fence::{Blocked, Console, End, Outcome, Starter};
use gate::policy::{Config, Decision};
use gate::{Machine, Stopped, Terms};

use crate::approvers::Audience;
use crate::cli::{Exec, print};
use crate::plan;
use crate::setup::told_to_agents;

/// A protected name was made: the program's own code would hide it.
const REFUSED: u8 = 126;
/// Time was up, as `timeout` has it.
const LATE: u8 = 124;
/// So many refusals are told one by one.
const TOLD: usize = 12;

/// Runs the command.
pub(crate) fn run(arguments: &Exec) -> Result<u8, String> {
    let raw = raw_call(arguments);
    if arguments.plan {
        return show_plan(arguments, raw);
    }
    let starter = Starter::start();
    let terms = arguments.terms()?;
    let hosted = arguments.session.is_some();
    // What a hook handed on is an agent's, who reads what is said here.
    let told = |why: String| if hosted { told_to_agents(&why).to_owned() } else { why };
    let gate = arguments.setup.gate_for(None, terms.clone()).map_err(told)?.running();
    let raw = behind_the_fence(raw, gate.config());
    let begun = gate.begin(starter);
    let audience = if hosted { Audience::Nobody } else { Audience::Terminal };
    let gate = arguments.setup.with_office(gate, &terms, audience)?;
    let watched = Console::of_this_process().is_some_and(|console| console.is_in_use());
    let terms = Terms {
        environment: Machine::environment(),
        typed: !hosted && std::io::stdin().is_terminal(),
        untimed: arguments.time.is_none() && (watched || hosted),
        run: None,
        begun,
        alone: true,
        handed_on: raw.id.is_some(),
        ..Terms::default()
    };
    match gate.admit(raw, terms).and_then(gate::Permit::run) {
        Ok(outcome) => Ok(finish(&outcome)),
        Err(stopped) => Ok(explain(&stopped)),
    }
}

/// The call. One that a hook handed on is the host's own: the same tool, under the same name, for the same asker.
fn raw_call(arguments: &Exec) -> RawCall {
    let mut raw = match (&arguments.call, arguments.command.as_slice()) {
        (Some(id), [shell, flag, text]) if shell == "/bin/bash" && flag == "-c" => {
            let mut raw = RawCall::new("Bash", serde_json::json!({ "command": text }));
            raw.id = Some(id.clone());
            raw
        }
        _ => RawCall::new("shell_exec", serde_json::json!({ "argv": arguments.command })),
    };
    raw.session = Some(arguments.session.clone().unwrap_or_else(Machine::session));
    if let Some(by) = &arguments.by {
        let mut names = by.split(',').map(str::to_owned);
        raw.principal = Principal { id: names.next().unwrap_or_default(), groups: names.collect() };
    }
    raw
}

/// A configuration without a profile leaves it to each call whether it is fenced; this command is there to fence.
fn behind_the_fence(mut raw: RawCall, config: &Config) -> RawCall {
    if config.leaves_fence_open()
        && raw.tool == "shell_exec"
        && let Some(arguments) = raw.args.as_object_mut()
    {
        arguments.insert("sandbox".to_owned(), "restricted".into());
    }
    raw
}

/// What would be around the program. Nothing is asked, run or written down.
fn show_plan(arguments: &Exec, raw: RawCall) -> Result<u8, String> {
    let gate = arguments.setup.gate_for(None, arguments.terms()?)?.running();
    let judgement =
        gate.judge(behind_the_fence(raw, gate.config())).map_err(|invalid| invalid.to_string())?;
    if judgement.ruling.decision == Decision::Deny {
        return Ok(explain(&gate.refusal(&judgement)));
    }
    match gate.prepare(&judgement, Machine::environment()) {
        Ok(prepared) => print(plan::text(&prepared, judgement.ruling.decision, gate.config()).as_bytes()),
        Err(stopped) => Ok(explain(&stopped)),
    }
}

fn explain(stopped: &Stopped) -> u8 {
    Machine::tell(format_args!(
        "bailiwick: {} ({}, by {})",
        visible(&stopped.why),
        stopped.kind,
        stopped.by.name()
    ));
    if let Some(rule) = &stopped.rule {
        Machine::tell(format_args!("  rule: {}", visible(rule)));
    }
    for help in &stopped.help {
        Machine::tell(format_args!("  help: {}", visible(help)));
    }
    if let Some(id) = &stopped.pending {
        let short: String = id.chars().take(12).collect();
        Machine::tell(format_args!("  to approve it: bailiwick grants approve {short}, then try again"));
    }
    stopped.kind.exit_code()
}

fn finish(outcome: &Outcome) -> u8 {
    for blocked in outcome.blocked.iter().take(TOLD) {
        Machine::tell(format_args!("bailiwick: {}", visible(&blocked.to_string())));
        if let Some(remedy) = blocked.remedy() {
            Machine::tell(format_args!("  to allow it: {}", visible(&remedy)));
        }
    }
    if outcome.blocked.len() > TOLD {
        Machine::tell(format_args!("bailiwick: {} more were refused", outcome.blocked.len() - TOLD));
    }
    if outcome.blocked.iter().any(|blocked| matches!(blocked, Blocked::Made(..) | Blocked::Left(..))) {
        return REFUSED;
    }
    match outcome.end {
        End::Code(code) => code,
        End::TimedOut => {
            Machine::tell(format_args!("bailiwick: the time was up (`--time` or `sandbox.limits.wall_ms`)"));
            LATE
        }
        End::Signal(signal) => {
            // Whoever waits for this process sees what it would have seen of the program.
            gate::fence::end_by(signal);
            u8::try_from(signal.saturating_add(128)).unwrap_or(u8::MAX)
        }
    }
}
