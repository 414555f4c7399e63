//! `view_image`: an image as base64, with its type told from its first bytes, never from its name.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use call::ViewImage;
use serde_json::json;

use crate::failure::Failure;
use crate::image;
use crate::outcome::Outcome;
use crate::setting::{Setting, timed};

/// The largest image.
pub const MOST: u64 = 5 * 1024 * 1024;

/// Runs `view_image`.
#[must_use]
pub fn run(arguments: &ViewImage, setting: &Setting<'_>) -> Outcome {
    timed(|| view(arguments, setting))
}

fn view(arguments: &ViewImage, setting: &Setting<'_>) -> Result<Outcome, Failure> {
    let mut opened = setting.area.read(&setting.path(&arguments.path)?)?;
    let mut bytes = Vec::new();
    let path = opened.path.clone();
    let too_large = || Failure::validation(&format!("`{}` is larger than 5 MiB", path.display()));
    if opened.size() > MOST {
        return Err(too_large());
    }
    let read = (&mut opened.file).take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(&path, &error))?;
    if bytes.len() as u64 > MOST {
        return Err(too_large());
    }
    let Some(image) = image::told(&bytes) else {
        return Err(Failure::validation(&format!("`{}` is no PNG, JPEG, GIF or WebP image", path.display())));
    };
    let (width, height) = image.size.unzip();
    let shape = image.size.map_or_else(String::new, |(width, height)| format!(", {width} × {height}"));
    let said =
        format!("{}: {}{shape}, {} bytes\n", setting.shown(&path).display(), image.media_type, bytes.len());
    let data = json!({
        "path": path.display().to_string(), "media_type": image.media_type, "width": width, "height": height,
        "bytes": bytes.len(), "base64": STANDARD.encode(&bytes),
    });
    Ok(Outcome::success(said, data))
}
