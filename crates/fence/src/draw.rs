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
    let mut kept = Vec::new();
    for path in &wishes.read {
        let path = whole(path, "read", terrain)?;
        // What is asked for by name may be a part of what can be written already.
        if !matches!(places.get(&path), Some(Access::Write)) {
            places.insert(path, Access::Read);
        }
    }
    if let Some(workspace) = &wishes.workspace {
        let workspace = whole(workspace, "work in", terrain)?;
        let write = !wishes.read_only;
        places.insert(workspace.clone(), if write { Access::Write } else { Access::Read });
        if write {
            if let Some(repository) = worktree(&workspace, terrain) {
                places.insert(repository.clone(), Access::Write);
                if wishes.protect {
                    places.insert(workspace.join(".git"), Access::Protected);
                    guard(&mut places, &mut forbidden, &repository, "hooks", terrain);
                    guard(&mut places, &mut forbidden, &repository, "config", terrain);
                }
            }
            if wishes.protect {
                protect(&mut places, &mut forbidden, &mut kept, &workspace, terrain);
                // A repository may be made where there is none; what is made in it is looked at.
                let repository = workspace.join(".git");
                if terrain.look(&repository).is_none() {
                    forbidden.retain(|name: &PathBuf| !name.starts_with(&repository));
                    fresh.push(repository);
                }
            }
        }
        for (_, path) in lines(knowledge::WORKSPACE).filter(|(word, _)| *word == "hide") {
            hide(&mut places, &workspace.join(path), terrain);
        }
    }
    for path in &wishes.write {
        let path = whole(path, "write", terrain)?;
        let access = if wishes.read_only { Access::Read } else { Access::Write };
        // Whoever names something protected means it.
        if wishes
            .workspace
            .as_ref()
            .is_some_and(|workspace| path != *workspace && path.starts_with(workspace))
        {
            forbidden.retain(|name: &PathBuf| !name.starts_with(&path));
        }
        places.insert(path, access);
    }
    for path in &wishes.hide {
        hide(&mut places, path, terrain);
    }
    let cwd = terrain.follow(&wishes.cwd).unwrap_or_else(|| wishes.cwd.clone());
    let mut plan = Plan {
        places,
        forbidden,
        fresh,
        kept,
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
            (_, Some(_)) => {
                places.insert(path, Access::Hidden);
            }
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
    kept: &mut Vec<PathBuf>,
    workspace: &Path,
    terrain: &dyn Terrain,
) {
    for (word, path) in lines(knowledge::WORKSPACE) {
        match word {
            "protect" => guard(places, forbidden, workspace, path, terrain),
            "keep" => {
                let whole = workspace.join(path);
                let parent = whole.parent().and_then(|parent| terrain.look(parent));
                if terrain.look(&whole).is_none() && parent == Some(Kind::Directory) {
                    pin(places, workspace, &whole);
                    kept.push(whole.clone());
                    places.insert(whole, Access::Protected);
                } else {
                    guard(places, forbidden, workspace, path, terrain);
                }
            }
            _ => {}
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
    let whole = root.join(path);
    // The part above must be directories all the way; a link or a file there cannot hold the protected thing, but it could
    // be replaced by a directory that does, so it is protected itself.
    let mut above = root.to_path_buf();
    for part in Path::new(path).components() {
        above.push(part);
        match terrain.look(&above) {
            None => {
                forbidden.push(whole);
                return;
            }
            Some(Kind::Directory) if above != whole => {}
            Some(kind) => {
                pin(places, root, &above);
                if let (Kind::Link(_), Some(real)) = (&kind, terrain.follow(&above)) {
                    // What a protected link leads to is protected with it, if it could be written at all.
                    if real.starts_with(root) && real != *root {
                        pin(places, root, &real);
                        places.insert(real, Access::Protected);
                    }
                }
                places.insert(above, Access::Protected);
                return;
            }
        }
    }
}

/// Directories between a root and something protected keep their names: else the parent could be moved away and another put
/// in its place.
fn pin(places: &mut BTreeMap<PathBuf, Access>, root: &Path, path: &Path) {
    for above in path.ancestors().skip(1).take_while(|above| *above != root && above.starts_with(root)) {
        places.entry(above.to_path_buf()).or_insert(Access::Write);
    }
}

/// The repository that a linked worktree belongs to, if both sides say so: the workspace's pointer alone could have been
/// written by the program of an earlier run.
fn worktree(workspace: &Path, terrain: &dyn Terrain) -> Option<PathBuf> {
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
        .then_some(repository)
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
    let is_listed = |word: &str, name: &OsStr| is_listed(&table, word, name);
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
        None => name == *listed,
    })
}
