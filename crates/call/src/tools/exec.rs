//! The tools that execute, and the one that types into what they started.
//!
//! All of them are read as [`Exec`], and everything that follows (intents, requests, keys) is made from that, so
//! that no tool is a way around another.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Kind;
use crate::bounds::{check_command, check_path, check_words};
use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::{Intent, Shell};
use crate::invalid::{Invalid, counted};
use crate::secret::Secret;

/// What an executing tool would execute.
#[derive(Clone, Copy)]
pub struct Exec<'a> {
    /// The words or the text.
    pub what: What<'a>,
    /// Where, as the call gave it.
    pub workdir: Option<&'a str>,
    /// The variables that the call sets.
    pub env: &'a Env,
    /// Variables that it gets with the value that they have for whoever asks.
    pub passed_on: &'a [String],
    /// How long it may take.
    pub timeout_ms: Option<u64>,
    /// It gets a terminal.
    pub tty: bool,
    /// The fence that the call asks for.
    pub sandbox: Sandbox,
    /// What it asks of the fence.
    pub permissions: SandboxPermissions,
    /// Why, in the agent's words.
    pub justification: Option<&'a str>,
}

/// Words that are executed as they are, or text for a shell.
#[derive(Clone, Copy)]
pub enum What<'a> {
    /// Program and arguments.
    Words(&'a [String]),
    /// Text, and the shell that reads it.
    Text(&'a str, Shell),
}

/// Which fence a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// The one that the configuration says.
    #[default]
    Inherit,
    /// None.
    None,
    /// The restricted one.
    Restricted,
}

impl Sandbox {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Sandbox::Inherit => "inherit",
            Sandbox::None => "none",
            Sandbox::Restricted => "restricted",
        }
    }
}

/// What a call asks of the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxPermissions {
    /// Nothing more than it gives.
    #[default]
    Restricted,
    /// To run without it.
    RequireEscalated,
}

impl SandboxPermissions {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SandboxPermissions::Restricted => "restricted",
            SandboxPermissions::RequireEscalated => "require_escalated",
        }
    }
}

/// Variables that a call sets. Their values are secret.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub struct Env(BTreeMap<String, Secret>);

impl Env {
    /// Variables with their values.
    #[must_use]
    pub const fn new(values: BTreeMap<String, Secret>) -> Env {
        Env(values)
    }

    /// Names, sorted, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// No variable is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn check(&self) -> Result<(), Invalid> {
        let named = |name: &str| {
            name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
        };
        match self.names().find(|name| !named(name)) {
            // The name is not repeated: whoever confuses name and value would see the value here.
            Some(name) => Err(Invalid::new(
                "an object whose keys are names of variables (letters, digits and `_`, no digit first)",
                format!("a key of {}", counted(name.chars().count(), "character")),
            )
            .in_key("env")),
            None => Ok(()),
        }
    }

    pub(crate) fn digest(&self, form: &Form<'_>) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        let values: Map<String, Value> =
            self.iter().map(|(name, value)| (name.to_owned(), value.expose().into())).collect();
        form.key().digest_json("env", &Value::Object(values)).into()
    }
}

impl JsonSchema for Env {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Env".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
            "additionalProperties": {"type": "string"},
        })
    }
}

impl Exec<'_> {
    /// The names of all variables that it gets beyond those that every command has.
    pub fn env_names(&self) -> impl Iterator<Item = &str> {
        self.env.names().chain(self.passed_on.iter().map(String::as_str))
    }

    pub(super) fn check(&self, command_key: &str, workdir_key: &str) -> Result<(), Invalid> {
        match self.what {
            What::Words(words) => check_words(words),
            What::Text(text, _) => check_command(text),
        }
        .map_err(|error| error.in_key(command_key))?;
        if let Some(workdir) = self.workdir {
            check_path(workdir).map_err(|error| error.in_key(workdir_key))?;
        }
        self.env.check()
    }

    pub(super) fn intents(&self) -> Vec<Intent> {
        let cwd = self.workdir.map(str::to_owned);
        let env_names = self.env_names().map(str::to_owned).collect();
        vec![match self.what {
            What::Words(words) => Intent::Argv { argv: words.to_vec(), cwd, env_names },
            What::Text(text, shell) => Intent::Shell { text: text.to_owned(), shell, cwd, env_names },
        }]
    }
}

/// No variables.
pub(super) static NO_ENV: Env = Env(BTreeMap::new());

const fn a_minute() -> u64 {
    60_000
}

const fn fifty() -> u64 {
    50
}

const fn yes() -> bool {
    true
}

/// Arguments of `shell_exec`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellExec {
    /// Program and arguments, executed as they are.
    #[schemars(length(min = 1))]
    pub argv: Vec<String>,
    /// Where to run, from the workspace.
    #[schemars(length(min = 1))]
    pub cwd: Option<String>,
    /// Variables to set.
    #[serde(default)]
    #[schemars(default = "Map::<String, Value>::new")]
    pub env: Env,
    /// How long it may take.
    #[serde(default = "a_minute")]
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
    /// Which fence.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// What is asked of the fence.
    #[serde(default)]
    pub sandbox_permissions: SandboxPermissions,
    /// Whether it gets a terminal.
    #[serde(default)]
    pub tty: bool,
    /// Why, for whoever approves.
    pub justification: Option<String>,
}

impl Kind for ShellExec {
    const NAME: &'static str = "shell_exec";
    const CATEGORY: Category = Category::Exec;
    const ABOUT: &'static str = "Runs a program with arguments.";

    fn check(&self) -> Result<(), Invalid> {
        self.view().check("argv", "cwd")
    }

    fn intents(&self) -> Vec<Intent> {
        self.view().intents()
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.exec("argv", &self.view());
    }

    fn exec(&self) -> Option<Exec<'_>> {
        Some(self.view())
    }
}

impl ShellExec {
    fn view(&self) -> Exec<'_> {
        Exec {
            what: What::Words(&self.argv),
            workdir: self.cwd.as_deref(),
            env: &self.env,
            passed_on: &[],
            timeout_ms: Some(self.timeout_ms),
            tty: self.tty,
            sandbox: self.sandbox,
            permissions: self.sandbox_permissions,
            justification: self.justification.as_deref(),
        }
    }
}

/// Arguments of `shell`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellWords {
    /// Program and arguments, executed as they are.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// Where to run, from the workspace.
    #[schemars(length(min = 1))]
    pub workdir: Option<String>,
    /// Variables to set.
    #[serde(default)]
    #[schemars(default = "Map::<String, Value>::new")]
    pub env: Env,
    /// How long it may take.
    #[serde(default = "a_minute")]
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
    /// Which fence.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// What is asked of the fence.
    #[serde(default)]
    pub sandbox_permissions: SandboxPermissions,
    /// Why, for whoever approves.
    pub justification: Option<String>,
}

impl Kind for ShellWords {
    const NAME: &'static str = "shell";
    const CATEGORY: Category = Category::Exec;
    const ABOUT: &'static str = "Runs a program with arguments.";

    fn check(&self) -> Result<(), Invalid> {
        self.view().check("command", "workdir")
    }

    fn intents(&self) -> Vec<Intent> {
        self.view().intents()
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.exec("argv", &self.view());
    }

    fn exec(&self) -> Option<Exec<'_>> {
        Some(self.view())
    }
}

impl ShellWords {
    fn view(&self) -> Exec<'_> {
        Exec {
            what: What::Words(&self.command),
            workdir: self.workdir.as_deref(),
            env: &self.env,
            passed_on: &[],
            timeout_ms: Some(self.timeout_ms),
            tty: false,
            sandbox: self.sandbox,
            permissions: self.sandbox_permissions,
            justification: self.justification.as_deref(),
        }
    }
}

/// Arguments of `shell_command`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellCommand {
    /// Text for `/bin/sh -lc`.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Where to run, from the workspace.
    #[schemars(length(min = 1))]
    pub workdir: Option<String>,
    /// Variables to set.
    #[serde(default)]
    #[schemars(default = "Map::<String, Value>::new")]
    pub env: Env,
    /// How long it may take.
    #[serde(default = "a_minute")]
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
    /// Which fence.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// What is asked of the fence.
    #[serde(default)]
    pub sandbox_permissions: SandboxPermissions,
    /// Why, for whoever approves.
    pub justification: Option<String>,
}

impl Kind for ShellCommand {
    const NAME: &'static str = "shell_command";
    const CATEGORY: Category = Category::Exec;
    const ABOUT: &'static str = "Runs a text with `/bin/sh`.";

    fn check(&self) -> Result<(), Invalid> {
        self.view().check("command", "workdir")
    }

    fn intents(&self) -> Vec<Intent> {
        self.view().intents()
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.exec("command", &self.view());
    }

    fn exec(&self) -> Option<Exec<'_>> {
        Some(self.view())
    }
}

impl ShellCommand {
    fn view(&self) -> Exec<'_> {
        Exec {
            what: What::Text(&self.command, Shell::Posix),
            workdir: self.workdir.as_deref(),
            env: &self.env,
            passed_on: &[],
            timeout_ms: Some(self.timeout_ms),
            tty: false,
            sandbox: self.sandbox,
            permissions: self.sandbox_permissions,
            justification: self.justification.as_deref(),
        }
    }
}

/// Arguments of `exec_command`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecCommand {
    /// Text for `/bin/sh -lc`.
    #[schemars(length(min = 1))]
    pub cmd: String,
    /// Where to run, from the workspace.
    #[schemars(length(min = 1))]
    pub workdir: Option<String>,
    /// How long to wait for output before answering.
    #[serde(default = "fifty")]
    pub yield_time_ms: u64,
    /// How much output to answer with.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u64>,
    /// Whether it gets a terminal.
    #[serde(default = "yes")]
    pub tty: bool,
    /// Which fence.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// What is asked of the fence.
    #[serde(default)]
    pub sandbox_permissions: SandboxPermissions,
    /// Why, for whoever approves.
    pub justification: Option<String>,
}

impl Kind for ExecCommand {
    const NAME: &'static str = "exec_command";
    const CATEGORY: Category = Category::Exec;
    const ABOUT: &'static str = "Runs a text with `/bin/sh` and may leave it running, to be typed into.";

    fn check(&self) -> Result<(), Invalid> {
        self.view().check("cmd", "workdir")
    }

    fn intents(&self) -> Vec<Intent> {
        self.view().intents()
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.exec("cmd", &self.view());
    }

    fn exec(&self) -> Option<Exec<'_>> {
        Some(self.view())
    }
}

impl ExecCommand {
    fn view(&self) -> Exec<'_> {
        Exec {
            what: What::Text(&self.cmd, Shell::Posix),
            workdir: self.workdir.as_deref(),
            env: &NO_ENV,
            passed_on: &[],
            timeout_ms: None,
            tty: self.tty,
            sandbox: self.sandbox,
            permissions: self.sandbox_permissions,
            justification: self.justification.as_deref(),
        }
    }
}

/// Arguments of `write_stdin`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteStdin {
    /// The session that `exec_command` answered with.
    #[schemars(range(min = 1))]
    pub session_id: u64,
    /// What to type. Absent or empty: only collect output.
    pub chars: Option<Secret>,
    /// How long to wait for output before answering.
    #[serde(default = "fifty")]
    pub yield_time_ms: u64,
    /// How much output to answer with.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u64>,
}

impl WriteStdin {
    /// Nothing is typed.
    #[must_use]
    pub fn is_poll(&self) -> bool {
        self.chars.as_ref().is_none_or(Secret::is_empty)
    }
}

impl Kind for WriteStdin {
    const NAME: &'static str = "write_stdin";
    const CATEGORY: Category = Category::Stdin;
    const ABOUT: &'static str = "Types into a program that is running, or collects its output.";
    const RAW_KEYS: &'static [&'static str] = &["chars"];

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Stdin { session: self.session_id, poll: self.is_poll() }]
    }

    fn fill(&self, form: &mut Form<'_>) {
        form.value("session_id", self.session_id);
        form.value("bytes", self.chars.as_ref().map_or(0, Secret::len));
        match &self.chars {
            Some(chars) if !chars.is_empty() => form.keyed_digest("chars_digest", chars.expose()),
            _ => form.value("chars_digest", Value::Null),
        }
        form.value("is_poll", self.is_poll());
    }
}
