//! Who is asked, in the order that the configuration has.

use std::time::Duration;

use gate::approval::{Console, Program, Provider, Queue, Rules, Style, Terminal, Tty};
use gate::policy::ApprovalProvider;
use gate::{Desk, Gate, Later, Machine};

use crate::terminal;

/// Whether a person can be reached from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Somebody may sit at the terminal.
    Terminal,
    /// Somebody sits before a screen of ours, which answers by the question's id.
    Screen,
    /// A coding agent's host asks the person, or somebody answers later from a terminal of their own.
    Host,
    /// Only those who answer by themselves.
    Nobody,
}

/// Everybody who can be asked.
pub(crate) fn approvers(
    gate: &Gate,
    desk: &Desk,
    audience: Audience,
) -> Result<Vec<Box<dyn Provider>>, String> {
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
            // Whatever rules would say for want of anybody else, there is a person to be asked.
            ApprovalProvider::Terminal | ApprovalProvider::Queue if audience == Audience::Host => {
                all.push(Box::new(Later));
                break;
            }
            ApprovalProvider::Terminal if audience == Audience::Screen => all.push(Box::new(Queue)),
            ApprovalProvider::Terminal => {
                let open = || Tty::open().map(|tty| Box::new(tty) as Box<dyn Console>);
                let style = if terminal::wants_colour() { Style::Coloured } else { Style::Plain };
                let who = gate.world().user.clone().unwrap_or_else(|| "somebody".into());
                all.push(Box::new(Terminal::new(Box::new(open), &who, style)));
            }
            ApprovalProvider::Queue => all.push(Box::new(desk.elsewhere()?)),
        }
    }
    Ok(all)
}
