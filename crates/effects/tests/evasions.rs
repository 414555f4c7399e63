//! The forms of `evasions.txt`: none of them may look harmless. Keeps SHL-6 for effects.

use std::path::Path;

use call::{Intent, Shell};
use effects::{Class, Effect, NoFiles, Surroundings, analyse};

/// Whether a careful person would let this pass unseen.
fn is_harmless(class: Class) -> bool {
    matches!(
        class,
        Class::ReadWorkspace
            | Class::ReadTemporary
            | Class::ReadSystem
            | Class::WriteWorkspace
            | Class::WriteTemporary
            | Class::Delete
            | Class::DeleteGenerated
            | Class::ConnectLocal
            | Class::ConnectService
    )
}

#[test]
fn no_evasion_looks_harmless() {
    let around = Surroundings {
        cwd: Path::new("/work/project"),
        home: Some(Path::new("/home/me")),
        user: Some("me"),
        workspace: Some(Path::new("/work/project")),
        files: &NoFiles,
    };
    let mut count = 0;
    let mut passed = Vec::new();
    for form in include_str!("evasions.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        for shell in [Shell::Bash, Shell::Posix] {
            let intent = Intent::Shell { text: form.to_owned(), shell, cwd: None, env_names: Vec::new() };
            let analysis = analyse(&[intent], &around);
            let mut classes = analysis.parts.iter().flat_map(|part| &part.effects).filter_map(Effect::class);
            if !classes.any(|class| !is_harmless(class)) {
                passed.push(format!("{shell:?}: {form}"));
            }
        }
        count += 1;
    }
    assert!(count >= 300, "only {count} forms were read");
    assert!(passed.is_empty(), "{} forms look harmless:\n{}", passed.len(), passed.join("\n"));
}
