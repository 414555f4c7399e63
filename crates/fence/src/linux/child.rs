//! The last steps before the program: terminal, rights, limits, Landlock, seccomp, exec. They are the same whether
//! namespaces stand around them or not.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::filter;
use super::landlock::{self, Ruleset};
use super::lay::lay;
use super::namespaces::{MARK_LISTENER, MARK_TERMINAL};
use crate::network::Network;
use crate::plan::{Access, Plan};
use crate::sys::image::{Builder, Data, Slot, Tolerance};
use crate::sys::steps::{AWAIT, CONTROL, FORK, SEND};

/// What is to be started.
pub(crate) struct Program<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// Its arguments, its name among them.
    pub(crate) arguments: &'a [OsString],
    /// The version of Landlock to use; 0: none.
    pub(crate) landlock: u32,
    /// The supervisor listens for refused calls.
    pub(crate) listens: bool,
    /// Which of the standard streams become a terminal of the program's own.
    pub(crate) terminal: Option<Terminal>,
    /// Signals that are blocked, as whoever asked had them.
    pub(crate) blocked: u64,
    /// The mask for the modes of new files, as whoever asked has it.
    pub(crate) umask: u32,
    /// Places for Landlock where no namespaces hold the rest.
    pub(crate) ground: Vec<(PathBuf, u64)>,
}

/// A terminal of the program's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Which of the standard streams it is for.
    pub(crate) streams: [bool; 3],
    /// The device that makes terminals.
    pub(crate) maker: &'static str,
    pub(crate) rows: u16,
    pub(crate) columns: u16,
}

const TIOCSPTLCK: u64 = 0x4004_5431;
const TIOCGPTPEER: u64 = 0x5441;
const LAST_CAPABILITY: u64 = 63;

/// All that the launcher does where it makes no namespaces itself: somebody else has made them, or there are none.
pub(crate) fn whole(plan: &Plan, program: &Program<'_>, namespaces: bool) -> Builder {
    let mut steps = Builder::default();
    let s = &mut steps;
    close_inherited(s);
    if !namespaces {
        // Orphans come to the launcher, which ends them.
        s.step("adopt orphans", libc::SYS_prctl, [36.into(), 1.into(), 0.into(), 0.into(), 0.into()]);
    }
    start(s, plan, program, namespaces);
    steps
}

/// Of what the launcher was born with, its control socket and the standard streams are left.
pub(crate) fn close_inherited(s: &mut Builder) {
    s.step(
        "close what was inherited",
        libc::SYS_close_range,
        [5.into(), u64::from(u32::MAX).into(), 0.into()],
    );
}

/// From a fence that stands to the program in it.
pub(crate) fn start(s: &mut Builder, plan: &Plan, program: &Program<'_>, namespaces: bool) {
    terminal(s, program);
    drop_rights(s);
    s.step("wait for leave to start the program", AWAIT, []);
    s.step("start the program's process", FORK, []);
    steps(s, plan, program, namespaces);
}

/// In the first process: opens a terminal in the fence's own `/dev/pts`, keeps a session around it, and hands its other end
/// to the supervisor.
fn terminal(s: &mut Builder, program: &Program<'_>) {
    let Some(terminal) = program.terminal else { return };
    let path = s.text(terminal.maker);
    let flags = (libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC).into();
    let label = "open a terminal";
    let master = s.keep(label, libc::SYS_openat, [libc::AT_FDCWD.into(), path.into(), flags, 0.into()]);
    let unlocked = s.bytes(&[0; 8]);
    s.step(label, libc::SYS_ioctl, [master.into(), TIOCSPTLCK.into(), unlocked.into()]);
    let slave = s.keep(
        label,
        libc::SYS_ioctl,
        [master.into(), TIOCGPTPEER.into(), (libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC).into()],
    );
    let mut size = Vec::new();
    for number in [terminal.rows, terminal.columns, 0, 0] {
        size.extend(number.to_le_bytes());
    }
    let size = s.bytes(&size);
    s.step(label, libc::SYS_ioctl, [slave.into(), libc::TIOCSWINSZ.into(), size.into()]);
    s.step(label, libc::SYS_setsid, []);
    s.step(label, libc::SYS_ioctl, [slave.into(), libc::TIOCSCTTY.into(), 0.into()]);
    for (stream, number) in terminal.streams.into_iter().zip(0u64..) {
        if stream {
            s.step(label, libc::SYS_dup3, [slave.into(), number.into(), 0.into()]);
        }
    }
    s.step(label, SEND, [master.into(), MARK_TERMINAL.into()]);
    s.step("close", libc::SYS_close, [master.into()]);
}

/// Takes every capability, and the means to get one back.
fn drop_rights(s: &mut Builder) {
    // SECBIT_NOROOT and the others, each with its lock: being root means nothing from now on.
    s.try_step("lock securebits", libc::SYS_prctl, [28.into(), 0xef.into()], Tolerance::Errno(libc::EPERM));
    s.step(
        "clear ambient capabilities",
        libc::SYS_prctl,
        [47.into(), 4.into(), 0.into(), 0.into(), 0.into()],
    );
    for capability in 0..=LAST_CAPABILITY {
        // EINVAL: this kernel has fewer. EPERM: there is nothing to take.
        s.try_step("drop a capability", libc::SYS_prctl, [24.into(), capability.into()], Tolerance::Any);
    }
    // struct __user_cap_header_struct, version 3; then two empty sets.
    let mut header = 0x2008_0522u32.to_le_bytes().to_vec();
    header.extend([0; 4]);
    let header = s.bytes(&header);
    let empty = s.bytes(&[0; 24]);
    s.step("drop all capabilities", libc::SYS_capset, [header.into(), empty.into()]);
    s.step("forbid new rights", libc::SYS_prctl, [38.into(), 1.into(), 0.into(), 0.into(), 0.into()]);
    s.step("forbid being looked into", libc::SYS_prctl, [4.into(), 0.into(), 0.into(), 0.into(), 0.into()]);
}

/// In the program's own process.
fn steps(s: &mut Builder, plan: &Plan, program: &Program<'_>, namespaces: bool) {
    s.step("close the control socket at the start", libc::SYS_fcntl, [CONTROL.into(), 2.into(), 1.into()]);
    match program.terminal {
        // A job of its own in the session that the first process leads, and in the foreground.
        Some(_) => {
            s.step("become a job", libc::SYS_setpgid, [0.into(), 0.into()]);
            let own = s.keep("become a job", libc::SYS_getpid, []);
            let place = s.bytes(&[0; 8]);
            s.store(own, place);
            let path = s.text("/dev/tty");
            let flags = (libc::O_RDWR | libc::O_CLOEXEC).into();
            let label = "come to the foreground";
            let own_terminal =
                s.keep(label, libc::SYS_openat, [libc::AT_FDCWD.into(), path.into(), flags, 0.into()]);
            s.step(label, libc::SYS_ioctl, [own_terminal.into(), libc::TIOCSPGRP.into(), place.into()]);
        }
        None => s.step("start a session", libc::SYS_setsid, []),
    }
    limits(s, plan);
    s.step("restore the mode mask", libc::SYS_umask, [u64::from(program.umask).into()]);
    let cwd = s.text(&plan.cwd);
    s.step(("go to ", cwd), libc::SYS_chdir, [cwd.into()]);
    if program.landlock > 0 {
        rights(s, plan, program, namespaces);
    }
    let path = s.text(program.path);
    let arguments = s.texts(program.arguments);
    let environment = s.texts(plan.environment.iter().map(|(name, value)| {
        let mut both = OsString::with_capacity(name.len() + 1 + value.len());
        both.push(name);
        both.push("=");
        both.push(value);
        both
    }));
    // The signals that Rust's runtime ignores in this process are the program's to have.
    let default = s.bytes(&[0; 32]);
    s.step(
        "reset SIGPIPE",
        libc::SYS_rt_sigaction,
        [libc::SIGPIPE.into(), default.into(), 0.into(), 8.into()],
    );
    let mask = s.bytes(&program.blocked.to_le_bytes());
    let restore_mask = |s: &mut Builder, mask: Data| {
        s.step(
            "restore the signal mask",
            libc::SYS_rt_sigprocmask,
            [2.into(), mask.into(), 0.into(), 8.into()],
        );
    };
    filter(s, plan, program, namespaces);
    restore_mask(s, mask);
    let label = (START, path);
    s.try_step(
        label,
        libc::SYS_execve,
        [path.into(), arguments.into(), environment.into()],
        Tolerance::Errno(libc::ENOEXEC),
    );
    // A text without a first line that says what reads it: a shell does, as `execvp` has it.
    let shell = s.text("/bin/sh");
    let rest = program.arguments.iter().skip(1).map(OsString::as_os_str);
    let arguments = s.texts([OsStr::new("sh"), program.path.as_os_str()].into_iter().chain(rest));
    s.step(label, libc::SYS_execve, [shell.into(), arguments.into(), environment.into()]);
}

/// The step that [`steps`] ends with: where it fails, the program could not be started.
pub(crate) const START: &str = "start ";

fn limits(s: &mut Builder, plan: &Plan) {
    let mebi = |number: u64| number.saturating_mul(1024 * 1024);
    let mut limit = |resource: u64, value: u64| {
        let mut both = [0; 16];
        for (place, byte) in both.iter_mut().zip(value.to_le_bytes().into_iter().cycle()) {
            *place = byte;
        }
        let both = s.bytes(&both);
        // EPERM: a lower hard limit holds already, and a soft one below it.
        s.try_step(
            "set a limit",
            libc::SYS_prlimit64,
            [0.into(), resource.into(), both.into(), 0.into()],
            Tolerance::Errno(libc::EPERM),
        );
    };
    limit(4, 0); // RLIMIT_CORE
    limit(1, mebi(plan.limits.file_mb)); // RLIMIT_FSIZE
    limit(7, plan.limits.open_files); // RLIMIT_NOFILE
    limit(2, mebi(plan.limits.memory_mb)); // RLIMIT_DATA
    // Counted for the user in this namespace; without one the limit has been raised by what the user runs elsewhere.
    limit(6, plan.limits.processes); // RLIMIT_NPROC
    if let Some(seconds) = plan.limits.cpu_s {
        limit(0, seconds); // RLIMIT_CPU
    }
}

fn rights(s: &mut Builder, plan: &Plan, program: &Program<'_>, namespaces: bool) {
    let all = landlock::rights(program.landlock);
    let ruleset = Ruleset::new(s, program.landlock, !namespaces && plan.network != Network::Open);
    if namespaces {
        ruleset.give(s, Path::new("/"), landlock::READ);
        ruleset.give(s, Path::new("/proc"), landlock::FILE | landlock::READ);
        ruleset.give(s, Path::new("/dev"), all);
        for lay in lay(plan) {
            let writable = |access: &Access| matches!(access, Access::Write | Access::Scratch);
            if writable(lay.access) && !lay.above.is_some_and(writable) && !lay.hidden_above {
                ruleset.give(s, lay.path, all);
            }
        }
    }
    for (path, rights) in &program.ground {
        ruleset.give(s, path, *rights);
    }
    ruleset.enforce(s);
}

fn filter(s: &mut Builder, plan: &Plan, program: &Program<'_>, namespaces: bool) {
    let setting = filter::Setting::new(namespaces, &plan.network, program.listens);
    let instructions = filter::assemble(setting);
    let mut code = Vec::with_capacity(instructions.len() * 8);
    for (operation, yes, no, value) in &instructions {
        code.extend(operation.to_le_bytes());
        code.extend([*yes, *no]);
        code.extend(value.to_le_bytes());
    }
    let code = s.bytes(&code);
    // struct sock_fprog: how many, padding, where.
    let mut head = (instructions.len() as u16).to_le_bytes().to_vec();
    head.extend([0; 14]);
    let head = s.bytes(&head);
    let pointer = s.within(head, 8);
    s.point(pointer, code);
    // SECCOMP_SET_MODE_FILTER; SECCOMP_FILTER_FLAG_NEW_LISTENER.
    let label = "filter system calls";
    if program.listens {
        let listener: Slot = s.keep(label, libc::SYS_seccomp, [1.into(), 8.into(), head.into()]);
        s.step(label, SEND, [listener.into(), MARK_LISTENER.into()]);
        s.step("close", libc::SYS_close, [listener.into()]);
    } else {
        s.step(label, libc::SYS_seccomp, [1.into(), 0.into(), head.into()]);
    }
}
