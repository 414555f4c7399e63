//! The tools that are known: their arguments, what they are about, and how they are shown. One struct for each tool.
//!
//! A tool's struct is the source of everything: its JSON Schema is generated from it, and that schema is what calls
//! are checked against. [`Kind`] is what a struct must say about itself; the table below makes it a tool.

mod agents;
mod exec;
mod files;
mod host;
mod host_quiet;
mod people;
mod skills;
mod web;

use std::sync::OnceLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use agents::{CloseAgent, ResumeAgent, SendInput, SpawnAgent, Wait};
pub use exec::{
    Env, Exec, ExecCommand, Sandbox, SandboxPermissions, ShellCommand, ShellExec, ShellWords, What,
    WriteStdin,
};
pub use files::{
    ApplyPatch, FileRead, FileWrite, GrepFiles, Indentation, ListDir, ReadFile, ReadMode, ViewImage,
};
pub use host::{
    HostAgent, HostBash, HostEdit, HostGlob, HostGrep, HostMultiEdit, HostNotebookEdit, HostRead, HostTask,
    HostWebFetch, HostWebSearch, HostWrite, MultiEditStep,
};
pub use host_quiet::{
    HostAskUserQuestion, HostBashOutput, HostEnterPlanMode, HostExitPlanMode, HostKillShell, HostTaskCreate,
    HostTaskGet, HostTaskList, HostTaskOutput, HostTaskStop, HostTaskUpdate, HostTodoWrite, HostToolSearch,
};
pub use people::{AskHuman, Choice, PlanStep, Question, RequestUserInput, StepStatus, UpdatePlan};
pub use skills::{SkillCommand, SkillExec, SkillRefRead};
pub use web::WebSearch;

use crate::descriptor::Category;
use crate::form::Form;
use crate::intent::Intent;
use crate::invalid::Invalid;
use crate::schema;

/// What the configuration adds to a call, and whoever asks cannot.
pub enum Completion {
    /// The command that a `skill_exec` stands for.
    Action(Box<SkillCommand>),
    /// The file that a `skill_ref_read` reads.
    Reference(String),
    /// The host that a `web_search` connects to.
    Provider(String),
}

/// What a tool's arguments say about the tool.
pub(crate) trait Kind: DeserializeOwned + JsonSchema {
    const NAME: &'static str;
    const CATEGORY: Category;
    const ABOUT: &'static str;
    /// The tool belongs to the agent's host, which runs it itself and owns its schema.
    const HOST: bool = false;
    /// Keys whose text may hold NUL: contents of files, and what is typed.
    const RAW_KEYS: &'static [&'static str] = &[];

    /// What the schema cannot say.
    fn check(&self) -> Result<(), Invalid> {
        Ok(())
    }

    /// What the call is about.
    fn intents(&self) -> Vec<Intent>;

    /// Fills in what approvals, events and the journal may hold.
    fn fill(&self, form: &mut Form<'_>);

    /// What would be executed, for the tools that execute.
    fn exec(&self) -> Option<Exec<'_>> {
        None
    }

    /// What the call asks of the fence.
    fn permissions(&self) -> SandboxPermissions {
        self.exec().map(|exec| exec.permissions).unwrap_or_default()
    }

    /// Why, in the agent's words.
    fn justification(&self) -> Option<&str> {
        self.exec().and_then(|exec| exec.justification)
    }
}

/// A tool that is known.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub category: Category,
    /// One sentence.
    pub about: &'static str,
    /// It belongs to the agent's host, which runs it itself and owns its schema.
    pub host: bool,
    pub(crate) raw_keys: &'static [&'static str],
    generate: fn() -> Value,
    read: fn(&Value) -> Result<Arguments, Invalid>,
    schema: OnceLock<Value>,
}

impl Tool {
    /// The JSON Schema (2020-12) of its arguments.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(self.generate)
    }

    /// Reads arguments that are within bounds.
    pub(crate) fn read(&self, arguments: &Value) -> Result<Arguments, Invalid> {
        schema::check(self.schema(), arguments)?;
        (self.read)(arguments)
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All tools that are known, ours first, then the hosts'.
#[must_use]
pub fn tools() -> &'static [Tool] {
    &TOOLS
}

/// The tool with this name.
#[must_use]
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The description would be the comment on our struct, which speaks to programmers.
    schema.remove("description");
    schema.to_value()
}

fn read<T: Kind>(arguments: &Value) -> Result<T, Invalid> {
    // What serde would say repeats the content of strings, so it is not passed on. The schema has found the place
    // of everything that serde refuses (a property of the tests); this is for what it might have missed.
    let read = T::deserialize(arguments)
        .map_err(|_| Invalid::new("what the schema of the tool says", "something else"))?;
    read.check()?;
    Ok(read)
}

macro_rules! known_tools {
    ($count:literal: $($kind:ident,)*) => {
        /// The arguments of a call, by tool.
        ///
        /// They hold secrets, so they cannot be shown as a whole:
        /// ```compile_fail,E0277
        /// fn show(arguments: &call::Arguments) {
        ///     println!("{arguments:?}");
        /// }
        /// ```
        pub enum Arguments {
            $(#[doc = concat!("See [`", stringify!($kind), "`].")] $kind(Box<$kind>),)*
            /// Of a tool that is not known.
            Custom(crate::custom::CustomArguments),
        }

        static TOOLS: [Tool; $count] = [$(Tool {
            name: $kind::NAME,
            category: $kind::CATEGORY,
            about: $kind::ABOUT,
            host: $kind::HOST,
            raw_keys: $kind::RAW_KEYS,
            generate: generate::<$kind>,
            read: |arguments| read::<$kind>(arguments).map(|read| Arguments::$kind(Box::new(read))),
            schema: OnceLock::new(),
        }),*];

        impl Arguments {
            pub(crate) fn intents(&self, tool: &str) -> Vec<Intent> {
                match self {
                    $(Arguments::$kind(arguments) => arguments.intents(),)*
                    Arguments::Custom(arguments) => arguments.intents(tool),
                }
            }

            pub(crate) fn fill(&self, form: &mut Form<'_>) {
                match self {
                    $(Arguments::$kind(arguments) => arguments.fill(form),)*
                    Arguments::Custom(arguments) => arguments.fill(form),
                }
            }

            pub(crate) fn exec(&self) -> Option<Exec<'_>> {
                match self {
                    $(Arguments::$kind(arguments) => arguments.exec(),)*
                    Arguments::Custom(_) => None,
                }
            }

            pub(crate) fn permissions(&self) -> SandboxPermissions {
                match self {
                    $(Arguments::$kind(arguments) => arguments.permissions(),)*
                    Arguments::Custom(_) => SandboxPermissions::default(),
                }
            }

            pub(crate) fn justification(&self) -> Option<&str> {
                match self {
                    $(Arguments::$kind(arguments) => arguments.justification(),)*
                    Arguments::Custom(_) => None,
                }
            }
        }
    };
}

known_tools! { 48:
    ShellExec,
    ShellWords,
    ShellCommand,
    ExecCommand,
    WriteStdin,
    FileRead,
    FileWrite,
    ReadFile,
    ListDir,
    GrepFiles,
    ApplyPatch,
    AskHuman,
    RequestUserInput,
    UpdatePlan,
    SkillExec,
    SkillRefRead,
    ViewImage,
    WebSearch,
    SpawnAgent,
    Wait,
    SendInput,
    CloseAgent,
    ResumeAgent,
    HostBash,
    HostRead,
    HostWrite,
    HostEdit,
    HostMultiEdit,
    HostNotebookEdit,
    HostGlob,
    HostGrep,
    HostWebFetch,
    HostWebSearch,
    HostTask,
    HostAgent,
    HostTodoWrite,
    HostTaskCreate,
    HostTaskUpdate,
    HostTaskGet,
    HostTaskList,
    HostEnterPlanMode,
    HostExitPlanMode,
    HostAskUserQuestion,
    HostToolSearch,
    HostBashOutput,
    HostKillShell,
    HostTaskOutput,
    HostTaskStop,
}
