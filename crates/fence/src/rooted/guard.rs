//! What is hidden or protected beneath the roots, by its name.

use std::path::{Path, PathBuf};

use crate::plan::{Access, Plan};

/// What one name is to a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// Nothing special.
    Clear,
    /// It may be read, and not be changed, with all below it. Why.
    Protected(String),
    /// It is not there, with all below it. Why.
    Hidden(String),
}

/// Says what is hidden and what is protected. It is asked about every directory on the way and about the file itself, by
/// their own names without links; it must answer by the name alone.
pub trait Guard: Send + Sync {
    /// What this absolute path is, apart from what is above it.
    fn sight(&self, path: &Path) -> Sight;

    /// Hidden files whose names are known, so that other names of them (hard links) can be recognized.
    fn hidden_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Lists of paths. Letters' case makes no difference, since to some file systems it makes none.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Not there, with all below.
    pub hidden: Vec<PathBuf>,
    /// Not to be changed, with all below.
    pub protected: Vec<PathBuf>,
}

impl Guard for Listed {
    fn sight(&self, path: &Path) -> Sight {
        if self.hidden.iter().any(|hidden| same(hidden, path)) {
            return Sight::Hidden("it may hold credentials, or is denied".into());
        }
        if self.protected.iter().any(|protected| same(protected, path)) {
            return Sight::Protected("changing it needs an approval".into());
        }
        Sight::Clear
    }

    fn hidden_files(&self) -> Vec<PathBuf> {
        self.hidden.clone()
    }
}

fn same(one: &Path, other: &Path) -> bool {
    one.as_os_str().eq_ignore_ascii_case(other.as_os_str())
}

/// What a fence's plan says: tools see what a fenced program sees.
#[derive(Debug, Clone)]
pub struct Planned {
    hidden: Vec<PathBuf>,
    scratch: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    unmade: Vec<PathBuf>,
}

impl Planned {
    /// From a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Planned {
        let of = |wanted: &Access| {
            let places = plan.places.iter().filter(|(_, access)| *access == wanted);
            places.map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        Planned {
            hidden: of(&Access::Hidden),
            scratch: of(&Access::Scratch),
            protected: of(&Access::Protected),
            unmade: plan.forbidden.iter().chain(&plan.fresh).cloned().collect(),
        }
    }
}

impl Guard for Planned {
    fn sight(&self, path: &Path) -> Sight {
        let within = |list: &[PathBuf]| list.iter().any(|listed| same(listed, path));
        if within(&self.hidden) {
            Sight::Hidden("it may hold credentials, or is denied".into())
        } else if self.scratch.iter().any(|scratch| scratch == path) {
            Sight::Hidden("it is private to each fenced program".into())
        } else if within(&self.protected) {
            Sight::Protected("changing it needs an approval".into())
        } else if within(&self.unmade) {
            Sight::Protected("making it needs an approval".into())
        } else {
            Sight::Clear
        }
    }

    fn hidden_files(&self) -> Vec<PathBuf> {
        self.hidden.clone()
    }
}
