//! Draws a plan from what policy and call ask for. Pure: the machine is only looked at through [`Terrain`].
//!
//! Asking for less never yields more: a denial adds [`Access::Hidden`], which holds for everything below it, and takes
//! nothing away.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::knowledge::{self, Line, lines};
use crate::network::Network;
use crate::plan::{Access, Limits, Plan};
use crate::terrain::{Kind, Terrain};

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// The workspace: may be written, but for what is protected in it.
    pub workspace: Option<PathBuf>,
    /// Where the program starts.
    pub cwd: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Further paths to read.
    pub read: Vec<PathBuf>,
    /// Further paths to write.
    pub write: Vec<PathBuf>,
    /// Paths that are denied, and Bailiwick's own.
    pub hide: Vec<PathBuf>,
    /// Nothing may be written but scratch places.
    pub read_only: bool,
    /// What decides what runs on the user's side is protected inside the workspace.
    pub protect: bool,
    /// What of that somebody said yes to, for this one program.
    pub lifted: Vec<PathBuf>,
    /// The environment of whoever asks.
    pub environment: Vec<(OsString, OsString)>,
    /// Names of variables to hand on, beyond the usual.
    pub pass: Vec<String>,
    /// Variables that the call sets itself; the gate has judged them.
    pub set: Vec<(OsString, OsString)>,
    /// Connections.
    pub network: Network,
    /// Limits.
    pub limits: Limits,
    /// Whether something that was written to a scratch place may be executed.
    pub execute_scratch: bool,
}

/// Why no plan can be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impossible {
    /// What is wrong.
    pub why: String,
    /// What would help.
    pub help: String,
}

impl std::fmt::Display for Impossible {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}; {}", self.why, self.help)
    }
}

/// Places that the fence builds itself.
const OWN: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Draws the plan.
///
/// # Errors
/// What is asked for is not there, or cannot be fenced.
pub fn draw(wishes: &Wishes, terrain: &dyn Terrain) -> Result<Plan, Impossible> {
    let mut places = BTreeMap::new();
    system(&mut places, terrain);
    home(&mut places, wishes, terrain);
    let mut forbidden = Vec::new();
    let mut fresh = Vec::new();
    let workspace = wishes.workspace.as_deref().map(|path| whole(path, "work in", terrain)).transpose()?;
    if let Some(workspace) = &workspace {
        let write = !wishes.read_only;
        places.insert(workspace.clone(), if write { Access::Write } else { Access::Read });
        if let Some((repository, private)) = worktree(workspace, terrain) {
            put(&mut places, repository.clone(), if write { Access::Write } else { Access::Read });
            if write && wishes.protect {
                put(&mut places, workspace.join(".git"), Access::Protected);
                for path in ["hooks", "config", "config.worktree", "info/attributes"] {
                    guard(&mut places, &mut forbidden, &repository, path, terrain);
                }
                // Other worktrees are others'. What says which repository this one belongs to stays as it is.
                put(&mut places, repository.join("worktrees"), Access::Protected);
                put(&mut places, private.clone(), Access::Write);
                for path in ["commondir", "gitdir", "config.worktree"] {
                    guard(&mut places, &mut forbidden, &private, path, terrain);
                }
            }
        }
        if write && wishes.protect {
            protect(&mut places, &mut forbidden, workspace, terrain);
            itself(&mut places, &mut forbidden, workspace, terrain);
            // A repository may be made where there is none; what is made in it is looked at.
            let repository = workspace.join(".git");
            if terrain.look(&repository).is_none() {
                forbidden.retain(|name: &PathBuf| !name.starts_with(&repository));
                fresh.push(repository);
            }
            for path in &wishes.lifted {
                lift(&mut places, &mut forbidden, path, terrain);
            }
        }
        for (_, path) in lines(knowledge::WORKSPACE).filter(|(word, _)| *word == "hide") {
            hide(&mut places, &workspace.join(path), terrain);
        }
    }
    let mut named = Vec::new();
    for path in &wishes.write {
        let path = whole(path, "write", terrain)?;
        let access = if wishes.read_only { Access::Read } else { Access::Write };
        // Whoever names something protected means it.
        if workspace.as_ref().is_some_and(|workspace| path != *workspace && path.starts_with(workspace)) {
            forbidden.retain(|name: &PathBuf| !name.starts_with(&path));
        }
        place(&mut places, path.clone(), access);
        named.push(path);
    }
    for path in &wishes.read {
        let path = whole(path, "read", terrain)?;
        // What may be written, or is protected there, may be read already: a permission to read takes nothing away.
        if !matches!(nearest(&places, &path), Some((_, Access::Write | Access::Protected))) {
            places.insert(path, Access::Read);
        }
    }
    trails(&mut places, &mut forbidden, &named, terrain);
    for path in &wishes.hide {
        hide(&mut places, path, terrain);
    }
    carve(&mut places, terrain);
    let cwd = terrain.follow(&wishes.cwd).unwrap_or_else(|| wishes.cwd.clone());
    let mut plan = Plan {
        places,
        forbidden,
        fresh,
        cwd,
        environment: BTreeMap::new(),
        network: match &wishes.network {
            Network::Allow(hosts) if hosts.is_empty() => Network::Off,
            network => network.clone(),
        },
        limits: wishes.limits,
        execute_scratch: wishes.execute_scratch,
    };
    if plan.reach(&plan.cwd) == crate::plan::Reach::None {
        return Err(Impossible {
            why: format!("the working directory {} is outside what the program may see", plan.cwd.display()),
            help: format!("start in the workspace, or add `--read {}`", plan.cwd.display()),
        });
    }
    let nearest = plan.places.get(&plan.cwd).or_else(|| plan.above(&plan.cwd).map(|above| above.1));
    if nearest == Some(&Access::Scratch) {
        return Err(Impossible {
            why: format!(
                "{} is private inside the fence, so the program would start in an empty directory",
                plan.cwd.display()
            ),
            help: "start in a workspace, or name one with `--workspace`".into(),
        });
    }
    plan.environment = environment(wishes, &plan.cwd)?;
    Ok(plan)
}

/// A place of the fence's own inside something that is shown is put over a directory there. Where the machine has a link or
/// nothing, nothing can be put, and nothing need be: a link leads to where the plan says something else.
fn carve(places: &mut BTreeMap<PathBuf, Access>, terrain: &dyn Terrain) {
    let inside = |path: &Path| {
        let above = path.parent().and_then(|parent| nearest(places, parent));
        matches!(above, Some((_, Access::Read | Access::Write | Access::Protected)))
    };
    let scratch = places.iter().filter(|(path, access)| **access == Access::Scratch && inside(path));
    let without = scratch.filter(|(path, _)| terrain.look(path) != Some(Kind::Directory));
    let without: Vec<PathBuf> = without.map(|(path, _)| path.clone()).collect();
    for path in without {
        places.remove(&path);
    }
}

fn system(places: &mut BTreeMap<PathBuf, Access>, terrain: &dyn Terrain) {
    for (word, path) in lines(knowledge::SYSTEM) {
        let path = PathBuf::from(path);
        match (word, terrain.look(&path)) {
            ("scratch", _) => {
                places.insert(path, Access::Scratch);
            }
            (_, None) => {}
            ("show", Some(Kind::Link(target))) => {
                places.insert(path, Access::Link(target));
            }
            ("show", Some(_)) => {
                places.insert(path, Access::Read);
            }
            (_, Some(_)) => hide(places, &path, terrain),
        }
    }
}

fn home(places: &mut BTreeMap<PathBuf, Access>, wishes: &Wishes, terrain: &dyn Terrain) {
    let Some(home) = wishes.home.as_deref().and_then(|home| terrain.follow(home)) else { return };
    if home.parent().is_none()
        || home.starts_with("/usr")
        || home.starts_with("/etc")
        || home.starts_with("/proc")
    {
        return;
    }
    places.insert(home.clone(), Access::Scratch);
    for (word, path) in lines(knowledge::HOME) {
        let path = home.join(path);
        match word {
            // Settings are often links into a directory of their own; what they lead to is shown in their place.
            "show" => match terrain.look(&path) {
                Some(Kind::Link(_)) => {
                    if let Some(real) = terrain.follow(&path).filter(|real| showable(real)) {
                        places.entry(real.clone()).or_insert(Access::Read);
                        places.insert(path, Access::Link(real));
                    }
                }
                Some(_) => {
                    places.insert(path, Access::Read);
                }
                None => {}
            },
            _ => hide(places, &path, terrain),
        }
    }
}

/// Whether what a link in the home directory leads to may be shown for it.
fn showable(path: &Path) -> bool {
    path.components().count() > 3 && !OWN.iter().any(|own| path.starts_with(own))
}

/// Hides what stands at a path. Where the machine has nothing there, nothing needs hiding.
fn hide(places: &mut BTreeMap<PathBuf, Access>, path: &Path, terrain: &dyn Terrain) {
    if terrain.look(path).is_none() {
        return;
    }
    // A link is hidden as itself, and what it leads to as well.
    if let Some(real) = terrain.follow(path).filter(|real| real != path && real.components().count() > 2) {
        places.insert(real, Access::Hidden);
    }
    // The name may be reached through another: the directory's own path counts.
    let named = path
        .parent()
        .and_then(|parent| terrain.follow(parent))
        .zip(path.file_name())
        .map(|(parent, name)| parent.join(name));
    places.insert(named.unwrap_or_else(|| path.to_path_buf()), Access::Hidden);
}

fn protect(
    places: &mut BTreeMap<PathBuf, Access>,
    forbidden: &mut Vec<PathBuf>,
    workspace: &Path,
    terrain: &dyn Terrain,
) {
    for (_, path) in lines(knowledge::WORKSPACE).filter(|(word, _)| *word == "protect") {
        guard(places, forbidden, workspace, path, terrain);
    }
}

/// A workspace can be a repository itself, without a `.git`: then its settings and hooks lie at the top. One that is none does not
/// become one, which takes a `HEAD`; git would look there as soon as `.git` does not look right.
fn itself(
    places: &mut BTreeMap<PathBuf, Access>,
    forbidden: &mut Vec<PathBuf>,
    workspace: &Path,
    terrain: &dyn Terrain,
) {
    let there = |name: &str| terrain.look(&workspace.join(name)).is_some();
    if !there("HEAD") {
        forbidden.push(workspace.join("HEAD"));
    } else if there("objects") && there("refs") {
        for path in ["hooks", "config", "config.worktree", "info/attributes", "commondir"] {
            guard(places, forbidden, workspace, path, terrain);
        }
    }
}

/// Protects one path below a writable root, whether it is there or not.
fn guard(
    places: &mut BTreeMap<PathBuf, Access>,
    forbidden: &mut Vec<PathBuf>,
    root: &Path,
    path: &str,
    terrain: &dyn Terrain,
) {
    let length = root.as_os_str().len() + 1 + path.len();
    // The part above must be directories all the way; a link or a file there cannot hold the protected thing, but it could
    // be replaced by a directory that does, so it is protected itself.
    let mut above = PathBuf::with_capacity(length);
    above.push(root);
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        above.push(part);
        match terrain.look(&above) {
            None => {
                above.extend(parts);
                forbidden.push(above);
                return;
            }
            Some(Kind::Directory) if parts.peek().is_some() => {}
            Some(_) => {
                pin(places, root, &above);
                put(places, above, Access::Protected);
                return;
            }
        }
    }
}

/// Lets a path be changed that is protected. What stands in a protected directory is opened on its own, if it is there; to make
/// something new there takes the directory.
fn lift(
    places: &mut BTreeMap<PathBuf, Access>,
    forbidden: &mut Vec<PathBuf>,
    path: &Path,
    terrain: &dyn Terrain,
) {
    let path = terrain.follow(path).unwrap_or_else(|| path.to_path_buf());
    forbidden.retain(|name| !name.starts_with(&path) && !path.starts_with(name));
    let Some((above, Access::Protected)) = nearest(places, &path) else { return };
    let there = above == path || terrain.look(&path).is_none();
    let opened = if there { above.to_path_buf() } else { path.clone() };
    place(places, opened, Access::Write);
}

/// Says what a named place is. What may be written in a directory that may be is no place of its own: it could not be replaced by
/// another file of its name, which is how many programs write. What holds a place keeps its name.
fn place(places: &mut BTreeMap<PathBuf, Access>, path: PathBuf, access: Access) {
    let around = path.parent().and_then(|parent| nearest(places, parent));
    let within = matches!(around, Some((_, Access::Write)));
    let holds = places.keys().any(|below| below != &path && below.starts_with(&path));
    if access == Access::Write && within && !holds {
        places.remove(&path);
    } else {
        places.insert(path, access);
    }
}

/// Says what a place is, unless it is hidden: protecting something shows it to nobody.
fn put(places: &mut BTreeMap<PathBuf, Access>, path: PathBuf, access: Access) {
    let kept = places.entry(path).or_insert_with(|| access.clone());
    if *kept != Access::Hidden {
        *kept = access;
    }
}

/// The nearest place at or above a path.
fn nearest<'a>(places: &'a BTreeMap<PathBuf, Access>, path: &'a Path) -> Option<(&'a Path, &'a Access)> {
    path.ancestors().find_map(|above| Some((above, places.get(above)?)))
}

/// What a protected link leads to is protected with it wherever it could be written, and so is every further link on the way.
/// Where it leads to nothing, nothing may be made there. Only what was named to be written stays so.
fn trails(
    places: &mut BTreeMap<PathBuf, Access>,
    forbidden: &mut Vec<PathBuf>,
    named: &[PathBuf],
    terrain: &dyn Terrain,
) {
    let links = places.iter().filter(|(path, access)| {
        **access == Access::Protected && matches!(terrain.look(path), Some(Kind::Link(_)))
    });
    let links: Vec<PathBuf> = links.map(|(path, _)| path.clone()).collect();
    for (link, path) in
        links.iter().flat_map(|link| trail(link, terrain).into_iter().map(move |path| (link, path)))
    {
        let Some((root, Access::Write)) = nearest(places, &path) else { continue };
        let root = root.to_path_buf();
        // A link to what holds it does not take the writing from all of that.
        if link.starts_with(&path) || named.contains(&path) {
            continue;
        }
        if terrain.look(&path).is_none() {
            forbidden.push(path);
        } else {
            pin(places, &root, &path);
            put(places, path, Access::Protected);
        }
    }
}

/// How many links and names are followed.
const LONGEST_TRAIL: usize = 256;

/// Every link on the way from a path to where it leads, and that, whether it is there or not; all by their directories' own
/// paths.
fn trail(path: &Path, terrain: &dyn Terrain) -> Vec<PathBuf> {
    let names = |path: &Path| {
        let mut names: Vec<OsString> = path.components().map(|part| part.as_os_str().to_owned()).collect();
        names.reverse();
        names
    };
    let mut trail = Vec::new();
    let mut whole = PathBuf::from("/");
    let mut rest = names(path);
    for _ in 0..LONGEST_TRAIL {
        let Some(name) = rest.pop() else { break };
        if name == "." {
            continue;
        }
        if name == ".." {
            whole.pop();
            continue;
        }
        // A path that starts at the root replaces what it is joined to.
        let next = whole.join(&name);
        match terrain.look(&next) {
            Some(Kind::Link(target)) => {
                rest.extend(names(&target));
                trail.push(next);
            }
            _ => whole = next,
        }
    }
    trail.push(whole);
    trail
}

/// Directories between a root and something protected keep their names: else the parent could be moved away and another put
/// in its place.
fn pin(places: &mut BTreeMap<PathBuf, Access>, root: &Path, path: &Path) {
    for above in path.ancestors().skip(1).take_while(|above| *above != root && above.starts_with(root)) {
        places.entry(above.to_path_buf()).or_insert(Access::Write);
    }
}

/// The repository that a linked worktree belongs to, and the directory that is its own there, if both sides say so: the workspace's pointer alone could have been
/// written by the program of an earlier run.
fn worktree(workspace: &Path, terrain: &dyn Terrain) -> Option<(PathBuf, PathBuf)> {
    let pointer = workspace.join(".git");
    if terrain.look(&pointer) != Some(Kind::File) {
        return None;
    }
    let text = terrain.text(&pointer)?;
    let private = terrain.follow(&workspace.join(text.strip_prefix("gitdir:")?.trim()))?;
    let back = terrain.text(&private.join("gitdir"))?;
    if terrain.follow(Path::new(back.trim())) != terrain.follow(&pointer) {
        return None;
    }
    let common = terrain.text(&private.join("commondir"))?;
    let repository = terrain.follow(&private.join(common.trim()))?;
    (private.starts_with(repository.join("worktrees")) && repository.components().count() > 2)
        .then_some((repository, private))
}

/// A path that was asked for by name: it must be there, and be a place that a fence can give.
fn whole(path: &Path, what: &str, terrain: &dyn Terrain) -> Result<PathBuf, Impossible> {
    let Some(real) = terrain.follow(path) else {
        return Err(Impossible {
            why: format!("there is no {} to {what}", path.display()),
            help: "name a file or directory that exists".into(),
        });
    };
    let unfit = real.components().filter(|part| matches!(part, Component::Normal(_))).count() == 0
        || OWN.iter().any(|own| real.starts_with(own) && !real.starts_with("/dev/shm"));
    if unfit {
        return Err(Impossible {
            why: format!("{} cannot be given through a fence", real.display()),
            help:
                "name the directories that are needed, or run without a fence by name (`sandbox.mode: local`)"
                    .into(),
        });
    }
    Ok(real)
}

fn environment(wishes: &Wishes, cwd: &Path) -> Result<BTreeMap<OsString, OsString>, Impossible> {
    let table: Vec<Line<'_>> = lines(knowledge::ENVIRONMENT).collect();
    let (passed, never): (Vec<Line<'_>>, Vec<Line<'_>>) = table.iter().partition(|line| line.0 == "pass");
    let is_listed =
        |word: &str, name: &OsStr| is_listed(if word == "pass" { &passed } else { &never }, word, name);
    for name in &wishes.pass {
        if is_listed("never", OsStr::new(name)) || name.contains('=') || name.is_empty() {
            return Err(Impossible {
                why: format!(
                    "the variable {} is never handed on: it changes what programs run",
                    name.escape_debug()
                ),
                help: "take it out of `sandbox.env`".into(),
            });
        }
    }
    let mut chosen = BTreeMap::new();
    for (name, value) in &wishes.environment {
        let passed = is_listed("pass", name) || wishes.pass.iter().any(|pass| OsStr::new(pass) == name);
        if passed && !is_listed("never", name) {
            chosen.insert(name.clone(), value.clone());
        }
    }
    chosen.entry("PATH".into()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".into());
    chosen.insert("PWD".into(), cwd.into());
    chosen.insert("TMPDIR".into(), "/tmp".into());
    for (name, value) in &wishes.set {
        chosen.insert(name.clone(), value.clone());
    }
    Ok(chosen)
}

fn is_listed(table: &[Line<'_>], word: &str, name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return word == "never" };
    table.iter().filter(|line| line.0 == word).any(|(_, listed)| match listed.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name.len() == listed.len() && name == *listed,
    })
}
