//! `file_write`: a file as a whole, or not at all.

use call::FileWrite;
use fence::rooted::write::Parents;
use serde_json::json;

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::setting::{Setting, timed};

/// Runs `file_write`.
#[must_use]
pub fn run(arguments: &FileWrite, setting: &Setting<'_>) -> Outcome {
    timed(|| write(arguments, setting))
}

fn write(arguments: &FileWrite, setting: &Setting<'_>) -> Result<Outcome, Failure> {
    let path = setting.path(&arguments.path)?;
    if arguments.path.ends_with('/') {
        return Err(Failure::validation(&format!("`{}` is the name of a directory", arguments.path)));
    }
    let parents = if arguments.create_dirs { Parents::Make } else { Parents::Need };
    let spot = setting.area.spot(&path, parents)?;
    let is_new = spot.kind()?.is_none();
    let real = spot.path.clone();
    let content = arguments.content.expose().as_bytes();
    spot.stage(content, None)?.replace()?;
    let done = if is_new { "created" } else { "replaced" };
    let shown = setting.shown(&real).display();
    let data = json!({"path": real.display().to_string(), "bytes": content.len(), "created": is_new});
    Ok(Outcome::success(format!("{done} {shown}, {} bytes\n", content.len()), data))
}
