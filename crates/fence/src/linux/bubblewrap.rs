//! The fence with `bwrap` for its namespaces, for machines where only that program may make them. Inside it, our launcher
//! puts the program behind Landlock and seccomp as it does without it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::network::Network;
use crate::outcome::Refusal;
use crate::plan::{Access, Plan};
use crate::terrain::{Kind, Terrain};

/// The descriptor with the launcher's program, in `bwrap`.
pub(crate) const LAUNCHER: i32 = 5;
/// Where the launcher is inside.
const INSIDE: &str = "/.bailiwick/launcher";
/// The first version with everything that is used here.
const OLDEST: (u32, u32) = (0, 8);

/// Where `bwrap` is, once it has been seen to be new enough.
pub(crate) fn find(configured: Option<&Path>) -> Result<PathBuf, Refusal> {
    static FOUND: OnceLock<(PathBuf, Version)> = OnceLock::new();
    let path = configured.unwrap_or(Path::new("/usr/bin/bwrap"));
    let refused = |missing: String| Refusal::Fence {
        missing,
        help: "install Debian's package bubblewrap, or name it with `sandbox.bwrap_path`".into(),
    };
    // The first one that was asked for is remembered; another is asked for its version each time.
    let found = match FOUND.get_or_init(|| (path.to_path_buf(), version(path))) {
        (known, found) if known == path => found.clone(),
        _ => version(path),
    };
    match found {
        Ok(found) if found >= OLDEST => Ok(path.to_path_buf()),
        Ok((major, minor)) => {
            Err(refused(format!("{} is version {major}.{minor}, and 0.8 is needed", path.display())))
        }
        Err(why) => Err(refused(format!("{} does not work: {why}", path.display()))),
    }
}

/// Major and minor, or why there is none to be had.
type Version = Result<(u32, u32), String>;

fn version(path: &Path) -> Version {
    let trial =
        ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--", "/bin/true"];
    asked(path, &trial)?;
    let text = asked(path, &["--version"])?;
    let mut numbers = text.trim().rsplit(' ').next().unwrap_or_default().split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => Err("it does not say its version".into()),
    }
}

/// What `bwrap` prints, if it ends well and soon.
#[expect(clippy::disallowed_methods, reason = "asks another program for its version, and whether it works")]
fn asked(path: &Path, words: &[&str]) -> Result<String, String> {
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let mut child = Command::new(path)
        .args(words)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut status = None;
    for _ in 0..PATIENCE {
        status = child.try_wait().map_err(|error| error.to_string())?;
        if status.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // Whatever it started ends with it, and so what it printed has an end.
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let Some(status) = status else {
        let _status = child.wait();
        return Err("it does not end".into());
    };
    let (mut text, mut said) = (String::new(), String::new());
    // What it printed is in the pipes, which hold more than it has to say.
    let _read = child.stdout.take().map(|mut out| out.read_to_string(&mut text));
    let _read = child.stderr.take().map(|mut out| out.read_to_string(&mut said));
    match status.success() {
        true => Ok(text),
        false => Err(said.lines().next().unwrap_or("it ends with an error").to_owned()),
    }
}

/// Milliseconds that `bwrap` is waited for.
const PATIENCE: u32 = 3000;

/// The arguments that make a plan's namespaces and mounts. Not among them: to die with its parent, since the launcher inside has
/// something to do first.
pub(crate) fn arguments(plan: &Plan, terrain: &dyn Terrain) -> Vec<OsString> {
    let mut out: Vec<OsString> =
        ["bwrap", "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
            .into_iter()
            .chain([
                "--unshare-cgroup-try",
                "--as-pid-1",
                "--die-with-parent",
                "--cap-drop",
                "ALL",
                "--clearenv",
            ])
            .map(OsString::from)
            .collect();
    let mut add =
        |words: &[&dyn AsRef<std::ffi::OsStr>]| out.extend(words.iter().map(|word| word.as_ref().to_owned()));
    if plan.network != Network::Open {
        add(&[&"--unshare-net"]);
    }
    let size = plan.limits.scratch_mb.saturating_mul(1024 * 1024).to_string();
    add(&[&"--proc", &"/proc", &"--dev", &"/dev"]);
    for name in ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"] {
        add(&[&"--ro-bind-try", &name, &name]);
    }
    for name in ["/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/timer_list"] {
        if terrain.look(Path::new(name)).is_some() {
            add(&[&"--ro-bind", &"/dev/null", &name]);
        }
    }
    for (path, access) in &plan.places {
        let hidden_above =
            path.ancestors().skip(1).any(|above| plan.places.get(above) == Some(&Access::Hidden));
        let above = plan.above(path).map(|above| above.1);
        let real = matches!(above, Some(Access::Read | Access::Write | Access::Protected));
        if hidden_above {
            continue;
        }
        match access {
            Access::Read if above == Some(&Access::Read) => {}
            Access::Read | Access::Protected => add(&[&"--ro-bind", path, path]),
            Access::Write => add(&[&"--bind", path, path]),
            Access::Scratch if above == Some(&Access::Scratch) => add(&[&"--dir", path]),
            Access::Scratch => {
                let shared = path.ends_with("tmp") || path.ends_with("shm");
                let mode = if shared { "1777" } else { "0755" };
                add(&[&"--perms", &mode, &"--size", &size, &"--tmpfs", path]);
            }
            Access::Link(_) if real => {}
            Access::Link(target) => add(&[&"--symlink", target, path]),
            Access::Hidden if !real => {}
            Access::Hidden if terrain.look(path) == Some(Kind::Directory) => {
                add(&[&"--perms", &"0000", &"--tmpfs", path, &"--remount-ro", path]);
            }
            Access::Hidden => add(&[&"--ro-bind", &"/dev/null", path]),
        }
    }
    let launcher = LAUNCHER.to_string();
    add(&[&"--perms", &"0555", &"--ro-bind-data", &launcher, &INSIDE]);
    add(&[&"--remount-ro", &"/", &"--chdir", &"/", &"--", &INSIDE]);
    out
}
