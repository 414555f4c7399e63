//! A control group for one fence: the only limit on the memory of a whole tree of processes, and the only one on their number
//! that binds root. Where the user may make one (as root, or where a session manager delegates), it is made; elsewhere each
//! process has its own limits, and that is said.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::plan::Limits;

/// Where control groups are mounted.
const MOUNTED: &str = "/sys/fs/cgroup";
/// Tries to remove a group whose last process is still being buried.
const BURIALS: u32 = 50;

/// Directories of a control group that is ours. They are removed with this.
#[derive(Debug)]
pub(crate) struct Group {
    directories: Vec<PathBuf>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Version 2: one tree.
    Unified,
    /// Version 1: a tree for memory, a tree for processes.
    Separate,
}

impl Kind {
    /// The file of a directory to which a process writes `0` to join. A process of one thread that moves that thread need not wait
    /// until every processor has seen that processes are being moved, which takes longer than all the rest of a fence.
    const fn door(self) -> &'static str {
        match self {
            Kind::Unified => "cgroup.procs",
            Kind::Separate => "tasks",
        }
    }
}

impl Group {
    /// Makes a group, without limits yet; `None` where that is not ours to do.
    pub(crate) fn make() -> Option<Group> {
        let own = read(Path::new("/proc/self/cgroup"))?;
        Group::unified(&own).or_else(|| Group::separate(&own))
    }

    /// Sets its limits; whether they hold.
    pub(crate) fn limit(&self, limits: &Limits) -> bool {
        let memory = limits.memory_mb.saturating_mul(1024 * 1024).to_string();
        let processes = limits.processes.to_string();
        match (self.kind, self.directories.as_slice()) {
            (Kind::Unified, [directory]) => {
                let set = write(&directory.join("memory.max"), &memory)
                    && write(&directory.join("pids.max"), &processes);
                let _swapless = write(&directory.join("memory.swap.max"), "0");
                set
            }
            (Kind::Separate, [of_memory, of_processes]) => {
                write(&of_memory.join("memory.limit_in_bytes"), &memory)
                    && write(&of_processes.join("pids.max"), &processes)
            }
            _ => false,
        }
    }

    /// Files to which a process writes `0` to join.
    pub(crate) fn doors(&self) -> Vec<PathBuf> {
        self.directories.iter().map(|directory| directory.join(self.kind.door())).collect()
    }

    /// A group with processes has no children with limits, so ours is beside our own.
    fn unified(own: &str) -> Option<Group> {
        let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let parent = Path::new(MOUNTED).join(path).parent()?.to_path_buf();
        if !parent.starts_with(MOUNTED) {
            return None;
        }
        let handed_on = read(&parent.join("cgroup.subtree_control"))?;
        if !["memory", "pids"].iter().all(|wanted| handed_on.split_whitespace().any(|word| word == *wanted)) {
            return None;
        }
        let mut group = Group { directories: Vec::new(), kind: Kind::Unified };
        group.directory(&parent)?;
        Some(group)
    }

    fn separate(own: &str) -> Option<Group> {
        let mut group = Group { directories: Vec::new(), kind: Kind::Separate };
        for controller in ["memory", "pids"] {
            let path = own.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let names = fields.next()?;
                names.split(',').any(|name| name == controller).then(|| fields.next())?
            })?;
            group.directory(&Path::new(MOUNTED).join(controller).join(path.trim_start_matches('/')))?;
        }
        Some(group)
    }

    fn directory(&mut self, parent: &Path) -> Option<()> {
        static COUNTED: AtomicU32 = AtomicU32::new(0);
        let number = COUNTED.fetch_add(1, Ordering::Relaxed);
        let directory = parent.join(format!("bailiwick-{}-{number}", std::process::id()));
        std::fs::create_dir(&directory).ok()?;
        self.directories.push(directory);
        Some(())
    }
}

/// One run in so many looks for what others left.
const SWEEPS: u32 = 8;

/// Removes empty groups of runs that were killed: what is named after a process that is no more.
fn sweep(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix("bailiwick-"))
            .and_then(|rest| rest.split('-').next());
        let Some(owner) = owner.and_then(|owner| owner.parse::<u32>().ok()) else { continue };
        if !Path::new("/proc").join(owner.to_string()).exists() {
            // One that is still in use is busy.
            let _busy = std::fs::remove_dir(entry.path());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if std::process::id().is_multiple_of(SWEEPS) {
            self.directories.iter().filter_map(|directory| directory.parent()).for_each(sweep);
        }
        for directory in &self.directories {
            for _ in 0..BURIALS {
                match std::fs::remove_dir(directory) {
                    Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                        std::thread::sleep(std::time::Duration::from_micros(200));
                    }
                    _ => break,
                }
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "control groups are files")]
fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[expect(clippy::disallowed_methods, reason = "control groups are files")]
fn write(path: &Path, text: &str) -> bool {
    std::fs::write(path, text).is_ok()
}
