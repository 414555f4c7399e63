//! The hosts, by name.

/// A coding agent's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// Claude Code
    ClaudeCode,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    GeminiCli,
    /// Cursor
    Cursor,
    /// GitHub Copilot CLI
    CopilotCli,
    /// Visual Studio Code
    VsCode,
    /// OpenCode
    OpenCode,
}

impl Host {
    /// All of them.
    pub const ALL: [Host; 7] = [
        Host::ClaudeCode,
        Host::Codex,
        Host::GeminiCli,
        Host::Cursor,
        Host::CopilotCli,
        Host::VsCode,
        Host::OpenCode,
    ];

    /// The word on the command line, in principals and in the names of tools.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Host::ClaudeCode => "claude-code",
            Host::Codex => "codex",
            Host::GeminiCli => "gemini-cli",
            Host::Cursor => "cursor",
            Host::CopilotCli => "copilot-cli",
            Host::VsCode => "vs-code",
            Host::OpenCode => "opencode",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Host::ClaudeCode => "Claude Code",
            Host::Codex => "Codex CLI",
            Host::GeminiCli => "Gemini CLI",
            Host::Cursor => "Cursor",
            Host::CopilotCli => "GitHub Copilot CLI",
            Host::VsCode => "VS Code",
            Host::OpenCode => "OpenCode",
        }
    }

    /// Reads a word of the command line.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Host> {
        Host::ALL.into_iter().find(|host| host.name() == name)
    }
}
