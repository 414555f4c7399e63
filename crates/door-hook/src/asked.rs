//! What a host asks, in words that all hosts share.

use gate::call::RawCall;
use serde_json::{Map, Value};

use crate::host::Host;
use crate::rewrite::unwrap;

/// What a host asks.
///
/// It holds the arguments of a tool call, and with them secrets: it can be neither shown nor serialized.
pub struct Asked {
    /// Who asks.
    pub host: Host,
    /// When.
    pub event: Event,
    /// What is to be judged. The host's one call may be several here (an edit of three files, a field that nobody
    /// knows): the strictest ruling of all holds for it.
    pub calls: Vec<RawCall>,
    /// The text for a shell, where the host would run it as this hook gives it back: [`crate::Answer::rewritten`] counts
    /// only where this is something.
    pub shell: Option<String>,
    /// The turn that the call belongs to. Some hosts ask twice about one call, by two events: the second asking has the
    /// same session, turn and approval key.
    pub turn: Option<String>,
    /// How the call ended, where the event says so.
    pub succeeded: Option<bool>,
    pub(crate) name: &'static str,
    pub(crate) input: Map<String, Value>,
    pub(crate) command_key: &'static str,
    pub(crate) hands_off: bool,
}

/// When a host asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Before a tool runs.
    Before,
    /// Before the host would ask the person.
    Permission,
    /// After a tool ran: there is nothing left to decide.
    After,
}

impl Asked {
    /// The name that the host gives to the event.
    #[must_use]
    pub const fn event_name(&self) -> &'static str {
        self.name
    }

    /// Whether the host puts a question to the person where the answer says so. Where it does not, the answer becomes a
    /// refusal that tells how to approve.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        match (self.host, self.event) {
            (_, Event::After) | (Host::Codex, Event::Before) | (Host::OpenCode, _) => false,
            (Host::Cursor, _) => matches!(self.name, "beforeShellExecution" | "beforeMCPExecution"),
            (_, Event::Before | Event::Permission) => true,
        }
    }

    /// Whether another event of the same host asks about the same call once more before it runs: Cursor's first event comes
    /// before one for each kind of call.
    #[must_use]
    pub fn asks_again(&self) -> bool {
        let of_a_server = |call: &RawCall| call.tool.starts_with("mcp__");
        let kinds = |call: &RawCall| matches!(call.tool.as_str(), "Bash" | "Read") || of_a_server(call);
        self.host == Host::Cursor && self.name == "preToolUse" && self.calls.iter().all(kinds)
    }

    /// The question about the command as it was before this hook rewrote it with `prefix`: a host that asks twice asks
    /// about the rewritten one the second time, and both times mean the same call.
    #[must_use]
    pub fn unwrapped(mut self, prefix: &[String]) -> Asked {
        for call in self.calls.iter_mut().filter(|call| call.tool == "Bash") {
            if let Some(Value::String(command)) = call.args.get_mut("command")
                && let Some(original) = unwrap(command, prefix)
            {
                *command = original;
            }
        }
        if let Some(original) = self.shell.as_deref().and_then(|command| unwrap(command, prefix)) {
            self.shell = Some(original);
        }
        self
    }

    /// The input of the tool with another command, the rest as it was.
    pub(crate) fn input_with(&self, command: &str) -> Value {
        let mut input = self.input.clone();
        input.insert(self.command_key.to_owned(), command.into());
        Value::Object(input)
    }
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked")
            .field("host", &self.host)
            .field("event", &self.name)
            .field("calls", &self.calls.len())
            .finish_non_exhaustive()
    }
}

/// A question that cannot be read. It never repeats the content of strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why, in words.
    pub why: String,
}

impl Refused {
    pub(crate) fn new(why: impl Into<String>) -> Refused {
        Refused { why: why.into() }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Refused {}
