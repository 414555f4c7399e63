//! `skill_ref_read`: a file below `references/` or `assets/` of a skill; of a longer one, head and tail.

use call::{ErrorKind, SkillRefRead};

use crate::failure::Failure;
use crate::file_read;
use crate::outcome::Outcome;
use crate::setting::timed;
use crate::skills::{SkillSpaces, steps};

/// How much is read if the call does not say: as a `file_read`.
const MAX_BYTES: u64 = 256 * 1024;

/// Runs `skill_ref_read`.
#[must_use]
pub fn run(arguments: &SkillRefRead, spaces: &SkillSpaces) -> Outcome {
    timed(|| {
        let steps = steps(&arguments.ref_path, &["references", "assets"]).ok_or_else(|| {
            let message = "expected a path below `references/` or `assets/`, without `.` and `..`";
            Failure::new(ErrorKind::Permission, message)
        })?;
        let (_, skill) = spaces.skill(&arguments.skill_mention)?;
        file_read::answer(skill.read(&steps)?, arguments.max_bytes.unwrap_or(MAX_BYTES))
    })
}
