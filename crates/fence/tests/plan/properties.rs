//! What holds for every plan, tried on many small machines and wishes. Keeps FNC-7.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fence::terrain::{Kind, Terrain};
use fence::{Access, Host, Network, Plan, Reach, Wishes, draw};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::field::{Field, wishes};

/// Paths that a small machine may have; those below the same directory meet often.
const PATHS: [&str; 44] = [
    "/usr/bin",
    "/bin",
    "/etc/shadow",
    "/etc/ssl/private",
    "/etc/hosts",
    "/data",
    "/data/a",
    "/data/a/b",
    "/data/b",
    "/home/me",
    "/home/me/.ssh",
    "/home/me/.ssh/key",
    "/home/me/.cargo",
    "/home/me/.cargo/credentials",
    "/home/me/.gitconfig",
    "/home/me/.config/git/config",
    "/home/me/.config/git/credentials",
    "/home/me/notes",
    "/home/me/ws",
    "/home/me/ws/a",
    "/home/me/ws/a/b",
    "/home/me/ws/a/.vscode",
    "/home/me/ws/.git",
    "/home/me/ws/.git/hooks",
    "/home/me/ws/.git/hooks/pre-commit",
    "/home/me/ws/.git/config",
    "/home/me/ws/.git/info/attributes",
    "/home/me/ws/.github",
    "/home/me/ws/.github/workflows",
    "/home/me/ws/.github/workflows/ci.yml",
    "/home/me/ws/.vscode",
    "/home/me/ws/.vscode/tasks.json",
    "/home/me/ws/.claude",
    "/home/me/ws/.claude/.credentials.json",
    "/home/me/ws/.env",
    "/home/me/ws/.cargo/config.toml",
    "/home/me/ws/.bashrc",
    "/tmp/x",
    "/tmp/x/y",
    "/tmp/ws/.git/HEAD",
    "/home/other/x",
    "/root/x",
    "/opt/tool",
    "/srv/ws/a",
];

const TARGETS: [&str; 12] = [
    "/data",
    "/data/a",
    "/home/me/ws",
    "/home/me/ws/a",
    "/home/me/.ssh",
    "/etc/shadow",
    "a",
    "a/b",
    "..",
    ".",
    "/nowhere/at/all",
    "missing",
];

const WORKSPACES: [&str; 5] = ["/home/me/ws", "/home/me", "/data/a", "/tmp/ws", "/data"];

const VARIABLES: [&str; 12] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LD_PRELOAD",
    "LD_x",
    "BASH_ENV",
    "GIT_DIR",
    "NODE_OPTIONS",
    "TMPDIR",
    "MINE",
    "PWD",
    "DYLD_INSERT_LIBRARIES",
];

/// Choices, one after the other; none left means the first of everything.
struct Choices<'a>(std::slice::Iter<'a, u16>);

impl Choices<'_> {
    fn below(&mut self, number: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % number
    }
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
    fn paths(&mut self, most: usize) -> Vec<PathBuf> {
        let number = self.below(most + 1);
        (0..number).map(|_| self.one(&PATHS).into()).collect()
    }
}

fn field(choices: &mut Choices<'_>) -> Field {
    let mut field = Field::new(["/usr/bin/sh", "/etc/passwd", "/home/me/", "/tmp/", "/data/a/", "/tmp/ws/"]);
    for _ in 0..choices.below(10) {
        let path = choices.one(&PATHS);
        let kind = match choices.below(4) {
            0 | 1 => Kind::Directory,
            2 => Kind::File,
            _ => Kind::Link(choices.one(&TARGETS).into()),
        };
        field.put(path, kind);
    }
    field
}

fn wished(choices: &mut Choices<'_>) -> Wishes {
    let workspace = choices.one(&WORKSPACES);
    let variables: Vec<_> = (0..choices.below(4)).map(|_| choices.one(&VARIABLES)).collect();
    let set: Vec<_> = (0..choices.below(2)).map(|_| choices.one(&VARIABLES)).collect();
    let pass: Vec<_> = (0..choices.below(2)).map(|_| choices.one(&VARIABLES).to_owned()).collect();
    Wishes {
        workspace: (choices.below(8) != 1).then(|| workspace.into()),
        home: (choices.below(8) != 1).then(|| "/home/me".into()),
        protect: choices.below(4) != 1,
        lifted: Vec::new(),
        read_only: choices.below(4) == 1,
        read: choices.paths(2),
        write: choices.paths(2),
        hide: choices.paths(2),
        network: match choices.below(4) {
            0 => Network::Off,
            1 => Network::Open,
            2 => Network::Allow(Vec::new()),
            _ => Network::Allow(vec![Host::parse("example.org").unwrap()]),
        },
        environment: variables.iter().map(|name| ((*name).into(), "outside".into())).collect(),
        set: set.iter().map(|name| ((*name).into(), "set".into())).collect(),
        pass,
        ..wishes(workspace)
    }
}

/// Less than before, and whether less must also be refused where more was.
fn less(wishes: &Wishes, choices: &mut Choices<'_>) -> (Wishes, bool) {
    let mut less = wishes.clone();
    match choices.below(6) {
        0 | 1 => less.hide.push(choices.one(&PATHS).into()),
        2 => less.read_only = true,
        3 => less.protect = true,
        4 => {
            less.read.pop();
            return (less, false);
        }
        _ => {
            less.write.pop();
            return (less, false);
        }
    }
    (less, true)
}

/// A plan's places by their text: many paths are asked for.
struct Places<'a>(HashMap<&'a str, &'a Access>);

impl<'a> Places<'a> {
    fn new(plan: &'a Plan) -> Places<'a> {
        Places(plan.places.iter().map(|(path, access)| (path.to_str().unwrap(), access)).collect())
    }

    /// What of the machine's own can be read and written there. A scratch place shows nothing of the machine.
    fn reach(&self, path: &Path) -> Reach {
        let mut above = path.to_str().unwrap();
        let mut nearest = None;
        while !above.is_empty() {
            match self.0.get(above) {
                Some(Access::Hidden) => return Reach::None,
                Some(access) if nearest.is_none() => nearest = Some(*access),
                _ => {}
            }
            above = above.rsplit_once('/').unwrap().0;
        }
        match nearest.or(self.0.get("/").copied()) {
            None | Some(Access::Scratch | Access::Hidden) => Reach::None,
            Some(Access::Write) => Reach::Write,
            Some(Access::Read | Access::Protected | Access::Link(_)) => Reach::Read,
        }
    }
}

/// Real paths of the machine, and names beside and below them that are not there.
fn sample(field: &Field) -> Vec<PathBuf> {
    let mut sample: BTreeSet<OsString> = field.paths().map(|path| path.as_os_str().to_owned()).collect();
    for path in PATHS.iter().map(Path::new) {
        let parent = path.parent().and_then(|parent| field.follow(parent));
        sample.extend(parent.zip(path.file_name()).map(|(parent, name)| parent.join(name).into_os_string()));
    }
    let below: Vec<_> = sample.iter().map(|path| Path::new(path).join("below").into_os_string()).collect();
    sample.extend(below);
    sample.into_iter().map(PathBuf::from).collect()
}

/// Whether a path is another or below it, by their text.
fn is_within(path: &Path, root: &Path) -> bool {
    let rest = path.to_str().unwrap().strip_prefix(root.to_str().unwrap());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root == Path::new("/"))
}

fn holds(numbers: &[u16]) -> Result<(), TestCaseError> {
    let mut choices = Choices(numbers.iter());
    let field = field(&mut choices);
    let wishes = wished(&mut choices);
    let (less, strictly) = less(&wishes, &mut choices);
    let before = draw(&wishes, &field);
    let after = draw(&less, &field);
    let Ok(after) = after else { return Ok(()) };
    let sample = sample(&field);
    let now = Places::new(&after);
    // The plan itself says the same.
    let some = choices.below(8);
    for path in sample.iter().skip(some).step_by(8) {
        let scratch = path.ancestors().find_map(|above| after.places.get(above)) == Some(&Access::Scratch);
        let expected = if scratch { Reach::None } else { after.reach(path) };
        prop_assert_eq!(now.reach(path), expected, "{:?}\n{:#?}", path, after);
    }

    // Less never gives more.
    match &before {
        Ok(before) => {
            let then = Places::new(before);
            for path in &sample {
                let (was, is) = (then.reach(path), now.reach(path));
                prop_assert!(is <= was, "{path:?} was {was:?} and is {is:?}\n{before:#?}\n{after:#?}");
            }
        }
        Err(why) => prop_assert!(!strictly, "it was refused: {why}"),
    }
    // What is hidden is hidden, with all below it, also by its other name.
    for hidden in &less.hide {
        if field.look(hidden).is_none() {
            continue;
        }
        let named = field.follow(hidden.parent().unwrap()).unwrap().join(hidden.file_name().unwrap());
        let real = field.follow(hidden).filter(|real| real.components().count() > 2);
        for path in sample
            .iter()
            .filter(|path| is_within(path, &named) || real.as_ref().is_some_and(|real| is_within(path, real)))
        {
            prop_assert_eq!(now.reach(path), Reach::None, "{:?} for {:?}\n{:#?}", path, hidden, after);
        }
    }
    // What is protected is not written, unless it was asked for by name; nor is what it leads to.
    let named: Vec<_> = less.write.iter().filter_map(|path| field.follow(path)).collect();
    if less.protect
        && let Some(workspace) = less.workspace.as_ref().and_then(|path| field.follow(path))
    {
        for below in [".git/hooks", ".git/config", ".vscode", ".claude", ".github/workflows", ".bashrc"] {
            let path = workspace.join(below);
            let real =
                field.follow(&path).filter(|real| !path.starts_with(real)).unwrap_or_else(|| path.clone());
            let named = |path: &Path| {
                named.iter().any(|named| path.starts_with(named) && !workspace.starts_with(named))
            };
            for path in sample.iter().filter(|sampled| is_within(sampled, &path) || is_within(sampled, &real))
            {
                if field.look(path).is_some() && !named(path) {
                    prop_assert!(now.reach(path) < Reach::Write, "{:?}\n{:#?}", path, after);
                }
            }
        }
    }
    // Nothing of the machine is written when nothing may be.
    if less.read_only {
        for path in &sample {
            prop_assert!(now.reach(path) < Reach::Write, "{path:?}\n{after:#?}");
        }
    }
    // Variables that change what runs come from the call itself or not at all.
    for (name, value) in &after.environment {
        let name = name.to_str().unwrap();
        let never = ["LD_", "DYLD_", "BASH_ENV", "GIT_DIR", "NODE_OPTIONS"]
            .iter()
            .any(|never| name.starts_with(never));
        let set = less.set.iter().any(|(set, _)| set == name);
        prop_assert!(!never || set, "{name}");
        prop_assert!(name != "TMPDIR" || set || value == "/tmp");
    }
    // An empty list of hosts is none, never all.
    let open = matches!(less.network, Network::Open);
    prop_assert_eq!(matches!(after.network, Network::Open), open);
    if matches!(&less.network, Network::Allow(hosts) if hosts.is_empty()) {
        prop_assert_eq!(&after.network, &Network::Off);
    }
    Ok(())
}

/// What was found once: a protected link that leads to one which says `.`.
#[test]
fn what_was_found_once_holds() {
    holds(&[13, 0, 14280, 4606, 34455, 62743, 34208, 7507, 27069]).unwrap();
}

/// FNC-7: denying something never makes anything else reachable.
#[test]
fn asking_for_less_never_yields_more() {
    let config = Config { cases: 200_000, failure_persistence: None, ..Config::default() };
    let numbers = proptest::collection::vec(any::<u16>(), 0..72);
    TestRunner::new(config).run(&numbers, |numbers| holds(&numbers)).unwrap();
}
