//! What Windows is to be told so that it holds a plan: a Job Object, an AppContainer, entries of access control lists, an
//! environment block. Pure; making them is the backend's.
//!
//! An AppContainer and not merely low integrity: a process of low integrity cannot write what is above it, but it can read
//! everything and connect to everybody, so it holds no plan that hides anything.
//!
//! As on macOS a scratch place is not the machine's own directory of that name: there is one private directory
//! ([`Site::scratch`]), and `TEMP` leads there. Forbidden names do not exist, and an access control list stands on something
//! that exists: the supervisor watches for them and moves away what appears, as it does on Linux.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::drive::DrivePath;
use crate::network::Network;
use crate::plan::{Access, Limits, Plan, Reach};
use crate::unfit::Unfit;

/// What the backend has made for this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Where Windows is, such as `C:\Windows`.
    pub system_root: String,
    /// An empty directory that only this run uses.
    pub scratch: String,
}

/// All that Windows is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The Job Object that all processes are in.
    pub job: Job,
    /// The AppContainer's capabilities, by name.
    pub capabilities: Vec<&'static str>,
    /// Entries for the AppContainer, in the order in which they are to be made. All are taken away afterwards.
    pub entries: Vec<Entry>,
    /// Names that the supervisor watches for, new repositories among them.
    pub watched: Vec<String>,
    /// The environment block: UTF-16, sorted, each variable and the whole ended by NUL.
    pub environment: Vec<u16>,
    /// Where it starts.
    pub cwd: String,
    /// How each limit is held.
    pub limits: Vec<(&'static str, Held)>,
}

/// The limits of a Job Object, as numbers of the Windows API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// `JOB_OBJECT_LIMIT_*`.
    pub flags: u32,
    /// Memory of all processes, in bytes.
    pub memory: u64,
    /// Processes at once.
    pub processes: u32,
    /// User-mode time of one process, in units of 100 ns; 0 where there is no limit.
    pub process_time: u64,
    /// `JOB_OBJECT_UILIMIT_*`.
    pub ui: u32,
}

/// An entry of an access control list, for the AppContainer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Of what.
    pub path: String,
    /// Whether it grants.
    pub allow: bool,
    /// The rights: an access mask.
    pub mask: u32,
    /// Whether it holds for everything below as well.
    pub inherited: bool,
}

/// How a limit is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// By the kernel.
    Hard,
    /// By the supervisor, or for a part of what is meant.
    Soft,
    /// Windows has nothing for it.
    Not,
}

const PROCESS_TIME: u32 = 0x2;
const ACTIVE_PROCESS: u32 = 0x8;
const JOB_MEMORY: u32 = 0x200;
const DIE_ON_UNHANDLED_EXCEPTION: u32 = 0x400;
const KILL_ON_JOB_CLOSE: u32 = 0x2000;
/// Handles of others' windows, the clipboard both ways, system parameters, display settings, global atoms, desktops, log-off.
const EVERY_UI_LIMIT: u32 = 0xff;

/// Read and execute.
const READ: u32 = 0x0012_00a9;
/// Read, write, execute and delete; not the right to delete what is below without a right to that.
const MODIFY: u32 = 0x0013_01bf;
/// Every right by which a file or its list is changed, moved or removed.
const CHANGE: u32 = 0x000d_0156;
const DELETE: u32 = 0x0001_0000;
const EXECUTE: u32 = 0x20;
const EVERYTHING: u32 = 0x001f_01ff;

/// The longest environment block that is sure to be taken.
const LONGEST_BLOCK: usize = 32_767;

/// What Windows is to be told.
///
/// # Errors
/// What the plan needs and Windows cannot hold.
pub fn settings(plan: &Plan, site: &Site) -> Result<Settings, Unfit> {
    let mut unfit = Vec::new();
    let entries = entries(plan, site, &mut unfit);
    let capabilities = capabilities(&plan.network, &mut unfit);
    let environment = environment(plan, site, &mut unfit);
    let watched = plan
        .forbidden
        .iter()
        .chain(&plan.fresh)
        .filter_map(|name| drive(name, &mut unfit))
        .map(|name| name.to_string());
    let watched = watched.collect();
    let cwd = drive(&plan.cwd, &mut unfit).map(|cwd| cwd.to_string()).unwrap_or_default();
    let job = job(&plan.limits, &mut unfit);
    let limits = held(&plan.limits);
    Unfit::unless(unfit, Settings { job, capabilities, entries, watched, environment, cwd, limits })
}

fn job(limits: &Limits, unfit: &mut Vec<String>) -> Job {
    let memory = limits.memory_mb.checked_mul(1 << 20).filter(|bytes| *bytes > 0);
    let processes = u32::try_from(limits.processes).ok().filter(|number| *number > 0);
    let process_time = limits.cpu_s.map_or(Some(0), |seconds| seconds.checked_mul(10_000_000));
    let (Some(memory), Some(processes), Some(process_time)) = (memory, processes, process_time) else {
        unfit.push("a limit is zero, or larger than a Job Object takes".into());
        return Job { flags: 0, memory: 0, processes: 0, process_time: 0, ui: EVERY_UI_LIMIT };
    };
    let time = if limits.cpu_s.is_some() { PROCESS_TIME } else { 0 };
    // No flag that lets a process leave the job.
    let flags = KILL_ON_JOB_CLOSE | JOB_MEMORY | ACTIVE_PROCESS | DIE_ON_UNHANDLED_EXCEPTION | time;
    Job { flags, memory, processes, process_time, ui: EVERY_UI_LIMIT }
}

fn held(limits: &Limits) -> Vec<(&'static str, Held)> {
    let mut held = vec![
        ("memory", Held::Hard),
        // Processes are counted, threads are not.
        ("processes", Held::Soft),
        ("open files", Held::Not),
        ("file size", Held::Not),
        // The supervisor looks from time to time.
        ("scratch size", Held::Soft),
        ("output", Held::Hard),
    ];
    if limits.wall_ms.is_some() {
        held.push(("time", Held::Hard));
    }
    if limits.cpu_s.is_some() {
        // The kernel's own time is not counted.
        held.push(("processor time", Held::Soft));
    }
    held
}

fn capabilities(network: &Network, unfit: &mut Vec<String>) -> Vec<&'static str> {
    match network {
        // Without a capability an AppContainer connects to nobody, not even to this machine.
        Network::Off => Vec::new(),
        Network::Allow(hosts) if hosts.is_empty() => Vec::new(),
        Network::Allow(_) => {
            unfit.push(
                "an AppContainer reaches every host or none: connections by name need the wsl backend, or `net: off`"
                    .into(),
            );
            Vec::new()
        }
        Network::Open => vec!["internetClient", "internetClientServer", "privateNetworkClientServer"],
    }
}

/// Entries for all places. An entry of a file itself comes before one that it inherits, which is how a nearer place overrules
/// one above it; so nothing is granted below a hidden place.
fn entries(plan: &Plan, site: &Site, unfit: &mut Vec<String>) -> Vec<Entry> {
    let (whole, spelt) = by_drive(plan, unfit);
    let mut entries = Vec::new();
    let mut entry = |path: &Path, allow: bool, mask: u32, inherited: bool| {
        if let Some(path) = spelt.get(path) {
            entries.push(Entry { path: path.clone(), allow, mask, inherited });
        }
    };
    for (path, access) in &whole.places {
        let hidden = path.ancestors().skip(1).any(|above| whole.places.get(above) == Some(&Access::Hidden));
        match access {
            _ if hidden => {}
            Access::Read | Access::Protected => {
                entry(path, true, READ, true);
                entry(path, false, CHANGE, true);
            }
            Access::Write => entry(path, true, MODIFY, true),
            Access::Hidden => entry(path, false, EVERYTHING, true),
            Access::Scratch | Access::Link(_) => {}
        }
    }
    // Whoever moves a directory away takes what is below it along. A directory that holds another place keeps its name.
    let pinned: BTreeSet<&Path> = whole
        .places
        .keys()
        .flat_map(|place| place.ancestors())
        .filter(|path| whole.reach(path) == Reach::Write)
        .collect();
    for path in pinned {
        entry(path, false, DELETE, false);
    }
    match DrivePath::parse(&site.scratch) {
        Ok(scratch) if whole.reach(&key(&scratch)) == Reach::None => {
            let path = scratch.to_string();
            if !plan.execute_scratch {
                let deny = Entry { path: path.clone(), allow: false, mask: EXECUTE, inherited: true };
                entries.push(deny);
            }
            entries.push(Entry { path, allow: true, mask: MODIFY, inherited: true });
        }
        Ok(scratch) => {
            unfit.push(format!("{scratch} is part of the plan already and cannot be its scratch place"))
        }
        Err(why) => unfit.push(why),
    }
    entries
}

/// The plan's places by a path that is the same for every spelling of a file, and how each was spelt.
fn by_drive(plan: &Plan, unfit: &mut Vec<String>) -> (Plan, BTreeMap<PathBuf, String>) {
    let mut whole = Plan { places: BTreeMap::new(), ..plan.clone() };
    let mut spelt = BTreeMap::new();
    for (path, access) in &plan.places {
        // Nothing of the machine is given for a scratch place, wherever it is said to be.
        if *access == Access::Scratch {
            continue;
        }
        if let Access::Link(_) = access {
            unfit.push(format!(
                "{} is a link, and access to it is that to what it leads to: name that",
                path.display()
            ));
            continue;
        }
        let Some(path) = drive(path, unfit) else { continue };
        for length in 0..=path.parts().len() {
            let parts: Vec<&str> = path.parts().iter().take(length).map(String::as_str).collect();
            if let Ok(above) = DrivePath::from_parts(path.letter(), &parts) {
                spelt.entry(key(&above)).or_insert_with(|| above.to_string());
            }
        }
        let kept = whole.places.entry(key(&path)).or_insert_with(|| access.clone());
        if *kept != *access {
            unfit.push(format!("{path} stands in the plan twice, with different words"));
        }
    }
    (whole, spelt)
}

/// A path that is the same for every spelling of a file.
fn key(path: &DrivePath) -> PathBuf {
    let names = path.parts().iter().map(|name| name.to_uppercase());
    ["/".to_owned(), path.letter().to_string()].into_iter().chain(names).collect()
}

fn drive(path: &Path, unfit: &mut Vec<String>) -> Option<DrivePath> {
    let found = match path.to_str() {
        Some(text) => DrivePath::parse(text),
        None => Err(format!("{path:?} is no text")),
    };
    found.map_err(|why| unfit.push(why)).ok()
}

fn environment(plan: &Plan, site: &Site, unfit: &mut Vec<String>) -> Vec<u16> {
    // By the name in upper case: Windows takes any case for the same variable.
    let mut variables: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (name, value) in &plan.environment {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            unfit.push(format!("the variable {name:?} is no text"));
            continue;
        };
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            unfit
                .push(format!("the variable `{}` cannot stand in an environment block", name.escape_debug()));
            continue;
        }
        let variable = (name.to_owned(), value.to_owned());
        if variables.insert(name.to_uppercase(), variable).is_some() {
            unfit.push(format!("the variable {name} is there twice, in different case"));
        }
    }
    // Without these the loader and the network library do not work; temporary files go to the private directory.
    let own = [
        ("SystemRoot", &site.system_root),
        ("windir", &site.system_root),
        ("TEMP", &site.scratch),
        ("TMP", &site.scratch),
        ("TMPDIR", &site.scratch),
    ];
    for (name, value) in own {
        match DrivePath::parse(value) {
            Ok(path) => {
                variables.insert(name.to_uppercase(), (name.to_owned(), path.to_string()));
            }
            Err(why) => unfit.push(why),
        }
    }
    let mut block: Vec<u16> = variables
        .values()
        .flat_map(|(name, value)| format!("{name}={value}\0").encode_utf16().collect::<Vec<_>>())
        .collect();
    block.push(0);
    if block.len() > LONGEST_BLOCK {
        unfit.push("the environment is larger than Windows takes".into());
    }
    block
}
