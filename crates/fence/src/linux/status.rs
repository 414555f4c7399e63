//! The self-test behind `sandbox status`: small programs behind real fences.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::group::Group;
use super::landlock;
use crate::backend::{Backend, Order};
use crate::draw::{Wishes, draw};
use crate::leave::Leave;
use crate::network::Network;
use crate::outcome::{End, Outcome, Refusal};
use crate::plan::{Limits, Plan};
use crate::status::Part;
use crate::sys::kernel;
use crate::terrain::Ground;

const LIMITS: Limits = Limits {
    memory_mb: 512,
    wall_ms: Some(5000),
    cpu_s: None,
    processes: 64,
    open_files: 256,
    file_mb: 64,
    scratch_mb: 16,
    output_bytes: 4096,
};

/// What a fenced shell tries, by part; it ends with 0 where the part holds.
const TRIED: [(&str, &str); 9] = [
    ("nothing outside is written", "! echo x > /etc/hostname 2>/dev/null && ! echo x > /usr/x 2>/dev/null"),
    // A home below it is shown, as an empty directory.
    (
        "a private /tmp",
        "echo x > /tmp/x && for name in $(ls -A /tmp); do \
         case \"$HOME/\" in \"/tmp/$name/\"*) ;; *) test \"$name\" = x || exit 1 ;; esac; done",
    ),
    ("a home of its own", "test -z \"$HOME\" || ! test -e \"$HOME/.ssh\""),
    (
        "no processes but its own",
        "test \"$(cat /proc/1/comm)\" = bailiwick -o \"$(ls -d /proc/[0-9]* | wc -l)\" -lt 9",
    ),
    (
        "no rights",
        "grep -q 'CapEff:.0000000000000000' /proc/self/status && grep -q 'CapBnd:.0000000000000000' /proc/self/status",
    ),
    ("no new rights", "grep -q 'NoNewPrivs:.1' /proc/self/status"),
    ("a system call filter", "grep -q 'Seccomp:.2' /proc/self/status"),
    ("no interface but loopback", "test \"$(tail -n +3 /proc/net/dev | grep -vc ' *lo:')\" = 0"),
    ("no descriptors but three", "test \"$(ls /proc/self/fd | wc -l)\" -le 4"),
];

pub(crate) fn parts() -> Vec<Part> {
    let mut parts = Vec::new();
    let version = kernel::landlock_version();
    parts.push(Part {
        name: "namespaces",
        whole: false,
        held: match super::trial::namespaces() {
            Ok(()) => Ok("tried".into()),
            Err(refusal) => Err(refusal.to_string()),
        },
    });
    let backends =
        [("backend linux", Backend::Linux, true), ("backend bubblewrap", Backend::Bubblewrap, true)];
    for (name, backend, whole) in backends {
        parts.push(Part { name, whole, held: verdict(shell(backend, "true")) });
    }
    for (name, script) in TRIED {
        parts.push(Part { name, whole: false, held: verdict(shell(Backend::Auto, script)) });
    }
    parts.push(Part {
        name: "Landlock",
        whole: false,
        held: match version {
            0 => Err("the kernel has none".into()),
            1 => Err("version 1 refuses every move between directories, so it is not used".into()),
            version if version < landlock::SCOPED => {
                Ok(format!("version {version}; an open network, and a fence without namespaces, need 6"))
            }
            version => Ok(format!("version {version}")),
        },
    });
    parts.push(Part {
        name: "memory and processes of the whole tree",
        whole: false,
        held: match Group::make().filter(|group| group.limit(&LIMITS)) {
            Some(_) => Ok("hard, by a control group".into()),
            None => Err("no control group can be made here: each process is limited on its own".into()),
        },
    });
    parts.push(Part {
        name: "file size, open files, cores",
        whole: false,
        held: verdict(shell(Backend::Auto, "test \"$(ulimit -n)\" -le 256 && test \"$(ulimit -c)\" = 0")),
    });
    parts
}

fn verdict(outcome: Result<Outcome, Refusal>) -> Result<String, String> {
    match outcome {
        Ok(Outcome { end: End::Code(0), .. }) => Ok("tried".into()),
        Ok(outcome) => Err(format!("tried, and it does not hold ({:?})", outcome.end)),
        Err(refusal) => Err(refusal.to_string()),
    }
}

fn shell(backend: Backend, script: &str) -> Result<Outcome, Refusal> {
    let plan = plan()?;
    let script = format!("exec 2>/dev/null; {script}");
    let arguments: Vec<OsString> = ["sh", "-c", &script].into_iter().map(OsString::from).collect();
    let order = Order {
        plan: &plan,
        program: Path::new("/bin/sh"),
        arguments: &arguments,
        streams: None,
        stands_in: false,
        bwrap: None,
        reins: None,
        leave: Leave::given(),
    };
    super::run(backend, &order, None).map(|(outcome, _remains)| outcome)
}

fn plan() -> Result<Plan, Refusal> {
    #[expect(clippy::disallowed_methods, reason = "the self-test hides the home that this user has")]
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let wishes = Wishes {
        workspace: None,
        cwd: PathBuf::from("/usr"),
        home: home.clone(),
        read: Vec::new(),
        write: Vec::new(),
        hide: Vec::new(),
        read_only: false,
        protect: true,
        lifted: Vec::new(),
        environment: home.map(|home| ("HOME".into(), home.into())).into_iter().collect(),
        pass: Vec::new(),
        set: Vec::new(),
        network: Network::Off,
        limits: LIMITS,
        execute_scratch: true,
    };
    draw(&wishes, &Ground).map_err(|impossible| Refusal::Failed(impossible.to_string()))
}
