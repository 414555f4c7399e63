//! Which tools a rule means by a name.
//!
//! Rules that were written for one host name its tools; ours do the same under other names. A rule for `Bash` speaks
//! of every tool that executes.

use crate::tools::tool;

/// What a rule's name stands for besides itself.
const FAMILIES: &[(&str, &[&str])] = &[
    ("Bash", &["shell_exec", "shell", "shell_command", "exec_command", "skill_exec"]),
    ("Read", &["file_read", "read_file", "view_image"]),
    ("Write", &["file_write"]),
    ("Edit", &["apply_patch", "MultiEdit"]),
    ("Glob", &["list_dir"]),
    ("Grep", &["grep_files"]),
    ("WebSearch", &["web_search"]),
    ("Task", &["Agent", "spawn_agent"]),
    ("Agent", &["Task", "spawn_agent"]),
];

/// A rule for `rule_name` speaks of the tool `tool_name`.
///
/// An MCP tool, `mcp__server__tool`, is also meant by its bare name, unless a tool that is known has that name: a
/// server could call its tool `Read`, and a rule that allows reading must not allow that. For rules that deny or ask,
/// see [`could_be_tool`]. `mcp__server` means every tool of that server.
#[must_use]
pub fn same_tool(rule_name: &str, tool_name: &str) -> bool {
    rule_name == tool_name
        || family(rule_name).contains(&tool_name)
        || mcp_server(tool_name) == Some(rule_name)
        || (bare_name(tool_name) == Some(rule_name) && tool(rule_name).is_none())
}

/// Like [`same_tool`], for rules that deny or ask: the bare name of an MCP tool counts even where a tool that is known
/// has it, with all that the name stands for.
#[must_use]
pub fn could_be_tool(rule_name: &str, tool_name: &str) -> bool {
    same_tool(rule_name, tool_name)
        || bare_name(tool_name).is_some_and(|bare| rule_name == bare || family(rule_name).contains(&bare))
}

fn family(rule_name: &str) -> &'static [&'static str] {
    FAMILIES.iter().find(|(name, _)| *name == rule_name).map_or(&[], |(_, members)| members)
}

/// `tool` of `mcp__server__tool`.
fn bare_name(tool_name: &str) -> Option<&str> {
    let (server, bare) = tool_name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !bare.is_empty()).then_some(bare)
}

/// `mcp__server` of `mcp__server__tool`.
#[must_use]
pub fn mcp_server(tool_name: &str) -> Option<&str> {
    let bare = bare_name(tool_name)?;
    tool_name.strip_suffix(bare)?.strip_suffix("__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_name_tools_that_exist() {
        for (name, members) in FAMILIES {
            assert!(tool(name).is_some(), "{name}");
            for member in *members {
                assert!(tool(member).is_some(), "{member}");
                assert_eq!(tool(member).unwrap().category, tool(name).unwrap().category, "{member}");
            }
        }
    }

    #[test]
    fn rules_mean_the_tools_that_they_name() {
        // rule, tool, meant by an allowing rule, meant by a denying one
        let table = [
            ("shell_exec", "shell_exec", true, true),
            ("Bash", "Bash", true, true),
            ("Bash", "exec_command", true, true),
            ("Bash", "skill_exec", true, true),
            ("Bash", "write_stdin", false, false),
            ("shell_exec", "Bash", false, false),
            ("Read", "view_image", true, true),
            ("Write", "apply_patch", false, false),
            ("Edit", "apply_patch", true, true),
            ("Edit", "MultiEdit", true, true),
            ("Glob", "list_dir", true, true),
            ("mcp__fs", "mcp__fs__write_file", true, true),
            ("mcp__fs", "mcp__fs2__write_file", false, false),
            ("mcp__fs", "mcp__fs", true, true),
            ("mcp__fs__write", "mcp__fs__write__file", false, false),
            ("Grep", "grep_files", true, true),
            ("WebSearch", "web_search", true, true),
            ("WebFetch", "web_search", false, false),
            ("bash", "Bash", false, false),
            ("browser_click", "mcp__playwright__browser_click", true, true),
            ("mcp__playwright__browser_click", "mcp__playwright__browser_click", true, true),
            ("browser_click", "mcp__play__wright__browser_click", false, false),
            ("playwright", "mcp__playwright__browser_click", false, false),
            ("Read", "mcp__evil__Read", false, true),
            ("Read", "mcp__evil__read_file", false, true),
            ("", "mcp__evil__", false, false),
            ("custom", "custom", true, true),
        ];
        for (rule, tool, allowing, denying) in table {
            assert_eq!(same_tool(rule, tool), allowing, "{rule} {tool}");
            assert_eq!(could_be_tool(rule, tool), denying, "{rule} {tool}");
        }
    }
}
