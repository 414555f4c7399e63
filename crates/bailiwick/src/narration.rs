//! What happens in a run, in lines for a person: calls, rulings, how they ended. Everything is made visible first.

use std::io::{IsTerminal, Write as _};

use door_agent::{Event, What};
use gate::call::{visible, visible_lines};
use serde_json::Value;

use crate::terminal::{Style, wants_colour};

/// The longest line of a request.
const WIDEST: usize = 300;

/// Tells a person what happens.
pub(crate) struct Narration {
    style: Style,
    out: Out,
    /// Whether output of tools is shown as it comes.
    live: bool,
}

#[derive(Clone, Copy)]
enum Out {
    Stdout,
    Stderr,
}

impl Narration {
    /// Beside the output of the run.
    pub(crate) fn of_stderr() -> Narration {
        let colour = std::io::stderr().is_terminal() && wants_colour();
        Narration { style: Style::new(colour), out: Out::Stderr, live: false }
    }

    /// In the conversation.
    pub(crate) fn of_stdout() -> Narration {
        Narration { style: Style::of_stdout(), out: Out::Stdout, live: true }
    }

    /// One line.
    pub(crate) fn line(&self, text: &str) {
        self.write(&format!("{}\n", self.style.dim(text)));
    }

    fn write(&self, text: &str) {
        // Whoever does not read misses it.
        let _gone = match self.out {
            Out::Stdout => {
                let mut out = std::io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Out::Stderr => std::io::stderr().lock().write_all(text.as_bytes()),
        };
    }

    /// Tells what happened, where a person wants to know.
    pub(crate) fn tell(&mut self, event: &Event) {
        let who = if event.agent.contains('/') { format!("{} ", event.agent) } else { String::new() };
        match &event.what {
            What::ToolJudged { tool, request, ruling, .. } => {
                let decision = match ruling.decision {
                    "allow" => self.style.dim("allow"),
                    "ask" => self.style.yellow("ask"),
                    _ => self.style.red("deny"),
                };
                let what = visible(&short(request));
                self.write(&format!("{} {decision} {tool} {what}\n", self.style.dim(&format!("• {who}"))));
                if ruling.decision == "deny" {
                    self.line(&format!("    {} [{}]", ruling.reason, ruling.rule));
                }
            }
            What::ToolOutput { text, .. } if self.live => {
                let text = visible_lines(text);
                self.write(&self.style.dim(&text));
            }
            What::ToolFinished { end, tool, .. } if !end.ok => {
                let code = end.exit_code.map(|code| format!("exit code {code}")).unwrap_or_default();
                let kind = end.error_kind.unwrap_or(&code);
                let first = end.message.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
                self.line(&format!("  {who}{tool}: {kind} {first}"));
            }
            What::Retrying { attempt, wait_ms, reason } => {
                self.line(&format!("  {who}the model: {reason}; attempt {attempt}, again in {wait_ms} ms"));
            }
            What::Compacted { before, after, how } => {
                self.line(&format!(
                    "  {who}the conversation was shortened ({how}): about {before} tokens, now {after}"
                ));
            }
            What::ModeChanged { mode, seconds_left } => {
                let left = seconds_left
                    .map(|left| format!(" for {} minutes", left.div_ceil(60)))
                    .unwrap_or_default();
                self.line(&format!("  mode {}{left}; nothing that is denied is lifted by it", mode.name()));
            }
            What::Notice { text } => self.line(&format!("  {who}{}", visible_lines(text))),
            What::AgentSpawned { id } => self.line(&format!("  {who}started agent {id}")),
            What::AgentClosed { id } => self.line(&format!("  agent {id} has ended")),
            What::PlanChanged { plan } => self.write(&plan_text(plan)),
            What::RunFailed { reason, message } => {
                self.write(&format!(
                    "{} {}: {}\n",
                    self.style.red("failed"),
                    reason.name(),
                    visible_lines(message)
                ));
            }
            What::RunCancelled {} => self.line("  cancelled"),
            _ => {}
        }
    }
}

/// What a call is about, in one line.
fn short(request: &Value) -> String {
    let text = |name: &str| request.get(name).and_then(Value::as_str).map(str::to_owned);
    let words = request
        .get("argv")
        .and_then(Value::as_array)
        .map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "));
    let names = ["command", "cmd", "path", "file_path", "dir_path", "pattern", "message", "question"];
    let shown = words.or_else(|| names.iter().find_map(|name| text(name)));
    let shown = shown.unwrap_or_else(|| request.to_string());
    if shown.chars().count() <= WIDEST {
        return shown;
    }
    // Both ends: what is dangerous may stand at either.
    let half = WIDEST / 2;
    let head: String = shown.chars().take(half).collect();
    let tail: Vec<char> = shown.chars().rev().take(half).collect();
    format!("{head} … {}", tail.into_iter().rev().collect::<String>())
}

/// A plan, a line for each step.
pub(crate) fn plan_text(plan: &Value) -> String {
    let mut out = String::new();
    for step in plan.get("plan").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
        let mark = match text("status") {
            "completed" => "[x]",
            "in_progress" => "[>]",
            _ => "[ ]",
        };
        out.push_str(&format!("  {mark} {}\n", visible(text("step"))));
    }
    out
}
