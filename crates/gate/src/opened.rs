//! What a ruling opens in the fence. Whoever is asked whether a command may write a file elsewhere, connect to a host or change a
//! hook is shown them by name. After a yes the command must be able to do just that, so they are in the plan that the yes is bound
//! to; and what the configuration allows by name is in it as well. Nothing else is, whatever the command turns out to do.

use std::path::{Path, PathBuf};

use call::{ErrorKind, Intent};
use effects::{Class, Effect, Peer, Place, Surroundings, Target};
use fence::{Access, Host, Plan};
use policy::{Decision, Stance};

use crate::stopped::{By, Stopped};
use crate::{Gate, Judgement};

/// Where people's homes are.
const HOMES: [&str; 2] = ["/home", "/Users"];

/// What is opened for one call.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// What is protected in the workspace, and may be changed this once.
    pub(crate) lifted: Vec<PathBuf>,
    pub(crate) hosts: Vec<Host>,
    /// What would have to be written and cannot be opened without more.
    pub(crate) shut: Vec<PathBuf>,
}

impl Gate {
    pub(crate) fn opened(&self, judgement: &Judgement) -> Opened {
        let mut opened = Opened::default();
        for effect in judgement.analysis.parts.iter().flat_map(|part| &part.effects) {
            let Some(class) = effect.class().filter(|class| self.opens(judgement, effect, *class)) else {
                continue;
            };
            match (class, effect) {
                (Class::ReadOutside, Effect::Read(target)) => opened.read.extend(self.readable(target)),
                (Class::WriteOutside, Effect::Write(target) | Effect::Delete { target, .. }) => {
                    match self.writable(target) {
                        Some(path) => opened.write.push(path),
                        None => opened.shut.push(PathBuf::from(&target.path)),
                    }
                }
                (Class::WriteProtected, Effect::Write(target) | Effect::Delete { target, .. }) => {
                    opened.lifted.push(PathBuf::from(&target.path));
                }
                (Class::Connect | Class::ConnectService, Effect::Connect(connection)) => {
                    if let Peer::Host(name) | Peer::Service(name) = &connection.peer {
                        // What has no name of a host cannot be opened by it: `the npm registry`.
                        opened.hosts.extend(Host::parse(name));
                    }
                }
                _ => {}
            }
        }
        opened
    }

    /// Somebody is asked about it, or the configuration allows it. What is allowed because the fence holds it stays shut, and so
    /// does what a profile allows without a word of the user's.
    fn opens(&self, judgement: &Judgement, effect: &Effect, class: Class) -> bool {
        match self.config.stance_towards(effect, class) {
            Stance::Ask | Stance::Unset => judgement.ruling.decision == Decision::Ask,
            Stance::Allow => class != Class::ConnectService,
            Stance::Fenced | Stance::Deny => false,
        }
    }

    /// FAIL-CLOSED: a program that writes to a place of the fence's own would seem to succeed, and what it wrote would be gone.
    pub(crate) fn can_be_kept(plan: &Plan, shut: &[PathBuf]) -> Result<(), Stopped> {
        let lost = |path: &&PathBuf| {
            let above = plan.places.get(*path).or_else(|| plan.above(path).map(|above| above.1));
            above != Some(&Access::Write)
        };
        let Some(path) = shut.iter().find(lost) else { return Ok(()) };
        let directory = path.parent().unwrap_or(path).display();
        let why = format!("{} cannot be written without opening all of {directory}", path.display());
        Err(Stopped::new(ErrorKind::SandboxDenied, By::Fence, why).help(format!(
            "write to a directory of its own; or `--write {directory}`, if you mean all of it"
        )))
    }

    fn readable(&self, target: &Target) -> Option<PathBuf> {
        let path = Path::new(&target.path);
        // Where nothing is, the name may be a pattern for others beside it.
        let shown = if path.exists() { Some(path) } else { path.parent() };
        shown.filter(|path| path.is_file() || self.is_ordinary(path)).map(Path::to_path_buf)
    }

    /// A file is made, replaced and deleted in its directory.
    fn writable(&self, target: &Target) -> Option<PathBuf> {
        let path = Path::new(&target.path);
        let directory = if path.is_dir() { Some(path) } else { path.parent() };
        let directory = directory.filter(|directory| self.is_ordinary(directory));
        directory.or_else(|| path.is_file().then_some(path)).map(Path::to_path_buf)
    }

    /// A directory that is there and is nothing more than that: not somebody's home, what homes are in, or the system's.
    fn is_ordinary(&self, directory: &Path) -> bool {
        let is_home = HOMES
            .iter()
            .any(|homes| directory == Path::new(homes) || directory.parent() == Some(Path::new(homes)));
        let holds_home = self.world.home.as_ref().is_some_and(|home| home.starts_with(directory));
        if is_home || holds_home || directory == Path::new("/root") {
            return false;
        }
        let Some(text) = directory.to_str().filter(|_| directory.is_dir()) else { return false };
        let around = Surroundings {
            cwd: &self.world.cwd,
            home: self.world.home.as_deref(),
            user: self.world.user.as_deref(),
            workspace: self.workspace.as_deref(),
            files: self.world.disk.as_ref(),
        };
        let analysis = effects::analyse(&[Intent::Read { path: text.to_owned() }], &around);
        let mut effects = analysis.parts.iter().flat_map(|part| &part.effects);
        effects.any(|effect| matches!(effect, Effect::Read(target) if target.place == Place::Outside))
    }
}
