//! The Linux backends: how a plan becomes namespaces, mounts, Landlock rules, a seccomp filter and limits.

mod begun;
mod bubblewrap;
mod child;
mod filter;
mod forbidden;
mod ground;
mod group;
mod landlock;
mod launch;
mod lay;
mod loopback;
mod mounts;
mod namespaces;
pub(crate) mod status;
mod supervise;
pub(crate) mod trial;

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::backend::{Backend, Order};
use crate::console::Console;
use crate::egress::Layout;
use crate::network::Network;
use crate::outcome::{Bound, Held, Means, Outcome, Refusal};
use crate::plan::{Limits, Plan};
use crate::survey::Survey;
use crate::sys::kernel;
use crate::terrain::Ground;

use self::begun::Beginning;
pub use self::begun::{Begun, Starter};
use self::child::{Program, Terminal};
use self::forbidden::Forbidden;
use self::group::Group;
use self::launch::{Launched, Way};
use self::loopback::Wanted;
pub use self::namespaces::Ahead;
use self::namespaces::Site;
use self::supervise::Running;

/// The resolver of a fence without a network: the supervisor listens there, to say which names were asked for.
const NOBODY: [u8; 4] = [127, 0, 0, 53];

/// A way to hold a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tier {
    Namespaces,
    Bubblewrap,
    Landlock,
}

impl Tier {
    const fn name(self) -> &'static str {
        match self {
            Tier::Namespaces => "linux",
            Tier::Bubblewrap => "bubblewrap",
            Tier::Landlock => "landlock",
        }
    }
}

/// Runs a program the first way that can hold its plan, each of which holds all of it.
/// `begun`: a fence that was begun for it, to be used if it fits.
pub(crate) fn run(
    backend: Backend,
    order: &Order<'_>,
    begun: Option<Begun>,
) -> Result<(Outcome, Remains), Refusal> {
    let tiers: &[Tier] = match backend {
        Backend::Bubblewrap => &[Tier::Bubblewrap],
        Backend::Landlock => &[Tier::Landlock],
        Backend::Linux => &[Tier::Namespaces, Tier::Landlock],
        _ => &[Tier::Namespaces, Tier::Bubblewrap, Tier::Landlock],
    };
    let blocked = kernel::blocked_signals();
    let signals = match order.stands_in {
        true => Some(Rc::new(
            supervise::take_signals()
                .map_err(|error| Refusal::Failed(format!("signals cannot be taken: {error}")))?,
        )),
        false => None,
    };
    let mut why: Vec<String> = Vec::new();
    let mut help = String::new();
    let mut begun = begun;
    for tier in tiers {
        match order.run(*tier, signals.as_ref(), blocked, begun.take()) {
            Err(Refusal::Fence { missing, help: first }) => {
                why.push(missing);
                if help.is_empty() {
                    help = first;
                }
            }
            other => return other,
        }
    }
    Err(Refusal::Fence { missing: why.join("; "), help })
}

/// What is left of a fence once its program and everything that it started have ended: a first process that is ending, a control
/// group, a directory. They go with this, in this order.
#[derive(Debug)]
pub struct Remains {
    _launched: Launched,
    _group: Option<Group>,
    _scratch: Option<Scratch>,
}

/// Whether a fence of this kind can be built here, as far as that does not depend on the plan.
pub(crate) fn tried(backend: Backend, bwrap: Option<&Path>) -> Result<(), Refusal> {
    match backend {
        Backend::Bubblewrap => bubblewrap::find(bwrap).map(drop),
        Backend::Landlock if kernel::landlock_version() >= landlock::SCOPED => Ok(()),
        Backend::Auto => {
            trial::namespaces().or_else(|first| bubblewrap::find(bwrap).map(drop).map_err(|_| first))
        }
        _ => trial::namespaces(),
    }
}

impl Order<'_> {
    fn run(
        &self,
        tier: Tier,
        signals: Option<&Rc<OwnedFd>>,
        blocked: u64,
        begun: Option<Begun>,
    ) -> Result<(Outcome, Remains), Refusal> {
        let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let stdio = self.streams.unwrap_or([input.as_fd(), output.as_fd(), error.as_fd()]);
        let refused = |error: std::io::Error| Refusal::Fence {
            missing: format!("namespaces cannot be made: {error}"),
            help: NAMESPACES.into(),
        };
        let is_directory = |stream: &std::os::fd::BorrowedFd<'_>| {
            rustix::fs::fstat(stream).is_ok_and(|about| about.st_mode & libc::S_IFMT == libc::S_IFDIR)
        };
        // Whoever holds a directory reaches what lies below it, whatever the new root shows.
        if stdio.iter().any(is_directory) {
            return Err(Refusal::Fence {
                missing: "a standard stream is a directory, which would lead out of the fence".into(),
                help: "redirect it from or to a file".into(),
            });
        }
        let ahead = Ahead::of(self.plan);
        if tier == Tier::Namespaces
            && let Some(place) = self.plan.places.keys().find(|place| namespaces::is_own(place))
        {
            return Err(Refusal::Fence {
                missing: format!("{} is what a fence builds itself", place.display()),
                help: "name the directories that are needed".into(),
            });
        }
        let begun = match tier {
            Tier::Bubblewrap => None,
            Tier::Landlock => Some(match begun.filter(Begun::is_plain) {
                Some(begun) => begun,
                None => Begun::plain(stdio),
            }),
            Tier::Namespaces => Some(match begun.filter(|begun| begun.suits(ahead)) {
                Some(begun) => begun,
                None => Begun::namespaces(ahead, stdio),
            }),
        };
        let bwrap = match tier {
            Tier::Bubblewrap => Some(bubblewrap::find(self.bwrap)?),
            Tier::Namespaces | Tier::Landlock => None,
        };
        let console = if self.stands_in { Console::of_this_process() } else { None };
        let terminal = console.as_ref().map(|console| {
            let size = console.size();
            let maker = if tier == Tier::Landlock { "/dev/ptmx" } else { "/dev/pts/ptmx" };
            Terminal { streams: console.streams(), maker, rows: size.ws_row, columns: size.ws_col }
        });
        let terminal = terminal.or_else(|| {
            let tty = self.reins?.tty()?;
            let maker = if tier == Tier::Landlock { "/dev/ptmx" } else { "/dev/pts/ptmx" };
            Some(Terminal { streams: tty.streams, maker, rows: tty.rows, columns: tty.columns })
        });
        let landlock = match kernel::landlock_version() {
            // Version 1 refuses every move between directories; the mounts hold all that it would hold.
            1 => 0,
            version => version,
        };
        if self.plan.network == Network::Open && landlock < landlock::SCOPED {
            return Err(Refusal::Fence {
                missing: "with an open network, only Landlock of version 6 (Linux 6.12) keeps abstract sockets away"
                    .into(),
                help: "use a newer kernel, or name the hosts that are needed".into(),
            });
        }
        let (launched, opening, group) = match begun.map(Begun::beginning) {
            Some(Beginning { launched, opening, group }) => {
                (Some(launched.map_err(refused)?), opening, group)
            }
            None => (None, None, Group::make()),
        };
        let limited = group.as_ref().is_some_and(|group| group.limit(&self.plan.limits));
        let mut plan = self.plan.clone();
        let mut program = Program {
            path: self.program,
            arguments: self.arguments,
            landlock,
            listens: true,
            terminal,
            blocked,
            umask: own_umask(),
            ground: Vec::new(),
        };
        let user = rustix::process::geteuid().as_raw();
        let mut layout = None;
        let mut scratch = None;
        let mut arguments = Vec::new();
        let steps = match (opening, &bwrap) {
            (Some(opening), _) => {
                layout = layout_of(&plan)?;
                let (sockets, resolver) = meeting_points(&plan, layout.as_ref());
                if let Some(layout) = &layout {
                    let variables = layout.variables().into_iter();
                    plan.environment.extend(variables.map(|(name, value)| (name.into(), value.into())));
                }
                let site = Site { terrain: &Ground, resolver: resolver.as_deref(), sockets: &sockets };
                namespaces::steps(&opening, &plan, &program, &site)
            }
            (_, Some(_)) => {
                if let Network::Allow(_) = plan.network {
                    return Err(Refusal::Fence {
                        missing:
                            "bubblewrap makes a network that we cannot enter, so hosts cannot be told apart"
                                .into(),
                        help: NAMESPACES.into(),
                    });
                }
                arguments = bubblewrap::arguments(&plan, &Ground);
                child::whole(&plan, &program, true)
            }
            _ => {
                let directory = Scratch::make()
                    .map_err(|error| Refusal::Failed(format!("a scratch directory: {error}")))?;
                // A control group counts the program's processes alone; the limit of a user counts all that the user runs.
                plan.limits.processes = match limited {
                    true => u64::MAX,
                    false => plan.limits.processes.saturating_add(ground::running(user)),
                };
                program.ground = ground::rights(&plan, landlock, directory.path(), &Survey::default())?;
                plan.environment.insert("TMPDIR".into(), directory.path().into());
                scratch = Some(directory);
                child::whole(&plan, &program, false)
            }
        };
        let mut steps = steps;
        for name in plan.forbidden.iter().chain(&plan.fresh) {
            let mut aside = name.clone().into_os_string();
            aside.push(".refused-0");
            steps.move_away(name.as_os_str(), &aside);
        }
        let image = steps.image().ok_or_else(too_long)?;
        let launched = match (launched, &bwrap) {
            (Some(mut launched), _) => {
                launched.go_on(image).map_err(|error| {
                    Refusal::Failed(format!("the plan could not be handed over: {error}"))
                })?;
                launched
            }
            (None, Some(path)) => {
                let doors = group.as_ref().map(Group::doors).unwrap_or_default();
                let way = Way::Bubblewrap { path, arguments, doors: &doors };
                launch::start(way, image, stdio).map_err(refused)?
            }
            (None, None) => return Err(Refusal::Failed("there is nothing to start".into())),
        };
        // The first process builds the fence meanwhile.
        launched.go(self.leave.ask()?);
        let held = held(tier, landlock, &self.plan.limits, limited, user);
        let mut running = Running::new(launched, held);
        running.console = console;
        running.reins = self.reins.cloned();
        running.signals = signals.cloned();
        running.forbidden = Forbidden::new(&plan.forbidden, &plan.fresh);
        running.layout = layout;
        running.deadline = plan.limits.wall_ms.map(|limit| supervise::now() + Duration::from_millis(limit));
        if let Some(reins) = self.reins {
            reins.held_by(tier.name());
        }
        let (outcome, launched) = running.wait()?;
        Ok((outcome, Remains { _launched: launched, _group: group, _scratch: scratch }))
    }
}

/// What stands around a program, and how well each limit is kept.
fn held(tier: Tier, landlock: u32, limits: &Limits, group: bool, user: u32) -> Held {
    let namespaces = tier != Tier::Landlock;
    let bound = |name, value, hard| Bound { name, value, hard };
    let mut bounds = vec![
        bound("memory_mb", limits.memory_mb, group),
        // In a namespace the kernel counts for the user there; but never for root.
        bound("processes", limits.processes, group || (namespaces && user != 0)),
        bound("open_files", limits.open_files, false),
        bound("file_mb", limits.file_mb, true),
        bound("scratch_mb", limits.scratch_mb, tier == Tier::Namespaces),
    ];
    bounds.extend(limits.wall_ms.map(|value| bound("wall_ms", value, true)));
    bounds.extend(limits.cpu_s.map(|value| bound("cpu_s", value, false)));
    let means = match tier {
        Tier::Namespaces => Means::Namespaces,
        Tier::Bubblewrap => Means::Bubblewrap,
        Tier::Landlock => Means::Landlock,
    };
    Held { means, landlock, limits: bounds }
}

fn layout_of(plan: &Plan) -> Result<Option<Layout>, Refusal> {
    let Network::Allow(hosts) = &plan.network else { return Ok(None) };
    Layout::of(hosts).map(Some).map_err(|unfit| Refusal::Fence {
        missing: unfit.to_string(),
        help: "name fewer hosts, by their names".into(),
    })
}

/// The sockets that the supervisor wants inside, and what the program's resolver is told.
fn meeting_points(plan: &Plan, layout: Option<&Layout>) -> (Vec<Wanted>, Option<String>) {
    match layout {
        Some(layout) => (layout.sockets().iter().map(wanted).collect(), Some(layout.resolv_conf())),
        None if plan.network == Network::Off => (
            vec![Wanted { stream: false, address: NOBODY, port: 53 }],
            Some("nameserver 127.0.0.53\noptions timeout:1 attempts:1\n".to_owned()),
        ),
        None => (Vec::new(), None),
    }
}

fn too_long() -> Refusal {
    Refusal::Fence {
        missing: "the plan names more places than a fence can have".into(),
        help: "name the directories above them instead".into(),
    }
}

/// A directory of the fence's own for temporary files, where it cannot have a `/tmp` of its own. It goes with the fence.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> std::io::Result<Scratch> {
        use std::os::unix::fs::DirBuilderExt;
        for number in 0..1000u32 {
            let path = PathBuf::from(format!("/tmp/bailiwick-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.0);
    }
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
