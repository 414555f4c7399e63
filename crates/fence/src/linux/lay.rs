//! How the places of a plan lie to each other, found in one pass over them: asking for each place anew what is above it would
//! take longer than building the fence.

use std::path::Path;

use crate::plan::{Access, Plan};

/// A place, and what is above it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lay<'a> {
    pub(crate) path: &'a Path,
    pub(crate) access: &'a Access,
    /// What the nearest place above it is.
    pub(crate) above: Option<&'a Access>,
    /// Something above it is hidden, so it is not there.
    pub(crate) hidden_above: bool,
}

impl Lay<'_> {
    /// Whether the machine's own files are there, because something above it is shown.
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.above, Some(Access::Read | Access::Write | Access::Protected))
    }

    /// Whether it is a place of the fence's own inside something that is shown: the machine's files there must not be.
    pub(crate) fn is_carved(&self) -> bool {
        *self.access == Access::Scratch && self.is_real()
    }
}

/// All places, from the outside in, as the plan has them.
pub(crate) fn lay(plan: &Plan) -> Vec<Lay<'_>> {
    let mut all: Vec<Lay<'_>> = Vec::with_capacity(plan.places.len());
    // Those above the one that is looked at. A path comes right before what is below it.
    let mut above: Vec<Lay<'_>> = Vec::new();
    for (path, access) in &plan.places {
        while above.last().is_some_and(|last| !path.starts_with(last.path)) {
            above.pop();
        }
        let last = above.last();
        let lay = Lay {
            path,
            access,
            above: last.map(|last| last.access),
            hidden_above: last.is_some_and(|last| last.hidden_above || *last.access == Access::Hidden),
        };
        all.push(lay);
        above.push(lay);
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::network::Network;
    use crate::plan::{Limits, Reach};

    #[test]
    fn each_place_lies_below_what_the_plan_says_is_above_it() {
        let limits = Limits {
            memory_mb: 1,
            wall_ms: None,
            cpu_s: None,
            processes: 1,
            open_files: 1,
            file_mb: 1,
            scratch_mb: 1,
            output_bytes: 1,
        };
        let rows = [
            ("/", Access::Read),
            ("/a", Access::Write),
            ("/a b", Access::Read),
            ("/a/.git", Access::Hidden),
            ("/a/.git/hooks", Access::Protected),
            ("/a/.git/hooks/x", Access::Write),
            ("/a/.github", Access::Protected),
            ("/a-b", Access::Scratch),
            ("/a-b/c/d/e", Access::Write),
            ("/b", Access::Hidden),
            ("/b/c", Access::Link(PathBuf::from("/a"))),
        ];
        let plan = Plan {
            places: rows.into_iter().map(|(path, access)| (PathBuf::from(path), access)).collect(),
            forbidden: Vec::new(),
            fresh: Vec::new(),
            cwd: PathBuf::from("/a"),
            environment: BTreeMap::new(),
            network: Network::Off,
            limits,
            execute_scratch: true,
        };
        let found = lay(&plan);
        assert_eq!(found.len(), plan.places.len());
        for lay in found {
            assert_eq!(lay.above, plan.above(lay.path).map(|above| above.1), "{:?}", lay.path);
            let hidden = *lay.access == Access::Hidden || lay.hidden_above;
            assert_eq!(hidden, plan.reach(lay.path) == Reach::None, "{:?}", lay.path);
        }
    }
}
