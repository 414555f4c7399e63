//! What a program tries so that nobody finds what it made, or does not lose what it should not have seen: directories that it
//! closes, names that it takes first, a repository where none was, a home inside of what is shown. Each script is run bare too,
//! where it must succeed.

use std::path::Path;

use crate::everyday::{place, workspace};
use crate::runner::{Mode, Outcome, Run, Who, standing, together};
use crate::setting::Ground;

/// What is left behind, and how.
const LEFT: &[(&str, &str)] = &[
    (".claude/settings.json", "mkdir .s; echo '{}' > .s/settings.json; mv .s .claude; chmod 555 ."),
    (".claude/settings.json", "mkdir .claude; echo '{}' > .claude/settings.json; chmod 000 ."),
    (
        ".claude/settings.json",
        "for i in $(seq 1000); do : > .claude.refused-$i; done; mkdir .claude; echo '{}' > .claude/settings.json",
    ),
    (
        ".github/workflows/x.yml",
        "mkdir -p g/workflows; echo 'on: push' > g/workflows/x.yml; mv g .github; chmod 555 .github",
    ),
    ("HEAD", "cp -r .git/objects .git/refs .; mv .git/HEAD HEAD; echo '[core]' > config"),
];

/// Who can be kept out by the mode of a directory, and the ways in which a fence can stand.
fn each(work: impl Fn(Mode, Who, &Ground)) {
    let _together = together();
    for who in Who::possible() {
        let ground = place(who);
        work(Mode::Bare, who, &ground);
        for mode in standing(&ground.root, who).into_iter().filter(|mode| *mode != Mode::Landlock) {
            work(mode, who, &ground);
        }
    }
}

fn opened(space: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    for path in [space.to_path_buf(), space.join(".github")] {
        drop(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)));
    }
}

#[test]
fn a_protected_name_is_found_however_it_is_hidden() {
    each(|mode, who, ground| {
        for (name, script) in LEFT {
            let space = workspace(ground, who, script);
            ground.file("work/.git/HEAD", "ref: refs/heads/main\n");
            ground.file("work/.git/objects/keep", "");
            ground.file("work/.git/refs/keep", "");
            ground.give_below("work", who);
            let outcome = Run::new(mode, who, &ground.root, &space).run(&["./row.sh"]);
            opened(&space);
            let there = space.join(name).exists();
            let said = outcome.err();
            drop(std::fs::remove_dir_all(&space));
            if mode == Mode::Bare {
                assert!(there, "the control: {who:?} {script}: {said}");
            } else {
                assert!(!there, "{mode:?} {who:?} {script}: {said}");
                assert!(
                    outcome.code() == 126 && said.contains("is protected"),
                    "{mode:?} {who:?} {script}: {said}"
                );
            }
        }
    });
}

#[test]
fn a_directory_of_somebody_elses_that_is_closed_is_no_reason_to_refuse() {
    use std::os::unix::fs::PermissionsExt as _;
    each(|mode, who, ground| {
        let space = workspace(ground, who, "true");
        // Of whoever runs the tests, so only the ordinary user is kept out of it where that is root.
        std::fs::create_dir(space.join(".github")).expect("a directory");
        let closed = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(space.join(".github"), closed).expect("its mode");
        let outcome = Run::new(mode, who, &ground.root, &space).run(&["./row.sh"]);
        assert_eq!(outcome.code(), 0, "{mode:?} {who:?}: {}", outcome.err());
    });
}

/// A home, with a key and Bailiwick's own configuration in it, inside of the workspace.
fn at_home(mode: Mode, who: Who, ground: &Ground, script: &str) -> (Outcome, bool) {
    let space = workspace(ground, who, script);
    ground.file("work/home/.ssh/id_rsa", "the key\n");
    ground.file("work/home/.config/bailiwick/config.yaml", "profile: dev\n");
    ground.file("work/home/.gitconfig", "[user]\n\tname = Somebody\n");
    ground.give_below("work", who);
    let home = space.join("home");
    let mut run = Run::new(mode, who, &ground.root, &space);
    run.home = Some(&home);
    let outcome = run.run(&["./row.sh"]);
    let text = std::fs::read_to_string(home.join(".config/bailiwick/config.yaml")).expect("a file");
    let changed = text != "profile: dev\n" || home.join("new").exists();
    drop(std::fs::remove_dir_all(&space));
    (outcome, changed)
}

#[test]
fn a_private_home_inside_of_the_workspace_is_private() {
    let script = "cat ~/.ssh/id_rsa; echo x >> ~/.config/bailiwick/config.yaml; echo x > ~/new && cat ~/new; git config user.name";
    each(|mode, who, ground| {
        let (outcome, changed) = at_home(mode, who, ground, script);
        let out = outcome.out();
        if mode == Mode::Bare {
            assert!(changed && out.contains("the key"), "the control: {who:?}: {out}");
        } else {
            assert!(!changed && !out.contains("the key"), "{mode:?} {who:?}: {out} {}", outcome.err());
            // It is a home all the same: it can be written, and what every program may know is there.
            assert_eq!(out, "x\nSomebody\n", "{mode:?} {who:?}: {}", outcome.err());
        }
    });
}
