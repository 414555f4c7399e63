//! Ordinary work does not notice the fence: what succeeds bare ends and prints the same behind it. Holds FNC-11.

use std::path::Path;
use std::time::Duration;

use crate::everyday_rows::{ROWS, Row};
use crate::runner::{Mode, Outcome, Run, Who, has, install, standing, together};
use crate::setting::{Ground, executable, give};

const AT_LEAST: usize = 45;

/// What Landlock and the filter alone cannot allow without allowing more: changing modes and times, sockets, private
/// temporary directories, a view of the own processes only. The documentation says so.
const LOST_WITHOUT_NAMESPACES: &[&str] = &[
    "git init and a first commit",
    "git clone of a local repository",
    "git fetch from a local repository",
    "multiprocessing pool",
    "multiprocessing manager",
    "shared memory",
    "semaphores, queues, locks",
    "threads and asyncio",
    "gcc compiles, links, runs",
    "gdb on an own child",
    "tmux inside",
    "a terminal of one's own",
    "mktemp",
    "shared memory directory",
    "unix sockets in the workspace and in /tmp",
    "loopback servers and clients",
    "a web server and its client",
    "ps sees its own",
    "top",
    "a script made executable",
    "times and attributes",
    "tar and zip",
    "writing under home",
    "limits that are lowered",
];

#[test]
fn both_backends_can_be_built_here() {
    let _together = together();
    for who in Who::possible() {
        let ground = place(who);
        let modes = standing(&ground.root, who);
        println!("{who:?}: {modes:?}");
        assert!(modes.contains(&Mode::Native), "{who:?}: {modes:?}");
        assert!(modes.contains(&Mode::Bubblewrap) || !has("bwrap"), "{who:?}: {modes:?}");
    }
}

#[test]
fn nobody_notices_as_root() {
    if Who::possible().contains(&Who::Root) {
        nobody_notices(Who::Root);
    } else {
        println!("skipped: this is not root");
    }
}

#[test]
fn nobody_notices_as_an_ordinary_user() {
    nobody_notices(Who::Ordinary);
}

fn nobody_notices(who: Who) {
    let _together = together();
    let ground = place(who);
    let mut failures = Vec::new();
    let mut proven = 0;
    let mut lost = Vec::new();
    let modes = standing(&ground.root, who);
    for row in ROWS.iter().filter(|row| row.tools.iter().all(|tool| has(tool))) {
        if row.own_home && who == Who::Ordinary {
            continue; // somebody else's home: there is no toolchain in it
        }
        let bare = ran(&ground, Mode::Bare, who, row);
        if bare.code() != 0 {
            failures.push(format!("{}: Bare {who:?}: {}", row.name, told(&bare)));
            continue;
        }
        proven += 1;
        for mode in &modes {
            if row.slow && *mode != Mode::Native {
                continue;
            }
            let fenced = ran(&ground, *mode, who, row);
            let noticed = fenced.code() != bare.code() || (row.same && fenced.stdout != bare.stdout);
            if *mode == Mode::Landlock {
                if noticed {
                    lost.push(row.name);
                }
            } else if noticed {
                failures.push(format!(
                    "{}: {mode:?} {who:?}: {}\n      bare: {}",
                    row.name,
                    told(&fenced),
                    told(&bare)
                ));
            }
        }
    }
    println!("{who:?}: {proven} of {} everyday rows succeed bare", ROWS.len());
    assert!(failures.is_empty(), "{} failures\n{}\n", failures.len(), failures.join("\n"));
    assert!(proven >= AT_LEAST, "only {proven} rows could be tried");
    println!("{who:?}: {} rows are lost without namespaces: {lost:?}", lost.len());
    for name in &lost {
        assert!(
            LOST_WITHOUT_NAMESPACES.contains(name),
            "{name} is lost without namespaces, and nobody was told"
        );
    }
}

#[test]
fn a_workspace_may_lie_and_be_called_as_it_likes() {
    let _together = together();
    for who in Who::possible() {
        let ground = place(who);
        let mut failures = Vec::new();
        let temporary = std::env::temp_dir().join(format!("fence-under-tmp-{}", std::process::id()));
        let real = ground.root.join("really here");
        std::fs::create_dir_all(&real).expect("a directory");
        std::os::unix::fs::symlink(&real, ground.root.join("linked")).expect("a link");
        let mut spaces = vec![
            ground.root.join("with spaces and 'quotes' \"double\" $HOME `x`"),
            ground.root.join("ünïcödé 工作区 🚧"),
            ground.root.join("linked"),
            ground.root.join("-dash"),
            ground.root.join("a/deeply/nested/place/for/work"),
            ground.root.join("home/project"),
            temporary.clone(),
        ];
        if Path::new("/dev/shm").exists() {
            spaces.push(Path::new("/dev/shm").join(format!("fence-other-mount-{}", std::process::id())));
        }
        for space in &spaces {
            std::fs::create_dir_all(space.join("sub")).expect("a directory");
            let script = space.join("row.sh");
            std::fs::write(&script, "#!/bin/bash\nset -e\necho x > made && cat made && cd sub && echo y > made && pwd -P && rm ../made && test -w .\n").expect("a file");
            executable(&script, 0o755);
            give(&std::fs::canonicalize(space).expect("a directory"), who);
            let bare = Run::new(Mode::Bare, who, &ground.root, space).run(&["./row.sh"]);
            assert_eq!(bare.code(), 0, "{}: {}", space.display(), told(&bare));
            for mode in standing(&ground.root, who) {
                drop(std::fs::remove_file(space.join("sub/made")));
                let fenced = Run::new(mode, who, &ground.root, space).run(&["./row.sh"]);
                if fenced.code() != 0 || fenced.stdout != bare.stdout || !space.join("sub/made").exists() {
                    failures.push(format!("{} {mode:?} {who:?}: {}", space.display(), told(&fenced)));
                }
                // The working directory is kept, wherever in the workspace it is.
                let sub = space.join("sub");
                let mut run = Run::new(mode, who, &ground.root, space);
                run.cwd = Some(&sub);
                let below = run.run(&["../row.sh"]);
                if !below.err().contains("cd: sub") && below.code() == 0 {
                    failures.push(format!(
                        "{} {mode:?} {who:?}: not started in the subdirectory",
                        space.display()
                    ));
                }
            }
        }
        for space in &spaces {
            drop(std::fs::remove_dir_all(space));
        }
        assert!(failures.is_empty(), "{} failures\n{}\n", failures.len(), failures.join("\n"));
    }
}

/// A place with Bailiwick in it and a home.
pub(crate) fn place(who: Who) -> Ground {
    let ground = Ground::new();
    install(&ground.root);
    ground.file(
        "home/.gitconfig",
        "[user]\n\tname = Nobody\n\temail = nobody@example.com\n[init]\n\tdefaultBranch = main\n",
    );
    ground.give(who);
    ground
}

/// A fresh workspace with one script in it.
pub(crate) fn workspace(ground: &Ground, who: Who, script: &str) -> std::path::PathBuf {
    let workspace = ground.root.join("work");
    drop(std::fs::remove_dir_all(&workspace));
    executable(&ground.file("work/row.sh", &format!("#!/bin/bash\n{script}\n")), 0o755);
    ground.give_below("work", who);
    workspace
}

fn ran(ground: &Ground, mode: Mode, who: Who, row: &Row) -> Outcome {
    let workspace = workspace(ground, who, row.script);
    let home = std::env::home_dir().expect("a home");
    let prepared = |run: &mut Run<'_>| {
        run.longest = Duration::from_secs(90);
        if row.own_home {
            run.environment = vec![("PATH", std::env::var("PATH").expect("a path"))];
        }
    };
    if !row.before.is_empty() {
        let before = ground.root.join("before.sh");
        executable(&ground.file("before.sh", &format!("#!/bin/bash\nset -e\n{}\n", row.before)), 0o755);
        let mut run = Run::new(Mode::Bare, who, &ground.root, &workspace);
        prepared(&mut run);
        let outcome = run.run(&[before.to_str().expect("UTF-8")]);
        assert_eq!(outcome.code(), 0, "{}: {}", row.name, told(&outcome));
    }
    let mut run = Run::new(mode, who, &ground.root, &workspace);
    prepared(&mut run);
    if row.own_home {
        run.home = Some(&home);
    }
    if row.slow {
        run.flags = vec!["--time", "80", "--memory", "2048"];
    }
    run.run(&["./row.sh"])
}

pub(crate) fn told(outcome: &Outcome) -> String {
    let short = |text: String| text.chars().take(400).collect::<String>();
    format!("{} stdout {:?} stderr {:?}", outcome.code(), short(outcome.out()), short(outcome.err()))
}
