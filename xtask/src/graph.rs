//! The crates' graph, as the architecture has it. A new edge is a decision, and it is made here.

use crate::run::read;

/// Which crate of ours may know which.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("call", &[]),
    ("shell", &[]),
    ("effects", &["call", "shell"]),
    ("policy", &["call", "effects"]),
    ("fence", &[]),
    ("gate", &["call", "effects", "policy", "fence"]),
    ("bailiwick", &["gate"]),
];

pub(crate) fn check() -> Result<(), String> {
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
