//! What a file tool may reach: the workspace and what its own call names, seen through the policy. The tool opens beneath these
//! roots and asks about every name on the way, so that no link leads it to what the call was not judged for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use call::{Category, ErrorKind, Intent, Sandbox};
use effects::{Effect, NoFiles, Place, Surroundings, Target};
use fence::Terrain;
use fence::rooted::{Area, Guard, Right, Sight};
use policy::{Config, Consultation, Decision, Fence, Question};

use crate::stopped::{By, Stopped};
use crate::{Gate, Judgement};

/// What is open to a file tool's call.
#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) area: Area,
    pub(crate) directory: PathBuf,
    pub(crate) home: Option<PathBuf>,
}

impl Gate {
    /// The policy's word on single names below folders that the configuration names.
    pub(crate) fn guard_of(&self, folders: &[PathBuf]) -> impl Guard + 'static {
        PolicyGuard {
            config: Arc::clone(&self.config),
            home: self.world.home.clone(),
            user: self.world.user.clone(),
            workspace: self.workspace.clone(),
            directory: self.world.cwd.clone(),
            named: folders.iter().map(|folder| (folder.clone(), Right::Read)).collect(),
        }
    }

    /// Opens what a call of a file tool was judged for.
    pub(crate) fn reach(&self, judgement: &Judgement) -> Result<Reach, Stopped> {
        let real = |path: &Path| fence::Ground.follow(path).unwrap_or_else(|| path.to_path_buf());
        let directory = real(&self.directory_of(&judgement.call));
        let workspace = self.workspace.as_deref().map(real);
        let mut roots: Vec<(PathBuf, Right)> = Vec::new();
        let mut named: Vec<(PathBuf, Right)> = Vec::new();
        let changes = if self.config.is_read_only() { Right::Read } else { Right::Write };
        roots.extend(workspace.iter().map(|path| (path.clone(), changes)));
        for effect in judgement.analysis.parts.iter().flat_map(|part| &part.effects) {
            let Some((target, right)) = touched(effect) else { continue };
            let path = PathBuf::from(&target.path);
            if workspace.as_deref().is_some_and(|workspace| path.starts_with(workspace)) {
                named.push((path, right));
                continue;
            }
            // The nearest directory that is there; the guard lets nothing through but the path itself.
            let root = path.ancestors().find(|above| real(above).is_dir()).map(real);
            roots.extend(root.map(|root| (root, right)));
            named.push((path, right));
        }
        let guard = PolicyGuard {
            config: Arc::clone(&self.config),
            home: self.world.home.clone(),
            user: self.world.user.clone(),
            workspace,
            directory: directory.clone(),
            named,
        };
        let area = Area::new(roots, Box::new(guard))
            .map_err(|refused| Stopped::new(ErrorKind::SandboxDenied, By::Fence, refused.to_string()))?;
        Ok(Reach { area, directory, home: self.world.home.clone() })
    }
}

fn touched(effect: &Effect) -> Option<(&Target, Right)> {
    match effect {
        Effect::Read(target) => Some((target, Right::Read)),
        Effect::Write(target) | Effect::Delete { target, .. } => Some((target, Right::Write)),
        _ => None,
    }
    .filter(|(target, _)| target.place != Place::Nowhere)
}

/// The policy, asked about single names.
#[derive(Debug)]
struct PolicyGuard {
    config: Arc<Config>,
    home: Option<PathBuf>,
    user: Option<String>,
    workspace: Option<PathBuf>,
    directory: PathBuf,
    /// What the call itself names, and was judged for.
    named: Vec<(PathBuf, Right)>,
}

impl PolicyGuard {
    /// What the policy says of reading a path, and what kind of place it is.
    fn judged(&self, path: &Path) -> (Decision, Option<Place>) {
        static UNFENCED: Fence = Fence::none("file tools have none");
        // Links were resolved before this is asked.
        let around = Surroundings {
            cwd: &self.directory,
            home: self.home.as_deref(),
            user: self.user.as_deref(),
            workspace: self.workspace.as_deref(),
            files: &NoFiles,
        };
        let Some(text) = path.to_str() else { return (Decision::Deny, None) };
        let analysis = effects::analyse(&[Intent::Read { path: text.to_owned() }], &around);
        let ruling = self.config.rule(&Question {
            tool: "file_read",
            category: Category::Read,
            text: None,
            analysis: &analysis,
            sandbox: Sandbox::Inherit,
            escalated: false,
            wall_ms: None,
            memory_mb: None,
            fence: &UNFENCED,
            arguments: None,
            engine: &Consultation::NotConfigured,
        });
        let place = analysis
            .parts
            .iter()
            .flat_map(|part| &part.effects)
            .find_map(|effect| Some(touched(effect)?.0.place));
        (ruling.decision, place)
    }
}

impl Guard for PolicyGuard {
    fn sight(&self, path: &Path) -> Sight {
        let named = |right: Right| {
            self.named
                .iter()
                .any(|(known, given)| path.starts_with(known) && (right == Right::Read || *given == right))
        };
        let inside = self.workspace.as_deref().is_some_and(|workspace| path.starts_with(workspace));
        let above = self.named.iter().any(|(known, _)| known.starts_with(path))
            || self.workspace.as_deref().is_some_and(|workspace| workspace.starts_with(path));
        if above && !inside {
            return Sight::Clear;
        }
        if !inside && !named(Right::Read) {
            return Sight::Hidden("it is outside what the call was judged for".into());
        }
        match self.judged(path) {
            (Decision::Deny, _) => Sight::Hidden("the policy denies it".into()),
            (_, Some(Place::Protected)) if !named(Right::Write) => {
                Sight::Protected("changing it needs an approval of its own".into())
            }
            _ => Sight::Clear,
        }
    }
}
