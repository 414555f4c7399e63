//! Configurations with many rules, of the kinds that people write.

use std::fmt::Write;

/// A configuration with this many rules: commands by meaning, patterns, paths, hosts and effects in turn.
pub(crate) fn yaml(count: usize) -> String {
    let mut text = String::from(
        "config_version: 1\nprofile: dev\nsafety:\n  allowlist: [pytest, \"cargo test\", \"npm run\"]\n  denylist: [sudo, \"rm -rf /\"]\nrules:\n",
    );
    for number in 0..count {
        let condition = match number % 5 {
            0 => format!("commands: [\"tool{number} deploy\", \"tool{number} --force\"]"),
            1 => format!("command_patterns: ['\\bprogram{number}\\s+--danger\\b']"),
            2 => format!("command_patterns: ['^run{number} (?!--dry)']"),
            3 => format!("commands: [\"git push\"]\n    hosts: [host{number}.example.com]"),
            _ => format!("tools: [Bash]\n    command_patterns: ['(alpha|beta){number}\\.sh']"),
        };
        let action = if number % 3 == 0 { "deny" } else { "ask" };
        let _ = writeln!(
            text,
            "  - name: rule-{number}\n    action: {action}\n    {condition}\n    reason: \"rule {number}\""
        );
    }
    text
}
