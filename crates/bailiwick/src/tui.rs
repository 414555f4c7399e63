//! `bailiwick tui`: an agent on a screen.

use std::sync::Arc;

use door_agent::Manner;
use door_tui::{Sitting, Theme};

use crate::agent_setup::runtime;
use crate::cli::Tui;
use crate::terminal::wants_colour;
use crate::transport::Transport;

/// Runs the command.
pub(crate) fn run(arguments: &Tui) -> Result<u8, String> {
    let runtime = runtime()?;
    let prepared = arguments.agent.prepare(Transport::Tui)?;
    let (gate, session) = (Arc::clone(&prepared.gate), prepared.session.clone());
    let human = prepared.human();
    let handle = {
        let _current = runtime.enter();
        prepared.start(Manner::Chat, Some(human))?
    };
    let theme = if wants_colour() { Theme::Coloured } else { Theme::Plain };
    let code = Sitting { handle, gate, session, theme, first: arguments.first.clone() }.run();
    runtime.shutdown_background();
    code
}
