//! From flags to a gate: the world, the workspace, the configuration.

use std::path::{Path, PathBuf};

use door_serve::Unfit;
use gate::approval::Provider;
use gate::policy::{ConfigError, Fence};
use gate::{Desk, Gate, Machine, Wanted, World, load, load_for};

use crate::always::InConfiguration;
use crate::approvers::{Audience, approvers};
use crate::cli::{Mode, Profile, Setup};

impl Setup {
    /// No flags at all.
    pub(crate) const fn none() -> Setup {
        Setup {
            config: None,
            profile: None,
            mode: None,
            read_only: false,
            no_sandbox: false,
            cwd: None,
            workspace: None,
            more: crate::cli::More { safety: Vec::new(), agent: Vec::new() },
        }
    }

    /// The gate that these flags ask for, once the examples of its rules have passed. `elsewhere` is a call's own working
    /// directory.
    pub(crate) fn gate(&self, elsewhere: Option<&str>) -> Result<Gate, String> {
        self.gate_for(elsewhere, Vec::new())
    }

    /// The same, with further terms of the sandbox, as YAML.
    pub(crate) fn gate_for(&self, elsewhere: Option<&str>, terms: Vec<String>) -> Result<Gate, String> {
        let gate = self.gate_with(elsewhere, &terms, None).map_err(text)?;
        match gate.check_examples().first() {
            None => Ok(gate),
            Some(failure) => Err(format!(
                "{}: `{}`: expected that {}, but {}",
                failure.at,
                gate::call::visible(&gate::call::mask(&failure.call)),
                failure.expected,
                gate::call::mask(&failure.got)
            )),
        }
    }

    /// A gate whose calls are run: asked about and written down.
    pub(crate) fn with_office(
        &self,
        gate: Gate,
        terms: &[String],
        audience: Audience,
    ) -> Result<Gate, String> {
        let providers = approvers(&gate, &Desk::of(gate.world(), gate.config())?, &audience)?;
        self.with_office_of(gate, terms, &audience, providers)
    }

    /// The same, with those who are asked.
    pub(crate) fn with_office_of(
        &self,
        gate: Gate,
        terms: &[String],
        audience: &Audience,
        providers: Vec<Box<dyn Provider>>,
    ) -> Result<Gate, String> {
        let desk = Desk::of(gate.world(), gate.config())?;
        let (mut office, key) = desk.office(gate.config(), providers)?;
        if matches!(audience, Audience::Terminal | Audience::Screen | Audience::Console(_))
            && let Some(directory) = gate.world().configuration.clone()
        {
            let journal = desk.journal_directory().to_path_buf();
            office.keeper = Some(Box::new(InConfiguration::new(self, terms, journal, directory)));
        }
        Ok(gate.with_office(office, key))
    }

    /// The gate as it would be with one rule more.
    pub(crate) fn gate_with_rule(&self, terms: &[String], rule: &str) -> Result<Gate, String> {
        let mut world = Machine::world()?;
        if let Some(cwd) = &self.cwd {
            world.cwd = world.cwd.join(cwd);
        }
        self.gate_in(world, terms, Some(rule), None).map_err(text)
    }

    /// The same for one request, which brings configuration of its own that may only tighten.
    pub(crate) fn gate_for_request(&self, elsewhere: Option<&str>, request: &str) -> Result<Gate, Unfit> {
        self.gate_with(elsewhere, &[], Some(request))
    }

    /// The same, with the examples still to be run.
    fn gate_with(
        &self,
        elsewhere: Option<&str>,
        terms: &[String],
        request: Option<&str>,
    ) -> Result<Gate, Unfit> {
        let mut world = Machine::world().map_err(Unfit::Configuration)?;
        if let Some(cwd) = &self.cwd {
            world.cwd = world.cwd.join(cwd);
        }
        if let Some(cwd) = elsewhere {
            world.cwd = world.cwd.join(cwd);
        }
        self.gate_in(world, terms, None, request)
    }

    /// The same, without the files of this machine, its user and the workspace.
    pub(crate) fn gate_alone(&self) -> Result<Gate, String> {
        let mut world = Machine::world()?;
        world.managed = None;
        world.configuration = None;
        if let Some(cwd) = &self.cwd {
            world.cwd = world.cwd.join(cwd);
        }
        let workspace = world.workspace(&world.cwd);
        let wanted = Wanted { config: self.config.clone(), flags: None, workspace: None };
        let config = load(&world, &wanted).map_err(|error| explain(&world, &error))?;
        let gate = Gate::new(config, world, workspace, Machine::digest_key()?);
        Ok(self.fenced(gate))
    }

    fn fenced(&self, gate: Gate) -> Gate {
        if self.no_sandbox { gate.with_fence(Fence::none("switched off with --no-sandbox")) } else { gate }
    }

    fn gate_in(
        &self,
        world: World,
        terms: &[String],
        rule: Option<&str>,
        request: Option<&str>,
    ) -> Result<Gate, Unfit> {
        let workspace = match &self.workspace {
            Some(root) => Some(world.cwd.join(root)),
            None => world.workspace(&world.cwd),
        };
        let flags = match (self.flags(terms), rule) {
            (Some(flags), Some(rule)) => Some(format!("{flags}\n{rule}")),
            (flags, rule) => flags.or_else(|| rule.map(str::to_owned)),
        };
        let wanted = Wanted { config: self.config.clone(), flags, workspace: workspace.clone() };
        let config = load_for(&world, &wanted, request).map_err(|error| match error.of_request() {
            true => Unfit::Request(explain(&world, &error)),
            false => Unfit::Configuration(explain(&world, &error)),
        })?;
        let key = Machine::digest_key().map_err(Unfit::Configuration)?;
        Ok(self.fenced(Gate::new(config, world, workspace, key)))
    }

    /// The flags, as the YAML that they stand for.
    fn flags(&self, terms: &[String]) -> Option<String> {
        let mut lines = Vec::new();
        if let Some(profile) = self.profile {
            let name = match profile {
                Profile::Dev => "dev",
                Profile::Balanced => "balanced",
                Profile::Prod => "prod",
            };
            lines.push(format!("profile: {name}"));
        }
        let mut safety = Vec::new();
        if let Some(mode) = self.mode {
            let name = match mode {
                Mode::Allow => "allow",
                Mode::Ask => "ask",
                Mode::Deny => "deny",
            };
            safety.push(format!("mode: {name}"));
        }
        if self.read_only {
            safety.push("read_only: true".to_owned());
        }
        safety.extend_from_slice(&self.more.safety);
        if !safety.is_empty() {
            lines.push(format!("safety: {{{}}}", safety.join(", ")));
        }
        if !self.more.agent.is_empty() {
            lines.push(format!("agent: {{{}}}", self.more.agent.join(", ")));
        }
        if !terms.is_empty() {
            lines.push(format!("sandbox: {{{}}}", terms.join(", ")));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

fn text(unfit: Unfit) -> String {
    match unfit {
        Unfit::Configuration(why) | Unfit::Request(why) => why,
    }
}

/// What an agent, or whoever is not at this machine's terminal, may read of [an error](explain): where, and what is wrong, but no
/// line of the file, which is the user's own.
pub(crate) fn told_to_agents(why: &str) -> &str {
    why.split('\n').next().unwrap_or_default()
}

/// An error in a configuration file, with the line underlined.
pub(crate) fn explain(world: &World, error: &ConfigError) -> String {
    let mut text = gate::call::mask(&error.to_string()).replace('\n', " ");
    let path = PathBuf::from(&*error.at.file);
    let shown = excerpt(world, &path, error.at.line, error.at.column);
    if let Some(shown) = shown {
        text.push('\n');
        text.push_str(&shown);
    }
    text
}

fn excerpt(world: &World, path: &Path, line: u32, column: u32) -> Option<String> {
    let file = world.disk.read(path).ok()??;
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    let text = file.lines().nth(before)?;
    if text.chars().count() > 160 {
        return None;
    }
    // What a line of configuration says may be as secret as any argument, and values of variables are secret.
    let shown = if sets_variables(&file, before) {
        let names = text.split_once(':').map_or("", |(name, _)| name);
        format!("{names}: {}", gate::call::MASKED)
    } else {
        gate::call::mask(text).into_owned()
    };
    let marker = if shown == text {
        " ".repeat(usize::try_from(column).ok()?.saturating_sub(1)) + "^"
    } else {
        String::new()
    };
    Some(format!("{line:>5} | {}\n      | {marker}", gate::call::visible(&shown)))
}

/// Whether this line, counted from zero, has an `env` in it or stands below one.
fn sets_variables(file: &str, line: usize) -> bool {
    let depth = |text: &str| text.len() - text.trim_start().len();
    let names = |text: &str| {
        text.split([' ', '{', ',', '-'])
            .any(|word| matches!(word.trim_matches(['"', '\'']), "env:" | "env\":"))
    };
    let mut lines = file.lines().take(line + 1).collect::<Vec<_>>().into_iter().rev();
    let Some(own) = lines.next() else { return false };
    let mut indented = depth(own);
    if names(own) {
        return true;
    }
    // Only lines that stand further left have it below them.
    for above in lines.filter(|above| !above.trim().is_empty()) {
        if depth(above) < indented {
            indented = depth(above);
            if names(above) {
                return true;
            }
        }
    }
    false
}
