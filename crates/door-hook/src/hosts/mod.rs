//! One file for each host: how it asks, which tools it has, which answer it honours.

mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod gemini_cli;
mod opencode;
mod vs_code;

use gate::call::Principal;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::asked::{Asked, Event, Refused};
use crate::host::Host;
use crate::payload::Payload;
use crate::reply::Reply;
use crate::translate::{Around, Tool, Translated, translate, unknown};

/// Reads a question. VS Code runs hooks that were written for Claude Code or Copilot CLI, and Copilot CLI those for VS
/// Code, so among these three the shape of the question tells who asks.
pub(crate) fn read(host: Host, payload: Payload) -> Result<Asked, Refused> {
    match host {
        Host::ClaudeCode if vs_code::asks(&payload) => vs_code::read(payload),
        Host::ClaudeCode => claude_code::read(payload),
        Host::Codex => codex::read(payload),
        Host::GeminiCli => gemini_cli::read(payload),
        Host::Cursor => cursor::read(payload),
        Host::CopilotCli | Host::VsCode if payload.has("toolName") => copilot_cli::read(payload),
        Host::CopilotCli | Host::VsCode => vs_code::read(payload),
        Host::OpenCode => opencode::read(payload),
    }
}

/// Writes an answer.
pub(crate) fn write(asked: &Asked, answer: &Answer) -> Reply {
    match asked.host {
        Host::ClaudeCode => claude_code::write(asked, answer),
        Host::Codex => codex::write(asked, answer),
        Host::GeminiCli => gemini_cli::write(asked, answer),
        Host::Cursor => cursor::write(asked, answer),
        Host::CopilotCli => copilot_cli::write(asked, answer),
        Host::VsCode => vs_code::write(asked, answer),
        Host::OpenCode => opencode::write(asked, answer),
    }
}

/// What is left to say once the host, its event and its tool are known.
struct Question<'a> {
    host: Host,
    event: Event,
    name: &'static str,
    tools: &'a [Tool],
    tool: &'a str,
    input: Map<String, Value>,
    around: Around,
    turn: Option<String>,
    succeeded: Option<bool>,
}

impl Question<'_> {
    /// The question, its tool translated.
    fn asked(self) -> Asked {
        // A tool of an MCP server keeps its name; whoever forges the prefix gets a tool that nobody knows.
        let translated = if self.tool.starts_with("mcp__") {
            let calls = vec![unknown(self.host, self.tool, &self.input)];
            Translated { calls, shell: None, hands_off: false }
        } else {
            translate(self.host, self.tools, self.tool, &self.input)
        };
        self.with(translated)
    }

    /// The question, with its tool translated by somebody else.
    fn with(self, translated: Translated) -> Asked {
        let (command_key, shell) = match translated.shell {
            Some((key, text)) => (key, Some(text)),
            None => ("command", None),
        };
        Asked {
            host: self.host,
            event: self.event,
            calls: translated.calls.into_iter().map(|part| part.raw(&self.around)).collect(),
            shell,
            turn: self.turn,
            succeeded: self.succeeded,
            name: self.name,
            input: self.input,
            command_key,
            hands_off: translated.hands_off,
        }
    }
}

/// Who asks: the host's agent, or one that it started.
fn principal(host: Host, agent: Option<String>, kind: Option<String>) -> Principal {
    let mut groups = vec![host.name().to_owned()];
    let id = match agent {
        None => host.name().to_owned(),
        Some(agent) => {
            groups.push("sub-agent".into());
            groups.extend(kind);
            format!("{}/{agent}", host.name())
        }
    };
    Principal { id, groups }
}

/// The command to run in place of the one that was asked about, where the host would run it.
fn replacement<'a>(asked: &Asked, answer: &'a Answer) -> Option<&'a str> {
    asked.shell.as_ref().and(answer.rewritten.as_deref())
}
