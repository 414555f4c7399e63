//! A call that is well-formed: its tool is named, its arguments are what the tool takes, and all is within bounds.

use crate::bounds::{self, MAX_TOOL_NAME, check_id, check_path};
use crate::custom::CustomArguments;
use crate::descriptor::Category;
use crate::intent::Intent;
use crate::invalid::{Invalid, described, described_text};
use crate::raw::{Principal, RawCall};
use crate::tools::{Arguments, Completion, Exec, Sandbox, SandboxPermissions, Tool, tool};

/// A call that is well-formed. Only [`Call::parse`] makes one:
/// ```compile_fail,E0451
/// fn forge(arguments: call::Arguments) -> call::Call {
///     call::Call { tool: "shell_exec".into(), known: None, arguments, cwd: None, session: None,
///         principal: Default::default(), id: None }
/// }
/// ```
/// It may hold secrets, so it cannot be serialized:
/// ```compile_fail,E0277
/// fn record(call: &call::Call) -> serde_json::Result<String> {
///     serde_json::to_string(call)
/// }
/// ```
/// or copied, to be judged once and run twice:
/// ```compile_fail,E0599
/// fn twice(call: call::Call) -> (call::Call, call::Call) {
///     (call.clone(), call)
/// }
/// ```
pub struct Call {
    tool: String,
    known: Option<&'static Tool>,
    arguments: Arguments,
    cwd: Option<String>,
    session: Option<String>,
    principal: Principal,
    id: Option<String>,
}

impl Call {
    /// Reads a raw call.
    ///
    /// # Errors
    /// [`Invalid`] with the first thing that is wrong: the tool's name, the arguments, or what is around them. Paths
    /// start at the arguments; what is around them is named `$cwd`, `$session`, `$principal`, `$id`, `$tool`.
    pub fn parse(raw: RawCall) -> Result<Call, Invalid> {
        check_around(&raw)?;
        let RawCall { tool: name, args, cwd, session, principal, id } = raw;
        if !args.is_object() {
            return Err(Invalid::new("an object", described(&args)));
        }
        let known = tool(&name);
        bounds::check(&args, known.map_or(&[], |tool| tool.raw_keys))?;
        let arguments = match known {
            Some(tool) => tool.read(&args)?,
            None => Arguments::Custom(CustomArguments::new(args)),
        };
        Ok(Call { tool: name, known, arguments, cwd, session, principal, id })
    }

    /// Adds what the configuration says of a call: it is judged, asked about and run as that. A call that this is not about
    /// stays as it is.
    ///
    /// # Errors
    /// [`Invalid`]: the command is none that could be executed.
    pub fn complete(&mut self, with: Completion) -> Result<(), Invalid> {
        match (&mut self.arguments, with) {
            (Arguments::SkillExec(skill), Completion::Action(command)) => {
                command.check()?;
                skill.command = Some(command);
            }
            (Arguments::SkillRefRead(skill), Completion::Reference(path)) => {
                check_path(&path)?;
                skill.path = Some(path);
            }
            (Arguments::WebSearch(search), Completion::Provider(host)) => search.host = Some(host),
            _ => {}
        }
        Ok(())
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The tool, where it is known.
    #[must_use]
    pub const fn known_tool(&self) -> Option<&'static Tool> {
        self.known
    }

    /// What the tool is about.
    #[must_use]
    pub fn category(&self) -> Category {
        self.known.map_or(Category::Custom, |tool| tool.category)
    }

    /// The arguments.
    #[must_use]
    pub const fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// What the call is about, in its tool's own words. [`crate::Descriptors`] knows registered custom tools besides.
    #[must_use]
    pub fn intents(&self) -> Vec<Intent> {
        self.arguments.intents(&self.tool)
    }

    /// What would be executed, for the tools that execute.
    #[must_use]
    pub fn exec(&self) -> Option<Exec<'_>> {
        self.arguments.exec()
    }

    /// The fence that the call asks for.
    #[must_use]
    pub fn sandbox(&self) -> Sandbox {
        self.exec().map(|exec| exec.sandbox).unwrap_or_default()
    }

    /// What the call asks of the fence.
    #[must_use]
    pub fn sandbox_permissions(&self) -> SandboxPermissions {
        self.arguments.permissions()
    }

    /// Why, in the agent's words. It may hold secrets: mask it before showing it.
    #[must_use]
    pub fn justification(&self) -> Option<&str> {
        self.arguments.justification()
    }

    /// The working directory of whoever asks; the arguments may name another one ([`Exec::workdir`]).
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// The session that it belongs to.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Who asks.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// By which its asker knows it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

impl std::fmt::Debug for Call {
    /// Only the tool: the rest may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("tool", &self.tool).finish_non_exhaustive()
    }
}

fn check_around(raw: &RawCall) -> Result<(), Invalid> {
    let at = |name: &'static str| move |error: Invalid| Invalid { path: format!("${name}"), ..error };
    let named = (1..=MAX_TOOL_NAME).contains(&raw.tool.len())
        && raw
            .tool
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'/' | b'-'));
    if !named {
        let expected = "a name of 1 to 128 letters, digits and `_.:/-`";
        return Err(at("tool")(Invalid::new(expected, described_text(&raw.tool))));
    }
    if let Some(cwd) = &raw.cwd {
        check_path(cwd).map_err(at("cwd"))?;
    }
    for (name, text) in [("session", &raw.session), ("id", &raw.id)] {
        if let Some(text) = text {
            check_id(text).map_err(at(name))?;
        }
    }
    check_id(&raw.principal.id).map_err(at("principal"))?;
    raw.principal.groups.iter().try_for_each(|group| check_id(group)).map_err(at("principal"))
}
