//! The Linux backends: how a plan becomes namespaces, mounts, Landlock rules, a seccomp filter and limits.

mod child;
mod filter;
mod forbidden;
mod landlock;
mod launch;
mod namespaces;
mod supervise;
pub(crate) mod trial;

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use crate::console::Console;
use crate::egress::Layout;
use crate::network::Network;
use crate::outcome::{Outcome, Refusal};
use crate::plan::Plan;
use crate::sys::kernel;
use crate::terrain::Ground;

use self::child::{Program, Terminal};
use self::forbidden::Forbidden;
use self::namespaces::{Site, Wanted};
use self::supervise::Running;

/// The resolver of a fence without a network: the supervisor listens there, to say which names were asked for.
const NOBODY: [u8; 4] = [127, 0, 0, 53];

/// Runs a program in namespaces of its own, as this process's standard streams and terminal have it.
pub(crate) fn run(
    plan: &Plan,
    program: &Path,
    arguments: &[OsString],
    console: Option<Console>,
) -> Result<Outcome, Refusal> {
    let failed = |what: &str, error: &dyn std::fmt::Display| Refusal::Failed(format!("{what}: {error}"));
    for path in &plan.kept {
        make_kept(path)?;
    }
    let forbidden =
        Forbidden::watch(&plan.forbidden).map_err(|error| failed("names cannot be watched", &error))?;
    let (signals, blocked) =
        supervise::take_signals().map_err(|error| failed("signals cannot be taken", &error))?;
    let layout = match &plan.network {
        Network::Allow(hosts) => Some(Layout::of(hosts).map_err(|unfit| Refusal::Fence {
            missing: unfit.to_string(),
            help: "name fewer hosts, by their names".into(),
        })?),
        Network::Off | Network::Open => None,
    };
    let (sockets, resolver) = match &layout {
        Some(layout) => (layout.sockets().iter().map(wanted).collect(), Some(layout.resolv_conf())),
        None if plan.network == Network::Off => (
            vec![Wanted { stream: false, address: NOBODY, port: 53 }],
            Some("nameserver 127.0.0.53\noptions timeout:1 attempts:1\n".to_owned()),
        ),
        None => (Vec::new(), None),
    };
    let mut plan = plan.clone();
    if let Some(layout) = &layout {
        plan.environment
            .extend(layout.variables().into_iter().map(|(name, value)| (name.into(), value.into())));
    }
    let plan = &plan;
    let site = Site {
        terrain: &Ground,
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
        groups: &[],
        resolver: resolver.as_deref(),
        sockets: &sockets,
    };
    let terminal = console.as_ref().map(|console| {
        let size = console.size();
        Terminal { streams: console.streams(), rows: size.ws_row, columns: size.ws_col }
    });
    let landlock = match kernel::landlock_version() {
        // Version 1 refuses every move between directories; the mounts hold all that it would hold.
        0 | 1 => 0,
        version => version,
    };
    if plan.network == Network::Open && landlock < landlock::SCOPED {
        return Err(Refusal::Fence {
            missing:
                "with an open network, only Landlock of version 6 (Linux 6.12) keeps abstract sockets away"
                    .into(),
            help: "use a newer kernel, or name the hosts that are needed".into(),
        });
    }
    let program = Program {
        path: program,
        arguments,
        landlock,
        listens: true,
        terminal,
        blocked,
        umask: own_umask(),
        ground: &[],
    };
    let built = namespaces::steps(plan, &program, &site).image().zip(namespaces::birth(&site).image());
    let Some((image, birth)) = built else {
        return Err(Refusal::Fence {
            missing: "the plan names more places than a fence can have".into(),
            help: "name the directories above them instead".into(),
        });
    };
    let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let stdio = [input.as_fd(), output.as_fd(), error.as_fd()];
    let launched = launch::start(birth, image, namespaces::flags(&plan.network), stdio).map_err(|error| {
        Refusal::Fence { missing: format!("namespaces cannot be made: {error}"), help: NAMESPACES.into() }
    })?;
    let mut running = Running::new(launched);
    running.console = console;
    running.signals = Some(signals);
    running.forbidden = forbidden;
    running.layout = layout;
    running.deadline = plan.limits.wall_ms.map(|limit| supervise::now() + Duration::from_millis(limit));
    running.wait()
}

fn wanted(socket: &crate::egress::Wanted) -> Wanted {
    Wanted {
        stream: socket.kind == crate::egress::Kind::TcpListener,
        address: socket.address.ip().octets(),
        port: socket.address.port(),
    }
}

const NAMESPACES: &str = "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1 or \
    kernel.apparmor_restrict_unprivileged_userns=0), or install bubblewrap";

/// What would make a step succeed.
fn remedy(label: &str, errno: i32) -> String {
    match (label, errno) {
        (_, libc::EPERM | libc::EACCES) if label.contains("map") || label.contains("mount") => {
            NAMESPACES.into()
        }
        (_, libc::ENOSYS) => "use a newer kernel (Linux 5.13 or later)".into(),
        (_, libc::ENOENT | libc::ELOOP) => "something moved while the fence was built; try again".into(),
        _ => "see `bailiwick sandbox status`".into(),
    }
}

fn make_kept(path: &Path) -> Result<(), Refusal> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let refused = |error: rustix::io::Errno| Refusal::Fence {
        missing: format!("{} cannot be made, so that it could be protected: {error}", path.display()),
        help: "make it yourself, or name it with `--write`".into(),
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let parent =
        rustix::fs::openat2(rustix::fs::CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
            .map_err(refused)?;
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(refused(error)),
    }
}

/// The mask for the modes of new files. It can only be read by setting it, so this is done once, before other threads make
/// files of their own.
fn own_umask() -> u32 {
    static OWN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *OWN.get_or_init(|| {
        let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        rustix::process::umask(mask);
        mask.bits()
    })
}
