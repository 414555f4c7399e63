//! What a tool says about its calls: what they are about, and how they are shown.

use std::collections::BTreeMap;

use crate::call::Call;
use crate::digest::DigestKey;
use crate::form::{Form, Purpose};
use crate::intent::Intent;
use crate::request::{ApprovalKey, Request};
use crate::tools::tool;

/// What a tool is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Executes.
    Exec,
    /// Types into what was executed.
    Stdin,
    /// Reads files.
    Read,
    /// Writes files.
    Write,
    /// Asks a person.
    Human,
    /// Touches nothing.
    None,
    /// Starts or steers other agents.
    Agent,
    /// Connects.
    Connect,
    /// Not known.
    Custom,
}

impl Category {
    /// The lowercase name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Category::Exec => "exec",
            Category::Stdin => "stdin",
            Category::Read => "read",
            Category::Write => "write",
            Category::Human => "human",
            Category::None => "none",
            Category::Agent => "agent",
            Category::Connect => "connect",
            Category::Custom => "custom",
        }
    }
}

/// What the analysis of a call found, as far as its request shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The words, where the call is one simple command with literal words.
    pub argv: Option<Vec<String>>,
    /// Why it is not, in words.
    pub complex: Option<String>,
    /// How risky: `low`, `medium`, `high`, `critical`.
    pub risk: &'static str,
    /// The directory where it would run, resolved.
    pub cwd: String,
}

/// What a tool says about its calls.
pub trait Descriptor: Send + Sync {
    /// What the tool is about.
    fn category(&self) -> Category;

    /// What this call is about.
    fn intents(&self, call: &Call) -> Vec<Intent>;

    /// The call as somebody who is to approve it may see it.
    fn sanitize_for_approval(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request;

    /// The call as events and the journal may hold it.
    fn sanitize_for_event(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request;

    /// The key that an approval of the call is bound to: that of [`Descriptor::sanitize_for_approval`].
    fn approval_key(&self, call: &Call, seen: &Seen, key: &DigestKey) -> ApprovalKey {
        self.sanitize_for_approval(call, seen, key).approval_key()
    }
}

/// The descriptors: one for each tool that is known, those that were registered, passthrough for the rest.
#[derive(Default)]
pub struct Descriptors {
    custom: BTreeMap<String, Box<dyn Descriptor>>,
}

impl Descriptors {
    /// Only those of the tools that are known.
    #[must_use]
    pub fn new() -> Self {
        Descriptors::default()
    }

    /// Registers the descriptor of a custom tool.
    ///
    /// # Errors
    /// A tool that is known keeps its descriptor, and a second one for the same name is refused.
    pub fn register(&mut self, name: &str, descriptor: Box<dyn Descriptor>) -> Result<(), Taken> {
        if tool(name).is_some() || self.custom.contains_key(name) {
            return Err(Taken { name: name.to_owned() });
        }
        self.custom.insert(name.to_owned(), descriptor);
        Ok(())
    }

    /// The descriptor for this call.
    #[must_use]
    pub fn of(&self, call: &Call) -> &dyn Descriptor {
        match call.known_tool() {
            Some(tool) => tool,
            None => self.custom.get(call.tool()).map_or(&Passthrough, Box::as_ref),
        }
    }
}

/// A tool of this name has a descriptor already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The name.
    pub name: String,
}

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the tool `{}` has a descriptor already", self.name)
    }
}

impl std::error::Error for Taken {}

impl Descriptor for crate::tools::Tool {
    fn category(&self) -> Category {
        self.category
    }

    fn intents(&self, call: &Call) -> Vec<Intent> {
        call.arguments().intents(call.tool())
    }

    fn sanitize_for_approval(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request {
        sanitize(call, Purpose::Approval, seen, key)
    }

    fn sanitize_for_event(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request {
        sanitize(call, Purpose::Event, seen, key)
    }

    fn approval_key(&self, call: &Call, seen: &Seen, key: &DigestKey) -> ApprovalKey {
        sanitize(call, Purpose::Key, seen, key).approval_key()
    }
}

/// The descriptor of tools about which nothing is known: their calls are unknown, and shown with their secrets masked.
pub struct Passthrough;

impl Descriptor for Passthrough {
    fn category(&self) -> Category {
        Category::Custom
    }

    fn intents(&self, call: &Call) -> Vec<Intent> {
        call.arguments().intents(call.tool())
    }

    fn sanitize_for_approval(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request {
        sanitize(call, Purpose::Approval, seen, key)
    }

    fn sanitize_for_event(&self, call: &Call, seen: &Seen, key: &DigestKey) -> Request {
        sanitize(call, Purpose::Event, seen, key)
    }
}

fn sanitize(call: &Call, purpose: Purpose, seen: &Seen, key: &DigestKey) -> Request {
    let mut form = Form::new(call.tool(), purpose, seen, key);
    call.arguments().fill(&mut form);
    form.finish()
}
