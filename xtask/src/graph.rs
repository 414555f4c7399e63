//! The crates' graph, as the architecture has it. A new edge is a decision, and it is made here.

use std::path::{Path, PathBuf};

use crate::run::read;

/// Which crate of ours may know which.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("call", &[]),
    ("shell", &[]),
    ("effects", &["call", "shell"]),
    ("policy", &["call", "effects"]),
    ("approval", &["call", "effects", "policy"]),
    ("fence", &[]),
    ("journal", &["call"]),
    ("tools", &["call", "fence"]),
    ("gate", &["call", "effects", "policy", "approval", "fence", "journal", "tools"]),
    ("door-hook", &["gate"]),
    ("door-serve", &["gate"]),
    ("door-mcp", &["gate"]),
    ("door-agent", &["gate"]),
    // A screen is the front of a run.
    ("door-tui", &["gate", "door-agent"]),
    ("bailiwick", &["gate", "door-hook", "door-serve", "door-mcp", "door-agent", "door-tui"]),
];

/// The one place for `unsafe`.
const UNSAFE: &str = "crates/fence/src/sys";

pub(crate) fn check() -> Result<(), String> {
    let allowed = ["crates", "bench", "xtask"]
        .iter()
        .map(|root| lifted_in(Path::new(root)))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = allowed.into_iter().flatten().find(|path| !path.starts_with(UNSAFE)) {
        return Err(format!("{}: `unsafe_code` may be lifted only below {UNSAFE}", path.display()));
    }
    for (name, known) in MAY_KNOW {
        let path = format!("crates/{name}/Cargo.toml");
        let manifest = read(&path)?;
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for (other, _) in MAY_KNOW {
            let named = dependencies
                .lines()
                .any(|line| line.starts_with(&format!("{other}.")) || line.starts_with(&format!("{other} ")));
            if named && !known.contains(other) {
                return Err(format!("{path}: `{name}` may not know `{other}` (see ARCHITECTURE.md)"));
            }
        }
    }
    Ok(())
}

/// Source files that lift the lint against `unsafe`.
fn lifted_in(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let entries = directory.read_dir().map_err(|error| format!("{}: {error}", directory.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(lifted_in(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = read(&path.display().to_string())?;
            let lifts = |word: &str| {
                text.lines().any(|line| line.trim_start().starts_with('#') && line.contains(word))
            };
            if lifts("(unsafe_code") {
                found.push(path);
            }
        }
    }
    Ok(found)
}
