//! What decides what runs stays as it is inside the workspace too. Every probe gets a workspace of its own, and what is
//! looked at afterwards is the host's view of it: a placeholder that a fence left there is a change as well.

use std::path::Path;
use std::time::Duration;

use crate::escape::{first_line, tail};
use crate::runner::{Mode, Run, Who, probe};
use crate::setting::{Row, Setting, executable};
use crate::trace::{self, Trace};

pub(crate) enum Seen {
    Nothing,
    Changed(String),
    Refused(String),
}

const WATCHED: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".claude",
    ".vscode",
    ".idea",
    ".cursor",
    ".codex",
    ".gemini",
    ".opencode",
    ".mcp.json",
    ".envrc",
    ".bashrc",
    ".zshenv",
    ".profile",
    ".gitconfig",
    ".bailiwick.yaml",
    ".bailiwick.yml",
    ".bailiwick.json",
];

/// Lets one probe loose in a fresh workspace.
pub(crate) fn tried(mode: Mode, who: Who, setting: &Setting, row: &Row) -> Seen {
    let name = format!("spaces/{}/work", row.name);
    let workspace = setting.root().join(&name);
    let file = |path: &str, text: &str| setting.ground.file(&format!("{name}/{path}"), text);
    file("src/main.txt", "text\n");
    file(".git/HEAD", "ref: refs/heads/main\n");
    file(".git/description", "a repository\n");
    for directory in ["objects", "refs/heads"] {
        std::fs::create_dir_all(workspace.join(".git").join(directory)).expect("a directory");
    }
    if row.place == "full" {
        file(".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
        executable(&file(".git/hooks/post-checkout", "#!/bin/sh\n"), 0o755);
        file(".claude/settings.json", "{}\n");
        file(".bailiwick.yaml", "config_version: 1\n");
    }
    file("setting.conf", &format!("WS={}\nOUT={}/outside\n", workspace.display(), setting.root().display()));
    std::fs::copy(probe(), workspace.join("probe")).expect("a copy of the probes");
    setting.ground.give_below(&format!("spaces/{}", row.name), who);
    let before = watched(&workspace);
    let mut run = Run::new(mode, who, setting.root(), &workspace);
    run.longest = Duration::from_secs(20);
    let outcome = run.run(&["./probe", "run", "setting.conf", &row.name]);
    if mode != Mode::Bare && outcome.refused() {
        return Seen::Refused(first_line(&outcome));
    }
    let after = watched(&workspace);
    let changed = trace::changes(&before, &after);
    let seen = match (row.judge.as_str(), changed.first()) {
        ("protect", Some(path)) => Some(format!("changed: {path}")),
        ("protect", None) => None,
        _ => (outcome.code() == 0).then(|| "the probe says so".to_owned()),
    };
    // A probe that Bailiwick did not even start proves nothing.
    let seen = seen.or_else(|| {
        (mode != Mode::Bare && !outcome.out().contains("probe started"))
            .then(|| format!("did not run: {} {}", outcome.code(), first_line(&outcome)))
    });
    if std::env::var_os("FENCE_VERBOSE").is_some() {
        println!(
            "{mode:?} {who:?} {:32} {} {seen:?} {} {}",
            row.name,
            outcome.code(),
            tail(&outcome.out()),
            tail(&outcome.err())
        );
    }
    drop(std::fs::remove_dir_all(setting.root().join(format!("spaces/{}", row.name))));
    seen.map_or(Seen::Nothing, Seen::Changed)
}

fn watched(workspace: &Path) -> Trace {
    let mut trace = Trace::new();
    for name in WATCHED {
        trace::visit(workspace, name, &[], &mut trace);
    }
    // That `.git` is a directory of its own is part of it.
    let kind = std::fs::symlink_metadata(workspace.join(".git")).map(|about| about.is_dir());
    trace.insert(".git".to_owned(), format!("{:?}", kind.ok()));
    trace
}
