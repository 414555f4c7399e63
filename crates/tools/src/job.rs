//! A program that may be run, and the fence that it is run behind. Whoever makes one has leave to run it: that is the gate's to
//! see to.

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use fence::{Backend, Leave, Order, Plan, Reins};

/// A program and its fence.
#[derive(Debug, Clone)]
pub struct Job {
    /// The means that hold the plan. `Local`: nothing does, which the configuration or an approval says by name.
    pub backend: Backend,
    /// What it can touch. Its time limit holds for whatever runs it.
    pub plan: Plan,
    /// Its file.
    pub program: PathBuf,
    /// Its arguments, its name among them.
    pub arguments: Vec<OsString>,
    /// Where `bwrap` is, if not in its usual place.
    pub bwrap: Option<PathBuf>,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub columns: u16,
}

impl Default for Size {
    fn default() -> Size {
        Size { rows: 24, columns: 80 }
    }
}

/// The largest terminal, so that a screen stays small in memory.
const LARGEST: Size = Size { rows: 300, columns: 500 };

impl Size {
    pub(crate) fn bounded(self) -> Size {
        Size { rows: self.rows.clamp(1, LARGEST.rows), columns: self.columns.clamp(1, LARGEST.columns) }
    }
}

impl Job {
    /// Says what kind of terminal it has, unless the plan does.
    pub fn name_terminal(&mut self) {
        self.plan.environment.entry("TERM".into()).or_insert_with(|| "xterm-256color".into());
    }

    pub(crate) fn run(
        &self,
        plan: &Plan,
        streams: [BorrowedFd<'_>; 3],
        reins: &Reins,
    ) -> Result<fence::Outcome, fence::Refusal> {
        let order = Order {
            plan,
            program: &self.program,
            arguments: &self.arguments,
            streams: Some(streams),
            stands_in: false,
            bwrap: self.bwrap.as_deref(),
            reins: Some(reins),
            leave: Leave::given(),
        };
        match self.backend {
            Backend::Local => fence::run_unfenced(&order),
            backend => fence::run(backend, &order),
        }
    }
}
