//! What decides what runs stays as it is inside the workspace too. Every probe gets a workspace of its own, and what is
//! looked at during and after the run is the host's view of it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::escape::{first_line, tail};
use crate::everyday::{place, workspace};
use crate::runner::{Mode, Run, Who, probe, standing, together};
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
    // A directory for hooks without any is as good as none; that none is left behind is a test of its own.
    if !trace.keys().any(|path| path.starts_with(".git/hooks/")) {
        trace.remove(".git/hooks");
    }
    // That `.git` is a directory of its own is part of it.
    let kind = std::fs::symlink_metadata(workspace.join(".git")).map(|about| about.is_dir());
    trace.insert(".git".to_owned(), format!("{:?}", kind.ok()));
    trace
}

/// Runs a script in a fresh workspace that has a repository and nothing else.
fn in_bare_workspace(each: impl Fn(Mode, Who, &crate::setting::Ground, &Path)) {
    let _together = together();
    for who in Who::possible() {
        let ground = place(who);
        for mode in standing(&ground.root, who).into_iter().filter(|mode| *mode != Mode::Landlock) {
            let script = "test \"$1\" = true && exit 0; mkdir -p .claude && echo '{}' > .claude/settings.json && echo x > .envrc; echo made > made; sleep 4";
            let space = workspace(&ground, who, script);
            ground.file("work/.git/HEAD", "ref: refs/heads/main\n");
            ground.file("work/.git/objects/keep", "");
            ground.give_below("work", who);
            each(mode, who, &ground, &space);
        }
    }
}

#[test]
fn a_run_leaves_nothing_in_the_workspace() {
    in_bare_workspace(|mode, who, ground, space| {
        let before = trace::of_tree(space, &[]);
        let outcome = Run::new(mode, who, &ground.root, space).run(&["./row.sh", "true"]);
        assert_eq!(outcome.code(), 0, "{mode:?} {who:?}: {}", outcome.err());
        let changed = trace::changes(&before, &trace::of_tree(space, &[]));
        assert!(changed.is_empty(), "{mode:?} {who:?}: {changed:?}");
    });
}

#[test]
fn a_protected_name_that_was_missing_is_not_there_while_the_program_runs_nor_after_kill_9() {
    let failures = std::sync::Mutex::new(Vec::new());
    in_bare_workspace(|mode, who, ground, space| {
        for patience in [0, 1500] {
            // Bubblewrap ends its own first process with itself, before that can move anything away: docs/fence.md says so.
            if mode == Mode::Bubblewrap && patience == 0 {
                continue;
            }
            for name in [".claude", ".envrc", "made"] {
                drop(
                    std::fs::remove_dir_all(space.join(name))
                        .or_else(|_| std::fs::remove_file(space.join(name))),
                );
            }
            let mut command = Run::new(mode, who, &ground.root, space).command(&["./row.sh"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().expect("the launcher starts");
            let seen = || -> Vec<&str> {
                [".claude/settings.json", ".envrc"]
                    .into_iter()
                    .filter(|name| space.join(name).exists())
                    .collect()
            };
            for _ in 0..600 {
                if space.join("made").exists() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(space.join("made").exists(), "{mode:?} {who:?}: the program did not run");
            std::thread::sleep(Duration::from_millis(patience));
            let during = if patience > 0 { seen() } else { Vec::new() };
            drop(child.kill());
            drop(child.wait());
            std::thread::sleep(Duration::from_millis(300));
            let after = seen();
            if !during.is_empty() || !after.is_empty() {
                let line = format!(
                    "{mode:?} {who:?} after {patience} ms: while it ran {during:?}, after kill -9 {after:?}"
                );
                failures.lock().expect("no panic").push(line);
            }
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
