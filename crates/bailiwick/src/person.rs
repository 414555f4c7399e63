//! The person at the terminal, whom an agent may ask something.

use std::time::Duration;

use gate::approval::{Console as _, Tty};
use gate::tools::{Console, Human, TerminalHuman};

/// The controlling terminal, as the tools want one.
struct Terminal(Tty);

impl Console for Terminal {
    fn show(&mut self, text: &str) -> std::io::Result<()> {
        self.0.show(text)
    }

    fn forget_typed(&mut self) -> std::io::Result<()> {
        self.0.forget_typed()
    }

    fn line(&mut self, patience: Duration) -> std::io::Result<Option<String>> {
        self.0.line(patience)
    }

    fn width(&self) -> usize {
        self.0.width()
    }
}

/// Asks at the terminal that this process was started from; there is nobody where there is none.
pub(crate) fn at_terminal() -> Box<dyn Human> {
    let open = || Tty::open().map(|tty| Box::new(Terminal(tty)) as Box<dyn Console>);
    Box::new(TerminalHuman::new(Box::new(open)))
}
