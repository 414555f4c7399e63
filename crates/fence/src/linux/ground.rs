//! The fence without namespaces, where a machine forbids them: Landlock and seccomp alone. Landlock only ever adds up what
//! may be touched, so it cannot hold a plan that takes something away inside a place that may be written; such a plan is
//! refused.

use std::path::{Path, PathBuf};

use super::landlock;
use super::lay::{Lay, lay};
use crate::network::Network;
use crate::outcome::Refusal;
use crate::plan::{Access, Plan};
use crate::terrain::{Kind, Terrain};

/// Of `/proc`, what tells about the machine and not about others' processes.
const PROC: [&str; 12] = [
    "cpuinfo",
    "meminfo",
    "stat",
    "uptime",
    "loadavg",
    "version",
    "filesystems",
    "vmstat",
    "zoneinfo",
    "swaps",
    "cgroups",
    "sys",
];
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// So many entries of a directory are looked at to leave one of them out.
const LOOKED_AT: usize = 4000;

/// Why a plan cannot be held without namespaces.
fn unfit(what: &str) -> Refusal {
    Refusal::Fence {
        missing: format!("without namespaces, Landlock cannot hold this plan: {what}"),
        help: format!("{}; or do without it in your own configuration", super::NAMESPACES),
    }
}

/// The rights that Landlock gives for a plan, if it can hold it. `scratch` is a directory of the fence's own.
pub(crate) fn rights(
    plan: &Plan,
    version: u32,
    scratch: &Path,
    terrain: &dyn Terrain,
) -> Result<Vec<(PathBuf, u64)>, Refusal> {
    if version < landlock::SCOPED {
        return Err(unfit(&format!("version 6 is needed (Linux 6.12), and this kernel has {version}")));
    }
    if let Network::Allow(_) = plan.network {
        return Err(unfit(
            "hosts cannot be told apart without a network of the fence's own (`sandbox.network`)",
        ));
    }
    if let Some(name) = plan.forbidden.first().or(plan.fresh.first()) {
        return Err(unfit(&format!("{} could be made (`sandbox.protect: false` lets it)", name.display())));
    }
    let all = landlock::rights(version);
    let mut given = vec![(scratch.to_path_buf(), all)];
    let places = lay(plan);
    let hidden = places.iter().filter(|lay| *lay.access == Access::Hidden || lay.is_carved());
    let hidden: Vec<&Path> = hidden.map(|lay| lay.path).filter(|path| is_open_to_us(path)).collect();
    for Lay { path, access, above, .. } in places.iter().copied() {
        match access {
            Access::Protected => {
                return Err(unfit(&format!(
                    "{} could be changed (`sandbox.protect: false` lets it)",
                    path.display()
                )));
            }
            Access::Hidden | Access::Scratch if matches!(above, Some(Access::Write | Access::Protected)) => {
                return Err(unfit(&format!(
                    "{} could be read, since it is in a writable place",
                    path.display()
                )));
            }
            Access::Read if above == Some(&Access::Write) => {
                return Err(unfit(&format!(
                    "{} could be changed, since it is in a writable place",
                    path.display()
                )));
            }
            Access::Hidden | Access::Scratch | Access::Link(_) => {}
            Access::Write => given.push((path.to_path_buf(), of_kind(path, all, terrain))),
            Access::Read if above == Some(&Access::Read) => {}
            Access::Read => show(&hidden, path, &mut given, terrain)?,
        }
    }
    for name in PROC {
        let path = Path::new("/proc").join(name);
        if terrain.look(&path).is_some() {
            given.push((path.clone(), of_kind(&path, landlock::READ, terrain)));
        }
    }
    // The rights to this end with the process that it is of: a child has a directory of its own, and no rights to it.
    given.push((PathBuf::from("/proc/self"), landlock::READ));
    for device in DEVICES {
        given.push((Path::new("/dev").join(device), landlock::FILE));
    }
    Ok(given)
}

/// Gives a place to read, but for what is hidden in it.
fn show(
    hidden: &[&Path],
    path: &Path,
    given: &mut Vec<(PathBuf, u64)>,
    terrain: &dyn Terrain,
) -> Result<(), Refusal> {
    let holds_hidden = |below: &Path| hidden.iter().any(|place| place.starts_with(below));
    let mut open = vec![(path.to_path_buf(), terrain.look(path) == Some(Kind::Directory))];
    let mut looked_at = 0;
    while let Some((path, is_directory)) = open.pop() {
        if !holds_hidden(&path) {
            given.push((path, if is_directory { landlock::READ } else { landlock::READ & landlock::FILE }));
            continue;
        }
        if hidden.contains(&path.as_path()) {
            continue;
        }
        for entry in path.read_dir().map_err(|error| unfit(&format!("{}: {error}", path.display())))? {
            looked_at += 1;
            let Ok(entry) = entry else { continue };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() || kind.is_file() => open.push((entry.path(), kind.is_dir())),
                _ => {}
            }
        }
        if looked_at > LOOKED_AT {
            return Err(unfit(&format!("there is too much beside what is hidden in {}", path.display())));
        }
    }
    Ok(())
}

/// How many processes the user has already: the kernel counts them all together where there are no namespaces.
pub(crate) fn running(user: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = Path::new("/proc").read_dir() else { return 0 };
    let processes = entries.flatten().filter(|entry| {
        entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit)
            && entry.metadata().is_ok_and(|process| process.uid() == user)
    });
    processes.count() as u64
}

/// What the user may not read anyway needs no hiding.
fn is_open_to_us(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

/// A file takes fewer rights than a directory.
fn of_kind(path: &Path, rights: u64, terrain: &dyn Terrain) -> u64 {
    if terrain.look(path) == Some(Kind::Directory) { rights } else { rights & landlock::FILE }
}
