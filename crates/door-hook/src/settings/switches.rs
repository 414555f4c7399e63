//! Settings that switch hooks off altogether: with one of them our hook is there and never runs.

use super::jsonc::{Node, Value};
use crate::host::Host;

/// The setting that keeps this host from running hooks, if these settings have one. `text` is a settings file of the host:
/// the one that holds its hooks, or, for Codex, `config.toml`.
#[must_use]
pub fn switched_off(host: Host, text: &str) -> Option<&'static str> {
    match host {
        Host::ClaudeCode => is(text, &["disableAllHooks"], true).then_some("disableAllHooks"),
        Host::GeminiCli => {
            let table: [(&[&str], &str); 3] = [
                (&["hooksConfig", "enabled"], "hooksConfig.enabled"),
                (&["hooks", "enabled"], "hooks.enabled"),
                (&["tools", "enableHooks"], "tools.enableHooks"),
            ];
            table.into_iter().find(|(path, _)| is(text, path, false)).map(|(_, name)| name)
        }
        Host::Codex => features_off(text).then_some("features.hooks"),
        Host::CopilotCli => is(text, &["disableAllHooks"], true).then_some("disableAllHooks"),
        Host::Cursor | Host::VsCode | Host::OpenCode => None,
    }
}

/// Whether Codex's `config.toml` says that somebody trusted the hooks before a tool of this file: without that it passes them over,
/// and says nothing. Whether they are still the ones that were trusted, only Codex knows.
#[must_use]
pub fn is_trusted(config: &str, hooks: &str) -> bool {
    let mut here = false;
    let (mut trusted, mut enabled) = (false, true);
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            let named = line.strip_prefix("[hooks.state.").map(|rest| rest.trim_end_matches(']'));
            let named = named.map(|name| name.trim_matches(['"', '\'']).replace("\\\\", "\\"));
            here = named
                .and_then(|name| name.strip_prefix(hooks).map(str::to_owned))
                .is_some_and(|rest| rest.starts_with(":pre_tool_use:"));
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| here) else { continue };
        match (key.trim(), value.trim()) {
            ("trusted_hash", _) => trusted = true,
            ("enabled", "false") => enabled = false,
            _ => {}
        }
    }
    trusted && enabled
}

fn is(text: &str, path: &[&str], wanted: bool) -> bool {
    let Ok(mut node) = Node::read(text) else { return false };
    for key in path {
        let Some(item) = node.member(key) else { return false };
        node = item.node.clone();
    }
    node.value == Value::Bool(wanted)
}

/// `hooks = false` under `[features]`. This only warns, so lines are enough.
fn features_off(text: &str) -> bool {
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
        let named = match section {
            "[features]" => matches!(key, "hooks" | "codex_hooks"),
            "" => matches!(key, "features.hooks" | "features.codex_hooks"),
            _ => false,
        };
        if named && value == "false" {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_codex_trusts_is_found() {
        let hooks = "/home/u/.codex/hooks.json";
        let table = [
            (
                "[hooks.state.\"/home/u/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:ab\"\n",
                true,
            ),
            (
                "[hooks.state.'/home/u/.codex/hooks.json:pre_tool_use:0:0']\nenabled = true\ntrusted_hash = 'x'\n",
                true,
            ),
            (
                "[hooks.state.\"/home/u/.codex/hooks.json:pre_tool_use:0:0\"]\nenabled = false\ntrusted_hash = \"x\"\n",
                false,
            ),
            ("[hooks.state.\"/home/u/.codex/hooks.json:post_tool_use:0:0\"]\ntrusted_hash = \"x\"\n", false),
            ("[hooks.state.\"/other/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"x\"\n", false),
            (
                "[hooks.state.\"/home/u/.codex/hooks.json:pre_tool_use:0:0\"]\n[other]\ntrusted_hash = \"x\"\n",
                false,
            ),
            ("trusted_hash = \"x\"\n", false),
            ("", false),
        ];
        for (config, expected) in table {
            assert_eq!(is_trusted(config, hooks), expected, "{config}");
        }
    }

    #[test]
    fn what_switches_hooks_off_is_found() {
        let table = [
            (Host::ClaudeCode, r#"{"disableAllHooks": true}"#, Some("disableAllHooks")),
            (Host::ClaudeCode, r#"{"disableAllHooks": false}"#, None),
            (Host::ClaudeCode, "{", None),
            (Host::GeminiCli, r#"{"tools": {"enableHooks": false}}"#, Some("tools.enableHooks")),
            (Host::GeminiCli, r#"{"hooksConfig": {"enabled": true}}"#, None),
            (Host::Codex, "[features]\nhooks = false # no\n", Some("features.hooks")),
            (Host::Codex, "[features]\ncodex_hooks=false\n", Some("features.hooks")),
            (Host::Codex, "[other]\nhooks = false\n", None),
            (Host::Codex, "features.hooks = false\n", Some("features.hooks")),
            (Host::Cursor, r#"{"disableAllHooks": true}"#, None),
        ];
        for (host, text, expected) in table {
            assert_eq!(switched_off(host, text), expected, "{text}");
        }
    }
}
