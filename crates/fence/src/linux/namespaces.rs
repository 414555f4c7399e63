//! The full fence: the steps that make a new root from a plan, in namespaces of its own, and put the program behind Landlock
//! and seccomp in it. Carried out by the launcher as the first process of the new process namespace.
//!
//! Every mount is made of a descriptor that was opened without following a link, so nobody who can still write somewhere in
//! the workspace can lead it elsewhere.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::child::{self, Program};
use super::lay::{Lay, lay};
use super::loopback::{self, Wanted};
use super::mounts::{
    NODEV, NOEXEC, NOSUID, RDONLY, copy_mount, file_system, find, find_outside, mount_at, restrict,
};
use crate::network::Network;
use crate::plan::{Access, Plan};
use crate::sys::image::{Arg, Builder, Data, Slot, Tolerance};
use crate::sys::steps::NEXT;
use crate::terrain::{Kind, Terrain};

/// The namespaces that a fence is born into: user, mount, process, IPC, host name. Those of the network, which takes the kernel
/// longer than all the others, and of control groups follow.
pub(crate) const FLAGS: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// What the fence is built from, besides the plan.
pub(crate) struct Site<'a> {
    pub(crate) terrain: &'a dyn Terrain,
    /// What `/etc/resolv.conf` says in there, if not what it says outside.
    pub(crate) resolver: Option<&'a str>,
    pub(crate) sockets: &'a [Wanted],
}

/// Marks of descriptors that go to the supervisor.
pub(crate) const MARK_TERMINAL: i32 = 1;
pub(crate) const MARK_LISTENER: i32 = 2;
/// Sockets, counted up from here in the order in which they were wanted.
pub(crate) const MARK_SOCKET: i32 = 16;

/// Devices that every program may use.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// What of `/proc` would let a program that runs as root change the machine.
const PROC_READ_ONLY: [&str; 5] = ["sys", "sysrq-trigger", "irq", "bus", "fs"];
/// What of `/proc` tells about the machine's secrets: whether it is a directory, and whether others than root may read it.
const PROC_HIDDEN: [(&str, bool, bool); 7] = [
    ("kcore", false, false),
    ("keys", false, true),
    ("key-users", false, true),
    ("kmsg", false, false),
    ("timer_list", false, false),
    ("acpi", true, false),
    ("scsi", true, false),
];

/// What is mounted over what is hidden, and the file that says who resolves names: in a directory that nobody can open.
const OWN: &str = "/.bailiwick";
const MASK_DIRECTORY: &str = "/.bailiwick/directory";
const MASK_FILE: &str = "/.bailiwick/file";
const RESOLVER: &str = "/.bailiwick/resolver";

/// Where the new root is put together: a directory that every machine has and that is not needed meanwhile.
const STAGE: &str = "/proc";

/// What must be known of a plan before a fence for it can be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// The machine's own network stays.
    pub open_network: bool,
    /// How much may be written to places of the fence's own.
    pub scratch_mb: u64,
}

impl Ahead {
    /// What a plan wants.
    pub(crate) fn of(plan: &Plan) -> Ahead {
        Ahead { open_network: plan.network == Network::Open, scratch_mb: plan.limits.scratch_mb }
    }
}

/// What every fence begins with, whatever its plan: it is carried out while the plan is still being drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// How many answers it keeps.
    kept: u32,
    /// The new root, with devices and processes in it.
    root: Slot,
}

/// The first list. `doors` are files to which the first process writes itself, to come under a control group's limits.
pub(crate) fn opening(
    s: &mut Builder,
    ahead: Ahead,
    doors: &[PathBuf],
    user: u32,
    terrain: &dyn Terrain,
) -> Opening {
    child::close_inherited(s);
    join(s, doors);
    // Only now: whoever is in a namespace of control groups cannot be moved to one outside it.
    s.step("hide control groups", libc::SYS_unshare, [libc::CLONE_NEWCGROUP.into()]);
    s.step("make directories with the modes that are given", libc::SYS_umask, [0.into()]);
    if !ahead.open_network {
        s.step("make a network of its own", libc::SYS_unshare, [libc::CLONE_NEWNET.into()]);
        loopback::switch_on(s);
    }
    let none = s.text("none");
    let slash = s.text("/");
    let private = libc::MS_REC | libc::MS_PRIVATE;
    s.step(
        "keep mounts to itself",
        libc::SYS_mount,
        [none.into(), slash.into(), 0.into(), private.into(), 0.into()],
    );
    let processes = file_system(s, "proc", &[], NOSUID | NODEV | NOEXEC);
    let terminals = file_system(
        s,
        "devpts",
        &[("newinstance", ""), ("ptmxmode", "0666"), ("mode", "0620")],
        NOSUID | NOEXEC,
    );
    let mut devices = Vec::with_capacity(DEVICES.len());
    for device in DEVICES {
        let path = Path::new("/dev").join(device);
        let (found, name) = find_outside(s, &path);
        devices.push((path, copy_mount(s, name, found, true, NOSUID | NOEXEC)));
    }
    let size = format!("{}m", ahead.scratch_mb);
    let root = file_system(
        s,
        "tmpfs",
        &[("size", &size), ("mode", "0755"), ("nr_inodes", "400000")],
        NOSUID | NODEV,
    );
    let (stage, name) = find_outside(s, Path::new(STAGE));
    mount_at(s, name, root, stage);
    s.step("close", libc::SYS_close, [stage.into()]);
    s.step("enter the new root", libc::SYS_fchdir, [root.into()]);
    let mut frame = Frame { steps: s, root, made: BTreeSet::new() };
    frame.skeleton();
    for (path, mount) in devices {
        frame.put(&path, mount);
    }
    frame.put(Path::new("/dev/pts"), terminals);
    frame.processes(processes, user, terrain);
    s.step("wait for the plan", NEXT, []);
    Opening { kept: s.kept(), root }
}

/// Writes the steps that follow the opening.
pub(crate) fn steps(opening: &Opening, plan: &Plan, program: &Program<'_>, site: &Site<'_>) -> Builder {
    let mut steps = Builder::after(opening.kept);
    let s = &mut steps;
    let made = FRAME.iter().chain([&OWN]).map(|path| path.as_bytes().to_vec()).collect();
    let frame = Frame { steps: s, root: opening.root, made };
    let mut maker = Maker { frame, plan, site, places: lay(plan), sources: Vec::new() };
    maker.open_sources();
    maker.skeleton();
    maker.carve();
    maker.places();
    maker.resolver();
    maker.frame.enter();
    loopback::sockets(s, plan, site);
    child::start(s, plan, program, true);
    steps
}

/// A place that the fence builds itself, and a plan can say nothing about.
pub(crate) fn is_own(path: &Path) -> bool {
    path.parent().is_none()
        || path.starts_with("/proc")
        || (path.starts_with("/dev") && !path.starts_with("/dev/shm"))
}

/// What the first process does before it becomes the launcher. The user keeps the number that it has outside; it is the only
/// one that exists inside. An exec takes the rights that a new namespace gives from everybody but root, so those that are
/// needed to build the fence are handed over it.
pub(crate) fn birth(user: u32, group: u32) -> Builder {
    let mut steps = Builder::default();
    let s = &mut steps;
    write_file(s, Path::new("/proc/self/setgroups"), "deny");
    write_file(s, Path::new("/proc/self/uid_map"), &format!("{user} {user} 1"));
    write_file(s, Path::new("/proc/self/gid_map"), &format!("{group} {group} 1"));
    // struct __user_cap_header_struct, version 3; then effective, permitted and inheritable, low halves first.
    let mut header = 0x2008_0522u32.to_le_bytes().to_vec();
    header.extend([0; 4]);
    let mut sets = Vec::new();
    let mask = BUILDING.iter().fold(0u32, |mask, capability| mask | 1 << capability);
    for half in [mask, mask, mask, 0, 0, 0] {
        sets.extend(half.to_le_bytes());
    }
    let (header, sets) = (s.bytes(&header), s.bytes(&sets));
    s.step("keep rights for building", libc::SYS_capset, [header.into(), sets.into()]);
    for capability in BUILDING {
        // PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE.
        let arguments = [47.into(), 2.into(), capability.into(), 0.into(), 0.into()];
        s.step("keep rights for building", libc::SYS_prctl, arguments);
    }
    steps
}

/// What machines that forbid namespaces refuse: the rights that come with one. A host name of one's own is the cheapest thing
/// to ask for with them. Then an end.
pub(crate) fn trial(s: &mut Builder) {
    let name = s.text("trial");
    s.step("use the rights of a namespace", libc::SYS_sethostname, [name.into(), 5.into()]);
    s.step("end", libc::SYS_exit_group, [0.into()]);
}

/// `CAP_SETPCAP`, `CAP_NET_BIND_SERVICE`, `CAP_NET_ADMIN`, `CAP_SYS_ADMIN`.
const BUILDING: [u64; 4] = [8, 10, 12, 21];

/// Comes under the limits of a control group.
pub(crate) fn join(s: &mut Builder, doors: &[PathBuf]) {
    for door in doors {
        write_file(s, door, "0");
    }
}

fn write_file(s: &mut Builder, path: &Path, text: &str) {
    let name = s.text(path);
    let bytes = s.bytes(text.as_bytes());
    let label = ("write to ", name);
    let flags = (libc::O_WRONLY | libc::O_CLOEXEC).into();
    let file = s.keep(label, libc::SYS_openat, [libc::AT_FDCWD.into(), name.into(), flags, 0.into()]);
    s.step(label, libc::SYS_write, [file.into(), bytes.into(), (text.len() as u64).into()]);
    s.step("close", libc::SYS_close, [file.into()]);
}

/// The new root, and what every one has.
struct Frame<'a> {
    steps: &'a mut Builder,
    root: Slot,
    /// Directories of the new root that exist.
    made: BTreeSet<Vec<u8>>,
}

/// Directories that every new root has.
const FRAME: [&str; 5] = ["/proc", "/sys", "/dev", "/dev/pts", "/etc"];

impl Frame<'_> {
    fn root(&self) -> Arg {
        Arg::Slot(self.root)
    }

    /// A path's text, and the same as seen from the new root's descriptor.
    fn inner(&mut self, path: &Path) -> Data {
        match path.as_os_str().as_bytes() {
            [] | [b'/'] => self.steps.text("."),
            [b'/', ..] => {
                let whole = self.steps.text(path);
                self.steps.within(whole, 1)
            }
            _ => self.steps.text(path),
        }
    }

    fn directory(&mut self, path: &Path, mode: u64) {
        let bytes = path.as_os_str().as_bytes();
        if self.made.contains(bytes) {
            return;
        }
        let ends = bytes.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([bytes.len()]) {
            let part = bytes.get(..end).unwrap_or_default();
            if part.len() > 1 && self.made.insert(part.to_vec()) {
                let name = self.inner(Path::new(OsStr::from_bytes(part)));
                let mode = if end == bytes.len() { mode } else { 0o755 };
                let root = self.root();
                self.steps.try_step(
                    ("make ", name),
                    libc::SYS_mkdirat,
                    [root, name.into(), mode.into()],
                    Tolerance::Errno(libc::EEXIST),
                );
            }
        }
    }

    fn file(&mut self, path: &Path) {
        self.file_with(path, 0o644);
    }

    fn file_with(&mut self, path: &Path, mode: u32) {
        if let Some(parent) = path.parent() {
            self.directory(parent, 0o755);
        }
        let name = self.inner(path);
        let root = self.root();
        self.steps.step(
            ("make ", name),
            libc::SYS_mknodat,
            [root, name.into(), u64::from(libc::S_IFREG | mode).into(), 0.into()],
        );
    }

    fn link(&mut self, path: &Path, target: &Path) {
        if let Some(parent) = path.parent() {
            self.directory(parent, 0o755);
        }
        let (name, target) = (self.inner(path), self.steps.text(target));
        let root = self.root();
        self.steps.step(("link ", name), libc::SYS_symlinkat, [target.into(), root, name.into()]);
    }

    /// Everything that is not a mount, or that a mount is put upon.
    fn skeleton(&mut self) {
        for path in FRAME {
            self.directory(Path::new(path), 0o755);
        }
        self.directory(Path::new(MASK_DIRECTORY), 0);
        self.file_with(Path::new(MASK_FILE), 0);
        for device in DEVICES {
            self.file(&Path::new("/dev").join(device));
        }
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ] {
            self.link(&Path::new("/dev").join(name), Path::new(target));
        }
    }

    fn put(&mut self, path: &Path, mount: Slot) {
        let root = self.root();
        let name = self.inner(path);
        let target = find(self.steps, root, name);
        mount_at(self.steps, name, mount, target);
    }

    /// Puts something empty that nobody may open over a path.
    fn mask(&mut self, path: &Path, directory: bool, optional: bool) {
        let root = self.root();
        let mask = self.inner(Path::new(if directory { MASK_DIRECTORY } else { MASK_FILE }));
        let found = find(self.steps, root, mask);
        let name = self.inner(path);
        let copy = copy_mount(self.steps, name, found, false, NOSUID | NODEV | NOEXEC | RDONLY);
        if optional {
            let empty = self.steps.shared(b"\0");
            self.steps.try_step(
                ("hide ", name),
                libc::SYS_move_mount,
                [copy.into(), empty.into(), root, name.into(), 4.into()],
                Tolerance::Errno(libc::ENOENT),
            );
            self.steps.step("close", libc::SYS_close, [copy.into()]);
        } else {
            let target = find(self.steps, root, name);
            mount_at(self.steps, name, copy, target);
        }
    }

    fn processes(&mut self, mount: Slot, user: u32, terrain: &dyn Terrain) {
        let path = Path::new("/proc");
        self.put(path, mount);
        // For everybody but root these are closed by their permissions.
        if user == 0 {
            for name in PROC_READ_ONLY {
                let path = path.join(name);
                if terrain.look(&path).is_some() {
                    let (root, name) = (self.root(), self.inner(&path));
                    let found = find(self.steps, root, name);
                    let copy = copy_mount(self.steps, name, found, true, NOSUID | NODEV | NOEXEC | RDONLY);
                    mount_at(self.steps, name, copy, found);
                }
            }
        }
        for (name, directory, for_all) in PROC_HIDDEN {
            let wanted = for_all || user == 0;
            if wanted && terrain.look(&path.join(name)).is_some() {
                self.mask(&path.join(name), directory, true);
            }
        }
    }

    /// Makes the new root the only one.
    fn enter(&mut self) {
        let root = self.root;
        let own = self.inner(Path::new(OWN));
        self.steps.step(
            "close the fence's own directory",
            libc::SYS_fchmodat,
            [root.into(), own.into(), 0.into()],
        );
        let slash = self.steps.text("/");
        restrict(self.steps, slash, root, 0, NOSUID | NODEV | RDONLY);
        let here = self.steps.text(".");
        self.steps.step("enter the new root", libc::SYS_pivot_root, [here.into(), here.into()]);
        self.steps.step("leave the old root", libc::SYS_umount2, [here.into(), libc::MNT_DETACH.into()]);
        self.steps.step("enter the new root", libc::SYS_chdir, [slash.into()]);
        self.steps.step("close", libc::SYS_close, [root.into()]);
    }
}

struct Maker<'a, 'b> {
    frame: Frame<'a>,
    plan: &'b Plan,
    site: &'b Site<'b>,
    places: Vec<Lay<'b>>,
    /// Mounts of the machine, ready to be put into place.
    sources: Vec<(PathBuf, Slot)>,
}

impl Maker<'_, '_> {
    /// Copies the mounts of everything that the plan shows, while the machine's own root is still there. Places come first and
    /// in their order.
    fn open_sources(&mut self) {
        for lay in &self.places {
            let attributes = match lay.access {
                Access::Read | Access::Protected => NOSUID | NODEV | RDONLY,
                Access::Write => NOSUID | NODEV,
                Access::Scratch | Access::Hidden | Access::Link(_) => continue,
            };
            if lay.hidden_above || (*lay.access == Access::Read && lay.above == Some(&Access::Read)) {
                continue;
            }
            let (found, name) = find_outside(self.frame.steps, lay.path);
            let copy = copy_mount(self.frame.steps, name, found, true, attributes);
            self.sources.push((lay.path.to_path_buf(), copy));
        }
        if let Some(real) = self.outer_resolver() {
            let (found, name) = find_outside(self.frame.steps, &real);
            let copy = copy_mount(self.frame.steps, name, found, true, NOSUID | NODEV | RDONLY);
            self.sources.push((PathBuf::from("/etc/resolv.conf"), copy));
        }
    }

    /// With the network open, a resolver's file that lies where the fence shows nothing.
    fn outer_resolver(&self) -> Option<PathBuf> {
        if self.plan.network != Network::Open {
            return None;
        }
        let real = self.site.terrain.follow(Path::new("/etc/resolv.conf"))?;
        (!real.starts_with("/etc")).then_some(real)
    }

    /// What the plan's mounts are put upon, and its links and scratch directories.
    fn skeleton(&mut self) {
        let frame = &mut self.frame;
        let made = |lay: &&Lay<'_>| (!lay.is_real() || lay.is_carved()) && !lay.hidden_above;
        for Lay { path, access, .. } in self.places.iter().filter(made) {
            match access {
                Access::Hidden => {}
                // Everybody's own there, as the sticky bit has it outside.
                Access::Scratch => frame.directory(path, if is_shared(path) { 0o1777 } else { 0o755 }),
                Access::Link(target) => frame.link(path, target),
                Access::Read | Access::Write | Access::Protected => match self.site.terrain.look(path) {
                    Some(Kind::Directory) => frame.directory(path, 0o755),
                    _ => frame.file(path),
                },
            }
        }
    }

    /// Scratch directories inside what is shown: copied now, since what is shown will lie over them.
    fn carve(&mut self) {
        for lay in self.places.iter().filter(|lay| lay.is_carved() && !lay.hidden_above) {
            let (root, name) = (self.frame.root(), self.frame.inner(lay.path));
            let found = find(self.frame.steps, root, name);
            let copy = copy_mount(self.frame.steps, name, found, false, scratch_attributes(self.plan));
            self.frame.steps.step("close", libc::SYS_close, [found.into()]);
            self.sources.push((lay.path.to_path_buf(), copy));
        }
    }

    fn take(&mut self, path: &Path) -> Option<Slot> {
        // Nearly always the first: they are put into place in the order in which they were made.
        let at = self.sources.iter().position(|source| source.0.as_os_str() == path.as_os_str())?;
        Some(self.sources.remove(at).1)
    }

    /// Mounts what the plan shows and hides, from the outside in.
    fn places(&mut self) {
        let places = std::mem::take(&mut self.places);
        for lay in places.iter().filter(|lay| !lay.hidden_above) {
            let path = lay.path;
            match lay.access {
                Access::Link(_) => {}
                Access::Scratch if lay.is_carved() => {
                    if let Some(mount) = self.take(path) {
                        self.frame.put(path, mount);
                    }
                }
                Access::Scratch => {
                    // The new root itself becomes read-only; scratch places are mounts of their own that do not.
                    if lay.above == Some(&Access::Scratch) {
                        continue;
                    }
                    let (root, name) = (self.frame.root(), self.frame.inner(path));
                    let found = find(self.frame.steps, root, name);
                    let copy =
                        copy_mount(self.frame.steps, name, found, false, scratch_attributes(self.plan));
                    mount_at(self.frame.steps, name, copy, found);
                }
                Access::Hidden => {
                    if lay.is_real() {
                        let directory = self.site.terrain.look(path) == Some(Kind::Directory);
                        self.frame.mask(path, directory, false);
                    }
                }
                Access::Read | Access::Write | Access::Protected => {
                    if let Some(mount) = self.take(path) {
                        self.frame.put(path, mount);
                    }
                }
            }
        }
        self.places = places;
    }

    fn resolver(&mut self) {
        let path = Path::new("/etc/resolv.conf");
        if let Some(mount) = self.take(path) {
            self.frame.put(path, mount);
        }
        let Some(text) = self.site.resolver else { return };
        if self.site.terrain.look(path).is_none() {
            return;
        }
        let root = self.frame.root();
        let own = self.frame.inner(Path::new(RESOLVER));
        let bytes = self.frame.steps.bytes(text.as_bytes());
        let flags = (libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC).into();
        let file = self.frame.steps.keep(
            "write the resolver's file",
            libc::SYS_openat,
            [root, own.into(), flags, 0o644.into()],
        );
        self.frame.steps.step(
            "write the resolver's file",
            libc::SYS_write,
            [file.into(), bytes.into(), (text.len() as u64).into()],
        );
        self.frame.steps.step("close", libc::SYS_close, [file.into()]);
        let found = find(self.frame.steps, root, own);
        let copy = copy_mount(self.frame.steps, own, found, false, NOSUID | NODEV | NOEXEC | RDONLY);
        self.frame.put(path, copy);
    }
}

fn scratch_attributes(plan: &Plan) -> u64 {
    NOSUID | NODEV | if plan.execute_scratch { 0 } else { NOEXEC }
}

fn is_shared(path: &Path) -> bool {
    ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|shared| path == Path::new(shared))
}
