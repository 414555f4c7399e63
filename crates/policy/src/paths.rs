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

/// One glob, with the place where it was written. `directory/**` means the directory too: somebody who may touch all that is in
/// it may look at it.
#[derive(Debug)]
pub struct PathPattern {
    /// As it was written.
    pub(crate) text: String,
    pub(crate) at: At,
    glob: String,
    /// The one path that is meant, where the pattern names one.
    place: Option<String>,
    /// Everything below is meant too: it ends with `/**`.
    and_below: bool,
    /// The directory that all that is meant is in.
    start: String,
    compiled: OnceLock<Option<Vec<GlobMatcher>>>,
}

impl PathPattern {
    /// Expands and checks a pattern. The message says what is wrong with it.
    pub(crate) fn new(text: &str, at: At, base: &Base) -> Result<PathPattern, String> {
        let (root, rest) = split(text, base)?;
        let glob = anchored(text, base)?;
        builder(&glob).build().map_err(|error| format!("not a path pattern: {error}"))?;
        let above = rest.strip_suffix("/**");
        let single = above.unwrap_or(&rest);
        let place =
            (is_literal(single) && !single.is_empty() | !root.is_empty()).then(|| format!("{root}{single}"));
        let certain = rest.find(SPECIAL).map_or(rest.as_str(), |end| rest.get(..end).unwrap_or_default());
        let start = certain.rfind('/').map_or("", |end| certain.get(..end).unwrap_or_default());
        Ok(PathPattern {
            text: text.into(),
            at,
            glob,
            and_below: above.is_some(),
            place,
            start: format!("{root}{start}/"),
            compiled: OnceLock::new(),
        })
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The one path that is meant, together with everything below it or on its own.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// The directory that all that is meant is in.
    #[must_use]
    pub fn start(&self) -> &str {
        &self.start
    }

    /// Whether a file of this name is meant. For what denies: it errs only towards yes.
    #[must_use]
    pub fn means(&self, path: &str) -> bool {
        self.matches(path).unwrap_or(true)
    }

    /// The same of a path of a command, which may itself be a pattern.
    pub(crate) fn could_match(&self, path: &str) -> bool {
        if is_pattern(path) && could_meet(path, &self.glob) {
            return true;
        }
        self.means(path)
    }

    /// The same of a path as the call wrote it. One that is relative says nothing about a pattern that begins at the root:
    /// where it leads was found out against the directory of its command, and its `**` does not take all of the machine.
    pub(crate) fn could_match_given(&self, given: &str) -> bool {
        (given.starts_with('/') || has_drive(given) || !self.is_rooted()) && self.could_match(given)
    }

    /// Whether it begins at the root, as all patterns do but those for any directory (`**/.env`).
    fn is_rooted(&self) -> bool {
        !self.glob.starts_with("**")
    }

    /// Whether a normalized absolute path is meant. What cannot be told is `None`.
    pub(crate) fn matches(&self, path: &str) -> Option<bool> {
        // Most patterns name one place. To compile one costs more than all else that is done about a call.
        match &self.place {
            Some(place) => {
                let below = || path.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with('/'));
                Some(path == place || self.and_below && below())
            }
            None => self.globbed(path),
        }
    }

    /// The same by the glob alone.
    fn globbed(&self, path: &str) -> Option<bool> {
        let compile = || {
            let directory = self.glob.strip_suffix("/**").filter(|_| self.and_below);
            let globs = directory.into_iter().chain([self.glob.as_str()]);
            globs.map(|glob| builder(glob).build().ok().map(|glob| glob.compile_matcher())).collect()
        };
        let matchers = self.compiled.get_or_init(compile).as_ref()?;
        Some(matchers.iter().any(|matcher| matcher.is_match(path)))
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

/// What stands for something else than itself in a glob.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

fn is_literal(glob: &str) -> bool {
    !glob.contains(SPECIAL)
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
            ("/data/{a,b}/**", "/data/b/x", true),
            ("/data/{a,b}/**", "/data/b", true),
            ("**/secrets/**", "/anywhere/secrets", true),
            ("**/secrets/**", "/anywhere/secrets/x/y", true),
            ("/data/{a,b}/**", "/data/{a,b}/x", false),
            ("/data/\\{a\\}", "/data/{a}", true),
        ] {
            let made = PathPattern::new(pattern, At::file("t"), &base).expect("valid");
            assert_eq!(made.matches(path), Some(expected), "{pattern} on {path}");
        }
    }

    #[test]
    fn a_pattern_of_one_place_means_what_its_glob_does() {
        let base = Base { cwd: "/work/a[b]".into(), home: Some("/home/u".into()) };
        let patterns =
            ["/a/b", "/a/b/**", "/a/b/", "/a//b/**", "~/x/**", "~", "<cwd>", "<cwd>/**", "c/d", "/", "/**"];
        let paths = [
            "/",
            "/a",
            "/a/b",
            "/a/b/c",
            "/a/b/c/d",
            "/a/bc",
            "/a/b/\n",
            "/home/u",
            "/home/u/x",
            "/home/u/x/y",
            "/work/a[b]",
            "/work/a[b]/c/d",
            "/work/ab/c",
        ];
        for pattern in patterns {
            let made = PathPattern::new(pattern, At::file("t"), &base).expect("valid");
            for path in paths {
                assert_eq!(made.matches(path), made.globbed(path), "{pattern} on {path}");
            }
        }
    }

    #[test]
    fn only_what_names_one_place_is_a_place() {
        let base = Base { cwd: "/w".into(), home: None };
        for (pattern, place, start) in [
            ("/a/b/**", Some("/a/b"), "/a/b/"),
            ("/a/b", Some("/a/b"), "/a/"),
            ("x", Some("/w/x"), "/w/"),
            ("/a/{b,c}/**", None, "/a/"),
            ("/a/b[cd]/e", None, "/a/"),
            ("/a/\\*", None, "/a/"),
            ("src/*.key", None, "/w/src/"),
            ("**/b", None, "/"),
        ] {
            let made = PathPattern::new(pattern, At::file("t"), &base).expect("valid");
            assert_eq!((made.place(), made.start()), (place, start), "{pattern}");
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
