//! What does a coding agent's host ask?
//!
//! A host (Claude Code, Codex, Gemini CLI, Cursor, Copilot CLI, VS Code, OpenCode) runs a hook before it runs a tool: one
//! JSON object on standard input, an answer on standard output. [`read`] makes [`gate::call::RawCall`]s of the question,
//! [`write`] makes of an [`Answer`] exactly what that host honours, [`failure`] is what makes it block when there is no
//! answer at all. Nothing is decided here, and nothing is touched: text in, text out.
//!
//! Beside that: [`settings`] puts the hook into a host's settings and takes it out again, [`starter`] writes a first
//! policy, [`rewrite`] makes an allowed shell command run behind the fence.

mod answer;
mod asked;
mod host;
mod hosts;
mod payload;
mod reply;
mod rewrite;
pub mod settings;
mod starter;
mod translate;

pub use answer::{Answer, Verdict};
pub use asked::{Asked, Event, Refused};
pub use host::Host;
pub use reply::{Reply, failure};
pub use rewrite::{exec_prefix, quote, rewrite, unwrap};
pub use starter::{Starter, is_starter, starter};

/// Reads what a host asks.
///
/// The shape of the question decides which host it is, where hosts read each other's settings: VS Code runs the hooks that
/// were written for Claude Code and for Copilot CLI. [`Asked::host`] says who really asks.
///
/// # Errors
/// A question that is too long, is not JSON, has a key twice, is not of a known event, or lacks what matters. The caller
/// answers with [`failure`].
pub fn read(host: Host, stdin: &[u8]) -> Result<Asked, Refused> {
    let payload = payload::Payload::read(stdin)?;
    hosts::read(host, payload)
}

/// Writes the answer, in the words and with the exit code that the host honours.
#[must_use]
pub fn write(asked: &Asked, answer: &Answer) -> Reply {
    hosts::write(asked, answer)
}
