//! Where a tool works: what is open to the call, and what its paths are relative to.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use call::ErrorKind;
use fence::rooted::Area;

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::path_form;

/// Where a tool works.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// What is open to the call.
    pub area: &'a Area,
    /// What relative paths are relative to: absolute, without links.
    pub cwd: &'a Path,
    /// What `~` is.
    pub home: Option<&'a Path>,
    /// Set by whoever no longer wants the answer.
    pub stop: Option<&'a AtomicBool>,
}

impl Setting<'_> {
    pub(crate) fn path(&self, text: &str) -> Result<PathBuf, Failure> {
        path_form::of_this_machine(text, self.cwd, self.home).map_err(|why| Failure::validation(&why))
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    pub(crate) fn check_stop(&self) -> Result<(), Failure> {
        if self.is_stopped() {
            return Err(Failure::new(ErrorKind::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// A path as it is shown: relative to the working directory where it is below.
    pub(crate) fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        match path.strip_prefix(self.cwd) {
            Ok(rest) if !rest.as_os_str().is_empty() => rest,
            _ => path,
        }
    }
}

/// Runs a tool's work and says how long it took.
pub(crate) fn timed(work: impl FnOnce() -> Result<Outcome, Failure>) -> Outcome {
    let start = now();
    work().unwrap_or_else(Outcome::from).took(start.elapsed())
}

/// The end of what takes too long.
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Deadline {
        Deadline(now() + time)
    }

    pub(crate) fn is_over(&self) -> bool {
        now() >= self.0
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a call takes, for its answer and to end it; no ruling depends on it"
)]
fn now() -> Instant {
    Instant::now()
}
