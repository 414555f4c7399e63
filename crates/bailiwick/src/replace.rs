//! A file's text is replaced whole or not at all.

use std::io::Write as _;
use std::path::Path;

/// Puts a new text in a file's place, whole or not at all.
#[expect(clippy::disallowed_methods, reason = "the user's own configuration is written, at the user's word")]
pub(crate) fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    // A link stays one: what it leads to is replaced.
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let directory = target.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    let mode = target.metadata().map_or(0o600, |metadata| metadata.permissions().mode() & 0o777);
    let fresh = target.with_extension(format!("new-{}", std::process::id()));
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh)?;
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| out.sync_all())
        .and_then(|()| std::fs::rename(&fresh, &target));
    if written.is_err() {
        let _left_over = std::fs::remove_file(&fresh);
    }
    written?;
    std::fs::File::open(directory)?.sync_all()
}
