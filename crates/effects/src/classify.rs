//! Where a path leads and what kind of place that is.
//!
//! Paths are made absolute and their `.` and `..` taken out by their letters alone; then symlinks are looked up
//! where the caller can. Of what a path says and where it leads, the more sensitive place holds.

use std::borrow::Cow;
use std::path::Path;

use crate::effect::{Place, Target};
use crate::glob;
use crate::place::Surroundings;
use crate::places;

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
    Delete,
}

/// A path as a command names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    /// As it was written, escapes of patterns included.
    pub(crate) text: &'a str,
    /// It is a pattern.
    pub(crate) pattern: bool,
    /// The directory that it is measured against, absolute.
    pub(crate) cwd: &'a str,
}

/// The target of an effect, and whether the effect is recursive after all (`rm *` at the workspace's top).
pub(crate) fn target(
    named: Named<'_>,
    purpose: Purpose,
    recursive: bool,
    around: &Surroundings<'_>,
) -> (Target, bool) {
    let (mut path, all) = absolute(named, around);
    let mut view = View::new(around);
    view.recursive = recursive;
    view.purpose = purpose;
    let mut place = view.place(&path, named.pattern, all);
    let real = match named.pattern {
        true => wild_followed(&path, around),
        false => around.files.follow(Path::new(&path)).and_then(|real| real.to_str().map(str::to_owned)),
    };
    if let Some(real) = real.filter(|real| *real != path) {
        place = place.max(view.place(&real, named.pattern, all));
        path = real;
    }
    // A pattern for everything at the top of the workspace takes all of its files.
    let sweeping = all
        && purpose == Purpose::Delete
        && view.workspace.is_some_and(|root| parent(&path).unwrap_or("/") == root);
    let given = (named.text != path).then(|| named.text.to_owned());
    (Target { path, given, place }, recursive || sweeping)
}

/// Where a pattern leads when its certain directories are followed.
fn wild_followed(path: &str, around: &Surroundings<'_>) -> Option<String> {
    let wild = path.split_inclusive('/').take_while(|part| !glob::is_wild(part)).map(str::len).sum::<usize>();
    let (fixed, rest) = path.split_at_checked(wild)?;
    let real = around.files.follow(Path::new(&glob::literal(fixed.trim_end_matches('/'))))?;
    Some(format!("{}/{rest}", real.to_str()?.trim_end_matches('/')))
}

/// The path without `.`, `..` and doubled slashes, and whether it is a pattern for everything in a directory.
fn absolute(named: Named<'_>, around: &Surroundings<'_>) -> (String, bool) {
    let text = named.text;
    let home = around.home.and_then(Path::to_str);
    let (base, rest) = match (text.strip_prefix('/'), text.strip_prefix('~'), home) {
        (Some(rest), _, _) => ("", rest),
        (None, Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => (home, rest),
        _ => (named.cwd, text),
    };
    let mut path = String::with_capacity(base.len() + rest.len() + 1);
    walk(base, &mut path);
    walk(rest, &mut path);
    while let Some(rest) = below_root_of_a_process(&path, named.pattern) {
        path = rest.to_owned();
    }
    let all = named.pattern && path.rsplit('/').next().is_some_and(glob::takes_all);
    if path.is_empty() {
        path.push('/');
    }
    if named.pattern && !glob::is_wild(&path) {
        path = glob::literal(&path);
    }
    (path, all)
}

/// `/proc/PID/root/etc/shadow` is `/etc/shadow`, whoever the process is: its root is nearly always the machine's.
fn below_root_of_a_process(path: &str, pattern: bool) -> Option<&str> {
    let rest = own_of_a_process(path)?;
    let (name, after) = rest.find('/').and_then(|end| rest.split_at_checked(end)).unwrap_or((rest, ""));
    let named =
        name == "root" || pattern && !after.is_empty() && glob::is_wild(name) && glob::matches(name, "root");
    named.then_some(after)
}

/// Whether a path leads through the directory in which a process happens to stand.
pub(crate) fn is_of_a_process(path: &str) -> bool {
    own_of_a_process(path).and_then(|rest| rest.split('/').next()) == Some("cwd")
}

/// What follows `/proc/PID/` or `/proc/PID/task/TID/`.
fn own_of_a_process(path: &str) -> Option<&str> {
    let (_, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    Some(rest.strip_prefix("task/").and_then(|rest| rest.split_once('/')).map_or(rest, |(_, rest)| rest))
}

/// An absolute path without `.`, `..` and doubled slashes; a relative one as it is.
pub(crate) fn tidy(path: &str) -> Cow<'_, str> {
    if !path.starts_with('/') {
        return Cow::Borrowed(path);
    }
    let mut tidy = String::with_capacity(path.len());
    walk(path, &mut tidy);
    Cow::Owned(tidy)
}

fn walk(text: &str, path: &mut String) {
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => path.truncate(path.rfind('/').unwrap_or(0)),
            _ => {
                path.push('/');
                path.push_str(part);
                // What follows is measured from there, `..` included.
                if part == "root" && below_root_of_a_process(path, false) == Some("") {
                    path.clear();
                }
            }
        }
    }
}

/// What paths are measured against.
struct View<'a> {
    home: Option<&'a str>,
    workspace: Option<&'a str>,
    purpose: Purpose,
    recursive: bool,
}

impl<'a> View<'a> {
    fn new(around: &Surroundings<'a>) -> Self {
        let trimmed = |path: &'a Path| {
            path.to_str().map(|text| if text.len() > 1 { text.trim_end_matches('/') } else { text })
        };
        View {
            home: around.home.and_then(trimmed),
            // A workspace that is the whole machine is none.
            workspace: around.workspace.and_then(trimmed).filter(|root| *root != "/" && !root.is_empty()),
            purpose: Purpose::Read,
            recursive: false,
        }
    }

    fn place(&self, path: &str, pattern: bool, all: bool) -> Place {
        let pattern = pattern && glob::is_wild(path);
        if (path.starts_with("/dev") || path.starts_with("/proc"))
            && places::NOWHERE.iter().any(|device| is_below(path, device))
        {
            return Place::Nowhere;
        }
        // What a pattern for everything takes is the directory itself, as far as damage goes.
        let taken = if all { parent(path).unwrap_or("/") } else { path };
        let damages = self.purpose == Purpose::Delete || self.purpose == Purpose::Write && self.recursive;
        if damages && self.is_vital(taken, all) {
            return Place::Vital;
        }
        if is_secret(path, pattern, self.home) {
            return Place::Credential;
        }
        if let Some(root) = self.workspace
            && let Some(inside) = below(path, root)
        {
            return inside_place(inside, pattern);
        }
        if let Some(place) = self.elsewhere(path) {
            return place;
        }
        Place::Outside
    }

    fn elsewhere(&self, path: &str) -> Option<Place> {
        let temporary = |path: &str| places::TEMPORARY.iter().any(|directory| is_below(path, directory));
        if temporary(path) {
            // In containers a home may lie below a temporary directory. What is in it decides what runs all the same.
            let home = self.home.filter(|home| temporary(home) && !places::TEMPORARY.contains(home));
            let at_home = home.is_some_and(|home| is_below(path, home));
            return Some(if at_home { Place::Outside } else { Place::Temporary });
        }
        if self.home.is_some_and(|home| home != "/" && is_below(path, home)) {
            return Some(Place::Outside);
        }
        if let Some(device) = below(path, "/dev") {
            let disk = places::DISKS.iter().any(|disk| device.starts_with(disk));
            return Some(match self.purpose {
                Purpose::Read if disk => Place::Outside,
                Purpose::Read => Place::System,
                Purpose::Write | Purpose::Delete => Place::Vital,
            });
        }
        let own = |directory: &&str| is_below(path, directory);
        if self.purpose == Purpose::Read && places::HOMES_OF_THE_SYSTEM.iter().any(own) {
            return Some(Place::Outside);
        }
        if places::SYSTEM.iter().any(|directory| is_below(path, directory)) {
            return Some(Place::System);
        }
        if path == "/" || path.starts_with("/*") {
            // Reading everything below the root reads other people's files too.
            return Some(if self.purpose == Purpose::Read && self.recursive {
                Place::Outside
            } else {
                Place::System
            });
        }
        None
    }

    /// The root, a home, the workspace itself or what holds it, a whole system directory.
    fn is_vital(&self, path: &str, all: bool) -> bool {
        if path == "/" {
            return true;
        }
        if self.home.is_some_and(|home| is_below(home, path)) {
            return true;
        }
        if let Some(root) = self.workspace {
            if root == path {
                return self.purpose == Purpose::Delete && (self.recursive || !all);
            }
            if is_below(root, path) {
                return true;
            }
        }
        let top = path.matches('/').count() == 1;
        if top
            && (places::SYSTEM.contains(&path)
                || matches!(path, "/home" | "/Users" | "/mnt" | "/media" | "/srv"))
        {
            return true;
        }
        if places::TEMPORARY.contains(&path) {
            return !all;
        }
        // Somebody's home.
        (path.starts_with("/home/") || path.starts_with("/Users/"))
            && path.matches('/').count() == 2
            && self.workspace.is_none_or(|root| !is_below(path, root))
    }
}

/// What a path below the workspace's root is (relative, empty for the root itself).
fn inside_place(inside: &str, pattern: bool) -> Place {
    let mut generated = false;
    let mut rest = inside;
    while !rest.is_empty() {
        let (part, after) = rest.split_once('/').unwrap_or((rest, ""));
        // A pattern for a kind of file (`*.json`) does not ask for the one that is meant; one for its name does.
        let pattern = pattern && (part.starts_with('.') || glob::literals(stem(part)) > 0);
        if places::PROTECTED
            .iter()
            .any(|(name, under)| part_fits(part, name, pattern) && covers(under, after, pattern))
        {
            return Place::Protected;
        }
        generated |= places::GENERATED.contains(&part);
        if after.is_empty() {
            generated |= places::GENERATED_ENDINGS
                .iter()
                .any(|ending| part.ends_with(ending) && part.len() > ending.len());
        }
        rest = after;
    }
    if generated { Place::Generated } else { Place::Workspace }
}

/// A name without what says of which kind the file is.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Whether a path (absolute) holds keys, tokens or passwords.
fn is_secret(path: &str, pattern: bool, home: Option<&str>) -> bool {
    if secret_path(path, pattern) {
        return true;
    }
    if let Some(below_home) = home.and_then(|home| below(path, home))
        && places::SECRET_AT_HOME.iter().any(|secret| is_below_ignoring_case(below_home, secret))
    {
        return true;
    }
    let mut rest = path.strip_prefix('/').unwrap_or(path);
    loop {
        let (part, after) = rest.split_once('/').unwrap_or((rest, ""));
        if part.starts_with('.') || pattern && part.starts_with('[') {
            for (name, under) in places::SECRET_BELOW {
                if part_fits(part, name, pattern) && covers(under, after, pattern) && !is_public(after) {
                    return true;
                }
            }
        }
        if after.is_empty() {
            return secret_name(part, pattern);
        }
        rest = after;
    }
}

/// The public half of a key, and lists of known hosts, are no secret in themselves.
fn is_public(after: &str) -> bool {
    let last = after.rsplit('/').next().unwrap_or(after);
    last.len() > 4 && last.ends_with(".pub")
}

fn secret_path(path: &str, pattern: bool) -> bool {
    // Where the first name is certain, it says whether a closer look can find anything.
    let first = path.strip_prefix('/').unwrap_or(path).split('/').next().unwrap_or_default();
    let listed = matches!(first, "etc" | "proc" | "dev" | "run" | "var" | "private" | "Library" | "System");
    if !(listed || pattern && glob::has_marks(first)) {
        return false;
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    places::SECRET_PATHS.iter().any(|secret| {
        let mut parts = path.split('/');
        let mut wanted = secret.split('/');
        loop {
            match (wanted.next(), parts.next()) {
                // Over all directories, the name at the end decides.
                (Some(_), Some("**")) if pattern && last != "**" => {
                    let name = secret.rsplit('/').next().unwrap_or_default();
                    return !glob::takes_all(last) && name != "*" && glob::matches(last, name);
                }
                (None, _) => return true,
                (Some(_), None) => return false,
                (Some("*"), Some(_)) => {}
                (Some(wanted), Some(part)) => {
                    let fits = if pattern && glob::is_wild(part) {
                        glob::matches(part, wanted)
                    } else {
                        part == wanted
                    };
                    if !fits {
                        return false;
                    }
                }
            }
        }
    })
}

/// Whether the last name of a path is that of a secret.
pub(crate) fn secret_name(name: &str, pattern: bool) -> bool {
    if pattern && glob::is_wild(name) {
        return secret_pattern(name);
    }
    if name.starts_with('.')
        && let Some(kind) = strip_ignoring_case(name, ".env.")
    {
        let last = kind.rsplit('.').next().unwrap_or(kind);
        return !places::ENV_HARMLESS.iter().any(|harmless| last.eq_ignore_ascii_case(harmless));
    }
    if places::SECRET_NAMES.iter().any(|secret| name.eq_ignore_ascii_case(secret)) {
        return true;
    }
    if places::SECRET_ENDINGS.iter().any(|ending| ends_ignoring_case(name, ending)) {
        return true;
    }
    if let Some((stem, extension)) = name.split_once('.') {
        return places::SECRET_STEMS.iter().any(|secret| stem.eq_ignore_ascii_case(secret))
            && places::SECRET_EXTENSIONS.iter().any(|data| {
                extension.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(data))
            });
    }
    false
}

/// Whether a pattern for names asks for a secret: it fits one, and it has letters that say so. A plain `*` or
/// `*.json` does not.
fn secret_pattern(pattern: &str) -> bool {
    let lower = pattern.to_ascii_lowercase();
    if places::SECRET_ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
        return true;
    }
    if pattern.starts_with('.') && (glob::matches(&lower, ".env") || glob::matches(&lower, ".env.local")) {
        return true;
    }
    // The ending says what kind of file it is; what stands before it must ask for a secret.
    let stem = match lower.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => lower.as_str(),
    };
    let named = |pattern: &str, names: &[&str]| {
        glob::literals(pattern) >= 2 && names.iter().any(|secret| glob::matches(pattern, secret))
    };
    if lower.starts_with('.') || !lower.contains('.') {
        named(&lower, places::SECRET_NAMES)
    } else {
        named(stem, places::SECRET_STEMS) || named(&lower, &["id_rsa", "id_ed25519"])
    }
}

/// Whether one part of a path is this name.
fn part_fits(part: &str, name: &str, pattern: bool) -> bool {
    if part.eq_ignore_ascii_case(name) {
        return true;
    }
    pattern && glob::is_wild(part) && glob::matches(part, name)
}

/// Whether what follows a directory is meant by the list of what lies below it.
fn covers(under: &[&str], after: &str, pattern: bool) -> bool {
    under.is_empty()
        || under.iter().any(|wanted| {
            if let Some(start) = wanted.strip_suffix('*') {
                return strip_ignoring_case(after, start).is_some();
            }
            if is_below_ignoring_case(after, wanted) {
                return true;
            }
            pattern && glob::is_wild(after) && glob::literals(after) > 0 && glob::matches(after, wanted)
        })
}

/// `path` is `directory` or below it: the rest, without a slash in front.
pub(crate) fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() || directory.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
}

fn is_below(path: &str, directory: &str) -> bool {
    below(path, directory).is_some()
}

fn is_below_ignoring_case(path: &str, directory: &str) -> bool {
    strip_ignoring_case(path, directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn strip_ignoring_case<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

fn ends_ignoring_case(text: &str, ending: &str) -> bool {
    text.len() > ending.len()
        && text
            .split_at_checked(text.len() - ending.len())
            .is_some_and(|(_, tail)| tail.eq_ignore_ascii_case(ending))
}

fn parent(path: &str) -> Option<&str> {
    let (parent, _) = path.rsplit_once('/')?;
    Some(if parent.is_empty() { "/" } else { parent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::NoFiles;

    fn place(path: &str, home: &str, workspace: &str) -> Place {
        let around = Surroundings {
            cwd: Path::new(workspace),
            home: Some(Path::new(home)),
            user: None,
            workspace: Some(Path::new(workspace)),
            files: &NoFiles,
        };
        let named = Named { text: path, pattern: glob::is_wild(path), cwd: workspace };
        target(named, Purpose::Write, false, &around).0.place
    }

    #[test]
    fn a_home_below_a_temporary_directory_is_a_home() {
        for (path, home, expected) in [
            ("/tmp/home/.bashrc", "/tmp/home", Place::Outside),
            ("/tmp/home/.claude/settings.json", "/tmp/home", Place::Outside),
            ("/tmp/home/work/x", "/tmp/home", Place::Workspace),
            ("/tmp/home/work/.envrc", "/tmp/home", Place::Protected),
            ("/tmp/homeless/x", "/tmp/home", Place::Temporary),
            ("/tmp/x", "/tmp/home", Place::Temporary),
            ("/tmp/x", "/tmp", Place::Temporary),
            ("/tmp/x", "/home/me", Place::Temporary),
            ("/home/me/.bashrc", "/home/me", Place::Outside),
        ] {
            assert_eq!(place(path, home, "/tmp/home/work"), expected, "{path} where home is {home}");
        }
    }

    #[test]
    fn what_the_fence_protects_in_a_workspace_the_gate_protects_and_the_other_way_round() {
        let fence = include_str!("../../fence/knowledge/workspace.txt");
        let protected: Vec<&str> = fence.lines().filter_map(|line| line.strip_prefix("protect ")).collect();
        assert!(protected.len() > 50, "the fence's list was not read");
        for path in &protected {
            assert_eq!(inside_place(path, false), Place::Protected, "the fence protects {path}");
        }
        // Git has to write its own files: there the fence protects the few that decide what runs.
        for (name, under) in places::PROTECTED.iter().filter(|(name, _)| *name != ".git") {
            let paths = if under.is_empty() {
                vec![(*name).to_owned()]
            } else {
                under.iter().map(|below| format!("{name}/{below}")).collect()
            };
            for path in paths {
                assert!(protected.contains(&path.as_str()), "the fence does not protect {path}");
            }
        }
    }

    #[test]
    fn a_pattern_for_a_kind_of_file_asks_for_no_file_in_particular() {
        for (path, expected) in [
            ("*.json", Place::Workspace),
            ("*", Place::Workspace),
            ("**/*.yml", Place::Workspace),
            ("[a-z]*.yml", Place::Workspace),
            ("lefthook.*", Place::Protected),
            ("open*.json", Place::Protected),
            ("package.json", Place::Workspace),
            (".hg/store/x", Place::Workspace),
            (".cargo/registry", Place::Workspace),
            (".env*c", Place::Protected),
        ] {
            assert_eq!(place(path, "/home/me", "/work/project"), expected, "{path}");
        }
    }
}
