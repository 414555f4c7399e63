//! Who is asked, in the order that the configuration has.

use std::sync::Arc;
use std::time::Duration;

use door_serve::Presence;
use gate::approval::{Console, Later, Program, Provider, Queue, Rules, Style, Terminal, Tty};
use gate::policy::ApprovalProvider;
use gate::{Desk, Gate, Machine};

use crate::terminal;

/// Whether a person can be reached from here.
#[derive(Clone)]
pub(crate) enum Audience {
    /// Somebody may sit at the terminal.
    Terminal,
    /// Somebody sits before a screen of ours, which answers by the question's id.
    Screen,
    /// A coding agent's host asks the person, or somebody answers later from a terminal of their own.
    Host,
    /// Somebody may be at the page, or connected to the server.
    Console(Arc<Presence>),
    /// An MCP client puts questions to its person, where it can; else somebody at the console is asked.
    Client,
    /// Only those who answer by themselves.
    Nobody,
}

/// Everybody who can be asked.
pub(crate) fn approvers(
    gate: &Gate,
    desk: &Desk,
    audience: &Audience,
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
            ApprovalProvider::Terminal | ApprovalProvider::Queue => match audience {
                Audience::Nobody => {}
                Audience::Console(presence) => {
                    // Both words mean whoever is at the page; one question is enough.
                    if !all.iter().any(|known| known.name() == "console") {
                        all.push(Box::new(presence.provider()));
                    }
                }
                // Whatever rules would say for want of anybody else, there is a person to be asked.
                Audience::Host => {
                    all.push(Box::new(Later));
                    break;
                }
                Audience::Terminal | Audience::Screen | Audience::Client
                    if *provider == ApprovalProvider::Queue =>
                {
                    all.push(Box::new(desk.elsewhere()?));
                }
                Audience::Client => all.push(Box::new(door_mcp::Elicitation)),
                Audience::Screen => all.push(Box::new(Queue)),
                Audience::Terminal => all.push(at_terminal(gate)),
            },
        }
    }
    Ok(all)
}

fn at_terminal(gate: &Gate) -> Box<dyn Provider> {
    let open = || Tty::open().map(|tty| Box::new(tty) as Box<dyn Console>);
    let style = if terminal::wants_colour() { Style::Coloured } else { Style::Plain };
    let who = gate.world().user.clone().unwrap_or_else(|| "somebody".into());
    Box::new(Terminal::new(Box::new(open), &who, style))
}
