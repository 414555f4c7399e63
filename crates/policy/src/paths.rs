//! Globs for paths, as `allowed_paths`, `denied_paths` and `path_rules` write them.

use std::sync::OnceLock;

use globset::{GlobBuilder, GlobMatcher};

use crate::config::At;
use crate::meeting::{could_meet, is_pattern};

/// What a pattern's words stand for.
#[derive(Debug, Clone, Default)]
pub struct Base {
    /// `<cwd>`, and what a relative pattern is relative to.
    pub cwd: String,
    /// `~`
    pub home: Option<String>,
}

/// One glob, with the place where it was written.
#[derive(Debug)]
pub(crate) struct PathPattern {
    /// As it was written.
    pub(crate) text: String,
    pub(crate) at: At,
    glob: String,
    /// The directory of a pattern `directory/**`, literally.
    directory: Option<String>,
    /// The one path (and everything below it) that is meant, where the pattern names one.
    place: Option<String>,
    compiled: OnceLock<Option<GlobMatcher>>,
}

impl PathPattern {
    /// Expands and checks a pattern. The message says what is wrong with it.
    pub(crate) fn new(text: &str, at: At, base: &Base) -> Result<PathPattern, String> {
        let (root, rest) = split(text, base)?;
        let glob = anchored(text, base)?;
        builder(&glob).build().map_err(|error| format!("not a path pattern: {error}"))?;
        let directory = rest.strip_suffix("/**").map(|inner| format!("{root}{inner}"));
        let single = rest.strip_suffix("/**").unwrap_or(&rest);
        let place =
            (!is_pattern(single) && !single.is_empty() | !root.is_empty()).then(|| format!("{root}{single}"));
        Ok(PathPattern { text: text.into(), at, glob, directory, place, compiled: OnceLock::new() })
    }

    /// The one path that is meant, together with everything below it or on its own.
    pub(crate) fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// Whether a path, or something that a pattern in its place could stand for, is meant. For what denies: it errs only
    /// towards yes.
    pub(crate) fn could_match(&self, path: &str) -> bool {
        if is_pattern(path) && could_meet(path, &self.glob) {
            return true;
        }
        self.matches(path).unwrap_or(true)
    }

    /// Whether a normalized absolute path is meant. What cannot be told is `None`.
    pub(crate) fn matches(&self, path: &str) -> Option<bool> {
        // `dir/**` means the directory too: somebody who may touch all that is in it may look at it.
        if self.directory.as_deref() == Some(path) {
            return Some(true);
        }
        let matcher =
            self.compiled.get_or_init(|| builder(&self.glob).build().ok().map(|glob| glob.compile_matcher()));
        matcher.as_ref().map(|matcher| matcher.is_match(path))
    }
}

/// A pattern that means the same wherever it is read.
///
/// # Errors
/// It is empty, or begins with a `~` that stands for nothing.
pub fn anchored(text: &str, base: &Base) -> Result<String, String> {
    split(text, base).map(|(root, rest)| format!("{}{rest}", globset::escape(&root)))
}

/// A path as somebody writes it in a file: absolute, below the home directory, or below the working directory.
pub(crate) fn plain(text: &str, base: &Base) -> Result<String, String> {
    let (root, rest) = split(text, base)?;
    if is_pattern(&rest) {
        return Err("a path is wanted here, not a pattern".into());
    }
    let whole = format!("{root}{rest}");
    let whole = whole.trim_end_matches('/');
    Ok(if whole.is_empty() { "/".into() } else { whole.into() })
}

fn builder(pattern: &str) -> GlobBuilder<'_> {
    let mut builder = GlobBuilder::new(pattern);
    builder.literal_separator(true).backslash_escape(true);
    builder
}

/// The literal directory that a pattern starts from, and the rest, which is a glob.
fn split(text: &str, base: &Base) -> Result<(String, String), String> {
    if text.trim().is_empty() {
        return Err("an empty path pattern matches nothing".into());
    }
    let text = windows_form(text);
    if let Some(rest) = text.strip_prefix("<cwd>") {
        return Ok((base.cwd.trim_end_matches('/').into(), rest.into()));
    }
    if text == "~" || text.starts_with("~/") {
        let Some(home) = &base.home else {
            return Err("`~` stands for the home directory, which is not known".into());
        };
        return Ok((home.trim_end_matches('/').into(), text.strip_prefix('~').unwrap_or_default().into()));
    }
    if text.starts_with('/') || text.starts_with("**") || has_drive(&text) {
        return Ok((String::new(), text));
    }
    let relative = text.strip_prefix("./").unwrap_or(&text);
    Ok((base.cwd.trim_end_matches('/').into(), format!("/{relative}")))
}

/// Drive letters are lowercase and separators are slashes in everything that is compared; so they are in patterns.
fn windows_form(text: &str) -> String {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(drive), Some(':')) if drive.is_ascii_alphabetic() => {
            format!("{}:{}", drive.to_ascii_lowercase(), characters.as_str().replace('\\', "/"))
        }
        (Some('\\'), Some('\\')) => text.replace('\\', "/"),
        _ => text.to_owned(),
    }
}

fn has_drive(text: &str) -> bool {
    let mut characters = text.chars();
    matches!((characters.next(), characters.next()), (Some(drive), Some(':')) if drive.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_say() {
        let base = Base { cwd: "/work/a[b]".into(), home: Some("/home/u".into()) };
        for (pattern, path, expected) in [
            ("<cwd>/**", "/work/a[b]/src/x.rs", true),
            ("<cwd>/**", "/work/a[b]", true),
            ("<cwd>/**", "/work/a[b]c/x", false),
            ("<cwd>/**", "/work/ab/x", false),
            ("~/notes/*.md", "/home/u/notes/x.md", true),
            ("~/notes/*.md", "/home/u/notes/deep/x.md", false),
            ("**/.env", "/anywhere/.env", true),
            ("**/.env", "/anywhere/my.env", false),
            ("src/**", "/work/a[b]/src/deep/x", true),
            ("./src/*", "/work/a[b]/src/x", true),
            ("/etc/sudoers.d/**", "/etc/sudoers.d/me", true),
            ("C:\\proj\\**", "c:/proj/file.py", true),
            ("/home/user/project/**", "/home/user/project2/x", false),
        ] {
            let made = PathPattern::new(pattern, At::file("t"), &base).expect("valid");
            assert_eq!(made.matches(path), Some(expected), "{pattern} on {path}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_meant_is_refused() {
        let base = Base { cwd: "/w".into(), home: None };
        for pattern in ["", "  ", "~/x", "a[", "{a,b"] {
            assert!(PathPattern::new(pattern, At::file("t"), &base).is_err(), "{pattern}");
        }
    }
}
