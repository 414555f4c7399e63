//! The seccomp filter: which system calls a fenced program may make. Everything is allowed but what `knowledge/syscalls.txt`
//! and the conditions below name.
//!
//! The filter is assembled here rather than by a library: a binary search over the numbers costs half of what a chain of
//! comparisons does at every call, and refused calls are handed to the supervisor, so that it can say what was refused.

use crate::network::Network;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// It is made.
    Allow,
    /// EPERM, through the supervisor where one listens.
    Refuse,
    /// ENOSYS.
    Absent,
}

/// A condition on one argument's low 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    /// It has one of these bits.
    Bits(u32),
    /// It is this.
    Is(u32),
    /// It is anything but this.
    IsNot(u32),
    /// It has none of these bits.
    Lacks(u32),
}

/// What becomes of a call, by its arguments: the first condition that holds decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) when: Vec<(u32, Test, Verdict)>,
    pub(crate) otherwise: Verdict,
}

/// Where the filter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The program has namespaces of its own, which keep it from other processes, files and the network.
    pub(crate) namespaces: bool,
    /// It may reach the machine's own network.
    pub(crate) network: bool,
    /// A supervisor listens for what is refused.
    pub(crate) listens: bool,
}

impl Setting {
    /// The setting for a plan's network.
    pub(crate) fn new(namespaces: bool, network: &Network, listens: bool) -> Setting {
        Setting { namespaces, network: *network == Network::Open, listens }
    }
}

/// `CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET`.
const NEW_NAMESPACES: u32 = 0x7e02_0000;
/// `CLONE_NEWTIME`, which in `clone` is a part of the exit signal.
const NEW_TIME: u32 = 0x80;

/// `S_ISUID | S_ISGID`
const SET_ID: u32 = 0o6000;
/// `O_CREAT | __O_TMPFILE`
const MAKES: u32 = 0o20_000_100;

macro_rules! numbers {
    ($($name:ident)*) => { &[$((stringify!($name), number_of::$name)),*] };
}

/// Numbers by name. A name that this machine does not have stands as -1.
#[expect(non_upper_case_globals, reason = "the kernel's own spelling")]
mod number_of {
    macro_rules! from_libc {
        ($($name:ident = $there:ident)*) => { $(pub(super) const $name: i64 = libc::$there;)* };
    }
    from_libc! {
        mount = SYS_mount umount2 = SYS_umount2 pivot_root = SYS_pivot_root chroot = SYS_chroot
        open_tree = SYS_open_tree move_mount = SYS_move_mount fsopen = SYS_fsopen fsconfig = SYS_fsconfig
        fsmount = SYS_fsmount fspick = SYS_fspick mount_setattr = SYS_mount_setattr
        open_by_handle_at = SYS_open_by_handle_at fanotify_init = SYS_fanotify_init setns = SYS_setns
        clone3 = SYS_clone3 bpf = SYS_bpf perf_event_open = SYS_perf_event_open userfaultfd = SYS_userfaultfd
        io_uring_setup = SYS_io_uring_setup io_uring_enter = SYS_io_uring_enter
        io_uring_register = SYS_io_uring_register kexec_load = SYS_kexec_load
        kexec_file_load = SYS_kexec_file_load init_module = SYS_init_module finit_module = SYS_finit_module
        delete_module = SYS_delete_module syslog = SYS_syslog lookup_dcookie = SYS_lookup_dcookie
        nfsservctl = SYS_nfsservctl vhangup = SYS_vhangup reboot = SYS_reboot swapon = SYS_swapon
        swapoff = SYS_swapoff acct = SYS_acct quotactl = SYS_quotactl quotactl_fd = SYS_quotactl_fd
        sethostname = SYS_sethostname setdomainname = SYS_setdomainname settimeofday = SYS_settimeofday
        clock_settime = SYS_clock_settime clock_adjtime = SYS_clock_adjtime adjtimex = SYS_adjtimex
        keyctl = SYS_keyctl add_key = SYS_add_key request_key = SYS_request_key move_pages = SYS_move_pages
        migrate_pages = SYS_migrate_pages fchmodat = SYS_fchmodat fchownat = SYS_fchownat fchown = SYS_fchown
        setxattr = SYS_setxattr lsetxattr = SYS_lsetxattr fsetxattr = SYS_fsetxattr
        removexattr = SYS_removexattr lremovexattr = SYS_lremovexattr fremovexattr = SYS_fremovexattr
        shmget = SYS_shmget shmat = SYS_shmat shmctl = SYS_shmctl semget = SYS_semget semop = SYS_semop
        semtimedop = SYS_semtimedop semctl = SYS_semctl msgget = SYS_msgget msgsnd = SYS_msgsnd
        msgrcv = SYS_msgrcv msgctl = SYS_msgctl mq_open = SYS_mq_open mq_unlink = SYS_mq_unlink
        clone = SYS_clone unshare = SYS_unshare ioctl = SYS_ioctl socket = SYS_socket
        personality = SYS_personality prlimit64 = SYS_prlimit64 setpriority = SYS_setpriority
        sched_setaffinity = SYS_sched_setaffinity sched_setscheduler = SYS_sched_setscheduler
        sched_setparam = SYS_sched_setparam sched_setattr = SYS_sched_setattr ioprio_set = SYS_ioprio_set
        utimensat = SYS_utimensat fchmod = SYS_fchmod mknodat = SYS_mknodat mkdirat = SYS_mkdirat
        openat = SYS_openat openat2 = SYS_openat2
    }
    /// Newer than the library's list; the numbers are the same on all machines.
    pub(super) const fchmodat2: i64 = 452;
    pub(super) const setxattrat: i64 = 463;
    pub(super) const removexattrat: i64 = 466;
    pub(super) const open_tree_attr: i64 = 467;
    pub(super) const file_setattr: i64 = 469;
    #[cfg(target_arch = "x86_64")]
    from_libc! {
        iopl = SYS_iopl ioperm = SYS_ioperm modify_ldt = SYS_modify_ldt uselib = SYS_uselib _sysctl = SYS__sysctl
        chmod = SYS_chmod chown = SYS_chown lchown = SYS_lchown utime = SYS_utime utimes = SYS_utimes
        futimesat = SYS_futimesat open = SYS_open creat = SYS_creat mknod = SYS_mknod mkdir = SYS_mkdir
    }
    #[cfg(not(target_arch = "x86_64"))]
    macro_rules! missing { ($($name:ident)*) => { $(pub(super) const $name: i64 = -1;)* }; }
    #[cfg(not(target_arch = "x86_64"))]
    missing! { iopl ioperm modify_ldt uselib _sysctl chmod chown lchown utime utimes futimesat open creat mknod mkdir }
}

static NUMBERS: &[(&str, i64)] = numbers! {
    mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr
    open_by_handle_at fanotify_init setns clone3 bpf perf_event_open userfaultfd io_uring_setup io_uring_enter
    io_uring_register kexec_load kexec_file_load init_module finit_module delete_module
    iopl ioperm modify_ldt syslog lookup_dcookie nfsservctl uselib _sysctl vhangup reboot swapon swapoff
    acct quotactl quotactl_fd sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex keyctl add_key
    request_key move_pages migrate_pages chmod fchmodat fchmodat2 chown lchown fchownat fchown utime utimes futimesat
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr shmget shmat
    shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink clone unshare ioctl socket
    personality prlimit64 setpriority sched_setaffinity sched_setscheduler sched_setparam sched_setattr ioprio_set
    utimensat fchmod mknodat mkdirat openat openat2 open creat mknod mkdir
};

/// The name of a call, for messages.
pub(crate) fn name_of(number: i64) -> Option<&'static str> {
    NUMBERS.iter().find(|row| row.1 == number).map(|row| row.0)
}

fn number(name: &str) -> Option<i64> {
    NUMBERS.iter().find(|row| row.0 == name).map(|row| row.1).filter(|number| *number >= 0)
}

/// The rules for every call that has one, by number, in order.
pub(crate) fn rules(setting: Setting) -> Vec<(i64, Rule)> {
    let mut rules = Vec::new();
    let plain = |verdict| Rule { when: Vec::new(), otherwise: verdict };
    for (word, name) in crate::knowledge::lines(crate::knowledge::SYSCALLS) {
        let verdict = match word {
            "refuse" => Verdict::Refuse,
            "absent" => Verdict::Absent,
            _ if setting.namespaces => continue,
            _ => Verdict::Refuse,
        };
        if let Some(number) = number(name) {
            rules.push((number, plain(verdict)));
        }
    }
    let mut conditional = |name: &str, when: Vec<(u32, Test, Verdict)>, otherwise: Verdict| {
        if let Some(number) = number(name) {
            rules.push((number, Rule { when, otherwise }));
        }
    };
    use Verdict::{Allow, Refuse};
    conditional("clone", vec![(0, Test::Bits(NEW_NAMESPACES), Refuse)], Allow);
    conditional("unshare", vec![(0, Test::Bits(NEW_NAMESPACES | NEW_TIME), Refuse)], Allow);
    // Typing into the terminal that one was started from, and taking it over.
    let terminal = [libc::TIOCSTI, libc::TIOCLINUX, libc::TIOCCONS, libc::TIOCSETD];
    #[expect(clippy::cast_possible_truncation, reason = "the kernel looks at these bits only")]
    let terminal = terminal.map(|request| (1, Test::Is(request as u32), Refuse));
    conditional("ioctl", terminal.to_vec(), Allow);
    // An ordinary Linux process, what it is now, or one whose addresses a debugger wants to be the same every time.
    let personality = [0, 0x0004_0000, u32::MAX].map(|persona| (0, Test::Is(persona), Allow));
    conditional("personality", personality.to_vec(), Refuse);
    conditional("socket", sockets(setting), Refuse);
    // A file that runs as its owner, for whoever starts it outside.
    let by_mode = [("fchmod", 1), ("mknodat", 2), ("mkdirat", 2), ("creat", 1), ("mknod", 1), ("mkdir", 1)];
    for (name, argument) in by_mode {
        conditional(name, vec![(argument, Test::Bits(SET_ID), Refuse)], Allow);
    }
    // The mode of an open counts only where it may make a file.
    for (name, flags) in [("open", 1), ("openat", 2)] {
        let when = vec![(flags, Test::Lacks(MAKES), Allow), (flags + 1, Test::Bits(SET_ID), Refuse)];
        conditional(name, when, Allow);
    }
    if setting.namespaces {
        for (name, argument) in [("chmod", 1), ("fchmodat", 2), ("fchmodat2", 2)] {
            conditional(name, vec![(argument, Test::Bits(SET_ID), Refuse)], Allow);
        }
    }
    if !setting.namespaces {
        // Other processes are there to be named.
        for name in
            ["prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"]
        {
            conditional(name, vec![(0, Test::IsNot(0), Refuse)], Allow);
        }
        for name in ["setpriority", "ioprio_set"] {
            conditional(name, vec![(1, Test::IsNot(0), Refuse)], Allow);
        }
        // With no path it is about a descriptor that was opened; AT_EMPTY_PATH needs a path, so that is refused.
        conditional("utimensat", vec![(1, Test::Is(0), Allow)], Refuse);
    }
    rules.sort_by_key(|rule| rule.0);
    rules
}

/// Kinds of sockets. Where there are namespaces, a socket reaches only what is inside them.
fn sockets(setting: Setting) -> Vec<(u32, Test, Verdict)> {
    use Verdict::{Allow, Refuse};
    const UNIX: u32 = 1;
    const INET: u32 = 2;
    const INET6: u32 = 10;
    const NETLINK: u32 = 16;
    let mut when = Vec::new();
    if setting.namespaces {
        when.push((0, Test::Is(UNIX), Allow));
    }
    if setting.namespaces || setting.network {
        when.push((0, Test::Is(INET), Allow));
        when.push((0, Test::Is(INET6), Allow));
        // Of netlink, what lists a machine's interfaces and routes: NETLINK_ROUTE.
        when.push((0, Test::IsNot(NETLINK), Refuse));
        when.push((2, Test::Is(0), Allow));
    }
    when
}

/// One instruction of the kernel's filter language.
pub(crate) type Instruction = (u16, u8, u8, u32);

const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

const ANSWER_ALLOW: u32 = 0x7fff_0000;
const ANSWER_ERRNO: u32 = 0x0005_0000;
pub(crate) const ANSWER_NOTIFY: u32 = 0x7fc0_0000;
const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;
/// The second numbering of x86-64.
const X32: u32 = 0x4000_0000;

fn answer(verdict: Verdict, setting: Setting) -> Instruction {
    let value = match verdict {
        Verdict::Allow => ANSWER_ALLOW,
        Verdict::Refuse if setting.listens => ANSWER_NOTIFY,
        Verdict::Refuse => ANSWER_ERRNO | EPERM,
        Verdict::Absent => ANSWER_ERRNO | ENOSYS,
    };
    (RETURN, 0, 0, value)
}

/// The filter for a setting.
pub(crate) fn assemble(setting: Setting) -> Vec<Instruction> {
    let mut program = vec![
        (LOAD, 0, 0, 4),
        (IF_EQUAL, 1, 0, ARCHITECTURE),
        // Another machine's calls have other numbers: as if it could not run them.
        (RETURN, 0, 0, ANSWER_ERRNO | ENOSYS),
        (LOAD, 0, 0, 0),
        (IF_AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, ANSWER_ERRNO | ENOSYS),
    ];
    // Numbers without a rule, between those with one, are ranges of their own.
    let mut ranges: Vec<(u32, Vec<Instruction>)> = vec![(0, vec![answer(Verdict::Allow, setting)])];
    for (number, rule) in rules(setting) {
        let Ok(number) = u32::try_from(number) else { continue };
        let code = leaf(&rule, setting);
        if ranges.last().is_some_and(|last| last.0 == number) {
            ranges.pop();
        }
        if ranges.last().is_none_or(|last| last.1 != code) {
            ranges.push((number, code));
        }
        ranges.push((number + 1, vec![answer(Verdict::Allow, setting)]));
    }
    tree(&ranges, &mut program);
    program
}

fn leaf(rule: &Rule, setting: Setting) -> Vec<Instruction> {
    let mut code = Vec::new();
    let mut loaded = None;
    for (argument, test, verdict) in &rule.when {
        if loaded != Some(*argument) {
            // The low half of the argument; both machines are little-endian.
            code.push((LOAD, 0, 0, 16 + argument * 8));
            loaded = Some(*argument);
        }
        code.push(match test {
            Test::Bits(bits) => (IF_BITS, 0, 1, *bits),
            Test::Is(value) => (IF_EQUAL, 0, 1, *value),
            Test::IsNot(value) => (IF_EQUAL, 1, 0, *value),
            Test::Lacks(bits) => (IF_BITS, 1, 0, *bits),
        });
        code.push(answer(*verdict, setting));
    }
    code.push(answer(rule.otherwise, setting));
    code
}

/// A binary search for the last range that starts at or below the number, which is loaded.
fn tree(ranges: &[(u32, Vec<Instruction>)], program: &mut Vec<Instruction>) {
    match ranges {
        [] => program.push((RETURN, 0, 0, ANSWER_ERRNO | ENOSYS)),
        [(_, code)] => program.extend_from_slice(code),
        _ => {
            let (low, high) = ranges.split_at(ranges.len() / 2);
            let Some((middle, _)) = high.first() else { return tree(low, program) };
            // How far the upper half is, is known once the lower one is written: a jump holds its place.
            let at = program.len();
            program.push((IF_AT_LEAST, 0, 0, *middle));
            tree(low, program);
            let length = program.len() - at - 1;
            match (u8::try_from(length), program.get_mut(at)) {
                (Ok(length), Some(jump)) => jump.1 = length,
                // Too far for a condition: it jumps to a jump.
                (Err(_), Some(jump)) => {
                    jump.2 = 1;
                    program.insert(at + 1, (JUMP, 0, 0, u32::try_from(length).unwrap_or(u32::MAX)));
                }
                (_, None) => {}
            }
            tree(high, program);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would answer.
    fn judge(program: &[Instruction], architecture: u32, number: u32, arguments: [u32; 6]) -> u32 {
        let mut at = 0;
        let mut loaded = 0;
        for _ in 0..program.len() {
            let (code, yes, no, value) = program[at];
            at += 1;
            let step = |condition: bool| usize::from(if condition { yes } else { no });
            match code {
                LOAD => {
                    loaded = match value {
                        0 => number,
                        4 => architecture,
                        other => arguments[(other as usize - 16) / 8],
                    }
                }
                JUMP => at += value as usize,
                IF_EQUAL => at += step(loaded == value),
                IF_AT_LEAST => at += step(loaded >= value),
                IF_BITS => at += step(loaded & value != 0),
                RETURN => return value,
                other => panic!("instruction {other:#x}"),
            }
        }
        panic!("the filter does not end");
    }

    fn described(rules: &[(i64, Rule)], number: u32, arguments: [u32; 6]) -> Verdict {
        let Some((_, rule)) = rules.iter().find(|rule| rule.0 == i64::from(number)) else {
            return Verdict::Allow;
        };
        for (argument, test, verdict) in &rule.when {
            let value = arguments[*argument as usize];
            let holds = match test {
                Test::Bits(bits) => value & bits != 0,
                Test::Is(other) => value == *other,
                Test::IsNot(other) => value != *other,
                Test::Lacks(bits) => value & bits == 0,
            };
            if holds {
                return *verdict;
            }
        }
        rule.otherwise
    }

    fn settings() -> impl Iterator<Item = Setting> {
        (0..8).map(|bits| Setting {
            namespaces: bits & 1 != 0,
            network: bits & 2 != 0,
            listens: bits & 4 != 0,
        })
    }

    /// FNC-8
    #[test]
    fn the_filter_is_its_description_for_every_call_and_every_argument_that_matters() {
        for setting in settings() {
            let program = assemble(setting);
            let table = rules(setting);
            assert!(program.len() < 4096);
            let mut values = vec![0, 1, 2, 10, 16, 17, 0x11, u32::MAX, 0x0004_0000, 0x8000_0000];
            for (_, rule) in &table {
                for (_, test, _) in &rule.when {
                    let (Test::Bits(value) | Test::Is(value) | Test::IsNot(value) | Test::Lacks(value)) =
                        *test;
                    values.extend([value, value.wrapping_add(1), value ^ 0x100]);
                }
            }
            for bit in 0..32 {
                values.push(1 << bit);
            }
            for number in (0..1024).chain([X32 - 1]) {
                for value in &values {
                    for other in [0, 1, *value] {
                        let arguments = [*value, other, other, 0, 0, 0];
                        let swapped = [other, *value, other, 0, 0, 0];
                        let opened = [0, other, 0o100, *value, 0, 0];
                        let opened_at = [0, 0o101, *value, other, 0, 0];
                        for arguments in [arguments, swapped, opened, opened_at] {
                            let expected = answer(described(&table, number, arguments), setting).3;
                            let got = judge(&program, ARCHITECTURE, number, arguments);
                            assert_eq!(got, expected, "{setting:?} call {number} with {arguments:x?}");
                        }
                    }
                }
            }
            for number in [X32, X32 + 1, X32 + 512, u32::MAX] {
                assert_eq!(judge(&program, ARCHITECTURE, number, [0; 6]), ANSWER_ERRNO | ENOSYS);
            }
            for architecture in [0x4000_0003, 0, ARCHITECTURE + 1] {
                assert_eq!(judge(&program, architecture, 0, [0; 6]), ANSWER_ERRNO | ENOSYS);
            }
        }
    }

    #[test]
    fn every_name_in_the_table_has_a_number_and_one_rule() {
        for (_, name) in crate::knowledge::lines(crate::knowledge::SYSCALLS) {
            assert!(NUMBERS.iter().any(|row| row.0 == name), "{name}");
        }
        for setting in settings() {
            let table = rules(setting);
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
