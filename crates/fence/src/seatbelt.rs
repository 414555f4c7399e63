//! The text of a macOS sandbox profile (SBPL, for `sandbox-exec -p`) that holds a plan. Pure; running it is the backend's.
//!
//! In SBPL the last rule that matches decides. The plan's "nearest place above holds" therefore becomes: places from the
//! outside in, each saying everything about what is below it, so that a later, nearer one overrules. After them come the
//! denials that nothing may overrule: names of directories that must not be moved away, forbidden names, and hidden places
//! at the very end. The kernel asks about real paths, so `/tmp`, `/var` and `/etc` are written as `/private/…`.
//!
//! Where SBPL is less than the plan, the profile is stricter, never wider:
//! - It cannot give a place an empty stand-in. The machine's own `/tmp` or home is *not* opened for a scratch place: there is
//!   one private directory ([`Site::scratch`]), and `TMPDIR` leads there ([`environment`]).
//! - It cannot tell the fence's own loopback from everybody's: without network, loopback is closed too.
//! - It cannot look at what a new repository has in it: none can be made where the plan would have it looked at.
//! - Hard links are refused: whether `file-link` is asked of the old name or the new one differs between reports.
//!
//! What it does not hold at all is for the backend: limits, a terminal of its own (TIOCSTI is an ioctl like others here), and
//! descriptors that were open before.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use crate::knowledge::lines;
use crate::network::Network;
use crate::plan::{Access, Plan, Reach};
use crate::unfit::Unfit;

const MACOS: &str = include_str!("../knowledge/macos.txt");

/// Symlinks of every macOS at the root of its file system.
const ALIASES: [&str; 3] = ["/tmp", "/var", "/etc"];

/// What the backend has made for this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// An empty directory that only this run uses, by its real path.
    pub scratch: PathBuf,
    /// The port on loopback where connections by name are asked for.
    pub proxy: Option<u16>,
}

/// The profile.
///
/// # Errors
/// A path that cannot be written in a profile without doubt, or something that the plan needs and the site has not.
pub fn profile(plan: &Plan, site: &Site) -> Result<String, Unfit> {
    let mut unfit = Vec::new();
    let whole = on_this_ground(plan, site, &mut unfit);
    let mut text = String::from("(version 1)\n(deny default)\n");
    base(&mut text);
    for (path, access) in &whole.places {
        place(&mut text, path, access, &mut unfit);
    }
    if !plan.execute_scratch {
        let scratch = subpath(&real(&site.scratch), &mut unfit);
        rule(&mut text, "deny process-exec* file-map-executable", &scratch);
    }
    pins(&mut text, &whole, &mut unfit);
    forbidden(&mut text, &whole, &mut unfit);
    for (path, access) in &whole.places {
        if *access == Access::Hidden {
            nothing(&mut text, path, &mut unfit);
        }
    }
    network(&mut text, &plan.network, site, &mut unfit);
    Unfit::unless(unfit, text)
}

/// The plan's environment with temporary files in the private directory.
#[must_use]
pub fn environment(plan: &Plan, site: &Site) -> BTreeMap<OsString, OsString> {
    let mut environment = plan.environment.clone();
    environment.insert("TMPDIR".into(), site.scratch.clone().into());
    environment
}

/// The plan by real paths, with what macOS itself needs, and with the private directory.
fn on_this_ground(plan: &Plan, site: &Site, unfit: &mut Vec<String>) -> Plan {
    let mut whole = Plan { places: BTreeMap::new(), ..plan.clone() };
    for (path, access) in &plan.places {
        let path = match access {
            // The link itself, not what it leads to.
            Access::Link(_) => match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => real(parent).join(name),
                _ => path.clone(),
            },
            _ => real(path),
        };
        // Two names for one place: the stricter word holds.
        let kept = whole.places.entry(path).or_insert_with(|| access.clone());
        if severity(access) > severity(kept) {
            *kept = access.clone();
        }
    }
    // What is made in a new repository cannot be looked at by a rule: none is made.
    whole.forbidden = plan.forbidden.iter().chain(&plan.fresh).map(|name| real(name)).collect();
    for (word, path) in lines(MACOS) {
        match word {
            "show" => whole.places.entry(path.into()).or_insert(Access::Read),
            "hide" => whole.places.entry(path.into()).insert_entry(Access::Hidden).into_mut(),
            _ => continue,
        };
    }
    let scratch = real(&site.scratch);
    let taken = whole.places.keys().find(|place| place.starts_with(&scratch)).is_some()
        || whole.above(&scratch).is_some_and(|(_, access)| *access != Access::Scratch)
        || scratch.ancestors().any(|above| whole.places.get(above) == Some(&Access::Hidden));
    if taken {
        unfit.push(format!(
            "{} is part of the plan already and cannot be its scratch place",
            scratch.display()
        ));
    }
    whole.places.insert(scratch, Access::Write);
    whole
}

const fn severity(access: &Access) -> u8 {
    match access {
        Access::Write => 0,
        Access::Read => 1,
        Access::Protected => 2,
        Access::Link(_) => 3,
        Access::Scratch => 4,
        Access::Hidden => 5,
    }
}

/// The path as the kernel sees it.
fn real(path: &Path) -> PathBuf {
    match ALIASES.iter().find(|alias| path.starts_with(alias)) {
        Some(_) => Path::new("/private").join(path.strip_prefix("/").unwrap_or(path)),
        None => path.to_path_buf(),
    }
}

/// What every program may do: be processes, among themselves, on this machine.
fn base(text: &mut String) {
    text.push_str(
        "(allow process-fork)\n\
         (allow process-info* (target same-sandbox))\n\
         (allow signal (target same-sandbox))\n\
         (allow mach-priv-task-port (target same-sandbox))\n\
         (allow pseudo-tty)\n\
         (allow ipc-posix-sem)\n\
         (allow system-socket (socket-domain AF_UNIX))\n\
         (allow ipc-posix-shm-read* (ipc-posix-name \"apple.shm.notification_center\"))\n\
         (allow file-read* (literal \"/\"))\n\
         (allow file-read-metadata (literal \"/tmp\") (literal \"/var\") (literal \"/etc\"))\n\
         (allow file-read* file-write-data file-ioctl (regex \"^/dev/ttys[0-9]+$\"))\n\
         (allow file-read* file-write-data (subpath \"/dev/fd\"))\n",
    );
    for (word, name) in lines(MACOS) {
        let _infallible = match (word, name.strip_suffix('*')) {
            ("device", _) => {
                writeln!(text, "(allow file-read* file-write-data file-ioctl (literal \"{name}\"))")
            }
            ("mach", _) => writeln!(text, "(allow mach-lookup (global-name \"{name}\"))"),
            ("sysctl", Some(start)) => {
                writeln!(text, "(allow sysctl-read (sysctl-name-prefix \"{start}\"))")
            }
            ("sysctl", None) => writeln!(text, "(allow sysctl-read (sysctl-name \"{name}\"))"),
            ("memory", Some(start)) => writeln!(
                text,
                "(allow ipc-posix-shm-read* ipc-posix-shm-write* (ipc-posix-name-prefix \"{start}\"))"
            ),
            _ => Ok(()),
        };
    }
}

const READ: &str = "file-read* file-test-existence file-map-executable process-exec*";
const CHANGE: &str = "file-write* file-link file-ioctl";
const SOCKET: &str = "network-bind network-inbound network-outbound";

/// All that the plan says of one place and what is below it, up to the next place.
fn place(text: &mut String, path: &Path, access: &Access, unfit: &mut Vec<String>) {
    match access {
        Access::Read | Access::Protected => {
            ancestors(text, path, unfit);
            rule(text, &format!("allow {READ}"), &subpath(path, unfit));
            rule(text, &format!("deny {CHANGE}"), &subpath(path, unfit));
            rule(text, &format!("deny {SOCKET}"), &sockets(path, unfit));
        }
        Access::Write => {
            ancestors(text, path, unfit);
            rule(text, &format!("allow {READ} file-write* file-ioctl"), &subpath(path, unfit));
            rule(text, &format!("allow {SOCKET}"), &sockets(path, unfit));
            // What would later be run outside with more than the fence gives.
            rule(text, "deny file-write-setugid", &subpath(path, unfit));
        }
        Access::Link(_) => {
            ancestors(text, path, unfit);
            rule(text, "allow file-read* file-test-existence", &literal(path, unfit));
            rule(text, &format!("deny {CHANGE}"), &subpath(path, unfit));
        }
        Access::Scratch | Access::Hidden => nothing(text, path, unfit),
    }
}

/// Nothing of this place is there.
fn nothing(text: &mut String, path: &Path, unfit: &mut Vec<String>) {
    rule(text, &format!("deny {READ} {CHANGE}"), &subpath(path, unfit));
    rule(text, &format!("deny {SOCKET}"), &sockets(path, unfit));
}

/// Directories above a place must be passed through; what they hold is not listed.
fn ancestors(text: &mut String, path: &Path, unfit: &mut Vec<String>) {
    for above in path.ancestors().skip(1).filter(|above| above.parent().is_some()) {
        rule(text, "allow file-read-metadata file-test-existence", &literal(above, unfit));
    }
}

/// A rule is about paths: whoever moves a directory away takes what is below it out of the rules. Every directory above a
/// place or a forbidden name, and every place, keeps its name.
fn pins(text: &mut String, plan: &Plan, unfit: &mut Vec<String>) {
    let places = plan.places.keys().flat_map(|place| place.ancestors());
    let names = plan.forbidden.iter().flat_map(|name| name.ancestors().skip(1));
    let pinned: BTreeSet<&Path> =
        places.chain(names).filter(|path| plan.reach(path) == Reach::Write).collect();
    for path in pinned {
        rule(text, "deny file-write-unlink", &literal(path, unfit));
    }
}

/// Names that must not come into being. A rule needs nothing to stand on, so missing names are denied as they are. A missing
/// directory above one is denied too: a directory with the name already in it could be moved there. Most macOS file systems
/// take any case for the same name, so every case is written out.
fn forbidden(text: &mut String, plan: &Plan, unfit: &mut Vec<String>) {
    let mut parents = BTreeSet::new();
    for name in &plan.forbidden {
        let Some((root, _)) = plan.above(name) else { continue };
        rule(text, &format!("deny {CHANGE}"), &any_case(root, name, "(/.*)?", unfit));
        rule(text, &format!("deny {SOCKET}"), &unix(&any_case(root, name, "(/.*)?", unfit)));
        parents
            .extend(name.ancestors().skip(1).take_while(|above| *above != root).map(|above| (root, above)));
    }
    for (root, above) in parents {
        if !plan.places.contains_key(above) {
            rule(text, "deny file-write-create", &any_case(root, above, "", unfit));
        }
    }
}

fn network(text: &mut String, network: &Network, site: &Site, unfit: &mut Vec<String>) {
    match (network, site.proxy) {
        (Network::Off, _) => {}
        (Network::Allow(hosts), _) if hosts.is_empty() => {}
        (Network::Allow(_), Some(port)) if port != 0 => {
            rule(text, "allow network-outbound", &format!("(remote ip \"localhost:{port}\")"));
        }
        (Network::Allow(_), _) => unfit
            .push("connections by name need the fence's own proxy on loopback, and it has no port".into()),
        // Addresses of the network only: sockets of programs on this machine stay closed, but for the one that finds names.
        (Network::Open, _) => {
            rule(text, "allow network-outbound", "(remote ip \"*:*\")");
            rule(text, "allow network-bind network-inbound", "(local ip \"*:*\")");
            rule(
                text,
                "allow network-outbound",
                "(remote unix-socket (literal \"/private/var/run/mDNSResponder\"))",
            );
            rule(text, "allow file-read*", "(literal \"/private/var/run/resolv.conf\")");
            rule(text, "allow sysctl-read", "(sysctl-name-prefix \"net.routetable\")");
            for (_, name) in lines(MACOS).filter(|line| line.0 == "connect") {
                rule(text, "allow mach-lookup", &format!("(global-name \"{name}\")"));
            }
        }
    }
}

fn rule(text: &mut String, what: &str, filter: &str) {
    let _infallible = writeln!(text, "({what} {filter})");
}

fn literal(path: &Path, unfit: &mut Vec<String>) -> String {
    format!("(literal {})", quoted_path(path, unfit))
}

/// The path and everything below it.
fn subpath(path: &Path, unfit: &mut Vec<String>) -> String {
    format!("(subpath {})", quoted_path(path, unfit))
}

fn sockets(path: &Path, unfit: &mut Vec<String>) -> String {
    unix(&subpath(path, unfit))
}

fn unix(filter: &str) -> String {
    format!("(local unix-socket {filter}) (remote unix-socket {filter})")
}

/// A path as a string of SBPL. FAIL-CLOSED: what a reader of the profile could take for something else makes the plan unfit.
fn quoted_path(path: &Path, unfit: &mut Vec<String>) -> String {
    let sound = path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    match path.to_str() {
        Some(text) if sound && !text.chars().any(char::is_control) => quoted(text),
        _ => {
            unfit.push(format!(
                "{path:?} cannot be written in a profile: name it by an absolute path of plain text"
            ));
            "\"/\"".into()
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name below a root in every spelling that a file system which ignores case takes for it, followed by an expression.
fn any_case(root: &Path, name: &Path, then: &str, unfit: &mut Vec<String>) -> String {
    let below = name.strip_prefix(root).unwrap_or(name).to_str().filter(|below| below.is_ascii());
    let _checked = quoted_path(root, unfit);
    let _checked = quoted_path(name, unfit);
    let (Some(root), Some(below)) = (root.to_str(), below) else {
        unfit.push(format!(
            "{name:?} has letters whose other spellings are not known, so it cannot be forbidden"
        ));
        return "(literal \"/\")".into();
    };
    let mut expression = String::from("^");
    for letter in root.trim_end_matches('/').chars().chain(['/']) {
        expression.push_str(&exactly(letter));
    }
    match folded(below) {
        Some(spellings) => expression.push_str(&spellings),
        None => unfit.push(format!("{name:?} has too many spellings to be forbidden")),
    }
    expression.push_str(then);
    expression.push('$');
    format!("(regex {})", quoted(&expression))
}

fn exactly(letter: char) -> String {
    if "\\.^$*+?()[]{}|".contains(letter) { format!("\\{letter}") } else { letter.to_string() }
}

/// Letters beyond ASCII that fold to ASCII ones, by Unicode's table: the long s, the Kelvin sign, the sharp s, ligatures.
const FOLDS: [(&str, &str); 11] = [
    ("ffi", "\u{fb03}"),
    ("ffl", "\u{fb04}"),
    ("ff", "\u{fb00}"),
    ("fi", "\u{fb01}"),
    ("fl", "\u{fb02}"),
    ("st", "\u{fb05}"),
    ("st", "\u{fb06}"),
    ("ss", "\u{df}"),
    ("ss", "\u{1e9e}"),
    ("s", "\u{17f}"),
    ("k", "\u{212a}"),
];

/// The most letters in a row that can be part of a ligature: their spellings are all written out.
const LONGEST_RUN: usize = 8;

/// An expression for every spelling of an ASCII text; `None` where there are too many. Letters that can be part of a ligature
/// stand in short runs, and a run is the choice of all ways to write it.
fn folded(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let mut expression = String::new();
    let mut rest = text.as_str();
    while let Some(letter) = rest.chars().next() {
        let after = rest.trim_start_matches(['f', 'i', 'l', 's', 't']);
        let run = rest.strip_suffix(after).unwrap_or_default();
        if run.len() > LONGEST_RUN {
            return None;
        }
        if run.is_empty() {
            expression.push_str(&cases(letter));
            rest = rest.strip_prefix(letter).unwrap_or_default();
        } else {
            let _infallible = write!(expression, "({})", ways(run).join("|"));
            rest = after;
        }
    }
    Some(expression)
}

/// One letter in both cases and whatever folds to it alone.
fn cases(letter: char) -> String {
    if !letter.is_ascii_alphabetic() {
        return exactly(letter);
    }
    let mut choice = format!("({letter}|{}", letter.to_ascii_uppercase());
    for (_, fold) in FOLDS.iter().filter(|(plain, _)| plain.chars().eq([letter])) {
        let _infallible = write!(choice, "|{fold}");
    }
    choice.push(')');
    choice
}

/// All ways to write a short run.
fn ways(run: &str) -> Vec<String> {
    // INVARIANT: a run has at most LONGEST_RUN letters, so there are few.
    let mut ways = vec![(run, String::new())];
    let mut whole = Vec::new();
    while let Some((rest, written)) = ways.pop() {
        let mut letters = rest.chars();
        let Some(first) = letters.next() else {
            whole.push(written);
            continue;
        };
        for (plain, fold) in FOLDS.iter().filter(|(plain, _)| plain.len() > 1) {
            if let Some(rest) = rest.strip_prefix(plain) {
                ways.push((rest, format!("{written}{fold}")));
            }
        }
        ways.push((letters.as_str(), format!("{written}{}", cases(first))));
    }
    whole
}
