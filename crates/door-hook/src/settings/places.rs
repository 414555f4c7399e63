//! Where each host keeps its settings, and which hosts are on this machine.

use std::path::{Path, PathBuf};

use crate::host::Host;

/// For whom a settings file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// For everything that the user does.
    User,
    /// For one project, and everybody who works on it.
    Project,
}

/// A settings file that a hook can be put into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose.
    pub host: Host,
    /// For whom.
    pub scope: Scope,
    /// The file; it may not be there yet.
    pub path: PathBuf,
}

/// A host that was found, and what told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The host.
    pub host: Host,
    /// What exists.
    pub seen: PathBuf,
    /// Where its hook would go.
    pub place: Place,
}

/// The settings files of a host, the one that is preferred first.
#[must_use]
pub fn places(host: Host, home: &Path, workspace: Option<&Path>) -> Vec<Place> {
    let user = |path: &str| Place { host, scope: Scope::User, path: home.join(path) };
    let project =
        |path: &str| workspace.map(|root| Place { host, scope: Scope::Project, path: root.join(path) });
    let both = |there: &str, here: &str| std::iter::once(user(there)).chain(project(here)).collect();
    match host {
        Host::ClaudeCode => both(".claude/settings.json", ".claude/settings.json"),
        Host::Codex => both(".codex/hooks.json", ".codex/hooks.json"),
        Host::GeminiCli => both(".gemini/settings.json", ".gemini/settings.json"),
        Host::Cursor => both(".cursor/hooks.json", ".cursor/hooks.json"),
        // It passes over a project's hooks where nobody has said that the project is trusted, and does not say so.
        Host::CopilotCli => both(".copilot/hooks/bailiwick.json", ".github/hooks/bailiwick.json"),
        Host::VsCode => project(".github/hooks/bailiwick.json").into_iter().collect(),
        Host::OpenCode => both(".config/opencode/plugins/bailiwick.js", ".opencode/plugins/bailiwick.js"),
    }
}

/// The files beside its [`places`] that a host reads settings from, and that can switch its hooks off: of the machine, of the
/// user, and those that a project's user keeps to themselves.
#[must_use]
pub fn read_too(host: Host, home: &Path, workspace: Option<&Path>) -> Vec<PathBuf> {
    let (machine, user, project): (&[&str], &[&str], &[&str]) = match host {
        Host::ClaudeCode => (
            &[
                "/etc/claude-code/managed-settings.json",
                "/Library/Application Support/ClaudeCode/managed-settings.json",
            ],
            &[".claude/settings.local.json"],
            &[".claude/settings.local.json"],
        ),
        Host::Codex => (&["/etc/codex/config.toml"], &[".codex/config.toml"], &[".codex/config.toml"]),
        Host::GeminiCli => (
            &[
                "/etc/gemini-cli/settings.json",
                "/etc/gemini-cli/system-defaults.json",
                "/Library/Application Support/GeminiCli/settings.json",
            ],
            &[],
            &[],
        ),
        Host::CopilotCli => {
            (&[], &[".copilot/config.json", ".copilot/settings.json"], &[".github/copilot/settings.json"])
        }
        Host::Cursor | Host::VsCode | Host::OpenCode => (&[], &[], &[]),
    };
    let machine = machine.iter().map(PathBuf::from);
    let user = user.iter().map(|path| home.join(path));
    machine.chain(user).chain(project.iter().filter_map(|path| Some(workspace?.join(path)))).collect()
}

/// The hosts that left traces on this machine.
#[must_use]
pub fn detect(home: &Path, workspace: Option<&Path>, exists: impl Fn(&Path) -> bool) -> Vec<Found> {
    let mut found = Vec::new();
    for host in Host::ALL {
        let (there, here) = traces(host);
        let seen = there
            .iter()
            .map(|trace| home.join(trace))
            .chain(here.iter().filter_map(|trace| Some(workspace?.join(trace))))
            .find(|path| exists(path));
        let place = places(host, home, workspace).into_iter().next();
        if let (Some(seen), Some(place)) = (seen, place) {
            found.push(Found { host, seen, place });
        }
    }
    found
}

/// What a host leaves in the home directory, and in a project.
const fn traces(host: Host) -> (&'static [&'static str], &'static [&'static str]) {
    match host {
        Host::ClaudeCode => (&[".claude", ".claude.json"], &[".claude"]),
        Host::Codex => (&[".codex"], &[".codex"]),
        Host::GeminiCli => (&[".gemini"], &[".gemini"]),
        Host::Cursor => (&[".cursor", ".config/Cursor", "Library/Application Support/Cursor"], &[".cursor"]),
        Host::CopilotCli => (&[".copilot", ".config/github-copilot"], &[".github/hooks"]),
        Host::VsCode => {
            (&[".vscode", ".vscode-server", ".config/Code", "Library/Application Support/Code"], &[".vscode"])
        }
        Host::OpenCode => (&[".config/opencode", ".local/share/opencode"], &[".opencode", "opencode.json"]),
    }
}
