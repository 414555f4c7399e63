//! Who is asked, in the order that the configuration has.

use std::time::Duration;

use gate::approval::{Console, Program, Provider, Queue, Rules, Style, Terminal, Tty};
use gate::policy::ApprovalProvider;
use gate::{Gate, Later, Machine};

use crate::terminal;

/// Whether a person can be reached from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Somebody may sit at the terminal.
    Terminal,
    /// A coding agent's host asks the person, or somebody answers later from a terminal of their own.
    Host,
    /// An MCP client puts questions to its person, where it can; a question to anybody else waits under its id.
    Client,
    /// Only those who answer by themselves.
    Nobody,
}

/// Everybody who can be asked.
pub(crate) fn approvers(gate: &Gate, audience: Audience) -> Vec<Box<dyn Provider>> {
    let settings = gate.config().approval();
    let mut all: Vec<Box<dyn Provider>> = Vec::new();
    for provider in &settings.providers.value {
        match provider {
            ApprovalProvider::Rules if settings.rules.is_empty() => {}
            ApprovalProvider::Rules => all.push(Box::new(Rules::of(&settings.rules))),
            ApprovalProvider::Command => {
                if let Some(command) = &settings.command {
                    let patience = Duration::from_millis(settings.command_timeout_ms.value);
                    let program = Program::new(command.value.clone(), Machine::environment(), patience);
                    all.push(Box::new(program));
                }
            }
            ApprovalProvider::Terminal | ApprovalProvider::Queue if audience == Audience::Nobody => {}
            ApprovalProvider::Terminal if audience == Audience::Client => {
                all.push(Box::new(door_mcp::Elicitation));
            }
            ApprovalProvider::Queue if audience == Audience::Client => {}
            // Whatever rules would say for want of anybody else, there is a person to be asked.
            ApprovalProvider::Terminal | ApprovalProvider::Queue if audience == Audience::Host => {
                all.push(Box::new(Later));
                break;
            }
            ApprovalProvider::Terminal => {
                let open = || Tty::open().map(|tty| Box::new(tty) as Box<dyn Console>);
                let style = if terminal::wants_colour() { Style::Coloured } else { Style::Plain };
                let who = gate.world().user.clone().unwrap_or_else(|| "somebody".into());
                all.push(Box::new(Terminal::new(Box::new(open), &who, style)));
            }
            ApprovalProvider::Queue => all.push(Box::new(Queue)),
        }
    }
    all
}
